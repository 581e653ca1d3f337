"""What an attacker knows of a mechanism: how likely each candidate is, once the released entry is known."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.mechanisms.base import Mechanism, Request
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.fluent import Fluent
from textveil.mechanisms.sampling import Exponents, squared_distances
from textveil.randomness import SeededRandomness
from textveil.threads import in_threads

BLOCK = 64
"""Points whose distances from all entries are computed at a time."""
EXACT_SHARES = 12
"""Up to this number of distinct shares, normalizing sums are computed at each; beyond, they are interpolated."""
NODES = 24
"""The number of shares that normalizing sums are interpolated between."""
INTERPOLATION_ERROR = 0.02
SHORTLIST = 1000
"""Candidates of a chunk that the attacker on ``fluent`` looks at; all others are given up."""
LIKELY = 300
"""Entries whose terms bound a normalizing sum from below."""
COMPUTED = 64
"""Candidates of a chunk whose normalizing sums are computed."""
CALIBRATION_DRAWS = 1000
SHARE_STEP = 1.25
"""The likelihood of a mechanism without a closed form is calibrated at shares that differ by this factor."""
_LARGEST_FACTOR = 1e30
SCALES = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


class Channel(ABC):
    """The posterior of candidates, by Bayes' rule.

    Args:
        mechanism: The mechanism, as the attacker rebuilds it from a certificate.
        candidates: The rows that a chunk may have had.
        log_prior: The logarithm of the prior of each candidate, up to a constant.
    """

    def __init__(self, mechanism: Mechanism, candidates: RowNumbers, log_prior: Floats) -> None:
        self.mechanism = mechanism
        self.candidates = candidates
        self.log_prior = log_prior
        self.points = mechanism.space.place(candidates)

    def prepare(self, shares: Floats) -> None:  # noqa: B027 # few channels need it
        """Prepare for chunks with these shares."""

    @abstractmethod
    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior of every candidate, up to a constant for each chunk.

        Args:
            released: The row that was released for each chunk.
            shares: The share of each chunk.
            contexts: The rows released before each chunk, the last one last.
        """


