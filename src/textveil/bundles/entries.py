"""The entries of a vocabulary as one block of text: found by hash, and read as strings only where they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from textveil.bundles.files import RowNumbers

Hashes = npt.NDArray[np.uint64]
Marks = npt.NDArray[np.bool_]

UNKNOWN = -1
"""The row of a chunk that is not in the vocabulary."""

_PLAIN_ENTRY = re.compile(r"[^\W_]+(?:[ _][^\W_]+)*")
_WORD_BYTES = 8  # an entry is hashed eight bytes at a time
_MASK = 2**64 - 1
_FACTOR = 0x9E3779B97F4A7C15
_SHIFT = 29
_PARTIAL = np.array([(1 << 8 * used) - 1 for used in range(_WORD_BYTES + 1)], dtype=np.uint64)
_LETTER, _JOINER, _OTHER, _FURTHER = range(4)
"""The kinds of bytes: a letter or digit, a space or underscore, another ASCII character, a part of a further one."""
_KINDS = np.full(256, _FURTHER, dtype=np.uint8)
_KINDS[:128] = [_LETTER if chr(code).isalnum() else _JOINER if chr(code) in " _" else _OTHER for code in range(128)]
_FOLDED = bytes(range(256)).lower().replace(b" ", b"_").replace(b"'", b"_")
"""What each byte becomes in :meth:`Entries.fold`. Those beyond ASCII stay, as with ``bytes.lower``."""


def is_plain(entry: str) -> bool:
    """Whether an entry consists of words only and can therefore be written into a text.

    >>> [is_plain(entry) for entry in ("tea", "new_york", "_tea_", "...", "a@b.org")]
    [True, True, False, False, False]
    """
    return entry.isalnum() or _PLAIN_ENTRY.fullmatch(entry) is not None


class Entries(Sequence[str]):
    """A sequence of strings that looks like a list, and finds a string by its hash.

    A million strings and a dictionary of them take half a second to make and 200 MB. This takes a fraction of both: the
    text stays as it is in the file, and arrays know where each entry starts and in which order their hashes are.

    Args:
        content: The entries in UTF-8, with one byte between any two.
        starts: The place of the first byte of each entry.
        stops: The place behind its last byte.
    """

    def __init__(self, content: bytes, starts: RowNumbers, stops: RowNumbers) -> None:
        self._content, self._starts, self._stops = content, starts, stops
        self._known: dict[str, int] = {}

    @classmethod
    def parse(cls, content: bytes) -> Entries:
        r"""The lines of a file.

        >>> list(Entries.parse(b"tea\ngreen_tea\n"))
        ['tea', 'green_tea']

        Raises:
            UnicodeDecodeError: The content is not UTF-8.
        """
        if not content.isascii():
            content.decode()
        content = content.removesuffix(b"\n")
        breaks = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n"))
        return cls(content, np.append(0, breaks + 1), np.append(breaks, len(content)))

    @classmethod
    def of(cls, entries: Iterable[str]) -> Entries:
        """The same entries in this form."""
        if isinstance(entries, Entries):
            return entries
        encoded = [entry.encode("utf-8", "surrogatepass") for entry in entries]
        stops = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
        return cls(b"\n".join(encoded), np.append(0, stops + 1)[: len(encoded)], stops)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        return self._content[self._starts[place] : self._stops[place]].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for start, stop in zip(self._starts.tolist(), self._stops.tolist(), strict=True):
            yield self._content[start:stop].decode("utf-8", "surrogatepass")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.find(key) != UNKNOWN

    def find(self, key: str) -> int:
        """The row of an entry, or ``UNKNOWN``; of equal entries, any."""
        row = self._known.get(key)
        if row is not None:
            return row
        row = self._search(key.encode("utf-8", "surrogatepass"))
        if row != UNKNOWN:
            self._known[key] = row
        return row

    def _search(self, key: bytes) -> int:
        hashed, order = self._sorted
        wanted = np.uint64(hash_bytes(key))
        place = int(hashed.searchsorted(wanted))
        while place < len(hashed) and hashed[place] == wanted:
            row = int(order[place])
            if self._content[self._starts[row] : self._stops[row]] == key:
                return row
            place += 1
        return UNKNOWN

    def find_all(self, keys: Iterable[str]) -> RowNumbers:
        """The rows of those keys that are entries."""
        found = np.array([self.find(key) for key in keys], dtype=np.int64)
        return np.asarray(found[found != UNKNOWN])

    def _read(self, row: int) -> bytes:
        return self._content[self._starts[row] : self._stops[row]]

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of every entry; see :func:`hash_bytes`."""
        return _hash_parts(self._content, self._starts, self._stops)

    @cached_property
    def _sorted(self) -> tuple[Hashes, RowNumbers]:
        """All hashes in order, and the rows they belong to."""
        order = np.argsort(self.hashes)
        return self.hashes[order], order

    @cached_property
    def are_distinct(self) -> bool:
        """Whether no entry is there twice."""
        hashed, order = self._sorted
        alike = np.flatnonzero(hashed[1:] == hashed[:-1])
        if len(alike) == 0:
            return True
        rows = np.unique(np.concatenate([order[alike], order[alike + 1]])).tolist()
        return len({self._read(row) for row in rows}) == len(rows)

    @cached_property
    def _joined(self) -> tuple[Marks, Marks]:
        """Which entries are plain, and which have a space or an underscore. Only entries beyond ASCII are read."""
        kinds = _KINDS[np.frombuffer(self._content, dtype=np.uint8)]
        if len(self) > 1:
            kinds[self._stops[:-1]] = _LETTER  # what is between entries belongs to none
        special = np.flatnonzero(kinds)
        rows = np.searchsorted(self._stops, special, side="right")
        found = kinds[special]
        joins = found == _JOINER
        at_edge = joins & ((special == self._starts[rows]) | (special == self._stops[rows] - 1))
        doubled = np.zeros(len(special), dtype=bool)
        doubled[1:] = joins[1:] & joins[:-1] & (np.diff(special) == 1) & (rows[1:] == rows[:-1])
        plain = self._stops > self._starts
        plain[rows[(found == _OTHER) | at_edge | doubled]] = False
        joined = np.zeros(len(self), dtype=bool)
        joined[rows[joins]] = True
        for row in np.unique(rows[found == _FURTHER]).tolist():
            plain[row] = is_plain(self[row])
        return plain, joined

    @property
    def plain(self) -> Marks:
        """Whether each entry consists of words only; see :func:`is_plain`."""
        return self._joined[0]

    @property
    def alphanumeric(self) -> Marks:
        """Whether each entry consists of letters and digits only, so that it is a single word."""
        plain, joined = self._joined
        return plain & ~joined

    @cached_property
    def most_joints(self) -> int:
        """The largest number of underscores in an entry."""
        places = np.flatnonzero(np.frombuffer(self._content, dtype=np.uint8) == ord("_"))
        rows = np.searchsorted(self._stops, places, side="right")
        return int(np.bincount(rows, minlength=1).max())

    def fold(self) -> Hashes:
        """A hash of the words of every entry: in lowercase, whatever joins them."""
        hashes = _hash_parts(self._content.translate(_FOLDED), self._starts, self._stops)
        if not self._content.isascii():
            further = np.flatnonzero(_KINDS[np.frombuffer(self._content, dtype=np.uint8)] == _FURTHER)
            for row in np.unique(np.searchsorted(self._stops, further, side="right")).tolist():
                folded = self[row].lower().replace(" ", "_").replace("'", "_")
                hashes[row] = hash_bytes(folded.encode("utf-8", "surrogatepass"))
        return hashes


