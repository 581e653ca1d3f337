"""The Obfuscator: a bundle, the three axes and a profile, applied to texts."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import randomgen

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import UNKNOWN, RowNumbers
from textveil.decomposition import DECOMPOSERS
from textveil.decomposition.backoff import back_off
from textveil.distribution import DISTRIBUTORS, Distributor, Score
from textveil.distribution.allocation import allocate, check_budget
from textveil.errors import ParameterError, ProfileError
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Chunk, Document, batch_texts, spoken
from textveil.mechanisms import MECHANISMS, Request
from textveil.privacy.certificate import Certificate, Tally, Terms
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.profiles import STRICT, Profile, Stopwords, load_profile
from textveil.randomness import build_randomness
from textveil.version import __version__

BATCH_SIZE = 256
"""Documents worked on at a time."""
LARGEST_BATCH = 1_000_000
DECOMPOSITION = "pmi"
DISTRIBUTION = "uniform"
"""What our own study speaks for under the profile ``strict`` (docs/study.md)."""
MECHANISM = "madlib"


def choose_decomposition(bundle: Bundle, profile: Profile) -> str:
    """How texts are split unless told: words alone where the bundle or the profile leaves nothing else."""
    allowed = DECOMPOSITION in bundle.decompositions and not profile.public_allocation
    return DECOMPOSITION if allowed else "words"


@dataclass(frozen=True, slots=True)
class ObfuscatedChunk:
    """A chunk of the original, its share of the budget, and what became of it."""

    chunk: Chunk
    original: str = field(repr=False)  # an object that is logged must not tell the text
    scores: tuple[Score, ...]
    """What the distributor gave its words, before anything is inverted; ``None`` where it gave none."""
    share: float
    outcome: Outcome
    replacement: str | None
    """What stands in the output instead; ``None`` where the chunk was kept."""


@dataclass(frozen=True, slots=True)
class Obfuscation:
    """An obfuscated document."""

    text: str
    outcome: DocumentOutcome
    chunks: tuple[ObfuscatedChunk, ...]
    certificate: Certificate


class _Planned(NamedTuple):
    """A chunk on its way to the mechanism, or past it."""

    chunk: Chunk
    row: int
    share: float
    outcome: Outcome


class Obfuscator:
    """Obfuscates texts under differential privacy.

    Args:
        bundle: A bundle, the name of one that ships with textveil, or a folder.
        decomposition: How texts are split into chunks; by default ``pmi``, or ``words`` where the bundle has no vectors
            for it or the profile is ``proven``.
        distribution: How the budget is divided over words: a name, or a distributor that is made already.
        distribution_options: What a distribution that is named lets choose, such as the ``model`` of ``attention``.
        mechanism: How chunks are perturbed.
        profile: What happens to what cannot be perturbed, and what may be claimed.
        stopwords: ``keep`` or ``perturb``; the profile's own choice by default.
        tagger: What tells parts of speech for the decomposition ``pos``: ``textveil`` or ``nltk``.
        seed: Makes the noise repeatable, and so predictable. Leave it out to protect real texts.

    >>> result = Obfuscator(seed=7).obfuscate("The tea was lovely.", epsilon=1000)
    >>> result.text
    'The tea was lovely.'
    >>> [(chunk.original, chunk.outcome.value) for chunk in result.chunks]
    [('The', 'kept_stopword'), ('tea', 'perturbed'), ('was', 'kept_stopword'), ('lovely', 'perturbed')]
    """

    def __init__(
        self,
        bundle: Bundle | str | Path = DEFAULT_BUNDLE,
        *,
        decomposition: str | None = None,
        distribution: str | Distributor = DISTRIBUTION,
        distribution_options: Mapping[str, Any] | None = None,
        mechanism: str = MECHANISM,
        profile: str = STRICT.name,
        stopwords: Stopwords | None = None,
        tagger: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.profile = load_profile(profile)
        self.bundle = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
        if decomposition is None:
            decomposition = choose_decomposition(self.bundle, self.profile)
        decomposer_type = DECOMPOSERS.load(decomposition)
        distributor = distribution if isinstance(distribution, Distributor) else DISTRIBUTORS.load(distribution)
        mechanism_type = MECHANISMS.load(mechanism)
        self.stopwords: Stopwords = self.profile.choose_stopwords(stopwords)
        data_independent = decomposer_type.data_independent and distributor.data_independent
        if self.profile.public_allocation and not data_independent:
            raise ProfileError(
                f"The profile {profile!r} allows only methods that do not look at the text: use words with uniform. "
                f"Got {decomposition!r} with {distributor.name!r} instead."
            )
        self.randomness = build_randomness(seed)
        self._vectors = self.bundle.vectors(decomposer_type.name)
        self._decomposer = decomposer_type(self.bundle, **({} if tagger is None else {"tagger": tagger}))
        self._distributor = make_distributor(distributor, distribution_options or {})
        self._mechanism = mechanism_type(self._vectors)
        self._kept = ENGLISH if self.stopwords == "keep" else frozenset()
        self._documents = count()
        self.terms = self._state_terms(data_independent=data_independent)

    def obfuscate(self, text: str, *, epsilon: float) -> Obfuscation:
        """Obfuscate one text with the budget ``epsilon``."""
        if not isinstance(text, str):
            raise ParameterError(f"A text must be a string. Got {type(text).__name__} instead.")
        return next(self.obfuscate_all([text], epsilon=epsilon))

    def obfuscate_all(
        self,
        texts: Iterable[str | None],
        *,
        epsilon: float,
        batch_size: int = BATCH_SIZE,
        first_document: int | None = None,
    ) -> Iterator[Obfuscation]:
        """Obfuscate many texts, each with the budget ``epsilon``: one result per text, in order, as they are ready.

        Args:
            texts: Any iterable, read a batch at a time; ``None`` is a missing text and gives a result too.
            epsilon: The budget of every single text.
            batch_size: Texts worked on together. With a seed, results do not depend on it.
            first_document: The number of the first text, which with a seed selects its noise. By default the texts of
                an Obfuscator are numbered on from 0.
        """
        budget = check_budget(epsilon)
        check_batch_size(batch_size)
        if isinstance(texts, str | bytes):
            raise ParameterError("Several texts are expected. For a single one, call obfuscate.")
        if first_document is not None and first_document < 0:
            raise ParameterError(f"Documents are numbered from 0. Got {first_document} instead.")
        numbers = self._documents if first_document is None else count(first_document)
        return self._obfuscate_batches(texts, budget, batch_size, numbers)

    def _obfuscate_batches(
        self, texts: Iterable[str | None], budget: float, batch_size: int, numbers: Iterator[int]
    ) -> Iterator[Obfuscation]:
        for batch in batch_texts(_check_texts(texts), batch_size, text_of=lambda text: text):
            documents = [Document.parse(text or "") for text in batch]
            scores = self._distributor.score(documents)
            chunks = self._decomposer.decompose(documents)
            plans = [self._plan(*parts, budget) for parts in zip(documents, chunks, scores, strict=True)]
            chosen = self._mechanism.perturb([self._request(plan, next(numbers)) for plan in plans])
            for text, document, given, plan, rows in zip(batch, documents, scores, plans, chosen, strict=True):
                yield self._finish(document, given, plan, rows, budget, missing=text is None)

    def _plan(
        self, document: Document, chunks: Sequence[Chunk], scores: Sequence[Score], budget: float
    ) -> list[_Planned]:
        """Decide, before any noise is drawn, what is to become of every chunk."""
        shares = allocate(
            scores,
            [word not in self._kept for word in document.words],
            budget=budget,
            invert=self._distributor.invert,
            missing=self.profile.missing,
        )
        plan: list[_Planned] = []
        if [chunk.start for chunk in chunks] + [len(document.words)] != [0, *(chunk.stop for chunk in chunks)]:
            raise RuntimeError  # a decomposer's mistake would spend more than the budget, or leave words out
        for chunk in chunks:
            plan += self._plan_chunk(document, chunk, shares)
        return plan

    def _plan_chunk(self, document: Document, chunk: Chunk, shares: Sequence[float]) -> Iterator[_Planned]:
        row = self._vectors.find(document.key(chunk))
        share = math.fsum(shares[chunk.start : chunk.stop])
        if all(word in self._kept for word in document.words[chunk.start : chunk.stop]):
            yield _Planned(chunk, row, share, Outcome.KEPT_STOPWORD)
        elif row == UNKNOWN and chunk.size > 1 and self.profile.backs_off:
            for part in back_off(
                document, chunk, known=self._vectors, longest=self._vectors.longest, stopwords=ENGLISH
            ):
                yield from self._plan_chunk(document, part, shares)
        elif row == UNKNOWN:
            yield _Planned(
                chunk, row, share, Outcome.KEPT_UNKNOWN if self.profile.releases_unperturbed else Outcome.DRAWN
            )
        elif share == 0:
            yield _Planned(
                chunk, row, share, Outcome.KEPT_NO_SHARE if self.profile.releases_unperturbed else Outcome.DRAWN
            )
        else:
            yield _Planned(chunk, row, share, Outcome.PERTURBED)

    def _request(self, plan: Sequence[_Planned], number: int) -> Request:
        """What the mechanism is asked for one document."""
        asked = [planned for planned in plan if not planned.outcome.in_clear]
        return Request(
            np.array([planned.row for planned in asked], dtype=np.int64),
            np.array([planned.share for planned in asked], dtype=np.float64),
            self.randomness.stream(number),
        )

    def _finish(
        self,
        document: Document,
        scores: Sequence[Score],
        plan: Sequence[_Planned],
        rows: RowNumbers,
        budget: float,
        *,
        missing: bool,
    ) -> Obfuscation:
        """Put the text together again, and count what became of it."""
        chosen = iter(rows.tolist())
        replacements = [
            None if planned.outcome.in_clear else spoken(self._vectors.entries[next(chosen)]) for planned in plan
        ]
        if self.profile.keeps_gaps:
            text = document.assemble([planned.chunk for planned in plan], replacements)
        else:
            text = " ".join(replacement for replacement in replacements if replacement is not None)
        outcomes = [planned.outcome for planned in plan]
        outcome = DocumentOutcome.MISSING if missing else DocumentOutcome.of(outcomes)
        tally = Tally(documents=Counter([outcome]), largest_total=math.fsum(planned.share for planned in plan))
        for planned in plan:
            tally.words[planned.outcome] += planned.chunk.size
        pairs = zip(document.words, scores, strict=True)
        tally.unscored = sum(score is None and word not in self._kept for word, score in pairs)
        if self.profile.keeps_gaps:
            tally.symbols = document.count_symbols()
        chunks = tuple(
            ObfuscatedChunk(
                planned.chunk,
                document.written(planned.chunk),
                tuple(scores[planned.chunk.start : planned.chunk.stop]),
                planned.share,
                planned.outcome,
                replacement,
            )
            for planned, replacement in zip(plan, replacements, strict=True)
        )
        return Obfuscation(text, outcome, chunks, Certificate(self.terms, budget, tally))

    def _state_terms(self, *, data_independent: bool) -> Terms:
        public = "public given the kept stopwords" if self._kept else "public"
        return Terms(
            profile=self.profile,
            decomposition=self._decomposer.description,
            distribution=self._distributor.description,
            allocation=public if data_independent else "data-dependent",
            stopwords=self.stopwords,
            mechanism={
                "name": self._mechanism.name,
                "guarantee": self._mechanism.guarantee,
                "index": self._mechanism.index,
            },
            randomness={"source": self.randomness.source, "predictable": self.randomness.predictable},
            distance=self.bundle.distance(self._decomposer.name),
            bundle={
                "name": self.bundle.manifest.name,
                "version": self.bundle.manifest.version,
                "sha256": self.bundle.hash,
            },
            versions={
                "textveil": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "randomgen": randomgen.__version__,
                **self._decomposer.versions,
                **self._distributor.versions,
            },
        )


def make_distributor(distributor: Distributor | type[Distributor], options: Mapping[str, Any]) -> Distributor:
    """The distributor with its options, which one that is made already has."""
    if not isinstance(distributor, Distributor):
        return distributor(**options)
    if options:
        raise ParameterError("A distributor that is made already has its options. Give them when it is made.")
    return distributor


def check_batch_size(batch_size: int) -> None:
    """Refuse a batch of nothing, and one that is no number of texts."""
    if not isinstance(batch_size, Integral) or not 1 <= batch_size <= LARGEST_BATCH:
        raise ParameterError(f"The batch size must be from 1 to {LARGEST_BATCH:,}. Got {batch_size!r} instead.")


def _check_texts(texts: Iterable[str | None]) -> Iterator[str | None]:
    for number, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise ParameterError(
                f"Text {number} must be a string, or None where it is missing. Got {type(text).__name__} instead."
            )
        yield text
