"""The Sphinx extension that writes the pages of the reference before others are read, and then looks for gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from scripts.docs_site.api import write_api_pages
from scripts.docs_site.commands import write_command_pages
from scripts.docs_site.formats import write_format_tables
from scripts.docs_site.methods import write_methods_page
from scripts.docs_site.public_names import find_homes, list_public_names, list_undocumented

FOLDER = Path("reference") / "generated"
"""Below the folder of the pages. The whole of it is written by this module."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write pages when a build begins, and check them when all are read."""
    app.connect("builder-inited", _write_pages)
    app.connect("env-check-consistency", _check_pages)
    app.connect("doctree-read", _write_dashes)
    app.connect("autodoc-process-docstring", _keep_colon, priority=400)  # before Napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx) -> None:
    names = list_public_names()
    if lacking := list_undocumented(names):
        raise ExtensionError(f"These public names have no docstring: {', '.join(lacking)}. Write one for each.")
    pages = {f"api/{name}.rst": text for name, text in write_api_pages(names).items()}
    pages |= {f"commands/{name}.rst": text for name, text in write_command_pages().items()}
    pages |= {f"tables/{name}.inc": text for name, text in write_format_tables().items()}
    pages["methods.rst"] = write_methods_page()
    folder = Path(app.srcdir) / FOLDER
    for path in folder.rglob("*.*"):
        if str(path.relative_to(folder)) not in pages:
            path.unlink()
    for name, text in pages.items():
        _update(folder / name, text)


def _update(path: Path, text: str) -> None:
    """Write a page, unless it is up to date: unchanged pages are not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _write_dashes(_: Sphinx, doctree: nodes.document) -> None:
    """Write a dash between a parameter and its description, where Sphinx writes two hyphens."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def _keep_colon(_: Sphinx, what: str, __: str, ___: object, ____: object, lines: list[str]) -> None:
    """Begin docstrings of attributes with an empty comment: Napoleon takes text before a colon in line 1 for a type."""
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]


def _check_pages(_: Sphinx, env: BuildEnvironment) -> None:
    documented: dict[str, Any] = env.domaindata["py"]["objects"]
    homes = find_homes(list_public_names())
    if lacking := [path for path, home in homes.items() if home not in documented]:
        raise ExtensionError(f"These public names are on no page: {', '.join(lacking)}.")
