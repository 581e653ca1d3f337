"""Surviving identifiers: names, places, dates and numbers of the originals that the obfuscated texts still contain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textveil.lab.metrics.base import EXTRA, Case, Measurement, Metric, Reading, add_constants, identify
from textveil.lab.metrics.uncertainty import average, bootstrap_ratio, describe_few
from textveil.registry import Option
from textveil.storage.score_cache import Row, hash_text
from textveil.text.identifiers import (
    HARMS,
    KINDS,
    LEAST_SCORE,
    MODEL_KINDS,
    RECOGNIZERS,
    SKIPPED_BY_DEFAULT,
    Finder,
    Found,
    Harm,
    is_whole,
)

CHOICES = {"all": KINDS, "paper": tuple(kind for kind in KINDS if kind not in SKIPPED_BY_DEFAULT)}
"""The kinds to count, by the value of the option ``kinds``."""
_SPACE = re.compile(r"\s+")


_EXAMPLES = {
    Harm.DIRECT: "people, email addresses, phone and account numbers",
    Harm.INDIRECT: "places, organizations, nationalities, dates",
    Harm.OTHER: "numbers, products, works",
}


class Counts(NamedTuple):
    """The identifiers of every text that survived, and all of them."""

    survived: list[int]
    found: list[int]

    @classmethod
    def over(cls, rows: Sequence[Sequence[bool]]) -> Counts:
        """Count the identifiers of every text."""
        return cls([sum(row) for row in rows], [len(row) for row in rows])

    @property
    def texts(self) -> int:
        """The number of texts that have an identifier."""
        return sum(number > 0 for number in self.found)

    def average(self, over: str) -> Reading:
        """The mean share over texts that have an identifier (``pairs``), or the share of all ``identifiers``.

        >>> counts = Counts([1, 0, 0], [1, 3, 0])
        >>> counts.average("pairs").value, counts.average("identifiers").value
        (0.5, 0.25)
        """
        if over == "identifiers":
            interval = bootstrap_ratio(self.survived, self.found)
            return Reading(sum(self.survived) / max(1, sum(self.found)), interval)
        shares = [survived / found for survived, found in zip(self.survived, self.found, strict=True) if found]
        return average(shares) if shares else Reading(0.0)


def _as_row(text: str, found: Sequence[Found]) -> Row:
    """Identifiers as numbers, without those that split a word."""
    whole = [(start, stop, KINDS.index(kind)) for start, stop, kind in found if is_whole(text, start, stop)]
    return np.array(whole, dtype=np.float64).ravel()


class Identifiers(Metric):
    """The share of identifiers of an original that survive in its obfuscated text, averaged over pairs.

    Identifiers are grouped by harm: direct ones, indirect ones and others. Presidio finds them. An identifier survives
    if the obfuscated text contains all of it as whole words. Case and the amount of space between words do not matter.
    A part of a text that has several kinds counts once, with the most harmful one. Pairs whose original has no
    identifier are skipped.

    Args:
        options: The ``kinds`` to count, and what to ``average`` over.
    """

    name = "identifiers"

    options = (
        Option(
            "kinds",
            str,
            "all",
            "Kinds of identifiers to count: all, or those that Presidio finds by default, as in the paper (paper).",
            choices=tuple(CHOICES),
        ),
        Option(
            "average",
            str,
            "pairs",
            "The mean over the pairs whose original has an identifier, as in the paper (pairs), or the share of all "
            "identifiers together (identifiers).",
            choices=("pairs", "identifiers"),
        ),
    )
    kinds: str
    average: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.finder = Finder(extra=EXTRA)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The entity recognizer of spaCy's model."""
        return self.finder.model_used

    def as_dict(self) -> dict[str, Any]:
        """The record of the metric, with a hash of Presidio's configuration."""
        return add_constants(super().as_dict(), configuration=_hash_configuration(HARMS, CHOICES))

    @property
    def versions(self) -> dict[str, str]:
        """Presidio and spaCy."""
        return self.finder.versions

    def find(self, case: Case) -> list[list[Found]]:
        """The identifiers of every original. They are cached as positions, not as text."""
        originals = case.originals

        def work(positions: list[int]) -> list[Row]:
            texts = [originals[position] for position in positions]
            return [_as_row(text, found) for text, found in zip(texts, self.finder.find(texts), strict=True)]

        rows = originals.score(self._positions, work, stage="originals, identifiers", progress=case.progress)
        return [[Found(a, b, KINDS[kind]) for a, b, kind in row.astype(int).reshape(-1, 3).tolist()] for row in rows]

    @property
    def _positions(self) -> dict[str, object]:
        """The identity of the positions of identifiers, which the options do not change."""
        return identify("positions", self.versions, model=self.model_used, configuration=_hash_configuration())

    def measure(self, case: Case) -> Measurement:
        """Search every obfuscated text for the identifiers of its original."""
        rows = [
            _search(original, obfuscated, [each for each in found if each.kind in CHOICES[self.kinds]])
            for original, obfuscated, found in zip(case.originals, case.obfuscated, self.find(case), strict=True)
        ]
        worst = [_find_worst(row) for row in rows]
        groups = {harm: Counts.over([[there for each, there in row if each is harm] for row in worst]) for harm in Harm}
        harms = {harm: counts for harm, counts in groups.items() if counts.texts}
        averages = {harm: counts.average(self.average) for harm, counts in harms.items()}
        whole = Counts.over([[there for _, there in row] for row in worst])
        few = describe_few(whole.texts, "texts with an identifier")
        if Harm.DIRECT in harms:
            few = describe_few(harms[Harm.DIRECT].texts, "texts with a direct identifier")
        return self.report(
            self._write_line(averages),
            {
                **{harm.value: reading for harm, reading in averages.items()},
                "remaining": whole.average(self.average),
                "found": float(sum(whole.found)),
                "pairs": float(whole.texts),
            },
            caveats=few,
            harms={
                harm.value: {"found": sum(counts.found), "texts": counts.texts, "remaining": averages[harm].value}
                for harm, counts in harms.items()
            },
            kinds=self._list_kinds(rows),
        )

    def _list_kinds(self, rows: Sequence[Sequence[tuple[Found, bool]]]) -> dict[str, dict[str, Any]]:
        """The share of every kind that was found, the most harmful kinds first."""
        listed = {}
        for kind in sorted(KINDS, key=lambda kind: (list(Harm).index(HARMS[kind]), kind)):
            counts = Counts.over([[there for each, there in row if each.kind == kind] for row in rows])
            if found := sum(counts.found):
                remaining = counts.average(self.average).value
                listed[kind] = {"harm": HARMS[kind].value, "found": found, "remaining": remaining}
        return listed

    def _write_line(self, averages: Mapping[Harm, Reading]) -> str:
        if not averages:
            return "No identifiers (names, places, dates, numbers) were found in the originals."
        first = next(iter(averages))
        shares = [f"{each.show('.1%', first=harm is first)} of {harm.value}" for harm, each in averages.items()]
        listed = [f"{share} ones ({_EXAMPLES[harm]})" for share, harm in zip(shares, averages, strict=True)]
        over = "in a text, on average" if self.average == "pairs" else "in all texts together"
        return f"Identifiers that survive obfuscation {over}: {', '.join(listed)}."


