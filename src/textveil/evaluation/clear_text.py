"""Which words reached the output unchanged, and why."""

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

RETURNED = "returned"
"""Chunks that the mechanism chose, and that are what they were by chance."""
REASONS = {
    Outcome.KEPT_STOPWORD.value: "stopwords, kept",
    Outcome.KEPT_UNKNOWN.value: "unknown to the vocabulary, released",
    Outcome.KEPT_NO_SHARE.value: "without a share of the budget, released",
    RETURNED: "chosen by the mechanism, and the same by chance",
}


class ClearText(Metric):
    """The share of the words that reached the output unchanged, by reason.

    The certificate has the counts. What became of every chunk also tells which words these are, and which the mechanism
    gave back as they were.

    Args:
        words: How many of the most frequent such words are shown for each reason; 0 shows none.
    """

    name = "clear_text"
    needs: ClassVar[tuple[Need, ...]] = (Need.CERTIFICATE,)

    def __init__(self, *, words: int = 0) -> None:
        super().__init__()
        self._words = words

    def measure(self, case: Case) -> Measurement:
        """Count them, from the certificate; name them, where chunks are known."""
        counts = read_counts(case.certificate)
        total = sum(counts.values())
        clear = {name: counts[name] for name in REASONS if name in counts}
        shown: dict[str, list[str]] = {}
        if case.obfuscations is not None:
            unchanged = count_unchanged(case.obfuscations)
            clear[RETURNED] = sum(unchanged[RETURNED].values())
            shown = {
                reason: [word for word, _ in found.most_common(self._words)]
                for reason, found in unchanged.items()
                if self._words and found
            }
        values = {name: count / total for name, count in clear.items()}
        values["released"] = values[Outcome.KEPT_UNKNOWN.value] + values[Outcome.KEPT_NO_SHARE.value]
        parts = ", ".join(f"{values[name]:.1%} {words}" for name, words in REASONS.items() if values.get(name))
        line = f"{sum(clear.values()) / total:.1%} of the words reached the output unchanged: {parts or 'none'}."
        return self.say(line, values, words=shown, counts=clear)


def read_counts(certificate: Certificate | None) -> dict[str, int]:
    """The words of every outcome that a certificate counts.

    Raises:
        InputError: It counts none.
    """
    counts = {} if certificate is None else {outcome.value: certificate.tally.words[outcome] for outcome in Outcome}
    if not sum(counts.values()):
        raise InputError("The certificate counts no words. Give that of the obfuscated file.")
    return counts


def count_unchanged(obfuscations: Sequence[Obfuscation]) -> dict[str, Counter[str]]:
    """How many words of every chunk reached the output unchanged, by reason and by what the chunk says."""
    found: dict[str, Counter[str]] = {reason: Counter() for reason in REASONS}
    for obfuscation in obfuscations:
        for chunk in obfuscation.chunks:
            if chunk.outcome.in_clear:
                found[chunk.outcome.value][chunk.original.lower()] += chunk.chunk.size
            elif is_returned(chunk):
                found[RETURNED][chunk.original.lower()] += chunk.chunk.size
    return found


def is_returned(chunk: ObfuscatedChunk) -> bool:
    """Whether the mechanism chose what the chunk was."""
    return chunk.replacement is not None and find_words(chunk.replacement) == find_words(chunk.original)
