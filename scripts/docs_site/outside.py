"""Links from pages to files of the project that are not pages of the site."""

from __future__ import annotations

import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""The page that takes the place of a file."""
_NAMED = re.compile(r"\[([\w/]+\.md)\]\((\1(?:#[\w-]+)?)\)")
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[\w./-]+)(#[\w-]+)?\)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite the links of every page."""
    app.connect("source-read", _read)
    app.connect("doctree-resolved", _open_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(_: Sphinx, page: str, source: list[str]) -> None:
    source[0] = rewrite(source[0], page)


def rewrite(text: str, page: str) -> str:
    """Lead links to the page of a file; the name of a file outside the site is shown as it is.

    >>> rewrite("See [CONTRIBUTING](../CONTRIBUTING.md) and [the log](../scripts/build.log).", "bundles")
    'See [CONTRIBUTING](/contributing.md) and the log (`scripts/build.log`).'

    A link whose text is the name of a page shows the title of the page instead.

    >>> rewrite("[form.md](form.md#examples) has more.", "bundles")
    '[](form.md#examples) has more.'
    """
    return _NAMED.sub(r"[](\2)", _LINK.sub(lambda found: _lead(found, page), text))


def _lead(found: re.Match[str], page: str) -> str:
    text, target, anchor = found.groups("")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    if not target.startswith("../"):
        return found[0]  # it stays on the site
    target = target.removeprefix("../")
    return f"[{text}](/{PAGES[target]}{anchor})" if target in PAGES else f"{text} (`{target}`)"


def _open_reports(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Let a browser show linked HTML files, instead of saving them."""
    for node in list(doctree.findall(addnodes.download_reference)):
        if str(node.get("filename", "")).endswith(".html"):
            root = app.builder.get_relative_uri(page, "index").rpartition("/")[0]
            address = "/".join(part for part in (root, "_downloads", node["filename"]) if part)
            node.replace_self(nodes.reference("", "", *node.children, refuri=address))
