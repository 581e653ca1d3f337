"""The Obfuscator: a bundle, the three axes and a profile, applied to texts and files."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import randomgen

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import UNKNOWN, RowNumbers
from textveil.decomposition import DECOMPOSERS, Decomposer
from textveil.decomposition.backoff import back_off
from textveil.distribution import DISTRIBUTORS, Distributor, Score
from textveil.distribution.allocation import allocate
from textveil.errors import ParameterError, ProfileError
from textveil.jobs import FileJob, JobOptions, JobReport
from textveil.language.batches import BATCH_SIZE, batch_texts, check_batch_size
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Chunk, Document, spoken
from textveil.mechanisms import MECHANISMS, Mechanism, Request
from textveil.privacy.budget import Budget
from textveil.privacy.certificate import Certificate, Tally, Terms
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.profiles import STRICT, Profile, Stopwords, load_profile
from textveil.privacy.results import ObfuscatedChunk, Obfuscation
from textveil.progress import Progress, ignore_progress
from textveil.randomness import build_randomness
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN, Layout
from textveil.version import __version__

DECOMPOSITION = "pmi"
DISTRIBUTION = "uniform"
"""The defaults follow our own study under the profile ``strict`` (docs/study.md)."""
MECHANISM = "madlib"


def choose_decomposition(bundle: Bundle, profile: Profile) -> str:
    """The default decomposition: words alone if the bundle or the profile allows nothing else."""
    allowed = DECOMPOSITION in bundle.decompositions and not profile.public_allocation
    return DECOMPOSITION if allowed else "words"


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
        decomposition: How texts are split into chunks: a name or a decomposer. By default ``pmi``, or ``words`` if the
            bundle has no vectors for it or the profile is ``proven``.
        decomposition_options: Options of a decomposition that is given by name, such as the ``tagger`` of ``pos``.
        distribution: How the budget is divided over words: a name or a distributor.
        distribution_options: Options of a distribution that is given by name, such as the ``model`` of ``attention``.
        mechanism: How chunks are perturbed: a name or a mechanism.
        mechanism_options: Options of a mechanism that is given by name.
        profile: What happens to words that cannot be perturbed, and what may be claimed.
        stopwords: ``keep`` or ``perturb``; by default the profile decides.
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
        decomposition: str | Decomposer | None = None,
        decomposition_options: Mapping[str, Any] | None = None,
        distribution: str | Distributor = DISTRIBUTION,
        distribution_options: Mapping[str, Any] | None = None,
        mechanism: str | Mechanism = MECHANISM,
        mechanism_options: Mapping[str, Any] | None = None,
        profile: str = STRICT.name,
        stopwords: Stopwords | None = None,
        seed: int | None = None,
    ) -> None:
        self.profile = load_profile(profile)
        self.bundle = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
        if decomposition is None:
            decomposition = choose_decomposition(self.bundle, self.profile)
        decomposer = DECOMPOSERS.choose(decomposition)
        distributor = DISTRIBUTORS.choose(distribution)
        self.stopwords: Stopwords = self.profile.choose_stopwords(stopwords)
        data_independent = decomposer.data_independent and distributor.data_independent
        if self.profile.public_allocation and not data_independent:
            raise ProfileError(
                f"The profile {profile!r} allows only methods that do not look at the text: `decomposition='words'` "
                f"and `distribution='uniform'`. Got {decomposer.name!r} and {distributor.name!r} instead."
            )
        self.randomness = build_randomness(seed)
        self._vectors = self.bundle.vectors(decomposer.name)
        self._decomposer = DECOMPOSERS.build(decomposer, self.bundle, **(decomposition_options or {}))
        self._distributor = DISTRIBUTORS.build(distributor, **(distribution_options or {}))
        self._mechanism = MECHANISMS.build(MECHANISMS.choose(mechanism), self._vectors, **(mechanism_options or {}))
        if self._mechanism.vectors is not self._vectors:
            raise ParameterError(
                f"The `mechanism` was built on other vectors than those of the bundle for {decomposer.name!r}. "
                f"Build it with bundle.vectors({decomposer.name!r}), or give its name."
            )
        self._kept = ENGLISH if self.stopwords == "keep" else frozenset()
        self._documents = count()
        self.terms = self._state_terms(data_independent=data_independent)

    def __repr__(self) -> str:
        axes = ", ".join(method.description for method in (self._decomposer, self._distributor, self._mechanism))
        return f"Obfuscator({self.bundle.manifest.name!r}, {axes}, profile {self.profile.name!r})"

    def obfuscate(
        self, text: str, *, epsilon: float | None = None, epsilon_per_word: float | None = None
    ) -> Obfuscation:
        """Obfuscate one text with the budget ``epsilon``, or ``epsilon_per_word`` times its number of words."""
        if not isinstance(text, str):
            raise ParameterError(f"A text must be a string. Got {type(text).__name__} instead.")
        return next(self.obfuscate_all([text], epsilon=epsilon, epsilon_per_word=epsilon_per_word))

    def obfuscate_all(
        self,
        texts: Iterable[str | None],
        *,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        batch_size: int = BATCH_SIZE,
        first_document: int | None = None,
    ) -> Iterator[Obfuscation]:
        """Obfuscate many texts: one result per text, in order, as they are ready.

        Args:
            texts: Any iterable, read a batch at a time. ``None`` is a missing text and gets a result, too.
            epsilon: The budget of every single text.
            epsilon_per_word: The budget of a text per word of its own; instead of ``epsilon``.
            batch_size: The number of texts to work on together. With a seed, results do not depend on it.
            first_document: The number of the first text, which with a seed selects its noise. By default the texts of
                an Obfuscator are numbered on from 0.
        """
        budget = Budget(epsilon, epsilon_per_word)
        check_batch_size(batch_size)
        if isinstance(texts, str | bytes):
            raise ParameterError("`texts` must be several texts. For a single one, call obfuscate.")
        if first_document is not None and first_document < 0:
            raise ParameterError(f"`first_document` must be 0 or more. Got {first_document} instead.")
        numbers = self._documents if first_document is None else count(first_document)
        return self._obfuscate_batches(texts, budget, batch_size, numbers)

    def obfuscate_file(
        self,
        source: str | Path,
        target: str | Path,
        *,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        column: str = TEXT_COLUMN,
        outcome_column: str | None = OUTCOME_COLUMN,
        format: str | None = None,  # noqa: A002 # what users call it
        certificate: str | Path | None = None,
        batch_size: int = BATCH_SIZE,
        resume: bool = False,
        overwrite: bool = False,
        progress: Progress = ignore_progress,
    ) -> JobReport:
        """Obfuscate a file of texts: row by row into another file of the same format, resumable.

        Args:
            source: The file to read: txt (a document per line), csv, tsv, jsonl or parquet, also compressed.
            target: The file to write; it gets its name when it is complete.
            epsilon: The budget of every document.
            epsilon_per_word: The budget per word; instead of ``epsilon``.
            column: The column with the texts.
            outcome_column: The column to write each row's outcome to; ``None`` writes none.
            format: The format, if the name of the file does not tell it.
            certificate: Where to write the certificate.
            batch_size: The number of documents to work on together.
            resume: Resume an unfinished run.
            overwrite: Replace files that exist.
            progress: Called with how far the work is.
        """
        options = JobOptions(
            Budget(epsilon, epsilon_per_word),
            Layout(column, outcome_column, format),
            batch_size,
            overwrite,
            None if certificate is None else Path(certificate),
        )
        return FileJob(Path(source), Path(target), options, resume=resume).run(self, progress)

    def _obfuscate_batches(
        self, texts: Iterable[str | None], budget: Budget, batch_size: int, numbers: Iterator[int]
    ) -> Iterator[Obfuscation]:
        for batch in batch_texts(_check_texts(texts), batch_size, text_of=lambda text: text):
            documents = [Document.parse(text or "") for text in batch]
            takes_part = [[word not in self._kept for word in document.words] for document in documents]
            budgets = [budget.of(sum(takes)) for takes in takes_part]
            scores = self._distributor.score(documents)
            chunks = self._decomposer.decompose(documents)
            plans = [self._plan(*parts) for parts in zip(documents, chunks, scores, takes_part, budgets, strict=True)]
            chosen = self._mechanism.perturb([self._request(plan, next(numbers)) for plan in plans])
            for text, *parts in zip(batch, documents, scores, plans, chosen, budgets, strict=True):
                yield self._finish(*parts, missing=text is None)

    def _plan(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        scores: Sequence[Score],
        takes_part: Sequence[bool],
        budget: float,
    ) -> list[_Planned]:
        """Decide, before any noise is drawn, what is to become of every chunk."""
        shares = (
            allocate(scores, takes_part, budget=budget, invert=self._distributor.invert, missing=self.profile.missing)
            if any(takes_part)
            else [0.0] * len(scores)
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
        """The result for a document, once the mechanism has chosen."""
        chosen = iter(rows.tolist())
        replacements = [
            None if planned.outcome.in_clear else spoken(self._vectors.entries[next(chosen)]) for planned in plan
        ]
        outcome = DocumentOutcome.MISSING if missing else DocumentOutcome.of([planned.outcome for planned in plan])
        return Obfuscation(
            self._write_text(document, plan, replacements),
            outcome,
            tuple(_describe_chunks(document, scores, plan, replacements)),
            Certificate(self.terms, budget, self._count(document, scores, plan, outcome)),
        )

    def _write_text(self, document: Document, plan: Sequence[_Planned], replacements: Sequence[str | None]) -> str:
        """Put the text together again."""
        if self.profile.keeps_gaps:
            return document.assemble([planned.chunk for planned in plan], replacements)
        return " ".join(replacement for replacement in replacements if replacement is not None)

    def _count(
        self, document: Document, scores: Sequence[Score], plan: Sequence[_Planned], outcome: DocumentOutcome
    ) -> Tally:
        """Count what became of the document's words."""
        tally = Tally(documents=Counter([outcome]), largest_total=math.fsum(planned.share for planned in plan))
        for planned in plan:
            tally.words[planned.outcome] += planned.chunk.size
        pairs = zip(document.words, scores, strict=True)
        tally.unscored = sum(score is None and word not in self._kept for word, score in pairs)
        if self.profile.keeps_gaps:
            tally.symbols = document.count_symbols()
        return tally

    def _state_terms(self, *, data_independent: bool) -> Terms:
        public = "public given the kept stopwords" if self._kept else "public"
        mechanism = self._mechanism
        return Terms(
            profile=self.profile,
            decomposition=self._decomposer.as_dict(),
            distribution=self._distributor.as_dict(),
            mechanism={**mechanism.as_dict(), "guarantee": mechanism.guarantee, "index": mechanism.index},
            allocation=public if data_independent else "data-dependent",
            stopwords=self.stopwords,
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


def _describe_chunks(
    document: Document, scores: Sequence[Score], plan: Sequence[_Planned], replacements: Sequence[str | None]
) -> Iterator[ObfuscatedChunk]:
    for planned, replacement in zip(plan, replacements, strict=True):
        yield ObfuscatedChunk(
            planned.chunk,
            document.written(planned.chunk),
            tuple(scores[planned.chunk.start : planned.chunk.stop]),
            planned.share,
            planned.outcome,
            replacement,
        )


def _check_texts(texts: Iterable[str | None]) -> Iterator[str | None]:
    for number, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise ParameterError(
                f"Text {number} must be a string, or None if it is missing. Got {type(text).__name__} instead."
            )
        yield text
