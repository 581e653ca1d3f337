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
from textveil.lab.metrics.uncertainty import bootstrap_mean, bootstrap_ratio, describe_few, show_interval
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
        explained = explain(case)
        identical = Reading(aligned.identical / len(aligned.words), bootstrap_mean(aligned.unchanged == aligned.words))
        details = {"words": self._list_words(case.obfuscations), **explained.details}
        return self.report(
            " ".join([describe_alignment(aligned), *explained.lines]),
            {"unchanged": aligned.share, "identical": identical, **explained.values},
            intervals=explained.intervals,
            caveats=[
                *describe_few(len(aligned.words)),
                *(find_mismatch(case, aligned.share.value) if explained.values else ()),
            ],
            **details,
        )

    def _list_words(self, obfuscations: Sequence[Obfuscation] | None) -> dict[str, list[str]]:
        """The most frequent unchanged words of every reason."""
        if not self.words or obfuscations is None:
            return {}
        unchanged = count_unchanged(obfuscations)
        return {
            reason: [word for word, _ in found.most_common(self.words)] for reason, found in unchanged.items() if found
        }


def describe_alignment(aligned: Alignment) -> str:
    """The unchanged words in plain language."""
    value, interval = aligned.share
    line = f"{value:.1%} of the words reach the output unchanged{show_interval(interval, '.1%')}"
    texts = len(aligned.words)
    return f"{line}, in {aligned.identical:,} of {texts:,} texts all of them." if aligned.identical else f"{line}."


class Explanation(NamedTuple):
    """The reasons for unchanged words: values, details, sentences, and intervals."""

    values: dict[str, float]
    details: dict[str, Any]
    lines: list[str]
    intervals: Mapping[str, Interval | None]


def explain(case: Case) -> Explanation:
    """Explain unchanged words by the certificate; without one, nothing is explained.

    Raises:
        InputError: The certificate counts no words.
    """
    certificate = case.certificate
    if certificate is None:
        return Explanation({}, {}, [], {})
    words, covered = certificate.tally.words, certificate.tally.documents.total()
    if 0 < covered < len(case.originals):
        line = f"The certificate covers {covered:,} of {len(case.originals):,} texts, so it explains nothing here."
        return Explanation({}, {}, [line], {})
    if not (total := words.total()):
        raise InputError("The certificate counts no words. Give the certificate of the obfuscated file.")
    clear = {reason: words[Outcome(reason)] for reason in REASONS if reason != RETURNED}
    chosen = 1 - sum(clear.values()) / total
    of_file = found = Returns.of_certificate(certificate)
    if case.obfuscations is not None:
        found = Returns.of_chunks(case.obfuscations, case.dataset.rows)
    clear[RETURNED] = found.returned
    values = {name: count / total for name, count in clear.items()}
    values["released"] = sum(values[outcome.value] for outcome in RELEASED)
    details: dict[str, Any] = {"counts": clear}
    lines = [describe_reasons(values, chosen)]
    if found.documents:
        values |= found.as_values()
        details |= found.as_details()
        if is_replay(case):
            details["of_file"] = of_file.as_details()
            lines += [f"In the file itself: {of_file.describe()}", f"With new noise: {found.describe()}"]
        else:
            lines.append(found.describe())
        lines += describe_share(found, certificate.terms.largest_share)
    return Explanation(values, details, lines, find_intervals(case.obfuscations or (), found))


def describe_reasons(values: Mapping[str, float], chosen: float) -> str:
    """The words that were kept, by reason, and those that the mechanism chose.

    >>> describe_reasons({"kept_stopword": 0.4, "kept_unknown": 0.02, "kept_no_share": 0.0}, 0.58)
    'Of all words, 40.0% are stopwords that were kept and 2.0% are not in the vocabulary; the mechanism chose 58.0%.'
    """
    kept = [f"{values[name]:.1%} {reason}" for name, reason in REASONS.items() if name != RETURNED and values.get(name)]
    if not kept:
        return "The mechanism chose all words."
    return f"Of all words, {' and '.join(kept)}; the mechanism chose {chosen:.1%}."


def find_mismatch(case: Case, share: float) -> list[str]:
    """The caveat for a certificate that states another share of unchanged words than the texts have."""
    if case.certificate is None:
        return []
    check = check_unchanged_words(case.certificate, case.dataset.size, share)
    return [f"{check.finding} The certificate may belong to other texts."] if check.passed is False else []


