"""Lexical overlap: the words of an original that its obfuscated text still has in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.lab.metrics.base import Case, Measurement, Metric, Reading, identify
from textveil.lab.metrics.uncertainty import average, bootstrap_ratio, describe_few
from textveil.storage.score_cache import Row, hash_text
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words


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

    @cached_property
    def share(self) -> Reading:
        """The share of all words that are unchanged."""
        share = float(self.unchanged.sum() / self.words.sum())
        return Reading(share, bootstrap_ratio(self.unchanged, self.words))

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


class Overlap(Metric):
    """The share of words of the originals that the obfuscated texts have in the same order, and ROUGE-L.

    Both follow from the longest common subsequence (LCS) of the lowercase words of the two texts. ``unchanged`` is the
    share of all words that are in it, as in clear_text. ``unchanged_content`` is the same without stopwords.
    ``rouge_l`` is the F1 of a pair's LCS, averaged over pairs. ``unrelated`` is ROUGE-L with the original of another
    text: the overlap that has nothing to do with the text.
    """

    name = "overlap"

    def measure(self, case: Case) -> Measurement:
        """Compare the words of every pair."""
        aligned, (content, contents, rouge, unrelated) = Alignment.of(case), self._compare(case).T
        readings = {"unchanged": aligned.share, "rouge_l": average(rouge)}
        if contents.any():
            share = float(content.sum() / contents.sum())
            readings["unchanged_content"] = Reading(share, bootstrap_ratio(content, contents))
        if len(rouge) > 1:
            readings["unrelated"] = average(unrelated)
        line = (
            f"{aligned.share.show('.1%', first=True)} of the words are unchanged. ROUGE-L is "
            f"{readings['rouge_l'].value:.3f}; identical texts have 1."
        )
        return self.report(line, readings, caveats=describe_few(len(rouge)))

    def _compare(self, case: Case) -> Floats:
        """Content words that are unchanged, all content words, ROUGE-L, and ROUGE-L with another original."""
        originals, obfuscated = case.originals, case.obfuscated
        others = [*originals[1:], *originals[:1]]

        def compare(positions: list[int]) -> list[Row]:
            texts = (originals, obfuscated, others)
            return [np.array(compare_words(*(find_words(each[position]) for each in texts))) for position in positions]

        rows = obfuscated.score(
            identify(self.name, self.versions),
            compare,
            keys=[hash_text(*texts) for texts in zip(originals, obfuscated, others, strict=True)],
            stage=self.name,
            progress=case.progress,
        )
        return np.array(rows)


def compare_words(original: Sequence[str], obfuscated: Sequence[str], other: Sequence[str]) -> list[float]:
    """Unchanged content words of a pair, all content words, ROUGE-L, and ROUGE-L with another original.

    >>> compare_words(["the", "red", "wine"], ["the", "wine"], ["beer"])
    [1.0, 2.0, 0.8, 0.0]
    """
    content, kept = ([word for word in words if word not in ENGLISH] for words in (original, obfuscated))
    return [
        float(count_unchanged(content, kept)),
        float(len(content)),
        rouge_l(original, obfuscated),
        rouge_l(other, obfuscated),
    ]


def rouge_l(original: Sequence[str], obfuscated: Sequence[str]) -> float:
    """ROUGE-L (Lin 2004) with equal weights: the F1 of the longest common subsequence.

    >>> rouge_l("police killed the gunman".split(), "police kill the gunman".split())
    0.75
    """
    return 2 * count_unchanged(original, obfuscated) / max(1, len(original) + len(obfuscated))
