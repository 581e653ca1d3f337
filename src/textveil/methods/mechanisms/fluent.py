"""The fluent mechanism: the exponential mechanism with a language model as its base measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.errors import BundleError, ParameterError
from textveil.methods.mechanisms.base import ASKED, Draft, Request
from textveil.methods.mechanisms.exponential import Exponential, join_drafts, normalize
from textveil.methods.mechanisms.sampling import Exponent, Single, draw
from textveil.registry import Option
from textveil.threads import in_threads

if TYPE_CHECKING:
    from textveil.bundles.prior import NgramPrior


class Fluent(Exponential):
    """Draws entries from left to right, likely ones after those before.

    p(y | x, context) is proportional to prior(y | context)^weight * exp(-share * min(d(x, y), cap) / 2).
    The context is what is public by then: the entries already written, and kept chunks.

    Guarantee:
        Given the context, the factor prior(y | context)^weight is the same for every input x. It cancels in the ratio
        of two numerators, and the sums that normalize them differ by at most exp(share * min(D, cap) / 2), as in the
        exponential mechanism. So each step has the bound exp(share * min(D, cap)) for every context. The steps of a
        document are an adaptive composition: each context depends only on earlier outputs and on public chunks, so the
        logarithms of the bounds add up. With a constant prior, or weight 0, this is the exponential mechanism. A draft
        is public by then, too: as there, it is a factor of the base measure.

    Args:
        vectors: The vocabulary.
        prior: The language model over its entries.
        options: ``weight``, ``cap`` and ``dimensions``.
    """

    name = "fluent"
    guarantee = (
        "exp(share * min(distance, cap)) between any two chunks, given all that was written before, distance Euclidean "
        "in the bundle's embedding"
    )
    uses_prior = True

    options = (
        Option(
            "weight",
            float,
            1.0,
            "Weight of the language model. At 0 the text is as with the mechanism exponential; larger values make it "
            "more fluent and less faithful.",
            least=0,
            most=1000,
        ),
    )
    weight: float

    def __init__(self, vectors: Vectors, prior: NgramPrior | None, **options: Any) -> None:
        super().__init__(vectors, **options)
        if prior is None:
            raise BundleError(
                "The mechanism 'fluent' needs a language model, and this bundle has none for this decomposition. Build "
                "one with 'textveil prepare prior CORPUS --bundle BUNDLE --output NEW', or choose the mechanism "
                "'exponential'."
            )
        if prior.entries != len(vectors):
            raise ParameterError(
                f"The `prior` is one of {prior.entries:,} entries, and the vocabulary has {len(vectors):,}. Use the "
                "prior of the same bundle and decomposition."
            )
        self.prior = prior
        self._columns = prior.restrict(self.space.writable)

    @property
    def model_used(self) -> dict[str, str]:
        """The language model."""
        return dict(self.prior.identity)

    def rebuild(self, vectors: Vectors) -> Self:
        """The same mechanism on other vectors of the same entries."""
        return type(self)(vectors, self.prior, **{name: getattr(self, name) for name in self.list_options()})

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        # Documents of like length are decoded side by side, so that few of them wait for a longer one.
        order = sorted(range(len(requests)), key=lambda number: len(requests[number].rows))
        blocks = [order[start : start + self._drawn] for start in range(0, len(order), self._drawn)]
        decoded = in_threads(self._decode, (([requests[number] for number in block],) for block in blocks))
        answers: dict[int, RowNumbers] = {}
        for block, rows in zip(blocks, decoded, strict=True):
            answers |= zip(block, rows, strict=True)
        return [answers[number] for number in range(len(requests))]

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
        if contexts is None:
            contexts = np.full((len(points), self.prior.order - 1), UNKNOWN)
        return normalize(self._weigh(points, shares, contexts, draft).astype(np.float64, copy=False))

    def log_sums(self, points: Floats, share: float, context: RowNumbers) -> Floats:
        """The logarithms of the sums that normalize the probabilities of chunks at these points, after one context."""
        weighed = self._weigh(points, np.full(len(points), share), context[None])
        largest = weighed.max(axis=1)
        sums: Floats = largest + np.log(np.exp(weighed - largest[:, None]).sum(axis=1, dtype=np.float64))
        return sums

    def _weigh(
        self,
        points: Floats,
        shares: Floats,
        contexts: RowNumbers,
        draft: Draft | None = None,
        measured: Sequence[Single] | None = None,
    ) -> Exponent:
        """The unnormalized log-probabilities of all writable entries."""
        exponents = self._weigh_distances(points, shares, draft, measured)
        if self.weight:
            exponents += self.log_base(contexts)
        return exponents

    def log_base(self, contexts: RowNumbers) -> Exponent:
        """The logarithm of the base measure after each context: of prior(y | context)^weight for all writable y."""
        prior = np.empty((len(contexts), len(self.space.writable)), dtype=np.float32)
        self._columns.fill(contexts, prior)
        return self.weight * prior if self.weight != 1 else prior

    def _decode(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for some documents, which are decoded step by step side by side."""
        decoded = _Decoding(requests, self.prior.order - 1)
        points = self.place_all([(request, slice(None)) for request in requests])
        frequent = self._measure_frequent(decoded.rows, points)
        rare = np.array([chunk not in frequent for chunk in range(len(decoded.rows))], dtype=bool)
        for steps in decoded.list_steps(rare, self._measured):  # distances do not depend on what is written
            asked = np.concatenate(steps)
            asked = asked[rare[asked]]
            distances = self._measure(decoded.rows[asked], points[asked])
            measured = frequent | dict(zip(asked.tolist(), distances, strict=True))
            for chunks in steps:
                self._write(decoded, chunks, points, measured)
        return np.split(decoded.chosen, decoded.starts[1:])

    def _measure_frequent(self, rows: RowNumbers, points: Floats) -> dict[int, Single]:
        """The distances of frequent chunks, which are kept; none if all chunks can be measured together."""
        if len(rows) <= self._measured:
            return {}
        different, firsts, counts = np.unique(rows, return_index=True, return_counts=True)
        counts[(different == UNKNOWN) | (counts == 1)] = 0
        order = np.argsort(-counts, kind="stable")[: self._measured // 2]
        chosen = order[counts[order] > 0]
        distances = dict(zip(different[chosen].tolist(), self._exponents.measure(points[firsts[chosen]]), strict=True))
        return {chunk: distances[row] for chunk, row in enumerate(rows.tolist()) if row in distances}

    def _write(self, decoded: _Decoding, chunks: RowNumbers, points: Floats, measured: Mapping[int, Single]) -> None:
        """Choose one chunk of each document, and write it."""
        exponents = self._weigh(
            points[chunks],
            decoded.shares[chunks],
            decoded.find_contexts(chunks),
            Draft(decoded.draft.rows[chunks], decoded.draft.shares[chunks]),
            [measured[chunk] for chunk in chunks.tolist()],
        )
        decoded.write(chunks, self.space.writable[draw(exponents, decoded.uniforms[chunks])])


class _Decoding:
    """Documents of which a part is written.

    The chunks of all documents are in one array, one document after the other.

    Args:
        requests: The requests of the documents.
        reach: The number of entries of a context.
    """

    def __init__(self, requests: Sequence[Request], reach: int) -> None:
        self.lengths: RowNumbers = np.array([len(request.rows) for request in requests], dtype=np.int64)
        self.starts: RowNumbers = np.cumsum(self.lengths) - self.lengths
        """The first chunk of each document."""
        self.uniforms: Floats = np.concatenate([request.generator.random(len(request.rows)) for request in requests])
        rows = np.concatenate([request.rows for request in requests])
        self.rows: RowNumbers = rows.astype(np.int64, copy=False)  # an empty list makes an array of other numbers
        self.shares: Floats = np.concatenate([request.shares for request in requests])
        self.draft = join_drafts([(request, slice(None)) for request in requests])
        self.chosen: RowNumbers = np.empty(len(self.rows), dtype=np.int64)
        written: list[RowNumbers] = []
        for request in requests:
            asked = np.full(len(request.rows), ASKED)
            written += [np.full(reach, UNKNOWN), asked if request.context is None else request.context]
        self._written: RowNumbers = np.concatenate(written)
        self._places = np.flatnonzero(self._written == ASKED)
        self._before = np.arange(-reach, 0)

    def list_steps(self, rare: npt.NDArray[np.bool_], most: int) -> Iterator[list[RowNumbers]]:
        """Some steps at a time, with at most so many rare chunks: of each step, one chunk of every document so long."""
        steps: list[RowNumbers] = []
        room = most
        for step in range(int(self.lengths.max(initial=0))):
            chunks = self.starts[self.lengths > step] + step
            needed = int(np.count_nonzero(rare[chunks]))
            if steps and needed > room:
                yield steps
                steps, room = [], most
            steps.append(chunks)
            room -= needed
        if steps:
            yield steps

    def find_contexts(self, chunks: RowNumbers) -> RowNumbers:
        """The rows before each chunk, the last one last."""
        contexts: RowNumbers = self._written[self._places[chunks][:, None] + self._before]
        return contexts

    def write(self, chunks: RowNumbers, rows: RowNumbers) -> None:
        """Write the entries of chunks."""
        self.chosen[chunks] = rows
        self._written[self._places[chunks]] = rows