def find_intervals(obfuscations: Sequence[Obfuscation], found: Returns) -> dict[str, Interval | None]:
    """The intervals of words by reason and of the worst documents, if the outcomes of chunks are given."""
    if not obfuscations:
        return {}
    tallies = [obfuscation.certificate.tally for obfuscation in obfuscations]
    totals = [tally.words.total() for tally in tallies]
    counts = {reason: [tally.words[Outcome(reason)] for tally in tallies] for reason in REASONS if reason != RETURNED}
    counts[RETURNED] = [tally.returned for tally in tallies]
    counts["released"] = [sum(tally.words[outcome] for outcome in RELEASED) for tally in tallies]
    intervals = {reason: bootstrap_ratio(counted, totals) for reason, counted in counts.items()}
    if found.by_row:
        rates = np.array(list(found.by_row.values()))
        intervals["documents_verbatim"] = bootstrap_mean(rates == 1)
        intervals["documents_80"] = bootstrap_mean(rates >= HIGH)
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
    share: float | None
    """The typical share of a perturbed chunk, their median where chunks are known; ``None`` if it is not known."""
    by_row: Mapping[int, float]
    """The share of returned words by row, from 1; empty without the outcomes of chunks."""

    @classmethod
    def of_chunks(cls, obfuscations: Sequence[Obfuscation], rows: Sequence[int]) -> Returns:
        """The returned words from the outcomes of chunks."""
        returned = perturbed = 0
        by_row: dict[int, float] = {}
        shares: list[float] = []
        for row, obfuscation in zip(rows, obfuscations, strict=True):
            chosen = [chunk for chunk in obfuscation.chunks if chunk.outcome.is_chosen]
            if words := sum(chunk.chunk.size for chunk in chosen):
                same = sum(chunk.chunk.size for chunk in chosen if is_returned(chunk))
                by_row[row + 1] = same / words
                returned, perturbed = returned + same, perturbed + words
                shares += [chunk.share for chunk in chosen]
        return cls(
            returned,
            perturbed,
            len(by_row),
            sum(rate == 1 for rate in by_row.values()),
            sum(rate >= HIGH for rate in by_row.values()),
            float(np.median(shares)) if shares else None,
            by_row,
        )

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Returns:
        """The returned words from the counts of a certificate."""
        tally, bands = certificate.tally, certificate.tally.return_bands
        perturbed = sum(tally.words[outcome] for outcome in Outcome if outcome.is_chosen)
        nearly, verbatim = (bands[band] for band in RETURN_BANDS[-2:])
        budget, share = certificate.budget, None
        if 2 * tally.capped >= perturbed:
            share = certificate.terms.largest_share
        elif budget.length == "own" and not tally.capped:
            share = budget.epsilon_per_word
        return cls(tally.returned, perturbed, bands.total(), verbatim, nearly + verbatim, share, {})

    def as_values(self) -> dict[str, float]:
        """The values of the worst documents."""
        values = {"documents_verbatim": self.verbatim / self.documents, "documents_80": self.high / self.documents}
        if not self.by_row:
            return values
        rates = np.array(list(self.by_row.values()))
        return {"returned_p95": float(np.quantile(rates, 0.95)), "returned_max": float(rates.max()), **values}

    def as_details(self) -> dict[str, Any]:
        """The counts behind the values, and the rows of the worst documents with a returned word."""
        details: dict[str, Any] = {
            "perturbed_words": self.perturbed,
            "documents": {"perturbed": self.documents, "verbatim": self.verbatim, "80": self.high},
        }
        if self.by_row:
            worst = sorted(self.by_row.items(), key=lambda item: -item[1])[:WORST]
            details["worst_rows"] = [row for row, rate in worst if rate]
        return details

    def describe(self) -> str:
        """The returned words in plain language.

        >>> Returns(12, 100, 400, 3, 10, None, {}).describe()
        '12.0% of the replaced words returned. In 3 of 400 documents all of them did, in 10 at least 80%.'
        """
        line = f"{self.returned / self.perturbed:.1%} of the replaced words returned."
        if not self.high:
            return f"{line} In none of {self.documents:,} documents did {HIGH:.0%} or more of them return."
        verbatim = f"In {self.verbatim:,} of {self.documents:,} documents all of them did"
        return f"{line} {verbatim}, in {self.high:,} at least {HIGH:.0%}."


def is_replay(case: Case) -> bool:
    """Whether the outcomes of chunks are those of a replay."""
    pairs = zip(case.obfuscations or (), case.obfuscated, strict=case.obfuscations is not None)
    return any(obfuscation.text != text for obfuscation, text in pairs)


def describe_share(found: Returns, largest: float | None) -> list[str]:
    """The sentence that explains documents that are nearly unchanged by their shares; none if shares do not."""
    if not found.high or found.share is None or largest is None or found.share < largest:
        return []
    return [f"Shares of about {found.share:.3g} explain it: the largest share is {largest:.3g}."]


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