def hash_bytes(key: bytes) -> int:
    """A hash of 64 bits; the hashes of a vocabulary are computed all at once.

    It is public and has no secret. :meth:`Entries.find` compares entries with equal hashes, so they only cost time.
    """
    mixed = len(key)
    for start in range(0, len(key), _WORD_BYTES):
        mixed = ((mixed ^ int.from_bytes(key[start : start + _WORD_BYTES], "little")) * _FACTOR) & _MASK
        mixed ^= mixed >> _SHIFT
    return mixed


def _view_words(content: bytes) -> Hashes:
    """The eight bytes that begin at every byte of a text, as a number."""
    padded = content + bytes(_WORD_BYTES)
    return np.ndarray(len(content) + 1, dtype="<u8", buffer=padded, strides=(1,))


def _hash_parts(content: bytes, starts: RowNumbers, stops: RowNumbers) -> Hashes:
    """What :func:`hash_bytes` gives for every part of a text."""
    words = _view_words(content)
    lengths = stops - starts
    mixed: Hashes = lengths.astype(np.uint64)
    rows = np.flatnonzero(lengths > 0)
    start = 0
    while len(rows):
        used = np.minimum(lengths[rows] - start, _WORD_BYTES)
        some = mixed[rows] ^ (words[starts[rows] + start] & _PARTIAL[used])
        some *= np.uint64(_FACTOR)
        mixed[rows] = some ^ (some >> np.uint64(_SHIFT))
        start += _WORD_BYTES
        rows = rows[lengths[rows] > start]
    return mixed


def is_in(hashes: Hashes, others: Hashes) -> Marks:
    """Whether each hash is among the others. With fewer others this is faster than numpy's function of that name."""
    if len(others) == 0:
        return np.zeros(len(hashes), dtype=bool)
    ordered = np.sort(others)
    return np.asarray(ordered[np.minimum(ordered.searchsorted(hashes), len(ordered) - 1)] == hashes)
