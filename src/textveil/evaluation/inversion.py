"""What an attacker who knows the mechanism can guess of the original chunks: its own posterior, top 1 and top 10."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.errors import InputError, ParameterError
from textveil.evaluation.base import Case, Measurement, Metric, Need
from textveil.language.stopwords import ENGLISH
from textveil.language.text import spoken
from textveil.language.words import find_words
from textveil.mechanisms.madlib import Madlib
from textveil.privacy.certificate import Terms
from textveil.privacy.results import Obfuscation
from textveil.randomness import SeededRandomness

LARGEST_SAMPLE = 10_000
"""Chunks that are attacked at most; of more, some are drawn."""
GUESSES = 10
BLOCK = 128
"""Chunks that are attacked at a time."""


class Released(NamedTuple):
    """Chunks that a mechanism chose: the rows of what they were, of what was released, and their shares."""

    true: RowNumbers
    released: RowNumbers
    shares: Floats


class Attacker:
    """Guesses chunks from what was released for them, by Bayes' rule over the public vocabulary.

    The prior of an entry is how often it stands in the bundle's corpus, and one time more; where that is not known, all
    have the same. Stopwords are no candidates where they are kept, since they would stand there.

    The likelihood of a candidate at the distance D is the probability that its noisy point lies where the released
    entry is the nearest, which has no closed form. It is taken at one typical such point: as far from the released
    entry as noise in d dimensions is, r = d / share, and in a direction that tells nothing of the candidate, so
    sqrt(r^2 + D^2) from the latter. The density of the noise there is exp(-share * (sqrt(r^2 + D^2) - r)), up to a
    factor that all candidates have. For a share of 0 that is 1, and the posterior is the prior, as it has to be; for a
    large one it is exp(-share * D).

    Args:
        vectors: The vocabulary.
        counts: How often each entry stands in the corpus.
        keeps_stopwords: Whether stopwords are kept, and so are no candidates.
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
        """The rows of the most frequent candidates, the first guess first."""
        guesses: RowNumbers = self._candidates[np.argsort(-self._prior, kind="stable")[:GUESSES]]
        return guesses

    def guess(self, released: RowNumbers, shares: Floats) -> RowNumbers:
        """For every chunk the rows of the likeliest candidates, the first guess first."""
        points = self._matrix[released].astype(np.float64)
        squares = np.einsum("ij,ij->i", points, points)[:, None] + self._norms - 2 * points @ self._points.T
        posterior = self._prior + log_likelihood(np.maximum(squares, 0), shares[:, None], self._matrix.shape[1])
        wanted = min(GUESSES, len(self._candidates))
        best = np.argpartition(-posterior, wanted - 1, axis=1)[:, :wanted]
        order = np.argsort(-np.take_along_axis(posterior, best, axis=1), axis=1, kind="stable")
        guesses: RowNumbers = self._candidates[np.take_along_axis(best, order, axis=1)]
        return guesses


def log_likelihood(squares: Floats, shares: Floats, dimensions: int) -> Floats:
    """The logarithm of a candidate's likelihood, up to a constant, from the square of its distance; see Attacker.

    >>> log_likelihood(np.array([9.0, 9.0]), np.array([0.0, 4.0]), 16).tolist()
    [-0.0, -4.0]
    """
    # share * (sqrt(r^2 + D^2) - r) with r = d / share, written so that nothing is divided by a share of 0
    value: Floats = -(np.sqrt(dimensions**2 + shares**2 * squares) - dimensions)
    return value


class Inversion(Metric):
    """How often the attacker's first guess, or one of the first ten, is the original chunk.

    Beside it stands the success of guesses by the prior alone. Chunks that the mechanism chose are attacked. One that
    the vocabulary does not know is never guessed.

    Args:
        bundle: The bundle that the texts were obfuscated with.
        sample: Chunks that are attacked at most.
        seed: What draws the sample.
    """

    name = "inversion"
    needs: ClassVar[tuple[Need, ...]] = (Need.CHUNKS,)

    def __init__(
        self, *, bundle: Bundle | str | Path = DEFAULT_BUNDLE, sample: int = LARGEST_SAMPLE, seed: int = 42
    ) -> None:
        super().__init__()
        if sample < 1:
            raise ParameterError(f"The sample must be of at least one chunk. Got {sample} instead.")
        self.bundle = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
        self._sample = sample
        self._seed = seed

    @property
    def description(self) -> str:
        """The bundle with its hash."""
        return f"{self.name} ({self.bundle.manifest.name} {self.bundle.hash[:12]}, up to {self._sample:,} chunks)"

    def measure(self, case: Case) -> Measurement:
        """Attack a sample of the chunks."""
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
            f"An attacker who knows the mechanism guesses {values['top_1']:.1%} of the chunks at once and "
            f"{values['top_10']:.1%} in ten guesses; without the obfuscated texts it would be "
            f"{values['prior_top_1']:.1%} and {values['prior_top_10']:.1%}."
        )
        return self.say(line, values, chunks=len(chunks.true))

    def _check(self, terms: Terms) -> None:
        if terms.bundle["sha256"] != self.bundle.hash:
            raise ParameterError(
                f"The texts were obfuscated with another bundle: {terms.bundle['name']} {terms.bundle['version']}. "
                "Give that one with --bundle."
            )
        if terms.mechanism["name"] != Madlib.name:
            raise ParameterError(f"Inversion knows the mechanism {Madlib.name!r} only. Leave it out.")

    def _draw(self, chunks: Released) -> Released:
        if not len(chunks.true):
            raise InputError(
                "No chunk was chosen by the mechanism, so there is nothing to invert. Leave out inversion."
            )
        if len(chunks.true) <= self._sample:
            return chunks
        chosen = SeededRandomness(self._seed).stream(0).choice(len(chunks.true), self._sample, replace=False)
        return Released(chunks.true[chosen], chunks.released[chosen], chunks.shares[chosen])


def collect(obfuscations: Sequence[Obfuscation], vectors: Vectors) -> Released:
    """The chunks that the mechanism chose, as rows of the vocabulary."""
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
