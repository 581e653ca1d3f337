"""Unchanged words: the words of originals that stand in the same order in obfuscated texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.base import Case, Interval, identify
from textveil.evaluation.uncertainty import bootstrap_ratio
from textveil.language.words import find_words
from textveil.storage.score_cache import Row, hash_text


@dataclass(frozen=True)
class Alignment:
    """The number of unchanged words and of all words of every original."""

    unchanged: Floats
    words: Floats

    @classmethod
    def of(cls, case: Case) -> Alignment:
        """Align every obfuscated text with its original. The numbers are cached."""
        originals, obfuscated = case.originals, case.obfuscated

        def work(positions: list[int]) -> list[Row]:
            found = []
            for position in positions:
                words = find_words(originals[position])
                found.append(np.array([count_unchanged(words, find_words(obfuscated[position])), len(words)], float))
            return found

        rows = obfuscated.score(
            identify("unchanged words", {}),
            work,
            keys=[hash_text(*pair) for pair in zip(originals, obfuscated, strict=True)],
            stage="unchanged words",
            progress=case.progress,
        )
        unchanged, words = np.array(rows).T
        return cls(unchanged, words)

    @property
    def share(self) -> float:
        """The share of all words that are unchanged."""
        return float(self.unchanged.sum() / self.words.sum())

    def find_interval(self) -> Interval | None:
        """The 95 % interval of the share: the bootstrap over texts."""
        return bootstrap_ratio(self.unchanged, self.words)

    @property
    def identical(self) -> int:
        """The number of texts whose words are all unchanged."""
        return int((self.unchanged == self.words).sum())


LONGEST = 20_000
"""Words to align at a time. A longer text is aligned in parts, each with the words at the same place of the other."""


def count_unchanged(original: Sequence[str], obfuscated: Sequence[str]) -> int:
    """The number of words of an original that stand in the same order in the obfuscated text.

    >>> count_unchanged("the soup was very cold".split(), "the tea was cold".split())
    3
    """
    parts = max(1, -(-max(len(original), len(obfuscated)) // LONGEST))

    def cut(words: Sequence[str], part: int) -> Sequence[str]:
        return words[part * len(words) // parts : (part + 1) * len(words) // parts]

    return sum(count_common(cut(original, part), cut(obfuscated, part)) for part in range(parts))


def count_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence of two lists of words.

    Bit-parallel (Hyyro 2004): a long integer has a bit per word of one list, so the time for texts of n words is
    n * n / 64 machine operations. Words that both lists start or end with are counted directly.

    >>> count_common("the soup was very cold".split(), "the tea was cold".split())
    3
    """
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    stop = 0
    while stop < min(len(first), len(second)) - start and first[-1 - stop] == second[-1 - stop]:
        stop += 1
    first, second = first[start : len(first) - stop], second[start : len(second) - stop]
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    everything = (1 << len(first)) - 1
    row = everything
    for word in second:
        if matching := row & places.get(word, 0):
            row = ((row + matching) | (row - matching)) & everything
    return start + stop + len(first) - row.bit_count()
