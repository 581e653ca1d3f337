"""Preparing a language: from a corpus to a bundle, in steps. Finished steps are stored in ``OUTPUT.partial``.

hashes              the SHA-256 of every file of the corpus
counts, lexicons    the results of counting and scoring
first               a bundle with lexicons and without vectors, for splitting the corpus
pmi/vectors         the trained vectors of a decomposition
pmi/prior           its n-gram prior
names               the counts of capitals and of people's names, by block
bundle              the finished bundle, which is then renamed to the output
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
from textveil.bundles.bundle import STORAGES, Bundle, Storage
from textveil.bundles.prior import PriorTable
from textveil.corpus import MEMORY
from textveil.corpus.counting.job import CountJob
from textveil.corpus.inputs import Corpus
from textveil.corpus.lexicons import ScoreJob, explain_empty, read_lexicon_tables
from textveil.corpus.names import PASSAGES, RULES, Names, find_names, load_recognizer
from textveil.corpus.priors import PriorBuilder, load_prior
from textveil.corpus.resumption import CorpusRun, Reading
from textveil.corpus.settings import STORAGE, Labels, PriorOptions, Thresholds, Training, check_bundle_folder
from textveil.corpus.splitting import SplitMark, split_corpus
from textveil.corpus.training import TrainedVectors, train
from textveil.corpus.wordnet import read_wordnet_table
from textveil.decomposition import DECOMPOSERS
from textveil.decomposition.base import LexiconDecomposer
from textveil.errors import OutputError, SmallCorpusError, TextveilError
from textveil.execution import Executor
from textveil.extras import require
from textveil.progress import Progress, ignore_progress
from textveil.registry import unknown_name
from textveil.resources import find
from textveil.storage.atomic import put_folder, strip_unfinished
from textveil.storage.resumable import SETTINGS
from textveil.version import __version__


class _PreparationRun(CorpusRun):
    """The folder of an unfinished preparation."""

    our_names = re.compile(r"counts|counts\.partial|\.counts\.lock|lexicons|first|names|bundle")

    def owns(self, name: str) -> bool:
        """Whether a preparation writes a file or folder of this name: each decomposition has a folder."""
        return strip_unfinished(name) in DECOMPOSERS or super().owns(name)


@dataclass(frozen=True, slots=True)
class PrepareJob:
    """Builds a bundle from a corpus.

    Args:
        corpus: The corpus.
        output: The folder of the bundle.
        labels: The description of the bundle.
        thresholds: The thresholds that make an n-gram an expression.
        training: The parameters of word2vec.
        prior: The settings of the n-gram priors. ``None`` skips this step.
        decompositions: The decompositions that the bundle supports.
        lexicons: A folder that scoring wrote. Without it, the corpus is counted and scored.
        names_model: The folder of a spaCy model that recognizes people's names, which the bundle then never writes.
            ``None`` skips this step.
        storage: The storage of vectors.
        memory: The number of bytes of memory that counting may use.
        overwrite: Replace an existing bundle, and start over if an unfinished run has other settings.
    """

    corpus: Corpus
    output: Path
    labels: Labels
    thresholds: Thresholds = field(default_factory=Thresholds)
    training: Training = field(default_factory=Training)
    prior: PriorOptions | None = field(default_factory=PriorOptions)
    decompositions: tuple[str, ...] = tuple(DECOMPOSERS)
    lexicons: Path | None = None
    names_model: Path | None = None
    storage: Storage = STORAGE
    memory: int = MEMORY
    overwrite: bool = False

    def check(self) -> None:
        """Refuse invalid settings before anything is read."""
        self.training.check()
        if self.prior is not None:
            self.prior.check()
        if self.storage not in STORAGES:
            raise unknown_name("storage", self.storage, STORAGES)
        for library in self.list_libraries():
            require(library, extra="prepare")
        if not self.output.absolute().parent.is_dir():
            raise OutputError(f"The folder for {str(self.output)!r} does not exist. Create it first.")
        if self.output.exists():
            check_bundle_folder(self.output)
        if self.names_model is not None:
            load_recognizer(self.names_model)
        _PreparationRun(self.output.resolve()).check(resume=not self.overwrite, overwrite=self.overwrite)

    def list_libraries(self) -> list[str]:
        """The names of the libraries that the job needs."""
        return ["pyarrow", "gensim", *(["spacy"] if self.names_model else [])]

    def estimate_disk(self) -> int:
        """The approximate peak of disk space in bytes that the run needs besides the output.

        Splitting writes the corpus twice, in parts and as one file. Counting needs about as much.
        """
        return max(1 << 20, int(2.5 * self.corpus.estimate_plain_size()))

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> Bundle:
        """Build the bundle, or resume an unfinished run."""
        self.check()
        unfinished = _PreparationRun(self.output.resolve())
        # Vectors depend on these settings. Names, labels, priors and storage may change until the bundle is written.
        settings = {
            "textveil": __version__,
            "thresholds": asdict(self.thresholds),
            "training": self.training.as_dict(),
            "lexicons": self.lexicons and str(self.lexicons.resolve()),
        }
        with unfinished.locked():
            reading = Reading(self.corpus, executor, progress)
            job = unfinished.begin(reading, settings, lambda: {"workers": executor.workers}, overwrite=self.overwrite)
            if unfinished.is_complete():
                unfinished.complete()
                return Bundle(self.output)
            preparation = _Preparation(self, unfinished.folder, int(job["workers"]), executor, progress)
            try:
                bundle = preparation.run(unfinished.hash_files(reading))
            except TextveilError as error:
                if not preparation.is_worth_keeping(after=error):
                    unfinished.remove()
                raise
            put_folder(bundle, unfinished.output)
            unfinished.complete()
        return Bundle(self.output)


@dataclass(slots=True)
class _Preparation:
    """A run of a :class:`PrepareJob`."""

    job: PrepareJob
    folder: Path
    workers: int
    executor: Executor
    progress: Progress

    def run(self, corpus: Corpus) -> Path:
        """Run all steps on the corpus with known hashes; the folder of the finished bundle."""
        self.job = replace(self.job, corpus=corpus)
        self._check_disk()
        lexicons = self._find_lexicons()
        first = self._write_first(lexicons)
        for decomposition in self.job.decompositions:
            self._train(first, decomposition)
        trained = {name: TrainedVectors.load(self._vectors(name)) for name in self.job.decompositions}
        priors = {name: self._find_prior(name) for name in self.job.decompositions}
        return self._write_bundle(lexicons, trained, priors)

    def is_worth_keeping(self, *, after: TextveilError) -> bool:
        """Whether a resumption would save work. If thresholds must change, only vectors can be reused."""
        if isinstance(after, SmallCorpusError):
            return any(self._vectors(name).exists() for name in self.job.decompositions)
        begun = {path.relative_to(self.folder).parts[0] for path in self.folder.rglob("*") if path.is_file()}
        return bool(begun - {SETTINGS, "hashes", "first"})

    def _vectors(self, decomposition: str) -> Path:
        return self.folder / decomposition / "vectors"

    def _find_lexicons(self) -> dict[str, LexiconTable]:
        """The lexicons that the decompositions need."""
        needed = {name for name in self.job.decompositions if issubclass(DECOMPOSERS.load(name), LexiconDecomposer)}
        tables: dict[str, LexiconTable] = {}
        if "wordnet" in needed:
            tables["wordnet"] = read_wordnet_table(find("wordnet"))
        if needed - tables.keys():
            folder = self.job.lexicons or self._score()
            tables |= read_lexicon_tables(folder)
            for name in sorted(needed - tables.keys()):
                raise SmallCorpusError(explain_empty(folder, name))
        return {name: table for name, table in tables.items() if name in needed}

    def _score(self) -> Path:
        """Count and score the n-grams of the corpus."""
        counts, lexicons, thresholds = self.folder / "counts", self.folder / "lexicons", self.job.thresholds
        if not counts.exists():
            CountJob(self.job.corpus, counts, thresholds.min_count, self.job.memory).run(self.executor, self.progress)
        if not lexicons.exists():
            ScoreJob(
                counts,
                lexicons,
                min_pmi=thresholds.min_pmi,
                top_share=thresholds.top_share,
                only_attracted=thresholds.only_attracted,
            ).run()
        return lexicons

    def _write_first(self, lexicons: dict[str, LexiconTable]) -> Path:
        folder = self.folder / "first"
        if folder.exists() and Bundle(folder).manifest.lexicons.keys() != lexicons.keys():
            shutil.rmtree(folder)  # it is for other decompositions
        if not folder.exists():
            build_bundle(folder, {}, lexicons=lexicons, **self._describe())
        return folder

    def _check_disk(self) -> None:
        needed, free = self.job.estimate_disk(), shutil.disk_usage(self.folder).free
        if free < needed:
            raise OutputError(
                f"The run needs about {needed >> 20:,} MiB of disk next to {str(self.job.output)!r}, and "
                f"{free >> 20:,} MiB are free. Free some space, then run the same command again."
            )

    def _train(self, first: Path, decomposition: str) -> None:
        """Train vectors and build a prior, unless they are there."""
        folder, vectors = self.folder / decomposition, self._vectors(decomposition)
        needs_prior = self.job.prior is not None and self._find_prior(decomposition) is None
        if vectors.exists() and not needs_prior:
            return
        self._check_disk()
        tokens = split_corpus(
            self.job.corpus,
            folder,
            self.executor,
            workers=self.workers,
            bundle=first,
            decomposition=decomposition,
            progress=self.progress,
        )

        def tell(stage: str, amount: int, fraction: float | None) -> None:
            self.progress(f"{stage} {decomposition}", amount, fraction)

        if not vectors.exists():
            train(tokens, self.job.training, workers=self.executor.workers, progress=tell).save(vectors)
        if self.job.prior is not None and needs_prior:
            builder = PriorBuilder(
                tokens, folder, self.job.prior, self.executor, self.job.memory, self.progress, decomposition
            )
            builder.run(TrainedVectors.load(vectors).entries)
        tokens.unlink()

    def _find_prior(self, decomposition: str) -> PriorTable | None:
        """The finished prior of a decomposition, if it has the settings of this job."""
        folder = self.folder / decomposition / "prior"
        if self.job.prior is None or not folder.exists():
            return None
        prior = load_prior(folder)
        if self.job.prior.describes(prior.description):
            return prior
        shutil.rmtree(folder)
        return None

    def _find_names(self, entries: Iterable[str]) -> Names | None:
        if self.job.names_model is None:
            return None
        return find_names(
            self.job.corpus,
            self.folder / "names",
            self.executor,
            workers=self.workers,
            entries=entries,
            model=self.job.names_model,
            progress=self.progress,
        )

    def _write_bundle(
        self,
        lexicons: dict[str, LexiconTable],
        trained: dict[str, TrainedVectors],
        priors: dict[str, PriorTable | None],
    ) -> Path:
        folder = self.folder / "bundle"
        shutil.rmtree(folder, ignore_errors=True)
        names = self._find_names(entry for vectors in trained.values() for entry in vectors.entries)
        tables = {
            decomposition: VectorTable(
                vectors.entries,
                vectors.matrix,
                names.choose(vectors.entries) if names else (),
                vectors.counts,
                priors[decomposition],
            )
            for decomposition, vectors in trained.items()
        }
        build_bundle(
            folder,
            tables,
            lexicons=lexicons,
            tokens=SplitMark.load(self.folder / self.job.decompositions[0] / "split.json").words,
            parameters=self._parameters(),
            storage=self.job.storage,
            **self._describe(),
        )
        return folder

    def _describe(self) -> dict[str, Any]:
        labels = self.job.labels
        return {
            "name": labels.name,
            "version": labels.version,
            "language": labels.language,
            "corpus": labels.corpus,
            "license": labels.license,
        }

    def _parameters(self) -> dict[str, Any]:
        software = ["numpy", "nupunkt", *self.job.list_libraries()]
        return {
            "corpus": self.job.corpus.cite(),
            "thresholds": asdict(self.job.thresholds),
            "training": self.job.training.as_dict(),
            "names": self._describe_names(),
            "software": {"textveil": __version__, **{name: version(name) for name in software}},
        }

    def _describe_names(self) -> dict[str, Any] | None:
        if self.job.names_model is None:
            return None
        model = json.loads((self.job.names_model / "meta.json").read_bytes())
        return {"model": f"{model['name']} {model['version']}", "rules": RULES, "passages": PASSAGES}