def _find_worst(row: Sequence[tuple[Found, bool]]) -> list[tuple[Harm, bool]]:
    """The most harmful group of every part of a text, and whether it survived."""
    spans: dict[tuple[int, int], tuple[Harm, bool]] = {}
    for each, there in row:
        span, harm = (each.start, each.stop), HARMS[each.kind]
        known = spans.get(span, (harm, there))[0]
        spans[span] = min(harm, known, key=list(Harm).index), there
    return list(spans.values())


def _hash_configuration(*more: object) -> str:
    return hash_text(repr((RECOGNIZERS, MODEL_KINDS, KINDS, LEAST_SCORE, *more))).hex()[:12]


def _search(original: str, obfuscated: str, found: Sequence[Found]) -> list[tuple[Found, bool]]:
    """Every identifier, and whether the obfuscated text contains it."""
    hidden = _normalize(obfuscated)
    return [(each, contains_identifier(original[each.start : each.stop], hidden)) for each in found]


def contains_identifier(identifier: str, text: str) -> bool:
    """Whether a lowercase text with single spaces contains an identifier as whole words.

    >>> [contains_identifier("Ann  Lee", text) for text in ("with ann lee.", "joann lee", "ann leer")]
    [True, False, False]
    """
    wanted = re.escape(_normalize(identifier).strip())
    return re.search(rf"(?<!\w){wanted}(?!\w)", text) is not None


def _normalize(text: str) -> str:
    return _SPACE.sub(" ", text.casefold())
