"""Methods: what those of every axis have in common, and their names, which lead to them when first asked for."""

from __future__ import annotations

import difflib
import importlib
from abc import ABC
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, TypeVar, cast

from textveil.errors import ParameterError, UnknownNameError

T = TypeVar("T")


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not known: the nearest one, and all there are."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name).lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownNameError(f"There is no {kind} {name!r}.{hint} Choose from: {', '.join(names)}.")


class Method(ABC):
    """A method of an axis, such as a distributor: it has a name, and says in full what its results depend on.

    Args:
        options: What a method does not take itself; there must be none.
    """

    kind: ClassVar[str]
    """How errors call the axis."""
    name: str

    def __init__(self, **options: Any) -> None:
        if options:
            raise ParameterError(f"The {self.kind} {self.name!r} has no {', '.join(options)} to choose.")

    @property
    def description(self) -> str:
        """The name, and all that was chosen besides and makes other results."""
        return self.name

    @property
    def versions(self) -> dict[str, str]:
        """The software that its results depend on, besides textveil itself."""
        return {}


class Registry(Generic[T]):
    """One axis of methods: a name leads to ``"module:attribute"``, imported on first use."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._targets: dict[str, str] = {}
        self._aliases: dict[str, str] = {}

    def register(self, name: str, target: str, *, aliases: Iterable[str] = ()) -> None:
        """Add a method; a name or alias that is taken is refused."""
        aliases = tuple(aliases)
        for label in (name, *aliases):
            if label in self._targets or label in self._aliases:
                raise ParameterError(f"The {self.kind} name {label!r} is taken. Choose another.")
        self._targets[name] = target
        self._aliases.update(dict.fromkeys(aliases, name))

    def load(self, name: str) -> T:
        """Import what ``name`` or one of its aliases stands for."""
        canonical = self.resolve(name)
        if canonical not in self._targets:
            raise unknown_name(self.kind, name, self._targets)
        module, _, attribute = self._targets[canonical].partition(":")
        return cast("T", getattr(importlib.import_module(module), attribute))

    def resolve(self, name: str) -> str:
        """The name that an alias stands for; what is not known stays as it is. Nothing is imported."""
        return self._aliases.get(name, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def __contains__(self, name: Any) -> bool:
        return name in self._targets or name in self._aliases
