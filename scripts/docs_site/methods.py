"""The reference of methods, metrics and classifiers with their options, written from the registries."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from sphinx.errors import ExtensionError
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

from scripts.docs_site.rst import escape, title
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.registry import Method, Option, Registry

REGISTRIES: dict[str, Registry[Any]] = {
    "Decompositions": DECOMPOSERS,
    "Distributions": DISTRIBUTORS,
    "Mechanisms": MECHANISMS,
    "Metrics": METRICS,
    "Classifiers": CLASSIFIERS,
}
_SECTIONS: Any = Config(napoleon_custom_sections=["Guarantee"])
_TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false", object: "any"}


def write_methods_page() -> str:
    """One page with all methods."""
    lines = title("Methods and their options")
    lines += [
        "The name of a method is the same on the command line, in study files and in Python. Options are the flags of",
        "``textveil obfuscate``, keys below a method in a study file, and ``distribution_options={...}`` in Python.",
        "",
    ]
    for heading, registry in REGISTRIES.items():
        lines += title(heading, "-")
        for name in registry:
            lines += _describe(name, registry.load(name))
    return "\n".join(lines)


def _describe(name: str, method: type[Method]) -> Iterator[str]:
    documentation = method.__dict__.get("__doc__")
    if not documentation:
        raise ExtensionError(f"The method {name!r} has no docstring. Say what it does.")
    yield from title(f"``{name}``", "~")
    yield from str(GoogleDocstring(inspect.cleandoc(documentation), _SECTIONS)).splitlines()
    yield ""
    if options := method.list_options():
        yield from [".. list-table::", "   :header-rows: 1", "   :widths: 20 15 15 50", ""]
        yield from _row("option", "type", "default", "meaning")
        for option in options.values():
            yield from _row(f"``{option.name}``", _TYPES[option.kind], _say_default(option), escape(option.help))
        yield ""


def _say_default(option: Option) -> str:
    return "none" if option.default is None else f"``{option.default}``"


def _row(*cells: str) -> list[str]:
    return [f"   {'*' if not number else ' '} - {cell}" for number, cell in enumerate(cells)]
