"""The reference of the Python names, written from ``__all__`` and docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

from scripts.docs_site.public_names import PublicName, find_homes
from scripts.docs_site.rst import escape, indent, title
from textveil.registry import Registry

ROOT = "textveil"


def write_api_pages(names: dict[str, list[PublicName]]) -> dict[str, str]:
    """The pages by name: one for every module with public names, and ``index``, which lists them."""
    homes = find_homes(names)
    pages = {module: "\n".join(_describe(module, each, homes)) for module, each in names.items()}
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for module in names:
        lines += [f"   * - :doc:`{module}`", f"     - {_first_sentence(_read_docstring(module))}"]
    contents = ["", ".. toctree::", "   :hidden:", "", *(f"   {module}" for module in names), ""]
    note = "You may rely on the names on these pages. Everything else may change without notice."
    pages["index"] = "\n".join([*title("Python"), note, "", *lines, *contents])
    return pages


def _describe(module: str, names: list[PublicName], homes: dict[str, str]) -> Iterator[str]:
    yield from title(module)
    yield from [f".. py:module:: {module}", "", *_read_docstring(module).splitlines(), ""]
    elsewhere = [name for name in names if homes[name.path] != name.path]
    own = [name for name in names if homes[name.path] == name.path]
    yield from [".. list-table::", "   :widths: 30 70", ""]
    for name in [*own, *elsewhere]:
        yield f"   * - :py:obj:`~{homes[name.path]}`"
        yield f"     - {_first_sentence(name.documentation)}"
    yield ""
    for name in own:
        yield from _describe_data(name) if name.is_data else _describe_object(name)


def _describe_object(name: PublicName) -> list[str]:
    if not inspect.isclass(name.value):
        return [f".. autofunction:: {name.path}", ""]
    kind = "exception" if issubclass(name.value, Exception) else "class"
    members = [] if kind == "exception" else ["   :members:"]
    bases = [] if name.value.__bases__ == (object,) else ["   :show-inheritance:"]
    return [f".. auto{kind}:: {name.path}", *members, *bases, ""]


def _describe_data(name: PublicName) -> list[str]:
    known = [f"Names: {', '.join(f'``{each}``' for each in name.value)}.", ""] if _is_registry(name) else []
    value = [f"   :value: {name.value!r}"] if isinstance(name.value, str | int | float) else []
    kind = [f"   :type: {type(name.value).__name__}"] if type(name.value).__module__ != "typing" else []
    return [f".. py:data:: {name.name}", *kind, *value, "", *indent([*name.documentation.splitlines(), "", *known])]


def _is_registry(name: PublicName) -> bool:
    return isinstance(name.value, Registry)


def _read_docstring(module: str) -> str:
    return inspect.getdoc(importlib.import_module(module)) or ""


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = paragraph.partition(". ")[0].rstrip(".") + "."
    return sentence if "``" in sentence else escape(sentence)
