"""The neighborhood mechanism: entries near a chunk become likelier by a constant factor. It draws in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import UNKNOWN, Floats, Matrix, RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms.base import ASKED, Draft, Mechanism, Request
from textveil.registry import Option
from textveil.threads import in_threads

if TYPE_CHECKING:
    from textveil.bundles.prior import NgramPrior

Single = npt.NDArray[np.float32]

WIDTH = 7.0
"""By default the neighborhood has a mass of WIDTH / (WIDTH + e^share), so 7 of 8 answers come from it."""
FACTOR_BITS = 32
"""The factor e^share is rounded down to a multiple of 2^-32."""
PLAIN_BITS, CONTEXT_BITS = 34, 18
"""All entries together weigh about 2^34 units without a context, and at most about 2^52 with one."""
KAPPA_BITS = 60
"""The mass of a neighborhood is a multiple of 2^-60 of the weight of all entries, rounded down to whole units."""
MEASURED = 192
"""Chunks whose distances are measured together: about 24 MiB for 32,000 entries."""
FREQUENT = 128
"""Chunks that occur several times in a batch, and whose orders are kept: about 48 MiB for 32,000 entries."""
RADIUS = 2000
"""The longest vector has about this many units: squared distances then are whole numbers of at most 2^24, exactly."""
RANGES = 2048
"""Ranges of distance in which entries are counted."""
LARGEST_SHARE = 700.0
"""Beyond it, the factor e^share does not grow."""
_WORD = 64
_WORDS = 3
_SPARE_BITS = 64  # a random number is longer than its limit by this, so hardly any draw is repeated


class Neighborhood(Mechanism):
    """Draws entries from left to right: those near the chunk are e^share times as likely as they are anyway.

    Entries have public weights b(y | context) in whole units: equal ones, or those of the language model. All writable
    entries are ordered by their distance to the chunk x, ties by row. The neighborhood T(x) is the beginning of this
    order, up to a mass of exactly kappa; the entry at its border belongs to it with a fraction. Then

        p(y | x, context) = b(y | context) * (e^share if y in T(x), else 1) / (kappa * e^share + 1 - kappa).

    With equal weights and a whole number of entries this is bipartite randomized response (Zhang et al. 2025,
    arXiv:2504.20926).

    Guarantee:
        The denominator is the same for every x, and the numerators of two chunks differ by a factor of at most e^share.
        So each step has the bound exp(share) for any two chunks and every context, without a distance. Each context
        depends only on earlier answers and on public chunks, so the shares of a document add up: any answer is at most
        exp(sum of shares) times as likely for any two documents with as many chunks. The bound is attained.

        This holds for the program, not only for real numbers. Weights, kappa and e^share, which is rounded down, are
        whole numbers, and an answer follows from one uniform whole number below their total. Distances are floating-
        point numbers, but they only decide which entries belong to T(x), and the bound holds for any T(x) of this mass.

    A draft is public, too: what lies outside of its neighborhood weighs less, whatever the chunk is.

    Args:
        vectors: The vocabulary.
        prior: The language model over its entries; ``None`` for equal weights.
        options: ``neighborhood``, ``weight`` and ``dimensions``.
    """

    name = "neighborhood"
    guarantee = "exp(share) between any two chunks, given all that was written before, without a distance"
    uses_prior = True

    options = (
        Option(
            "neighborhood",
            float,
            None,
            "Mass of the neighborhood, kappa, above 0 and below 1. By default it follows the share: "
            f"{WIDTH:g} / ({WIDTH:g} + e^share).",
        ),
        Option(
            "weight",
            float,
            1.0,
            "Weight of the language model. At 0 all entries weigh the same; larger values make the text more fluent.",
            least=0,
            most=1000,
        ),
    )
    neighborhood: float | None
    weight: float

    def __init__(self, vectors: Vectors, prior: NgramPrior | None = None, **options: Any) -> None:
        super().__init__(vectors, **options)
        if self.neighborhood is not None and not 0 < self.neighborhood < 1:
            raise ParameterError(
                "`neighborhood` must be above 0 and below 1: the mass of the entries near a chunk. "
                f"Got {self.neighborhood} instead."
            )
        if prior is not None and prior.entries != len(vectors):
            raise ParameterError(
                f"The `prior` is one of {prior.entries:,} entries, and the vocabulary has {len(vectors):,}. Use the "
                "prior of the same bundle and decomposition."
            )
        self.prior = prior
        self._columns = None if prior is None or self.weight == 0 else prior.restrict(self.space.writable)
        self._distances = Distances(self.space.matrix[self.space.writable])
        logs = np.zeros(len(self.space.writable))
        if self._columns is not None:
            logs = self.weight * self._columns.unigrams.astype(np.float64)
        self._log_sum = float(np.logaddexp.reduce(logs))
        self._plain = Weights.build(np.exp(logs - self._log_sum))
        self._unordered = Order(np.zeros(len(logs), dtype=np.float32))
        """The order of all entries by row, for chunks without a share: the same number then draws the same answer."""

    @property
    def model_used(self) -> dict[str, str]:
        """The language model, if there is one."""
        return {} if self.prior is None else dict(self.prior.identity)

    def rebuild(self, vectors: Vectors) -> Self:
        """The same mechanism on other vectors of the same entries."""
        return type(self)(vectors, self.prior, **{name: getattr(self, name) for name in self.list_options()})

    def reach(self, distances: Floats) -> Floats:
        """One for any two chunks, however near: the guarantee knows no distance."""
        return np.where(distances > 0, 1.0, 0.0)

    @property
    def largest_useful_share(self) -> float:
        """The share from which on the default neighborhood is a single entry, if all entries weigh the same."""
        return math.log(WIDTH * max(len(self.space.writable) - 1, 1))

    def kappa(self, share: float) -> float:
        """The mass of the neighborhood at a share. It never has less than that of the lightest entry."""
        return self.neighborhood or WIDTH / (WIDTH + math.exp(min(share, LARGEST_SHARE)))

    def find_odds(self, weight: int, lightest: int, share: float) -> Odds:
        """The odds of a chunk at a share.

        Args:
            weight: The weight of all writable entries together.
            lightest: The weight of the lightest one: no neighborhood has less.
            share: The share.
        """
        mass = weight * math.floor(self.kappa(share) * 2.0**KAPPA_BITS) >> KAPPA_BITS
        least = lightest if self.neighborhood is None else 1
        return Odds(weight, max(mass, least), raise_to_units(min(share, LARGEST_SHARE)), 1 << FACTOR_BITS)

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        frequent = self._sort_frequent(requests)
        blocks = ((block, frequent) for block in _divide(requests))
        return [rows for block in in_threads(self._write_all, blocks) for rows in block]

    def log_channel(
        self, points: Floats, shares: Floats, contexts: RowNumbers | None = None, *, draft: Draft | None = None
    ) -> Floats:
        """The log-probability of every writable entry for chunks at these points.

        Args:
            points: One point per row.
            shares: Their shares.
            contexts: The rows written before each chunk, the last one last; by default there is no context.
            draft: The answer of the first round for each chunk.
        """
        logs: Floats = np.empty((len(points), len(self.space.writable)))
        for number, order in enumerate(self._sort(points)):
            weights = self.weigh(None if contexts is None else contexts[number], _pick(draft, number))
            units = weights.list_units()
            odds = self.find_odds(int(units.sum()), weights.lightest, float(shares[number]))
            inside = order.share_out(units, odds.mass)
            factors = inside * (odds.inside / odds.outside) + (units - inside)
            logs[number] = np.log(factors) - math.log(odds.total / odds.outside)
        return logs

    def weigh(self, context: RowNumbers | None = None, draft: tuple[int, float] | None = None) -> Weights:
        """The weights of all writable entries.

        Args:
            context: The rows written before, the last one last.
            draft: The row that a first round answered, and its share.
        """
        weights = self._plain if self._columns is None or context is None else self._weigh_after(self._columns, context)
        if draft is None or draft[1] == 0:
            return weights
        row, share = draft
        (order,) = self._sort(self.space.place(np.array([row])))
        units = weights.list_units()
        near = order.share_out(units, self.find_odds(int(units.sum()), weights.lightest, share).mass) > 0
        drafted = np.where(near, units, units * math.exp(-min(share, LARGEST_SHARE)))
        return Weights.build(drafted / drafted.sum())

    def _weigh_after(self, prior: NgramPrior, context: RowNumbers) -> Weights:
        """The weights after a context: those without one times a factor, but for the entries that it makes likelier."""
        added, columns, logs = prior.find_changes(context)
        if len(columns) == 0:
            return self._plain
        ratios = np.exp(self.weight * (logs.astype(np.float64) - added) - self._log_sum)
        ratios *= min(1.0, 2.0 ** (CONTEXT_BITS - 1) / float(ratios.sum()))  # else the factor would round to 0
        factor = math.floor(2.0**CONTEXT_BITS / (1 + float(ratios.sum())))
        return self._plain._replace(factor=factor, columns=columns, changed=_to_units(ratios * factor))

    def _sort(self, points: Floats) -> list[Order]:
        """The orders of all writable entries around points."""
        return [Order(distances) for distances in self._distances.measure(points)]

    def _sort_frequent(self, requests: Sequence[Request]) -> dict[int, Order]:
        """The orders around the chunks that occur most often in a batch."""
        rows, counts = np.unique(np.concatenate([request.rows for request in requests]), return_counts=True)
        counts[(counts == 1) | (rows == UNKNOWN)] = 0
        often = np.argsort(-counts, kind="stable")[:FREQUENT]
        frequent = rows[often[counts[often] > 0]].astype(np.int64)
        return dict(zip(frequent.tolist(), self._sort(self.space.place(frequent)), strict=True))

    def _sort_chunks(self, requests: Sequence[Request], frequent: dict[int, Order]) -> Iterator[Order]:
        """The orders around all chunks of some documents."""
        rows = np.concatenate([request.rows for request in requests]).tolist()
        points = self.place_all([(request, slice(None)) for request in requests])
        for start in range(0, len(rows), MEASURED):
            some = rows[start : start + MEASURED]
            rare = [place for place, row in enumerate(some, start) if row not in frequent]
            found = iter(self._sort(points[rare]))
            yield from (frequent[row] if row in frequent else next(found) for row in some)

    def _write_all(self, requests: Sequence[Request], frequent: dict[int, Order]) -> list[RowNumbers]:
        """The rows chosen for the chunks of some documents."""
        orders = self._sort_chunks(requests, frequent)
        return [self._write(request, orders) for request in requests]

    def _write(self, request: Request, orders: Iterator[Order]) -> RowNumbers:
        """The rows chosen for the chunks of one document."""
        number = len(request.rows)
        reach = 0 if self._columns is None else self._columns.order - 1
        asked = np.full(number, ASKED) if request.context is None else request.context
        written: RowNumbers = np.concatenate([np.full(reach, UNKNOWN), asked])
        random = UniformIntegers(request.generator, number)
        chosen: RowNumbers = np.empty(number, dtype=np.int64)
        for chunk, place in enumerate(np.flatnonzero(written == ASKED).tolist()):
            weights = self.weigh(written[place - reach : place], _pick(request.draft, chunk))
            order = next(orders)
            counted = (order if request.shares[chunk] else self._unordered).count(weights)
            odds = self.find_odds(counted.weight, weights.lightest, float(request.shares[chunk]))
            column = counted.find(odds.find_unit(random.draw(odds.total)))
            chosen[chunk] = written[place] = self.space.writable[column]
        return chosen


class Odds(NamedTuple):
    """The odds of one chunk: numbers below ``total`` are dealt out to the units of all entries."""

    weight: int
    """The units of all entries."""
    mass: int
    """The units of the neighborhood."""
    inside: int
    """The numbers that each unit of the neighborhood gets."""
    outside: int
    """The numbers that each other unit gets."""

    @property
    def total(self) -> int:
        """All numbers. They are as many for every chunk."""
        return self.mass * self.inside + (self.weight - self.mass) * self.outside

    def find_unit(self, number: int) -> int:
        """The unit that has a number. Units stand in the order of distance, so the neighborhood comes first."""
        beyond = number - self.mass * self.inside
        return number // self.inside if beyond < 0 else self.mass + beyond // self.outside


class Weights(NamedTuple):
    """The public weights of all writable entries after a context. They are whole numbers of units.

    They sum to less than 2^53, so sums in double precision are exact.
    """

    units: Floats
    """The weight of each entry without a context."""
    least: float
    """The smallest of them."""
    factor: int = 1
    """What the context multiplies it by."""
    columns: RowNumbers = np.empty(0, dtype=np.int64)
    """The entries that have another weight after this context, each of them once."""
    changed: Floats = np.empty(0)
    """These weights."""

    @classmethod
    def build(cls, weights: Floats) -> Self:
        """Weights that sum to 1, in whole units."""
        units = _to_units(weights)
        return cls(units, float(units.min()))

    @property
    def lightest(self) -> int:
        """The smallest weight."""
        return int(min(self.least * self.factor, self.changed.min(initial=math.inf)))

    def list_units(self) -> Floats:
        """The weights of all entries."""
        units = self.units * self.factor
        units[self.columns] = self.changed
        return units


class Distances:
    """Measures squared distances in whole units, so they are the same on every machine and in every batch.

    Args:
        entries: One entry per row.
    """

    def __init__(self, entries: Matrix) -> None:
        lengths = np.linalg.norm(entries.astype(np.float64), axis=1)
        self._scale = RADIUS / (float(lengths.max(initial=0.0)) or 1.0)
        # |x - y|^2 is the product of (x, |x|^2, 1) and (-2y, 1, |y|^2).
        extended = self._extend(entries.astype(np.float64))
        extended[:, :-2] *= -2
        self._entries = np.ascontiguousarray(extended[:, [*range(entries.shape[1]), -1, -2]].T)

    def measure(self, points: Floats) -> Single:
        """The squared distances of points (rows) and entries (columns). Points farther out than all entries move in."""
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        measured: Single = self._extend(points / np.maximum(lengths * self._scale / RADIUS, 1)) @ self._entries
        return measured

    def _extend(self, vectors: Floats) -> Single:
        """Vectors in whole units, with the square of their length and 1."""
        units = np.rint(vectors * self._scale)
        squares = np.einsum("ij,ij->i", units, units)
        return np.column_stack([units, squares, np.ones(len(units))]).astype(np.float32)


class Order:
    """All entries in the order of their distance from a chunk, ties by row.

    Entries are counted by ranges of their distance, so that only one range has to be sorted.

    Args:
        distances: The squared distance of every entry.
    """

    def __init__(self, distances: Single) -> None:
        self._distances = distances
        farthest = float(distances.max())
        self.ranges = (distances * np.float32((RANGES - 1) / farthest if farthest > 0 else 0)).astype(np.intp)
        self._plain: tuple[Floats, npt.NDArray[Any]] | None = None

    def count(self, weights: Weights) -> Counted:
        """Count the units in each range."""
        if self._plain is None or self._plain[0] is not weights.units:
            self._plain = weights.units, np.bincount(self.ranges, weights.units, RANGES)
        counts = self._plain[1] * weights.factor
        changed = self.ranges[weights.columns]
        if len(changed):
            gained = weights.changed - weights.units[weights.columns] * weights.factor
            counts += np.bincount(changed, gained, RANGES)
        return Counted(self, weights, counts.cumsum(), changed)

    def list_range(self, number: int) -> RowNumbers:
        """The entries of one range, in order."""
        members = (self.ranges == number).nonzero()[0]
        ordered: RowNumbers = members[self._distances[members].argsort(kind="stable")]
        return ordered

    def share_out(self, units: Floats, mass: int) -> Floats:
        """The units of each entry that belong to the neighborhood of this mass."""
        order = np.argsort(self._distances, kind="stable")
        ends = np.cumsum(units[order])
        inside = np.empty(len(order))
        inside[order] = np.clip(mass - (ends - units[order]), 0, units[order])
        return inside


class Counted(NamedTuple):
    """The units of all entries, numbered in the order of their distance from a chunk."""

    order: Order
    weights: Weights
    ends: Floats
    """The units up to the end of each range."""
    changed: RowNumbers
    """The range of each entry whose weight the context changes."""

    @property
    def weight(self) -> int:
        """The units of all entries."""
        return int(self.ends[-1])

    def find(self, unit: int) -> int:
        """The entry that has the unit with this number, from 0."""
        number = int(self.ends.searchsorted(unit, side="right"))
        members = self.order.list_range(number)
        units = self.weights.units[members] * self.weights.factor
        for changed in (self.changed == number).nonzero()[0].tolist():
            units[members == self.weights.columns[changed]] = self.weights.changed[changed]
        before = self.ends[number - 1] if number else 0.0
        return int(members[(before + units.cumsum()).searchsorted(unit, side="right")])


class UniformIntegers:
    """Uniform whole numbers below any limit, without bias, from a stream of random words.

    Args:
        generator: The stream.
        expected: How many numbers will be drawn: their words are taken from the stream at once.
    """

    def __init__(self, generator: np.random.Generator, expected: int) -> None:
        self._generator = generator
        self._words = iter(self._take(expected * _WORDS))

    def draw(self, limit: int) -> int:
        """A uniform whole number from 0 to ``limit`` - 1."""
        words = max(-(-(limit.bit_length() + _SPARE_BITS) // _WORD), _WORDS)
        while True:
            number = 0
            for _ in range(words):
                number = number << _WORD | self._next_word()
            # Each number below the limit stands for as many of the 2^bits equally likely ones; the rest is drawn again.
            each = (1 << words * _WORD) // limit
            if number < limit * each:
                return number // each

    def _next_word(self) -> int:
        word = next(self._words, None)
        if word is None:
            self._words = iter(self._take(_WORDS))
            word = next(self._words)
        return word

    def _take(self, words: int) -> list[int]:
        taken: list[int] = self._generator.integers(0, 2**_WORD, size=words, dtype=np.uint64).tolist()
        return taken


@lru_cache(maxsize=4096)
def raise_to_units(share: float) -> int:
    """The largest whole number of units of 2^-32 that is not above e^share; the same one on every machine."""
    with localcontext() as context:
        context.prec = 40 + math.ceil(share)
        return int((Decimal(share).exp() * (1 << FACTOR_BITS)).to_integral_value(ROUND_FLOOR))


def _to_units(weights: Floats) -> Floats:
    """Weights in whole units, where 1 is 2^34 of them; at least 1 unit each."""
    return np.maximum(np.floor(weights * 2.0**PLAIN_BITS), 1)


def _divide(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """Blocks of documents for one thread at a time; two threads share even a small batch."""
    least = min(sum(len(request.rows) for request in requests) / 2, MEASURED)
    block: list[Request] = []
    number = 0
    for request in requests:
        block.append(request)
        number += len(request.rows)
        if number >= least:
            yield block
            block, number = [], 0
    if block:
        yield block


def _pick(draft: Draft | None, chunk: int) -> tuple[int, float] | None:
    return None if draft is None else (int(draft.rows[chunk]), float(draft.shares[chunk]))
