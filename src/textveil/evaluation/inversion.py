"""Inversion: the share of chunks that an attacker who knows the mechanism guesses, in one guess and in ten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.errors import InputError, ParameterError
from textveil.evaluation.base import Case, Measurement, Metric, Need
from textveil.evaluation.texts import SAMPLE_SEED
from textveil.language.stopwords import ENGLISH
from textveil.language.text import spoken
from textveil.language.words import find_words
from textveil.mechanisms.madlib import Madlib
from textveil.privacy.certificate import Terms
from textveil.privacy.results import Obfuscation
from textveil.randomness import SeededRandomness
from textveil.registry import Option

LARGEST_SAMPLE = 10_000
"""The largest number of chunks to attack. From more, a sample is drawn."""
GUESSES = 10
BLOCK = 128
"""Chunks to attack at a time."""


class Released(NamedTuple):
    """Chunks that a mechanism replaced: the vocabulary rows of originals and replacements, and the shares."""

    true: RowNumbers
    released: RowNumbers
    shares: Floats


class Attacker:
    """Guesses original chunks from their replacements, by Bayes' rule over the public vocabulary.

    The prior of an entry is its count in the bundle's corpus plus one. Without counts the prior is uniform. Kept
    stopwords are not candidates.

    The likelihood of a candidate at distance D from the released entry is the probability that the released entry is
    nearest to the candidate's noisy point. It has no closed form, so it is evaluated at one typical point. That point
    lies at distance r = d / share from the released entry, the expected length of the noise in d dimensions. Its
    direction is independent of the candidate, so its distance from the candidate is sqrt(r^2 + D^2). There, the density
    of the noise is exp(-share * (sqrt(r^2 + D^2) - r)), up to a factor common to all candidates. For a share of 0 the
    density is 1 and the posterior equals the prior. For a large share it approaches exp(-share * D).

    Args:
        vectors: The vocabulary.
        counts: The count of each entry in the corpus.
        keeps_stopwords: Whether stopwords are kept, so that they are not candidates.
    """

    def __init__(self, vectors: Vectors, counts: RowNumbers | None, *, keeps_stopwords: bool) -> None:
        allowed = [not keeps_stopwords or not _is_stopword(entry) for entry in vectors.entries]
        self._candidates = np.flatnonzero(allowed)
        seen = np.zeros(len(vectors)) if counts is None else np.asarray(counts, dtype=np.float64)
        self._prior = np.log(seen[self._candidates] + 1)
        self._matrix = vectors.matrix
        self._points = vectors.matrix[self._candidates].astype(np.float64)
        self._norms = np.einsum("ij,ij->i", self._points, self._points)

    def guess_by_prior(self) -> RowNumbers:
        """The rows of the most frequent candidates, best guess first."""
        guesses: RowNumbers = self._candidates[np.argsort(-self._prior, kind="stable")[:GUESSES]]
        return guesses

    def guess(self, released: RowNumbers, shares: Floats) -> RowNumbers:
        """The rows of the most likely candidates for every chunk, best guess first."""
        points = self._matrix[released].astype(np.float64)
        squares = np.einsum("ij,ij->i", points, points)[:, None] + self._norms - 2 * points @ self._points.T
        posterior = self._prior + log_likelihood(np.maximum(squares, 0), shares[:, None], self._matrix.shape[1])
        wanted = min(GUESSES, len(self._candidates))
        best = np.argpartition(-posterior, wanted - 1, axis=1)[:, :wanted]
        order = np.argsort(-np.take_along_axis(posterior, best, axis=1), axis=1, kind="stable")
        guesses: RowNumbers = self._candidates[np.take_along_axis(best, order, axis=1)]
        return guesses


def log_likelihood(squares: Floats, shares: Floats, dimensions: int) -> Floats:
    """The logarithm of a candidate's likelihood from its squared distance, up to a constant; see Attacker.

    >>> log_likelihood(np.array([9.0, 9.0]), np.array([0.0, 4.0]), 16).tolist()
    [-0.0, -4.0]
    """
    # share * (sqrt(r^2 + D^2) - r) with r = d / share, rewritten to avoid a division by a share of 0
    value: Floats = -(np.sqrt(dimensions**2 + shares**2 * squares) - dimensions)
    return value


class Inversion(Metric):
    """The share of chunks that the attacker guesses, with its first guess and with its first ten.

    It is compared with guesses by the prior alone. The attack targets the chunks that the mechanism replaced. A chunk
    that is not in the vocabulary is never guessed.

    Args:
        options: The ``bundle`` of the obfuscation, the ``sample`` of chunks and its ``seed``.
    """

    name = "inversion"
    needs: ClassVar[tuple[Need, ...]] = (Need.CHUNKS,)

    options = (
        Option(
            "bundle",
            object,
            DEFAULT_BUNDLE,
            "The bundle of the obfuscation.",
            changes_results=False,  # its files do, and they are recorded
        ),
        Option("sample", int, LARGEST_SAMPLE, "The largest number of chunks to attack.", least=1),
        Option("seed", int, SAMPLE_SEED, "The seed of the sample.", least=0),
    )
    bundle: Bundle
    sample: int
    seed: int

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(self.bundle, Bundle):
            self.bundle = Bundle.load(self.bundle)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The bundle, whose vocabulary and counts the attacker knows."""
        return {"name": self.bundle.manifest.name, "sha256": self.bundle.hash}

    def measure(self, case: Case) -> Measurement:
        """Attack the chunks, or a sample of them."""
        obfuscations = case.obfuscations or ()
        terms = obfuscations[0].certificate.terms
        self._check(terms)
        decomposition = terms.decomposition["name"]
        vectors = self.bundle.vectors(decomposition)
        attacker = Attacker(vectors, self.bundle.counts(decomposition), keeps_stopwords=terms.stopwords == "keep")
        chunks = self._draw(collect(obfuscations, vectors))
        first = ten = 0
        for start in range(0, len(chunks.true), BLOCK):
            case.progress("inversion", start, start / len(chunks.true))
            part = slice(start, start + BLOCK)
            right = attacker.guess(chunks.released[part], chunks.shares[part]) == chunks.true[part, None]
            first += int(right[:, 0].sum())
            ten += int(right.any(axis=1).sum())
        by_prior = attacker.guess_by_prior()
        values = {
            "top_1": first / len(chunks.true),
            "top_10": ten / len(chunks.true),
            "prior_top_1": float(np.mean(chunks.true == by_prior[0])),
            "prior_top_10": float(np.mean(np.isin(chunks.true, by_prior))),
        }
        line = (
            f"An attacker who knows the mechanism recovers {values['top_1']:.1%} of the chunks with one guess and "
            f"{values['top_10']:.1%} with ten. From word frequencies alone it recovers {values['prior_top_1']:.1%} and "
            f"{values['prior_top_10']:.1%}."
        )
        return self.report(line, values, chunks=len(chunks.true))

    def _check(self, terms: Terms) -> None:
        if terms.bundle["sha256"] != self.bundle.hash:
            raise ParameterError(
                f"The texts were obfuscated with another bundle: {terms.bundle['name']} {terms.bundle['version']}. "
                "Set `bundle` to that one."
            )
        if terms.mechanism["name"] != Madlib.name:
            raise ParameterError(f"Inversion supports only {Madlib.name!r}. Remove inversion from `metrics`.")

    def _draw(self, chunks: Released) -> Released:
        if not len(chunks.true):
            raise InputError(
                "The mechanism replaced no chunk, so there is nothing to invert. Remove inversion from `metrics`."
            )
        if len(chunks.true) <= self.sample:
            return chunks
        chosen = SeededRandomness(self.seed).stream(0).choice(len(chunks.true), self.sample, replace=False)
        return Released(chunks.true[chosen], chunks.released[chosen], chunks.shares[chosen])


def collect(obfuscations: Sequence[Obfuscation], vectors: Vectors) -> Released:
    """The chunks that the mechanism replaced, as rows of the vocabulary."""
    written = {spoken(vectors.entries[row]): row for row in vectors.writable.tolist()}
    rows = [
        (vectors.find("_".join(find_words(chunk.original))), written[chunk.replacement], chunk.share)
        for obfuscation in obfuscations
        for chunk in obfuscation.chunks
        if chunk.replacement is not None
    ]
    true, released, shares = zip(*rows, strict=True) if rows else ((), (), ())
    return Released(np.array(true, dtype=np.int64), np.array(released, dtype=np.int64), np.array(shares, dtype=float))


def _is_stopword(entry: str) -> bool:
    return all(word in ENGLISH for word in entry.split("_"))
