"""A few large things that are held in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Held(Generic[T]):
    """Things that are made when they are first asked for; the one not asked for the longest goes first.

    Args:
        size: How many are held.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._things: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The thing of that name."""
        if name not in self._things:
            self._things[name] = make()
            if len(self._things) > self._size:
                self._things.popitem(last=False)
        self._things.move_to_end(name)
        return self._things[name]
