"""What an attacker knows of a mechanism: how likely each candidate is, once the released entry is known."""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN, Floats, Matrix, RowNumbers
from textveil.methods.mechanisms.base import Mechanism, Request
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.methods.mechanisms.noise import NoisyVector
from textveil.methods.mechanisms.sampling import Exponents, squared_distances
from textveil.methods.mechanisms.vickrey import Vickrey
from textveil.randomness import SeededRandomness
from textveil.threads import in_threads

BLOCK = 64
"""Points whose distances from all entries are computed at a time."""
ROWS = 4
"""Points whose likelihoods are computed at a time, so that they stay in the cache."""
NODES = 64
"""Up to this number of distinct shares, normalizing sums are computed at each; beyond, they are interpolated."""
INTERPOLATION_ERROR = 0.02
SHORTLIST = 1000
"""Candidates of a chunk that the attacker on ``fluent`` looks at; all others are given up."""
LIKELY = 300
"""Entries whose terms bound a normalizing sum from below."""
COMPUTED = 64
"""Candidates of a chunk whose normalizing sums are computed at a time."""
ROUNDS = 4
"""The largest number of times."""
CALIBRATION_DRAWS = 600
SHARE_STEP = 1.25
"""The likelihood of a mechanism without a closed form is calibrated at shares that differ by this factor."""
CAUTION = 2
"""In a calibration, guesses other than the released word must be right as many times as often as it would be."""
REVISION = 1
"""Changes whenever calibrations are computed in another way."""

_LARGEST_FACTOR = 1e30
_LARGEST_SHARE = 1e12
_SMALLEST_EFFECT, _LARGEST_EFFECT = 0.1, 30.0  # of the typical vector, in standard deviations of the noise
_SMALLEST_LENGTH = 1e-9
_CERTAIN = 1e9  # a bonus that no likelihood outweighs


