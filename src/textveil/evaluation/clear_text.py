"""Words that reach the output unchanged, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from textveil.errors import InputError
from textveil.evaluation.base import Case, Measurement, Metric, Need
from textveil.language.words import find_words
from textveil.privacy.certificate import Certificate
from textveil.privacy.outcomes import Outcome
from textveil.privacy.results import ObfuscatedChunk, Obfuscation
from textveil.registry import Option

RETURNED = "returned"
"""Chunks for which the mechanism happened to choose the original."""
REASONS = {
    Outcome.KEPT_STOPWORD.value: "are stopwords that were kept",
    Outcome.KEPT_UNKNOWN.value: "are not in the vocabulary",
    Outcome.KEPT_NO_SHARE.value: "got no share of the budget",
    RETURNED: "were chosen again by the mechanism",
}


class ClearText(Metric):
    """The share of words that reach the output unchanged, by reason.

    The counts come from the certificate. The outcomes of chunks, if given, add the words themselves, and the chunks for
    which the mechanism chose the original.

    Args:
        options: The number of ``words`` to show.
    """

    name = "clear_text"
    needs: ClassVar[tuple[Need, ...]] = (Need.CERTIFICATE,)

    options = (Option("words", int, 0, "Number of most frequent unchanged words to show for each reason.", least=0),)
    words: int

    def measure(self, case: Case) -> Measurement:
        """Count unchanged words with the certificate, and list them if the outcomes of chunks are given."""
        counts = read_counts(case.certificate)
        total = sum(counts.values())
        clear = {name: counts[name] for name in REASONS if name in counts}
        shown: dict[str, list[str]] = {}
        if case.obfuscations is not None:
            unchanged = count_unchanged(case.obfuscations)
            clear[RETURNED] = sum(unchanged[RETURNED].values())
            shown = {
                reason: [word for word, _ in found.most_common(self.words)]
                for reason, found in unchanged.items()
                if self.words and found
            }
        values = {name: count / total for name, count in clear.items()}
        values["released"] = values[Outcome.KEPT_UNKNOWN.value] + values[Outcome.KEPT_NO_SHARE.value]
        parts = [f"{values[name]:.1%} {reason}" for name, reason in REASONS.items() if values.get(name)]
        line = f"{sum(clear.values()) / total:.1%} of the words reach the output unchanged"
        return self.report(f"{line}: {', '.join(parts)}." if parts else f"{line}.", values, words=shown, counts=clear)


def read_counts(certificate: Certificate | None) -> dict[str, int]:
    """The number of words of every outcome, from a certificate.

    Raises:
        InputError: The certificate counts no words.
    """
    counts = {} if certificate is None else {outcome.value: certificate.tally.words[outcome] for outcome in Outcome}
    if not sum(counts.values()):
        raise InputError("The certificate counts no words. Give the certificate of the obfuscated file.")
    return counts


def count_unchanged(obfuscations: Sequence[Obfuscation]) -> dict[str, Counter[str]]:
    """Count unchanged words by reason and by the lowercase text of their chunk."""
    found: dict[str, Counter[str]] = {reason: Counter() for reason in REASONS}
    for obfuscation in obfuscations:
        for chunk in obfuscation.chunks:
            if chunk.outcome.in_clear:
                found[chunk.outcome.value][chunk.original.lower()] += chunk.chunk.size
            elif is_returned(chunk):
                found[RETURNED][chunk.original.lower()] += chunk.chunk.size
    return found


def is_returned(chunk: ObfuscatedChunk) -> bool:
    """Whether the mechanism chose the original of the chunk."""
    return chunk.replacement is not None and find_words(chunk.replacement) == find_words(chunk.original)
