"""What an attacker knows of a mechanism: how likely each candidate is, once the released entry is known."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import Floats, RowNumbers
from textveil.mechanisms.base import Mechanism, Request
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.fluent import Fluent
from textveil.mechanisms.sampling import Exponents, squared_distances
from textveil.randomness import SeededRandomness

BLOCK = 64
"""Points whose distances from all entries are computed at a time."""
NODES = 12
"""Beyond this number of distinct shares, normalizing sums are interpolated between as many shares."""
SHORTLIST = 300
"""Candidates of a chunk for which the sum of the mechanism ``fluent`` is computed; all others are given up."""
CALIBRATION_DRAWS = 1000
SHARE_STEP = 1.25
"""The likelihood of a mechanism without a closed form is calibrated at shares that differ by this factor."""
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

    At up to ``NODES`` distinct shares it is exact; between more, the logarithms of the normalizing sums, which are
    smooth, are interpolated.
    """

    mechanism: Exponential

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior: the prior, the exponent and the normalizing sum of each candidate."""
        exponents = self._measure(released, shares)
        return self.log_prior + exponents - self._normalize(shares)

    def _measure(self, released: RowNumbers, shares: Floats) -> Floats:
        """The exponents of candidates (columns) for the released entries (rows)."""
        table = Exponents(self.points.astype(np.float32), self.mechanism.cap)
        return table.compute(self.mechanism.space.place(released), shares).astype(np.float64)

    def prepare(self, shares: Floats) -> None:
        """Compute the normalizing sums at all shares; at many shares, at Chebyshev's points between them."""
        nodes = np.unique(shares)
        if len(nodes) > NODES:
            middle, half = (nodes[0] + nodes[-1]) / 2, (nodes[-1] - nodes[0]) / 2
            nodes = middle - half * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
        self._nodes = nodes
        self._sums = self._compute_sums(nodes)

    def _normalize(self, shares: Floats) -> Floats:
        """The logarithm of the normalizing sum of every candidate at each share, by Lagrange interpolation."""
        differences = shares[:, None] - self._nodes
        weights = np.ones_like(differences)
        for number, node in enumerate(self._nodes):
            for other in range(len(self._nodes)):
                if other != number:
                    weights[:, number] *= differences[:, other] / (node - self._nodes[other])
        sums: Floats = weights @ self._sums
        return sums

    def _compute_sums(self, shares: Floats) -> Floats:
        space = self.mechanism.space
        table = Exponents(space.matrix[space.writable], self.mechanism.cap)
        sums = np.empty((len(shares), len(self.points)))
        for start in range(0, len(self.points), BLOCK):
            points = self.points[start : start + BLOCK]
            distances = -table.compute(points, np.full(len(points), 2.0)).astype(np.float64)
            nearest = distances.min(axis=1, keepdims=True)
            for number, share in enumerate(shares):
                weights = np.exp((share / -2 * (distances - nearest)).astype(np.float32))
                total = np.log(weights.sum(axis=1, dtype=np.float64))
                sums[number, start : start + BLOCK] = total - share / 2 * nearest[:, 0]
        return sums


class FluentChannel(ExactChannel):
    """Exact Bayes for the mechanism ``fluent``: its sums depend on the context of each chunk.

    Nothing is interpolated. The sums are computed for the candidates with the largest products of prior and likelihood
    without the sum. All others have a posterior of zero.
    """

    mechanism: Fluent

    def prepare(self, shares: Floats) -> None:
        """Nothing: sums are computed for each chunk."""

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior of the candidates on the shortlist; of all others, minus infinity."""
        rough = self.log_prior + self._measure(released, shares)
        number = min(SHORTLIST, rough.shape[1])
        shortlists = np.argpartition(-rough, number - 1, axis=1)[:, :number]
        posterior = np.full(rough.shape, -np.inf)
        for row, (shortlist, share) in enumerate(zip(shortlists, shares, strict=True)):
            sums = self.mechanism.log_sums(self.points[shortlist], float(share), contexts[row])
            posterior[row, shortlist] = rough[row, shortlist] - sums
        return posterior


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
