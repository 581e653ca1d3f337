"""Words that reach the output unchanged, by reason, and the documents in which most of them do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textveil.certificate import RETURN_BANDS, Certificate
from textveil.errors import InputError
from textveil.lab.metrics.base import Case, Interval, Measurement, Metric, Reading
from textveil.lab.metrics.overlap import Alignment
from textveil.lab.metrics.uncertainty import bootstrap_mean, bootstrap_ratio, describe_few
from textveil.lab.metrics.verification import check_unchanged_words
from textveil.outcomes import Outcome
from textveil.registry import Option
from textveil.results import ObfuscatedChunk, Obfuscation
from textveil.text.words import find_words

RETURNED = "returned"
"""Chunks for which the mechanism happened to choose the original."""
REASONS = {
    Outcome.KEPT_STOPWORD.value: "are stopwords that were kept",
    Outcome.KEPT_UNKNOWN.value: "are not in the vocabulary",
    Outcome.KEPT_NO_SHARE.value: "got no share of the budget",
    RETURNED: "were chosen again by the mechanism",
}
RELEASED = (Outcome.KEPT_UNKNOWN, Outcome.KEPT_NO_SHARE)
"""The outcomes of words that were released although they are not stopwords."""
HIGH = 0.8
"""From this share of returned words on, a document counts as nearly unchanged."""
WORST = 10
"""The number of worst documents whose rows are listed."""


class ClearText(Metric):
    """The share of words that reach the output unchanged, the reasons for it, and the worst documents.

    Unchanged words are found by aligning the two texts. The certificate adds how many words were kept, by reason, and
    how many the mechanism chose. The outcomes of chunks, if given, add the words themselves, and for every document the
    share of its perturbed words that returned.

    Args:
        options: The number of ``words`` to show.
    """

    name = "clear_text"

    options = (Option("words", int, 0, "Number of most frequent unchanged words to show for each reason.", least=0),)
    words: int

    def measure(self, case: Case) -> Measurement:
        """Align the texts, and explain unchanged words by the certificate and the outcomes of chunks if given."""
        aligned = Alignment.of(case)
        texts = len(aligned.words)
        identical = Reading(aligned.identical / texts, bootstrap_mean(aligned.unchanged == aligned.words))
        line = f"{aligned.share.show('.1%', first=True)} of the words reach the output unchanged"
        line += f", in {aligned.identical:,} of {texts:,} texts all of them." if aligned.identical else "."
        values, details, explanation = explain(case)
        caveats = describe_few(texts)
        if values and case.certificate is not None:
            check = check_unchanged_words(case.certificate, case.dataset.size, aligned.share.value)
            if check.passed is False:
                caveats.append(f"{check.finding} The certificate may belong to other texts.")
        return self.report(
            " ".join([line, *explanation]),
            {"unchanged": aligned.share, "identical": identical, **values},
            caveats=caveats,
            words=self._list_words(case.obfuscations or ()),
            **details,
        )

    def _list_words(self, obfuscations: Sequence[Obfuscation]) -> dict[str, list[str]]:
        """The most frequent unchanged words of every reason, in lower case."""
        found: dict[str, Counter[str]] = {reason: Counter() for reason in REASONS if self.words}
        for chunk in (chunk for obfuscation in obfuscations for chunk in obfuscation.chunks if self.words):
            if chunk.outcome.in_clear or is_returned(chunk):
                reason = chunk.outcome.value if chunk.outcome.in_clear else RETURNED
                found[reason][chunk.original.lower()] += chunk.chunk.size
        return {
            reason: [word for word, _ in counted.most_common(self.words)]
            for reason, counted in found.items()
            if counted
        }


def explain(case: Case) -> tuple[dict[str, Reading], dict[str, Any], list[str]]:
    """Explain unchanged words by the certificate: values, details and sentences. Without one, nothing is explained.

    Raises:
        InputError: The certificate counts no words.
    """
    certificate = case.certificate
    if certificate is None:
        return {}, {}, []
    words, covered = certificate.tally.words, certificate.tally.documents.total()
    if 0 < covered < len(case.originals):
        return (
            {},
            {},
            [f"The certificate covers {covered:,} of {len(case.originals):,} texts, so it explains nothing here."],
        )
    if not (total := words.total()):
        raise InputError("The certificate counts no words. Give the certificate of the obfuscated file.")
    of_file = found = Returns.of_certificate(certificate)
    if case.obfuscations is not None:
        found = Returns.of_chunks(case.obfuscations, case.dataset.rows)
    clear = {reason: found.returned if reason == RETURNED else words[Outcome(reason)] for reason in REASONS}
    values = {name: count / total for name, count in clear.items()}
    values["released"] = sum(values[outcome.value] for outcome in RELEASED)
    details: dict[str, Any] = {"counts": clear}
    kept = [f"{values[name]:.1%} {reason}" for name, reason in REASONS.items() if name != RETURNED and values[name]]
    lines = [f"Of all words, {' and '.join(kept)}." if kept else "The mechanism chose all words."]
    if found.documents:
        values |= found.as_values()
        details |= found.as_details()
        lines.append(found.describe())
        if any(result.text != text for result, text in zip(case.obfuscations or (), case.obfuscated, strict=False)):
            details["of_file"] = of_file.as_details()  # the chunks are those of a replay
            lines[1:] = [f"In the file itself: {of_file.describe()}", f"With new noise: {found.describe()}"]
    intervals = find_intervals(case.obfuscations or ())
    return {name: Reading(value, intervals.get(name)) for name, value in values.items()}, details, lines


def find_intervals(obfuscations: Sequence[Obfuscation]) -> dict[str, Interval | None]:
    """The intervals of words by reason and of the worst documents, if the outcomes of chunks are given."""
    if not obfuscations:
        return {}
    tallies = [obfuscation.certificate.tally for obfuscation in obfuscations]
    totals = [tally.words.total() for tally in tallies]
    counts = {reason: [tally.words[Outcome(reason)] for tally in tallies] for reason in REASONS if reason != RETURNED}
    counts[RETURNED] = [tally.returned for tally in tallies]
    counts["released"] = [sum(tally.words[outcome] for outcome in RELEASED) for tally in tallies]
    intervals = {reason: bootstrap_ratio(counted, totals) for reason, counted in counts.items()}
    if rates := list(Returns.of_chunks(obfuscations, range(len(obfuscations))).by_row.values()):
        intervals["documents_verbatim"] = bootstrap_mean(np.array(rates) == 1)
        intervals["documents_80"] = bootstrap_mean(np.array(rates) >= HIGH)
    return intervals


class Returns(NamedTuple):
    """The perturbed words that returned, in all documents and in the worst ones."""

    returned: int
    perturbed: int
    documents: int
    """The number of documents with a perturbed word."""
    verbatim: int
    """The number of documents whose perturbed words all returned."""
    high: int
    """The number of documents in which most of the perturbed words returned, or all."""
    by_row: Mapping[int, float] = {}
    """The share of returned words by row, from 1; empty without the outcomes of chunks."""

    @classmethod
    def of_chunks(cls, obfuscations: Sequence[Obfuscation], rows: Sequence[int]) -> Returns:
        """The returned words from the outcomes of chunks."""
        returned = perturbed = 0
        by_row: dict[int, float] = {}
        for row, obfuscation in zip(rows, obfuscations, strict=True):
            chosen = [chunk for chunk in obfuscation.chunks if chunk.outcome.is_chosen]
            if words := sum(chunk.chunk.size for chunk in chosen):
                same = sum(chunk.chunk.size for chunk in chosen if is_returned(chunk))
                by_row[row + 1] = same / words
                returned, perturbed = returned + same, perturbed + words
        verbatim, high = (sum(rate >= least for rate in by_row.values()) for least in (1, HIGH))
        return cls(returned, perturbed, len(by_row), verbatim, high, by_row)

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Returns:
        """The returned words from the counts of a certificate."""
        tally, bands = certificate.tally, certificate.tally.return_bands
        perturbed = sum(tally.words[outcome] for outcome in Outcome if outcome.is_chosen)
        nearly, verbatim = (bands[band] for band in RETURN_BANDS[-2:])
        return cls(tally.returned, perturbed, bands.total(), verbatim, nearly + verbatim)

    def as_values(self) -> dict[str, float]:
        """The values of the worst documents."""
        values = {"documents_verbatim": self.verbatim / self.documents, "documents_80": self.high / self.documents}
        if self.by_row:
            rates = list(self.by_row.values())
            values |= {"returned_p95": float(np.quantile(rates, 0.95)), "returned_max": max(rates)}
        return values

    def as_details(self) -> dict[str, Any]:
        """The counts behind the values, and the rows of the worst documents with a returned word."""
        counts = {"perturbed": self.documents, "verbatim": self.verbatim, "80": self.high}
        worst = sorted(self.by_row.items(), key=lambda item: -item[1])[:WORST]
        rows = {"worst_rows": [row for row, rate in worst if rate]} if self.by_row else {}
        return {"perturbed_words": self.perturbed, "documents": counts, **rows}

    def describe(self) -> str:
        """The returned words in plain language.

        >>> Returns(12, 100, 400, 3, 10).describe()
        '12.0% of the replaced words returned. In 3 of 400 documents all of them did, in 10 at least 80%.'
        """
        return (
            f"{self.returned / self.perturbed:.1%} of the replaced words returned. In {self.verbatim:,} of "
            f"{self.documents:,} documents all of them did, in {self.high:,} at least {HIGH:.0%}."
        )


def is_returned(chunk: ObfuscatedChunk) -> bool:
    """Whether the mechanism chose the original of the chunk."""
    return chunk.replacement is not None and find_words(chunk.replacement) == find_words(chunk.original)
