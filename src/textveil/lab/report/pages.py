"""Pages, sentences and LaTeX tables, written with the templates of this folder."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from textveil.lab.metrics.columns import Reference, find_reference
from textveil.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

_MARKDOWN = re.compile(r"([\\`*\[\]|])")
_LATEX = {"\\": "textbackslash{}", "~": "textasciitilde{}", "^": "textasciicircum{}"}


def render(template: str, **context: Any) -> str:
    """A template with its context. Text is escaped in HTML; a page needs no other file."""
    return _load_environment().get_template(template).render(context).strip() + "\n"


def tell(name: str, *args: Any) -> list[str]:
    """The sentences of a macro in ``sentences.txt``. Blank lines separate them."""
    macro = getattr(_load_environment().get_template("sentences.txt").module, name)
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", macro(*args)))
    return [paragraph for paragraph in paragraphs if paragraph]


@cache
def _load_environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("textveil.lab.report"),
        autoescape=jinja2.select_autoescape(["html"], default_for_string=False),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
    )
    environment.globals |= {
        "version": __version__,
        "tell": tell,
        "find_reference": find_reference,
        "Reference": Reference,
    }
    environment.filters |= {"begin": begin, "latex": escape_latex, "markdown": escape_markdown}
    return environment


@cache
def load_texts() -> dict[str, dict[str, str]]:
    """The prose of the report and of the release card."""
    return tomllib.loads(files("textveil.lab.report").joinpath("texts.toml").read_text(encoding="utf-8"))


def begin(sentence: str) -> str:
    """A sentence with a capital letter. The other letters stay."""
    return sentence[:1].upper() + sentence[1:]


def escape_latex(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(escape_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(f"\\{_LATEX.get(each, each)}" if each in "\\{}&%$#_~^" else each for each in text)


def escape_markdown(text: str) -> str:
    """Plain text as Markdown on one line.

    >>> escape_markdown("a <b> & c")
    'a &lt;b> &amp; c'
    """
    plain = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;")