class ExactChannel(Channel):
    """Exact Bayes for the mechanism ``exponential``, whose probabilities have a closed form.

    The normalizing sum of every candidate depends on the share. At up to ``EXACT_SHARES`` distinct shares it is exact.
    Between more, its logarithm is interpolated from values and slopes at ``NODES`` shares, evenly spaced by their
    roots. Shares from 0.01 to 50 then change a log-posterior by less than ``INTERPOLATION_ERROR``.
    """

    mechanism: Exponential

    def __init__(self, mechanism: Exponential, candidates: RowNumbers, log_prior: Floats) -> None:
        super().__init__(mechanism, candidates, log_prior)
        space = mechanism.space
        self._to_candidates = Exponents(space.matrix[candidates], mechanism.cap)
        self._to_writable = Exponents(space.matrix[space.writable], mechanism.cap)

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior: the prior, the exponent and the normalizing sum of each candidate."""
        posterior = self._measure(released, shares)
        posterior -= self._interpolate(shares)
        return posterior

    def _measure(self, released: RowNumbers, shares: Floats) -> Floats:
        """Prior and exponent of candidates (columns) for the released entries (rows), without the normalizing sum."""
        measured: Floats = self._to_candidates.compute(self.mechanism.space.place(released), shares) + self.log_prior
        return measured

    def prepare(self, shares: Floats) -> None:
        """Compute the normalizing sums at all shares; at many, values and slopes at some."""
        self._nodes = np.unique(shares)
        exact = len(self._nodes) <= EXACT_SHARES
        if not exact:
            inner = np.linspace(*np.sqrt(self._nodes[[0, -1]]), NODES)[1:-1] ** 2
            self._nodes = np.concatenate([self._nodes[:1], inner, self._nodes[-1:]])
        blocks = ((self.points[start : start + BLOCK], exact) for start in range(0, len(self.points), BLOCK))
        sums, slopes = zip(*in_threads(self._sum_up, blocks), strict=True)
        self._sums = np.concatenate(sums, axis=1)
        self._slopes = None if exact else np.concatenate(slopes, axis=1)

    def _sum_up(self, points: Floats, exact: bool) -> tuple[Floats, Floats]:  # noqa: FBT001 # called by in_threads
        """The logarithms of the normalizing sums of some points at every node, and their slopes."""
        gaps = self._to_writable.compute(points, np.full(len(points), 2.0))  # the negative distances
        largest = gaps.max(axis=1)
        gaps -= largest[:, None]
        sums, slopes = np.empty((len(self._nodes), len(points))), np.zeros((len(self._nodes), len(points)))
        for number, share in enumerate(self._nodes):
            weights = gaps * gaps.dtype.type(min(share / 2, _LARGEST_FACTOR))
            np.exp(weights, out=weights)
            totals = weights.sum(axis=1, dtype=np.float64)
            sums[number] = np.log(totals) + share / 2 * largest
            if not exact:
                slopes[number] = (largest + np.einsum("ij,ij->i", weights, gaps) / totals) / 2
        return sums, slopes

    def _interpolate(self, shares: Floats) -> Floats:
        """The logarithm of the normalizing sum of every candidate (columns) at each share (rows)."""
        if self._slopes is None:
            return self._sums[np.searchsorted(self._nodes, shares)]
        left = np.clip(np.searchsorted(self._nodes, shares, side="right") - 1, 0, len(self._nodes) - 2)
        width = (self._nodes[left + 1] - self._nodes[left])[:, None]
        place = (shares[:, None] - self._nodes[left][:, None]) / width
        rest = 1 - place
        # Hermite's cubic, which has the values and slopes of both ends.
        sums: Floats = rest**2 * ((1 + 2 * place) * self._sums[left] + place * width * self._slopes[left])
        sums += place**2 * ((1 + 2 * rest) * self._sums[left + 1] - rest * width * self._slopes[left + 1])
        return sums


class FluentChannel(ExactChannel):
    """Exact Bayes for the mechanism ``fluent``: its normalizing sums depend on the context of each chunk.

    Nothing is interpolated. A shortlist has the candidates with the largest products of prior and exponential. The
    terms of the likeliest entries after the context bound their sums from below, and so their posteriors from above.
    Sums are computed for the candidates with the largest bounds. All others have a posterior of zero.
    """

    mechanism: Fluent

    def __init__(self, mechanism: Fluent, candidates: RowNumbers, log_prior: Floats) -> None:
        super().__init__(mechanism, candidates, log_prior)
        self._written = mechanism.space.matrix[mechanism.space.writable]
        columns = np.full(len(mechanism.vectors), UNKNOWN)
        columns[mechanism.space.writable] = np.arange(len(self._written))
        self._columns = columns[candidates]

    def prepare(self, shares: Floats) -> None:
        """Nothing: sums are computed for each chunk."""

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior of the most likely candidates; of all others, minus infinity."""
        rough = self._measure(released, shares)
        posterior = np.full(rough.shape, -np.inf)
        weighed = in_threads(self._weigh, zip(rough, shares, contexts, strict=True))
        for row, (candidates, values) in enumerate(weighed):
            posterior[row, candidates] = values
        return posterior

    def _weigh(self, rough: Floats, share: float, context: RowNumbers) -> tuple[RowNumbers, Floats]:
        """The candidates of a chunk with the largest posteriors, and their logarithms."""
        shortlist = _find_largest(rough, SHORTLIST)
        bounds = rough[shortlist] - self._bound_sums(shortlist, share, context)
        candidates = shortlist[_find_largest(bounds, COMPUTED)]
        return candidates, rough[candidates] - self.mechanism.log_sums(self.points[candidates], share, context)

    def _bound_sums(self, candidates: RowNumbers, share: float, context: RowNumbers) -> Floats:
        """Lower bounds of the logarithms of sums: the terms of the likeliest entries, and of the candidate itself."""
        base = self.mechanism.log_base(context[None])[0]
        likely = _find_largest(base, LIKELY)
        distances = np.sqrt(squared_distances(self.points[candidates], self._written[likely]))
        if self.mechanism.cap is not None:
            np.minimum(distances, self.mechanism.cap, out=distances)
        terms = base[likely] - share / 2 * distances
        largest = terms.max(axis=1)
        bounds: Floats = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
        own = self._columns[candidates]
        others = (own != UNKNOWN) & ~np.isin(own, likely)
        bounds[others] = np.logaddexp(bounds[others], base[own[others]])
        return bounds