class Channel(ABC):
    """The posterior of candidates, by Bayes' rule.

    Args:
        mechanism: The mechanism, as the attacker rebuilds it from a certificate.
        log_prior: The logarithm of the prior of each candidate, up to a constant. All entries are candidates.
    """

    def __init__(self, mechanism: Mechanism, log_prior: Floats) -> None:
        self.mechanism = mechanism
        self.log_prior = log_prior
        self.points = mechanism.space.matrix.astype(np.float64)

    @abstractmethod
    def prepare(self, shares: Floats, contexts: RowNumbers) -> None:
        """Prepare for chunks with these shares and contexts."""

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

    The normalizing sum of every candidate depends on the share. At up to ``NODES`` distinct shares it is exact. Between
    more, its logarithm is interpolated from ``NODES`` shares, evenly spaced by their roots. Shares from 0.01 to 50 then
    change a log-posterior by less than ``INTERPOLATION_ERROR``.

    Args:
        mechanism: The mechanism.
        log_prior: The logarithm of the prior of each candidate.
        log_base: The logarithms of the weights that writable entries have whatever the input is; by default 0.
    """

    mechanism: Exponential

    def __init__(self, mechanism: Exponential, log_prior: Floats, log_base: npt.NDArray[Any] | None = None) -> None:
        super().__init__(mechanism, log_prior)
        space = mechanism.space
        self.log_base = np.zeros(len(space.writable), dtype=np.float32) if log_base is None else log_base
        self._to_candidates = Exponents(space.matrix, mechanism.cap)
        self._to_writable = Exponents(space.matrix[space.writable], mechanism.cap)

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior: the prior, the exponent and the normalizing sum of each candidate."""
        return self._measure(released, shares) - self.log_sums(shares)

    def _measure(self, released: RowNumbers, shares: Floats) -> Floats:
        """Prior and exponent of candidates (columns) for the released entries (rows), without the normalizing sum."""
        measured: Floats = self._to_candidates.compute(self.mechanism.space.place(released), shares) + self.log_prior
        return measured

    def prepare(self, shares: Floats, contexts: RowNumbers) -> None:
        """Compute the normalizing sums at all shares, or at some of them."""
        self._nodes = np.unique(shares)
        if len(self._nodes) > NODES:
            self._nodes = np.linspace(self._nodes[0] ** 0.5, self._nodes[-1] ** 0.5, NODES) ** 2
        blocks = ((self.points[start : start + BLOCK],) for start in range(0, len(self.points), BLOCK))
        self._sums = np.concatenate(list(in_threads(self._sum_up_nodes, blocks)), axis=1)

    def _sum_up_nodes(self, points: Floats) -> Floats:
        """The logarithms of the normalizing sums of some points at every node."""
        gaps, highest = self._to_writable.measure(points), self.log_base.max()
        nearest, base = gaps.min(axis=1), np.exp(self.log_base - highest)
        gaps -= nearest[:, None]
        sums, weights = np.empty((len(self._nodes), len(points))), np.empty_like(gaps)
        with np.errstate(divide="ignore"):
            for number, share in enumerate(self._nodes.tolist()):
                np.multiply(gaps, -min(share / 2, _LARGEST_FACTOR), out=weights)
                np.exp(weights, out=weights)
                sums[number] = np.log(weights @ base) - share / 2 * nearest.astype(np.float64) + highest
        return sums

    def sum_up(self, candidates: RowNumbers, share: float, log_base: npt.NDArray[Any]) -> Floats:
        """The logarithms of the normalizing sums of candidates, where writable entries have some weights."""
        exponents = self._to_writable.compute(self.points[candidates], np.full(len(candidates), share))
        return _sum_logs(exponents + log_base)

    def bound_sums(self, candidates: RowNumbers, share: float, log_base: npt.NDArray[Any]) -> Floats:
        """Lower bounds of the logarithms of sums: the terms of the likeliest entries, and of the candidate itself."""
        writable, likely = self.mechanism.space.writable, _find_largest(log_base, LIKELY)
        bounds = _sum_logs(log_base[likely] - share / 2 * self.measure(candidates, self.points[writable[likely]]).T)
        others = np.isin(candidates, np.delete(writable, likely))
        own = log_base[np.searchsorted(writable, candidates[others])]
        bounds[others] = np.logaddexp(bounds[others], own)
        return bounds

    def measure(self, candidates: RowNumbers, points: Floats) -> Floats:
        """The capped distances of points (rows) and candidates (columns)."""
        distances = np.sqrt(squared_distances(points, self.points[candidates]))
        return distances if self.mechanism.cap is None else np.minimum(distances, self.mechanism.cap, out=distances)

    def log_sums(self, shares: Floats) -> Floats:
        """The logarithm of the normalizing sum of every candidate (columns) at each share (rows)."""
        right = np.clip(np.searchsorted(self._nodes, shares), 0, len(self._nodes) - 1)
        left = np.maximum(right - 1, 0)
        width = np.where(right > left, self._nodes[right] - self._nodes[left], 1)
        place = np.where(right > left, (shares - self._nodes[left]) / width, 1)[:, None]
        sums: Floats = place * self._sums[right] + (1 - place) * self._sums[left]
        return sums


