"""A small cache for large objects, which drops the least recently used one first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """Objects that are built on first use. A full cache drops the least recently used one.

    Args:
        size: The number of objects to cache.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._objects: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """The object of a key, built on first use."""
        if key not in self._objects:
            self._objects[key] = build()
            if len(self._objects) > self._size:
                self._objects.popitem(last=False)
        self._objects.move_to_end(key)
        return self._objects[key]
