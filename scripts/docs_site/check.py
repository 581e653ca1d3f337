"""Check a built site: every link of the sources is there and leads to a place, and nothing is fetched from elsewhere.

python -m scripts.docs_site.check build/docs
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
_LOADING = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"}
_DOCS = Path(__file__).parents[2] / "docs"
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", flags=re.DOTALL | re.MULTILINE)
_WRITTEN = re.compile(r"\]\(([^)\s:]+)\)")
"""The target of a link or a figure in Markdown, unless it is an address on the web."""


class _Page(HTMLParser):
    """The links of a page, its anchors, and what a browser fetches to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in _FETCHED and values.get(_FETCHED[tag]):
            self.fetched.append(values[_FETCHED[tag]])
        if tag == "link" and _LOADING & set(values.get("rel", "").split()):
            self.fetched.append(values.get("href", ""))


def find_faults(folder: Path) -> list[str]:
    """The broken links of all pages, and everything that pages fetch from other servers."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in [*page.links, *page.fetched]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            where, anchor = urldefrag(target)
            file = (path.parent / unquote(urlsplit(where).path)).resolve() if where else path
            if not file.exists():
                faults.append(f"{name}: {target} does not exist.")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                faults.append(f"{name}: {target} is no place on that page.")
        outside = [
            target for target in page.fetched if urlsplit(target).scheme in {"http", "https"} or target[:2] == "//"
        ]
        faults += [f"{name}: {target} is fetched from another server." for target in outside]
    return faults


def find_lost(folder: Path, docs: Path = _DOCS) -> list[str]:
    """The links and figures of Markdown pages that lead to no file, or that the built page does not have."""
    faults = []
    for source in sorted(docs.rglob("*.md")):
        name = source.relative_to(docs)
        built = folder / name.with_suffix(".html")
        if not built.exists():
            continue
        article = built.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
        page = _Page(article)  # menus link to every page
        shown = {Path(unquote(urlsplit(target).path)).name for target in [*page.links, *page.fetched]}
        for target in _WRITTEN.findall(_CODE.sub("", source.read_text(encoding="utf-8"))):
            file = (source.parent / urldefrag(target)[0]).resolve()
            if not file.exists():
                faults.append(f"{name}: {target} does not exist.")
            elif docs.resolve() in file.parents and file.name.replace(".md", ".html") not in shown:
                faults.append(f"{name}: {target} is not a link on the built page.")
    return faults


def main() -> None:
    """Print all faults, and fail if there are any."""
    folder = Path(sys.argv[1])
    faults = [*find_faults(folder), *find_lost(folder)]
    for fault in faults:
        print(fault)
    print(f"{len([*folder.rglob('*.html')])} pages, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
