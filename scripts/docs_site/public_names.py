"""The public names of the code: what its modules list in ``__all__``, with their documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import textveil

SOURCE = Path(textveil.__file__).parent


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name that users may rely on."""

    module: str
    name: str
    value: Any
    documentation: str
    """Its own docstring; empty if it has none."""

    @property
    def path(self) -> str:
        """The name to import it by."""
        return f"{self.module}.{self.name}"

    @property
    def is_data(self) -> bool:
        """Whether it is neither a class nor a function."""
        return not (inspect.isclass(self.value) or inspect.isroutine(self.value))


def list_public_names(source: Path = SOURCE, package: str = "textveil") -> dict[str, list[PublicName]]:
    """The public names by module. Modules without any are left out."""
    found: dict[str, list[PublicName]] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        dotted = ".".join([package, *(part for part in parts if part != "__init__")])
        if "__all__" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(dotted)
            names = [
                _read_name(module, name)
                for name in module.__all__
                if not name.startswith("__") and not inspect.ismodule(getattr(module, name))  # it has a page of its own
            ]
            if names:
                found[dotted] = names
    return found


def list_undocumented(names: dict[str, list[PublicName]]) -> list[str]:
    """The names without a docstring of their own."""
    return [name.path for each in names.values() for name in each if not name.documentation]


def find_homes(names: dict[str, list[PublicName]]) -> dict[str, str]:
    """The name under which each one is documented: a name in several modules is documented in the innermost package."""
    homes: dict[int, str] = {}
    for module in sorted(names, key=lambda each: (each == "textveil", each.count("."))):
        for name in names[module]:
            if not name.is_data:
                homes.setdefault(id(name.value), name.path)
    every = [name for each in names.values() for name in each]
    return {name.path: homes.get(id(name.value), name.path) if not name.is_data else name.path for name in every}


def _read_name(module: ModuleType, name: str) -> PublicName:
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
        written = "" if (own or "").startswith(f"{name}(") else own or ""  # a dataclass without one gets its signature
        return PublicName(module.__name__, name, value, inspect.cleandoc(written))
    return PublicName(module.__name__, name, value, _find_comment(module.__name__, name))


def _find_comment(module: str, name: str) -> str:
    """The docstring below the assignment of a name, in the module that assigns it."""
    while True:
        lines = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
        if lines:
            return "\n".join(lines).strip()
        origin = dict(_list_imports(module)).get(name)
        if origin is None:
            return ""
        module = origin


def _list_imports(module: str) -> Iterator[tuple[str, str]]:
    """Every name that a module imports from another one, now or when it is first asked for."""
    loaded = importlib.import_module(module)
    for node in ast.walk(ast.parse(inspect.getsource(loaded))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, node.module) for alias in node.names)
    yield from getattr(loaded, "_LAZY", {}).items()
