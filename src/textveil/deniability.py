"""Replacements: how likely a word stays, and how many others it may become; for single words and over a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.methods.mechanisms import Mechanism, Request
from textveil.methods.mechanisms.base import ASKED
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.proportions import bound_above, bound_below
from textveil.randomness import SeededRandomness
from textveil.text.documents import spoken

DRAWS = 4_000
"""Draws for each word, for a mechanism without a closed form."""
RISK = 0.05
"""The probability that an interval does not hold the true value."""
LIKELY = 0.01
"""A word may become another one if that has a larger probability."""
QUANTILES = {"5%": 0.05, "50%": 0.5, "95%": 0.95}
SAMPLE, SMALL_SAMPLE = 200, 50
"""Words over which quantiles are taken: of a mechanism with a closed form, and of any other."""
SMALL_DRAWS = 400
BLOCK = 64
"""Words whose probabilities are computed at a time."""


class Estimate(NamedTuple):
    """A value with its interval; both ends are the value if it is exact."""

    value: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """A value without doubt."""
        return cls(value, value, value)

    @classmethod
    def from_draws(cls, share: float, draws: int) -> Estimate:
        """A probability by its share of some draws, with the interval of Clopper and Pearson."""
        count = round(share * draws)
        return cls(share, bound_below(count, draws, RISK / 2), bound_above(count, draws, RISK / 2))


class Replacements:
    """The probabilities of all entries to replace some words, at one share.

    They are exact for a mechanism with a closed form, and frequencies of draws for any other. A mechanism with a
    language model is asked for the first word of a text.

    Args:
        mechanism: The mechanism.
        rows: The rows of the words; ``UNKNOWN`` is a word outside of the vocabulary.
        share: The share of each word.
        spelled: The positions of unknown words, in their order; by default at the center.
        draws: The number of draws for each word.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        rows: RowNumbers,
        share: float,
        *,
        spelled: Floats | None = None,
        draws: int = DRAWS,
    ) -> None:
        self.mechanism = mechanism
        self.rows = rows
        self.share = share
        self.draws = None if isinstance(mechanism, Exponential) else draws
        self.probabilities: Floats = (
            _compute_all(mechanism, rows, share, spelled)
            if isinstance(mechanism, Exponential)
            else self._simulate(spelled, draws)
        )
        """A row for every word, and a column for every entry that may be written."""
        self._own = _find_columns(mechanism, rows)
        """The column of each word itself; ``UNKNOWN`` for a word that is never written."""

    def _simulate(self, spelled: Floats | None, draws: int) -> Floats:
        """Frequencies of draws, which are the same ones each time: no text is protected by them."""
        mechanism, streams = self.mechanism, SeededRandomness(0)
        unknown = np.cumsum(self.rows == UNKNOWN) - 1
        frequencies = np.zeros((len(self.rows), len(mechanism.space.writable)))
        for number, row in enumerate(self.rows.tolist()):
            place = None
            if row == UNKNOWN and spelled is not None:
                place = np.repeat(spelled[unknown[number]][None], draws, axis=0)
            request = Request(np.full(draws, row), np.full(draws, self.share), streams.stream(number), place)
            (chosen,) = mechanism.perturb([request])
            columns = np.searchsorted(mechanism.space.writable, chosen)
            frequencies[number] = np.bincount(columns, minlength=frequencies.shape[1]) / draws
        return frequencies

    def find_stays(self) -> list[Estimate]:
        """The probability that each word stays as it is; 0 for a word that is never written."""
        found = []
        for own, probabilities in zip(self._own.tolist(), self.probabilities, strict=True):
            stays = 0.0 if own == UNKNOWN else float(probabilities[own])
            known = self.draws is None or own == UNKNOWN
            found.append(Estimate.exactly(stays) if known else Estimate.from_draws(stays, self.draws or 0))
        return found

    def count_others(self) -> list[Estimate]:
        """The number of other entries that each word becomes with a probability of more than ``LIKELY``.

        For draws, the lower end counts the entries whose whole interval is above, and the upper end those with any part
        of it above.
        """
        levels = [LIKELY] * 3 if self.draws is None else [LIKELY, *_find_levels(self.draws)]
        others = self.probabilities.copy()
        known = self._own != UNKNOWN
        others[np.flatnonzero(known), self._own[known]] = 0.0
        counts = [(others > level).sum(axis=1) for level in levels]
        return [Estimate(*map(float, counted)) for counted in zip(*counts, strict=True)]


def _compute_all(mechanism: Exponential, rows: RowNumbers, share: float, spelled: Floats | None) -> Floats:
    points, shares = mechanism.space.place(rows, spelled), np.full(len(rows), share)
    probabilities: Floats = np.empty((len(points), len(mechanism.space.writable)))
    for start in range(0, len(points), BLOCK):
        part = slice(start, start + BLOCK)
        np.exp(mechanism.log_channel(points[part], shares[part]), out=probabilities[part])
    return probabilities