class FluentChannel(ExactChannel):
    """Exact Bayes for the mechanism ``fluent``: its normalizing sums depend on the context of each chunk.

    A shortlist has the candidates with the largest products of prior and exponential. The terms of the likeliest
    entries after the context bound their sums from below, and so their posteriors from above. Sums are computed for the
    candidates with the largest bounds, and then for more of them, as long as a bound is above the best computed
    posterior. For the rest of the shortlist, the bounds are lowered as far as they were too high on average. All others
    have a posterior of zero.
    """

    mechanism: Fluent

    def prepare(self, shares: Floats, contexts: RowNumbers) -> None:
        """Nothing is prepared: every context has its own sums."""

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the posterior of the most likely candidates; of all others, minus infinity."""
        rough = self._measure(released, shares)
        posterior = np.full(rough.shape, -np.inf)
        weighed = in_threads(self._weigh, zip(rough, shares, contexts, strict=True))
        for row, (candidates, values) in enumerate(weighed):
            posterior[row, candidates] = values
        return posterior

    def _weigh(self, rough: Floats, share: float, context: RowNumbers) -> tuple[RowNumbers, Floats]:
        """The candidates on the shortlist of a chunk, and the logarithms of their posteriors."""
        shortlist, log_base = _find_largest(rough, SHORTLIST), self.mechanism.log_base(context[None])[0]
        posterior = rough[shortlist] - self.bound_sums(shortlist, share, log_base)
        order = np.argsort(-posterior)
        computed = np.empty(0)
        for start in range(0, min(len(order), ROUNDS * COMPUTED), COMPUTED):
            if start and posterior[order[start]] <= computed.max():
                break
            rows = shortlist[order[start : start + COMPUTED]]
            computed = np.concatenate([computed, rough[rows] - self.sum_up(rows, share, log_base)])
        chosen = order[: len(computed)]
        posterior -= (posterior[chosen] - computed).mean()
        np.minimum(posterior, computed.min(), out=posterior)
        posterior[chosen] = computed
        return shortlist, posterior


def _sum_logs(terms: npt.NDArray[Any]) -> Floats:
    """The logarithm of the sum of every row, given the logarithms of its terms, which are overwritten."""
    largest = terms.max(axis=1)
    terms -= largest[:, None]
    sums: Floats = largest + np.log(np.exp(terms, out=terms).sum(axis=1, dtype=np.float64))
    return sums


def _find_largest(values: npt.NDArray[Any], number: int) -> RowNumbers:
    """The positions of the largest values, in any order."""
    number = min(number, len(values))
    positions: RowNumbers = np.argpartition(-values, number - 1)[:number]
    return positions


class Calibration(NamedTuple):
    """The parameters of an approximate likelihood, fitted to a simulation at one share."""

    sharpness: float = 1.0
    """The factor of the effect of distances; 1 suits mechanisms that add noise."""
    threshold: float = 3.0
    """The level that the noise must exceed for an entry far away to be released, in standard deviations."""
    bonus: float = 0.0
    """An addition to the log-likelihood of the released entry itself."""


NOISE_TRIALS = tuple(Calibration(1.0, threshold) for threshold in (0.0, 1.0, 2.0, 3.0, 4.0))
"""The calibrations to try for mechanisms that add noise, each with the best bonus."""
OTHER_TRIALS = (
    *NOISE_TRIALS,
    *(Calibration(sharpness, threshold) for sharpness in (0.5, 2.0, 4.0, 8.0) for threshold in (1.0, 3.0)),
)
"""The calibrations to try for other mechanisms."""
BONUSES = np.linspace(-12, 12, 97)


class SimulatedChannel(Channel):
    """An approximate posterior for mechanisms without a closed form, calibrated by simulation.

    A mechanism that adds noise z to the vector x of a chunk releases the entry y with the largest (x + z)y - |y|^2/2.
    Vectors are relative to their center here. In d dimensions zy is nearly normal, with the standard deviation
    |y| * sqrt(d) / share. So y is released if a normal number exceeds threshold + share / sqrt(d) * (|y|/2 - xy/|y|),
    where the threshold stands for all other entries. And y must win against x itself, if x is writable: the number must
    exceed share / sqrt(d) * |x - y| / 2, too. The likelihood is the probability of exceeding the larger of both.

    The threshold is fitted to a simulation of the mechanism with words drawn by the prior, so that the posterior of the
    true words is as large as possible. So are a factor of the effect of distances and a bonus for the released entry
    itself, for mechanisms that choose in another way. The bonus is raised until the first guess is right more often
    than the released word, by a margin, since the prior of real texts differs. If it never is, the word is repeated.

    Args:
        bundle: The bundle, which caches calibrations.
        decomposition: The decomposition.
    """

    def __init__(self, mechanism: Mechanism, log_prior: Floats, bundle: Bundle, decomposition: str) -> None:
        super().__init__(mechanism, log_prior)
        self._bundle, self._decomposition = bundle, decomposition
        searched, stretch, self._trials = mechanism.space, None, OTHER_TRIALS
        if isinstance(mechanism, NoisyVector):
            searched, stretch, self._trials = mechanism.searched, mechanism.stretch, NOISE_TRIALS
        self._moved: Matrix = searched.matrix - searched.center
        self._squares = np.einsum("ij,ij->i", self._moved, self._moved)
        self._lengths = np.sqrt(self._squares)
        stretched = self._lengths if stretch is None else np.linalg.norm(self._moved @ stretch, axis=1)
        self._deviations = np.maximum(stretched, _SMALLEST_LENGTH)
        returns = not isinstance(mechanism, Vickrey)  # under which no chunk becomes itself
        self._competes = np.isin(np.arange(len(self._moved)), searched.writable) & returns
        self._typical = float(np.median(self._lengths))
        self._root = float(np.sqrt(searched.dimensions))
        self._calibrations: dict[float, Calibration] = {}

    def prepare(self, shares: Floats, contexts: RowNumbers) -> None:
        """Calibrate at all shares."""
        for share in np.unique(shares).tolist():
            self.calibrate(share)

    def log_posterior(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> Floats:
        """The logarithm of the calibrated posterior."""
        fitted = np.array([self.calibrate(share) for share in shares.tolist()]).reshape(-1, 3)
        posterior = _weigh(self._compare(released, shares), fitted[:, :1], fitted[:, 1:2])
        posterior += self.log_prior
        posterior[np.arange(len(released)), released] += fitted[:, 2]
        return posterior

    def calibrate(self, share: float) -> Calibration:
        """The calibration at the nearest share of a grid.

        It is the default at very small shares, which reveal nothing. At very large ones nearly all words return, so the
        released word is repeated: likelihoods in single precision could not tell it from its nearest neighbors.
        """
        effect = share * self._typical / self._root
        if effect >= _LARGEST_EFFECT and self._competes.any():
            return Calibration(bonus=_CERTAIN)
        if not _SMALLEST_EFFECT < effect < _LARGEST_EFFECT:
            return Calibration()
        nearest = float(SHARE_STEP ** round(np.log(share) / np.log(SHARE_STEP)))
        if nearest not in self._calibrations:
            prior = hashlib.sha256(np.ascontiguousarray(self.log_prior).tobytes()).hexdigest()
            name = json.dumps(["inversion", REVISION, self.mechanism.as_dict(), round(nearest, 9), prior])
            found = self._bundle.find_figures(self._decomposition, name, lambda: self._simulate(nearest)._asdict())
            self._calibrations[nearest] = Calibration(**found)
        return self._calibrations[nearest]

    def _compare(self, released: RowNumbers, shares: Floats) -> tuple[Matrix, Matrix]:
        """The effects of distances for all candidates x: share / sqrt(d) times |y|/2 - xy/|y|, and times |x - y|/2."""
        factors = np.minimum(shares, _LARGEST_SHARE) / self._root / self._deviations[released]
        factors, squares = factors.astype(np.float32)[:, None], self._squares[released][:, None]
        products = self._moved[released] @ self._moved.T
        distances = np.empty_like(products)
        for rows in _list_rows(len(released)):
            away, along = distances[rows], products[rows]
            np.add(squares[rows], self._squares, out=away)
            away -= 2 * along
            np.sqrt(np.maximum(away, 0, out=away), out=away)
            away *= self._competes * (self._lengths[released[rows]][:, None] / 2)
            away *= factors[rows]
            np.subtract(squares[rows] / 2, along, out=along)
            along *= factors[rows]
        return products, distances

    def _simulate(self, share: float) -> Calibration:
        """Draw words by the prior, perturb them, and choose the calibration with the largest posterior of the words."""
        prior = np.exp(self.log_prior - self.log_prior.max())
        streams = SeededRandomness(REVISION)
        drawn = streams.stream(0).choice(len(prior), CALIBRATION_DRAWS, p=prior / prior.sum())
        request = Request(drawn, np.full(len(drawn), share), streams.stream(1))
        (released,) = self.mechanism.perturb([request])
        blocks = (
            (released[start : start + BLOCK], drawn[start : start + BLOCK], share)
            for start in range(0, len(drawn), BLOCK)
        )
        outcomes = [_join(parts) for parts in zip(*in_threads(self._try_all, blocks), strict=True)]
        fitted = [_fit_bonus(outcome) for outcome in outcomes]
        best = max(range(len(fitted)), key=lambda number: fitted[number][0])
        return self._trials[best]._replace(bonus=fitted[best][1])

    def _try_all(self, released: RowNumbers, true: RowNumbers, share: float) -> list[_Outcome]:
        """The outcomes of all trials for some chunks."""
        compared = self._compare(released, np.full(len(released), share))
        each = np.arange(len(released))
        outcomes = []
        for trial in self._trials:
            sharpness, threshold = (
                np.full((len(released), 1), number, dtype=np.float32) for number in (trial.sharpness, trial.threshold)
            )
            posterior = _weigh(compared, sharpness, threshold)
            posterior += self.log_prior.astype(np.float32)
            found, own = posterior[each, true], posterior[each, released]
            posterior[each, released] = -np.inf
            first = posterior.argmax(axis=1)
            largest = posterior[each, first]
            posterior -= largest[:, None]
            others = largest + np.log(np.exp(posterior, out=posterior).sum(axis=1))
            outcomes.append(_Outcome(found, own, others, released == true, largest, first == true))
        return outcomes


class _Outcome(NamedTuple):
    """What an attacker without a bonus makes of some chunks, one number per chunk."""

    true: Floats
    """The logarithm of the posterior of the true word, up to a constant for the chunk, as below."""
    own: Floats
    """That of the released entry."""
    others: Floats
    """That of all other candidates together."""
    returned: npt.NDArray[np.bool_]
    """Whether the released entry is the true word."""
    best: Floats
    """That of the best other candidate."""
    right: npt.NDArray[np.bool_]
    """Whether that one is the true word."""


def _join(outcomes: Sequence[_Outcome]) -> _Outcome:
    return _Outcome(*map(np.concatenate, zip(*outcomes, strict=True)))


def _fit_bonus(outcome: _Outcome) -> tuple[float, float]:
    """The largest mean log-posterior of the true words with a bonus, and the bonus.

    The bonus is raised until guesses other than the released word are right ``CAUTION`` times as often as it would be.
    """
    own = outcome.own[:, None] + BONUSES
    logs = outcome.true[:, None] + outcome.returned[:, None] * BONUSES - np.logaddexp(outcome.others[:, None], own)
    means = logs.mean(axis=0)
    number = int(means.argmax())
    leads = outcome.best - outcome.own
    for bonus in BONUSES[number:]:
        differs = leads > bonus
        if outcome.right[differs].sum() >= CAUTION * outcome.returned[differs].sum():
            return float(means[number]), float(bonus)
    return float(means[number]), float(leads.max()) + 1


def _weigh(compared: tuple[Matrix, Matrix], sharpness: npt.NDArray[Any], threshold: npt.NDArray[Any]) -> Floats:
    """The log-likelihoods of all candidates, by the parameters of the calibration of each row."""
    logs: Floats = np.empty(compared[0].shape, dtype=sharpness.dtype)
    for rows in _list_rows(len(logs)):
        level = compared[0][rows] * sharpness[rows]
        level += threshold[rows]
        logs[rows] = log_tail(np.maximum(level, compared[1][rows] * sharpness[rows], out=level))
    return logs


def _list_rows(number: int) -> Iterator[slice]:
    """All rows, a few at a time: new arrays of a whole block take longer than the numbers in them."""
    yield from (slice(start, start + ROWS) for start in range(0, number, ROWS))


def log_tail(level: npt.NDArray[Any]) -> Floats:
    """The logarithm of the probability that a normal number exceeds a level, with an error of at most 0.003.

    This is the approximation of Borjesson and Sundberg (1979).

    >>> log_tail(np.array([-40.0, 0.0, 1.0, 3.0902323])).round(2).tolist()
    [-0.0, -0.69, -1.84, -6.91]
    """
    size = np.abs(level)
    logs: Floats = size * size
    root = np.sqrt(logs + 5.51)
    root *= 0.339
    size *= 0.661
    size += root
    size *= math.sqrt(2 * math.pi)
    logs /= -2
    logs -= np.log(size, out=size)
    negative = level < 0
    logs[negative] = np.log1p(-np.exp(logs[negative]))
    return logs


def build_channel(mechanism: Mechanism, log_prior: Floats, bundle: Bundle, decomposition: str) -> Channel:
    """The posterior of a mechanism: exact where it has a closed form, else calibrated by simulation."""
    if isinstance(mechanism, Fluent):
        return FluentChannel(mechanism, log_prior)
    if isinstance(mechanism, Exponential):
        return ExactChannel(mechanism, log_prior)
    return SimulatedChannel(mechanism, log_prior, bundle, decomposition)


class Slot(NamedTuple):
    """The place of a chunk: the rows that it may have had, and the evidence for each, as a log-likelihood.

    A chunk that was released in clear has one row. ``UNKNOWN`` stands for a chunk outside the vocabulary, or for all
    rows that are not listed. It has no probability in the language, so the evidence for it includes that.
    """

    rows: RowNumbers
    evidence: Floats


def decode(slots: Sequence[Slot], prior: NgramPrior, log_frequencies: Floats) -> RowNumbers:
    """The row of each place with the largest probability, given all places, by the forward-backward algorithm.

    The probability of a text is the product of the likelihoods of its chunks and of their probabilities in the
    language, each after the chunk before. It is summed over all texts that have a row at a place. This finds more
    chunks than the most likely text as a whole, which prefers frequent words where evidence is weak. ``UNKNOWN`` is
    not chosen if there is another row.

    Args:
        slots: The places of the text, from left to right.
        prior: The language model. Its n-grams of two entries are used.
        log_frequencies: The log-probability of every entry where the chunk before is unknown. The language model alone
            would understate words that follow few different ones.
    """
    if not slots:
        return np.empty(0, dtype=np.int64)
    bigrams = prior.shorten(2)
    before = [np.array([UNKNOWN]), *(slot.rows for slot in slots[:-1])]
    steps = [
        _speak(rows, slot.rows, bigrams, log_frequencies) + slot.evidence
        for rows, slot in zip(before, slots, strict=True)
    ]
    forward = [np.logaddexp.reduce(steps[0], axis=0)]
    for step in steps[1:]:
        forward.append(np.logaddexp.reduce(forward[-1][:, None] + step, axis=0))
    backward = [np.zeros(len(slots[-1].rows))]
    for step in steps[:0:-1]:
        backward.append(np.logaddexp.reduce(step + backward[-1], axis=1))
    return np.array(
        [_choose(slot.rows, left + right) for slot, left, right in zip(slots, forward, backward[::-1], strict=True)]
    )


def _speak(before: RowNumbers, rows: RowNumbers, bigrams: NgramPrior, log_frequencies: Floats) -> Floats:
    """The log-probability of each row (columns) after each row before (rows); 0 for ``UNKNOWN``."""
    logs = np.zeros((len(before), len(rows)))
    known = np.flatnonzero(rows != UNKNOWN)
    contexts = np.repeat(before[:, None], len(known), axis=0)[:, : bigrams.order - 1]
    logs[:, known] = bigrams.score(contexts, np.tile(rows[known], len(before))).reshape(len(before), len(known))
    logs[np.ix_(before == UNKNOWN, known)] = log_frequencies[rows[known]]
    return logs


def _choose(rows: RowNumbers, logs: Floats) -> int:
    """The row with the largest value; ``UNKNOWN`` only if it is alone."""
    return int(rows[np.where(rows == UNKNOWN, -np.inf, logs).argmax()]) if len(rows) > 1 else int(rows[0])
