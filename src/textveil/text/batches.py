"""Batches of texts: how many texts are worked on at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import TypeVar

from textveil.errors import ParameterError

BATCH_SIZE = 256
"""Texts worked on at a time, by default."""
LARGEST_BATCH = 1_000_000
LONG_BATCH = 1_000_000
"""A batch ends early once its texts have this many characters together, so that long texts need no more memory."""

T = TypeVar("T")


def batch_texts(items: Iterable[T], size: int, text_of: Callable[[T], str | None]) -> Iterator[list[T]]:
    """Up to ``size`` items at a time, fewer if their texts are long.

    >>> list(batch_texts("abcde", 2, text_of=str))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    batch: list[T] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(text_of(item) or "")
        if len(batch) == size or characters >= LONG_BATCH:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def check_batch_size(batch_size: int) -> None:
    """Refuse a batch size that is not a positive whole number, or is too large."""
    if not isinstance(batch_size, Integral) or not 1 <= batch_size <= LARGEST_BATCH:
        raise ParameterError(f"`batch_size` must be from 1 to {LARGEST_BATCH:,}. Got {batch_size!r} instead.")