def _find_levels(draws: int) -> tuple[float, float]:
    """The frequencies above which a probability is surely, and possibly, more than ``LIKELY``."""
    first = next(count for count in range(draws + 1) if bound_below(count, draws, RISK / 2) > LIKELY)
    last = next(count for count in range(draws + 1) if bound_above(count, draws, RISK / 2) > LIKELY)
    return (first - 0.5) / draws, (last - 0.5) / draws


def describe_deniability(mechanism: Mechanism, entries: RowNumbers, shares: Mapping[str, float]) -> dict[str, Any]:
    """Quantiles over public words of how likely they stay, and how many others they may become.

    They depend on the vocabulary, the mechanism and the shares, and on no document.

    Args:
        mechanism: The mechanism.
        entries: Entries of the vocabulary, such as some drawn by their frequency. The first ones are used.
        shares: The shares by their meaning.
    """
    exact = isinstance(mechanism, Exponential)
    words = entries[: SAMPLE if exact else SMALL_SAMPLE]
    distinct, places = np.unique(words, return_inverse=True)
    described = []
    for meaning, share in shares.items():
        found = Replacements(mechanism, distinct, share, draws=SMALL_DRAWS)
        quantiles = {
            name: _take_quantiles(np.array([each.value for each in estimates])[places])
            for name, estimates in (("stays", found.find_stays()), ("others", found.count_others()))
        }
        described.append({"meaning": meaning, "share": share, **quantiles})
    return {"method": "exact" if exact else "simulated", "words": len(words), "shares": described}


def _take_quantiles(values: Floats) -> dict[str, float]:
    return {name: round(float(np.quantile(values, level)), 4) for name, level in QUANTILES.items()}


ALTERNATIVES_BLOCK = 32
"""Chunks whose probabilities are computed at a time."""


class Alternatives(NamedTuple):
    """The most probable replacements of a chunk. They reveal the original, so they are for its owner only."""

    stays: float
    """The probability that the chunk replaces itself."""
    probability: float
    """The probability of the replacement that was drawn."""
    likeliest: tuple[tuple[str, float], ...]
    """The most probable replacements with their probabilities, best first."""


def has_closed_form(mechanism: Mechanism | type[Mechanism]) -> bool:
    """Whether the probabilities of replacements can be computed."""
    return isinstance(mechanism, Exponential) or (isinstance(mechanism, type) and issubclass(mechanism, Exponential))


def list_alternatives(
    mechanism: Mechanism, request: Request, chosen: RowNumbers, *, number: int
) -> list[Alternatives] | None:
    """The most probable replacements of every chunk that a mechanism was asked for.

    The probabilities are those of the draw that was made. With a language model, they are conditional on the words that
    were written before.

    Args:
        mechanism: The mechanism.
        request: What it was asked for.
        chosen: The rows that it chose.
        number: The number of replacements to list for each chunk.

    Returns:
        The alternatives in the order of the chunks; ``None`` for a mechanism without a closed form.
    """
    if not isinstance(mechanism, Exponential):
        return None
    found: list[Alternatives] = []
    for start in range(0, len(request.rows), ALTERNATIVES_BLOCK):
        part = slice(start, start + ALTERNATIVES_BLOCK)
        probabilities = np.exp(_compute(mechanism, request, chosen, part))
        own, drawn = (_find_columns(mechanism, rows[part]) for rows in (request.rows, chosen))
        for row, stays, taken in zip(probabilities, own, drawn, strict=True):
            listed = tuple(
                (spoken(mechanism.vectors.entries[mechanism.space.writable[column]]), float(row[column]))
                for column in _find_best(row, number)
            )
            found.append(Alternatives(0.0 if stays == UNKNOWN else float(row[stays]), float(row[taken]), listed))
    return found


def _compute(mechanism: Exponential, request: Request, chosen: RowNumbers, part: slice) -> Floats:
    """The log-probabilities of all writable entries for some chunks, as they were when each was drawn."""
    points, shares = mechanism.place(request, part), request.shares[part]
    if not isinstance(mechanism, Fluent):
        return mechanism.log_channel(points, shares)
    written = np.full(len(chosen), ASKED) if request.context is None else request.context.copy()
    places = np.flatnonzero(written == ASKED)
    written[places] = chosen
    reach = mechanism.prior.order - 1
    padded = np.concatenate([np.full(reach, UNKNOWN), written])
    return mechanism.log_channel(points, shares, padded[places[part, None] + np.arange(reach)])


def _find_columns(mechanism: Mechanism, rows: RowNumbers) -> RowNumbers:
    """The columns of rows among the writable entries; ``UNKNOWN`` for one that is never written."""
    writable = mechanism.space.writable
    places = np.minimum(np.searchsorted(writable, rows), len(writable) - 1)
    return np.where(writable[places] == rows, places, UNKNOWN)


def _find_best(row: Floats, number: int) -> RowNumbers:
    best = np.argpartition(-row, number)[:number] if number < len(row) else np.arange(len(row))
    found: RowNumbers = best[np.argsort(-row[best], kind="stable")]
    return found
