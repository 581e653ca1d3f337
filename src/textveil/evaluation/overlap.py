"""Lexical overlap: the words of an original that its obfuscated text still has in the same order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.alignment import Alignment, count_unchanged
from textveil.evaluation.base import Case, Interval, Measurement, Metric, identify
from textveil.evaluation.uncertainty import bootstrap_mean, bootstrap_ratio, describe_few, show_interval
from textveil.language.stopwords import ENGLISH
from textveil.language.words import find_words
from textveil.storage.score_cache import Row, hash_text


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
        values = {"unchanged": aligned.share, "rouge_l": float(rouge.mean())}
        intervals: dict[str, Interval | None] = {
            "unchanged": aligned.find_interval(),
            "rouge_l": bootstrap_mean(rouge),
        }
        line = f"{aligned.share:.1%}{show_interval(intervals['unchanged'], '.1%')} of the words are unchanged"
        if contents.any():
            values["unchanged_content"] = float(content.sum() / contents.sum())
            intervals["unchanged_content"] = bootstrap_ratio(content, contents)
            line += f", {values['unchanged_content']:.1%} without stopwords"
        line += f". ROUGE-L is {values['rouge_l']:.3f}; identical texts have 1"
        if len(rouge) > 1:
            values["unrelated"], intervals["unrelated"] = float(unrelated.mean()), bootstrap_mean(unrelated)
            line += f", unrelated ones {values['unrelated']:.3f}"
        return self.report(f"{line}.", values, intervals=intervals, caveats=describe_few(len(rouge)))

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
