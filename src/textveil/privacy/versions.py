"""The versions of software in a certificate, which are looked up when a certificate is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any


class Versions(Mapping[str, str]):
    """Versions by the name of the software.

    The lookup reads the records of installed packages. That takes longer than to obfuscate a sentence, and most texts
    are written without a certificate.

    Args:
        find: Looks all of them up.

    >>> dict(Versions(lambda: {"textveil": "1.0"}))
    {'textveil': '1.0'}
    """

    def __init__(self, find: Callable[[], Mapping[str, str]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> dict[str, str]:
        return dict(self._find())

    def __getitem__(self, name: str) -> str:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(self._found)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._found,)  # another process gets the versions of this one