def _find_largest(values: npt.NDArray[Any], number: int) -> RowNumbers:
    """The positions of the largest values, in any order."""
    number = min(number, len(values))
    positions: RowNumbers = np.argpartition(-values, number - 1)[:number]
    return positions


class Calibration(NamedTuple):
    """The parameters of an approximate likelihood, fitted to a simulation at one share."""

    scale: float
    """The factor of the logarithm of the likelihood."""
    bonus: float
    """An addition for the released entry itself; infinite if the best guess is to repeat it."""


class SimulatedChannel(Channel):
    """An approximate posterior for mechanisms without a closed form, calibrated by simulation.

    The likelihood of a candidate at distance D from the released entry is the probability that the released entry is
    nearest to the candidate's noisy point. It is evaluated at one typical point. That point lies at distance
    r = d / share from the released entry, the expected length of the noise in d dimensions. Its direction is
    independent of the candidate, so its distance from the candidate is sqrt(r^2 + D^2). There, the density of the noise
    is exp(-share * (sqrt(r^2 + D^2) - r)), up to a factor common to all candidates.

    Alone, this understates the attacker. So the mechanism is simulated with words drawn by the prior. A factor of the
    log-likelihood and a bonus for the released entry itself are chosen so that the first guess is right as often as
    possible. An infinite bonus repeats the released word, so the attacker is never worse than that in the simulation.

    Args:
        bundle: The bundle, which caches calibrations.
        decomposition: The decomposition.
    """

    def __init__(
        self, mechanism: Mechanism, candidates: RowNumbers, log_prior: Floats, bundle: Bundle, decomposition: str
    ) -> None:
        super().__init__(mechanism, candidates, log_prior)
        self._bundle, self._decomposition = bundle, decomposition
        self._positions = np.full(len(mechanism.vectors), -1)
        self._positions[candidates] = np.arange(len(candidates))
        self._calibrations: dict[float, Calibration] = {}

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the calibrated posterior."""
        logs = self._approximate(released, shares)
        calibrations = [self.calibrate(share) for share in shares]
        scales = np.array([calibration.scale for calibration in calibrations])[:, None]
        posterior: Floats = self.log_prior + scales * logs
        own = self._positions[released]
        rows = np.flatnonzero(own >= 0)
        bonuses = np.array([calibration.bonus for calibration in calibrations])
        posterior[rows, own[rows]] += bonuses[rows]
        return posterior

    def _approximate(self, released: RowNumbers, shares: Floats) -> Floats:
        squares = squared_distances(self.mechanism.space.place(released), self.points)
        return log_likelihood(squares, shares[:, None], self.mechanism.space.dimensions)

    def calibrate(self, share: float) -> Calibration:
        """The calibration at the nearest share of a grid; none is needed at share 0."""
        if share <= 0:
            return Calibration(1.0, 0.0)
        nearest = float(SHARE_STEP ** round(np.log(share) / np.log(SHARE_STEP)))
        if nearest not in self._calibrations:
            name = json.dumps(["inversion", self.mechanism.as_dict(), round(nearest, 9), len(self.candidates)])
            found = self._bundle.find_figures(self._decomposition, name, lambda: self._simulate(nearest))
            bonus = float("inf") if found["bonus"] is None else found["bonus"]
            self._calibrations[nearest] = Calibration(found["scale"], bonus)
        return self._calibrations[nearest]

    def _simulate(self, share: float) -> dict[str, float | None]:
        """Draw words by the prior, perturb them, and choose the parameters with the most right first guesses."""
        prior = np.exp(self.log_prior - self.log_prior.max())
        streams = SeededRandomness(0)
        drawn = streams.stream(0).choice(len(prior), CALIBRATION_DRAWS, p=prior / prior.sum())
        request = Request(self.candidates[drawn], np.full(len(drawn), share), streams.stream(1))
        (released,) = self.mechanism.perturb([request])
        best: tuple[int, float, float | None] = (-1, 1.0, 0.0)
        gathered = [self._compare(released[part], drawn[part], share) for part in _parts(len(drawn))]
        for number, scale in enumerate(SCALES):
            others, margins, repeats = (
                np.concatenate([each[place][number] for each in gathered]) for place in range(3)
            )
            right, bonus = _choose_bonus(others, margins, repeats)
            if right > best[0]:
                best = (right, scale, bonus)
        return {"scale": best[1], "bonus": best[2]}

    def _compare(self, released: RowNumbers, true: RowNumbers, share: float) -> tuple[list[Floats], ...]:
        """The best candidates other than the released entry, for each scale.

        Returns:
            Whether the candidate is right, its lead over the released entry, and whether that is right.

        Args:
            released: The released rows.
            true: The positions of the true candidates.
            share: The share.
        """
        logs = self._approximate(released, np.full(len(released), share))
        own = self._positions[released]
        each = np.arange(len(released))
        others, margins, repeats = [], [], []
        for scale in SCALES:
            posterior = self.log_prior + scale * logs
            lead = np.where(own >= 0, posterior[each, own], np.inf)
            posterior[each[own >= 0], own[own >= 0]] = -np.inf
            first = posterior.argmax(axis=1)
            others.append(first == true)
            margins.append(np.where(own >= 0, posterior[each, first] - lead, np.inf))
            repeats.append(own == true)
        return others, margins, repeats


def _parts(number: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, number, BLOCK)]


def _choose_bonus(others: Floats, margins: Floats, repeats: Floats) -> tuple[int, float | None]:
    """The bonus with the most right guesses, and their number; ``None`` is an infinite bonus.

    A bonus makes the released entry the first guess wherever the lead of the best other one is at most the bonus.
    """
    order = np.argsort(margins, kind="stable")
    gains = np.cumsum(repeats[order].astype(int) - others[order].astype(int))
    right = int(others.sum())
    best = int(gains.argmax())
    if right + max(int(gains[best]), 0) == right:
        return right, min(0.0, float(margins[order[0]]) - 1)  # the released entry is never the better guess
    last = best == len(gains) - 1 or not np.isfinite(margins[order[best + 1]])
    bonus = None if last else float((margins[order[best]] + margins[order[best + 1]]) / 2)
    return right + int(gains[best]), bonus


def log_likelihood(squares: Floats, shares: Floats, dimensions: int) -> Floats:
    """The logarithm of a candidate's likelihood from its squared distance, up to a constant; see SimulatedChannel.

    >>> log_likelihood(np.array([9.0, 9.0]), np.array([0.0, 4.0]), 16).tolist()
    [-0.0, -4.0]
    """
    # share * (sqrt(r^2 + D^2) - r) with r = d / share, rewritten to avoid a division by a share of 0
    value: Floats = -(np.sqrt(dimensions**2 + shares**2 * squares) - dimensions)
    return value


def build_channel(
    mechanism: Mechanism, candidates: RowNumbers, log_prior: Floats, bundle: Bundle, decomposition: str
) -> Channel:
    """The posterior of a mechanism: exact where it has a closed form, else calibrated by simulation."""
    if isinstance(mechanism, Fluent):
        return FluentChannel(mechanism, candidates, log_prior)
    if isinstance(mechanism, Exponential):
        return ExactChannel(mechanism, candidates, log_prior)
    return SimulatedChannel(mechanism, candidates, log_prior, bundle, decomposition)
