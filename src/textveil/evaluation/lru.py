"""A small cache for large objects: the least recently used one goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """Objects that are built on first use; the least recently used one is dropped when the cache is full.

    Args:
        size: The number of objects to keep.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._objects: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The object of that name, built by ``make`` on first use."""
        if name not in self._objects:
            self._objects[name] = make()
            if len(self._objects) > self._size:
                self._objects.popitem(last=False)
        self._objects.move_to_end(name)
        return self._objects[name]
