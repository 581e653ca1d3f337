"""Lexical overlap: the words of an original that its obfuscated text still has in the same order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.evaluation.base import Case, Measurement, Metric, identify
from textveil.evaluation.uncertainty import bootstrap_mean, describe_few, show_interval
from textveil.language.stopwords import ENGLISH
from textveil.language.words import find_words
from textveil.storage.score_cache import Row, hash_text

VALUES = ("unchanged", "unchanged_content", "rouge_l", "unrelated")


class Overlap(Metric):
    """The share of words of an original that its obfuscated text has in the same order, and ROUGE-L.

    Both follow from the longest common subsequence (LCS) of the lowercase words of the two texts. ``unchanged`` is its
    length divided by the number of words of the original: the recall of ROUGE-L. ``unchanged_content`` is the same
    without stopwords. ``rouge_l`` is the harmonic mean of recall and precision. ``unrelated`` is ROUGE-L with the
    original of another text: the overlap that has nothing to do with the text. All are means over pairs.
    """

    name = "overlap"

    def measure(self, case: Case) -> Measurement:
        """Compare the words of every pair."""
        originals, obfuscated = case.originals, case.obfuscated

        def compare(positions: list[int]) -> list[Row]:
            return [
                np.array(
                    compare_words(
                        find_words(originals[position]),
                        find_words(obfuscated[position]),
                        find_words(originals[(position + 1) % len(originals)]),
                    )
                )
                for position in positions
            ]

        rows = obfuscated.score(
            identify(self.name, self.versions),
            compare,
            keys=[
                hash_text(original, text, originals[(position + 1) % len(originals)])
                for position, (original, text) in enumerate(zip(originals, obfuscated, strict=True))
            ],
            stage="overlap",
            progress=case.progress,
        )
        scores = dict(zip(VALUES, np.array(rows).T, strict=True))
        if len(originals) < 2:
            del scores["unrelated"]
        known = {name: column for name, column in scores.items() if not np.isnan(column).all()}
        values = {name: float(np.nanmean(column)) for name, column in known.items()}
        intervals = {name: bootstrap_mean(column) for name, column in known.items()}
        content = f" ({values['unchanged_content']:.1%} without stopwords)" if "unchanged_content" in values else ""
        unrelated = f"; with an unrelated original it is {values['unrelated']:.3f}" if "unrelated" in values else ""
        line = (
            f"On average, {values['unchanged']:.1%}{show_interval(intervals['unchanged'], '.1%')} of a text's words "
            f"are unchanged and in the same order{content}. ROUGE-L is {values['rouge_l']:.3f}{unrelated}."
        )
        return self.report(line, values, intervals=intervals, caveats=describe_few(len(originals)))


def compare_words(original: Sequence[str], obfuscated: Sequence[str], other: Sequence[str]) -> list[float]:
    """The values of a pair: unchanged words, those without stopwords, ROUGE-L, and ROUGE-L with another original.

    >>> compare_words(["the", "red", "wine"], ["the", "wine"], ["beer"])
    [0.6666666666666666, 0.5, 0.8, 0.0]
    """
    content, kept = ([word for word in words if word not in ENGLISH] for words in (original, obfuscated))
    return [
        count_common(original, obfuscated) / len(original),
        count_common(content, kept) / len(content) if content else float("nan"),
        rouge_l(original, obfuscated),
        rouge_l(other, obfuscated),
    ]


def rouge_l(original: Sequence[str], obfuscated: Sequence[str]) -> float:
    """ROUGE-L (Lin 2004) with equal weights: the F1 of the longest common subsequence.

    >>> rouge_l("police killed the gunman".split(), "police kill the gunman".split())
    0.75
    """
    return 2 * count_common(original, obfuscated) / max(1, len(original) + len(obfuscated))


def count_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, by the bit-parallel algorithm of Hyyrö (2004).

    >>> count_common("abcbdab", "bdcaba")
    4
    """
    places: dict[str, int] = {}
    for position, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << position
    everywhere = (1 << len(first)) - 1
    row = everywhere  # a 0 for every word of the first text where the LCS with a part of the second one grows
    for word in second:
        matched = row & places.get(word, 0)
        row = (row + matched | row - matched) & everywhere
    return len(first) - row.bit_count()
