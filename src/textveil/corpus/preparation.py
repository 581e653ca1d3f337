"""Preparing a language: from a corpus to a bundle, step by step, each of which is kept when it is finished.

counts, lexicons    what counting and scoring write
first               a bundle that has the lexicons and no vectors, to split the corpus with
names               counts of names and capitals, by block
pmi/vectors         trained vectors, for every decomposition
bundle              what gets the output's name in the end
"""

from __future__ import annotations

import re
import shutil
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textveil.atomic import put_folder
from textveil.bundle import Bundle, Storage
from textveil.bundle_building import LexiconTable, VectorTable, build_bundle
from textveil.corpus import MEMORY, MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.corpus.counting import CountJob
from textveil.corpus.inputs import Corpus
from textveil.corpus.lexicons import ScoreJob, read_lexicon_tables
from textveil.corpus.names import RULES, NameCounts, count_names
from textveil.corpus.splitting import SplitMark, split_corpus
from textveil.corpus.training import TrainedVectors, Training, train
from textveil.corpus.wordnet import read_wordnet_table
from textveil.decomposition import DECOMPOSERS
from textveil.decomposition.base import LexiconDecomposer
from textveil.errors import InputError, OutputError
from textveil.execution import Executor
from textveil.progress import Progress, ignore_progress
from textveil.resources import find
from textveil.unfinished import Unfinished
from textveil.version import __version__


class _Unfinished(Unfinished):
    our_names = re.compile(r"job\.json|counts\.partial|[a-z]+|\..*\.(unfinished|lock)")
    how_to_resume = "with the same command"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What makes an n-gram an expression; see ``CountJob`` and ``ScoreJob``."""

    min_count: int = MIN_COUNT
    min_pmi: float = MIN_PMI
    top_share: float = TOP_SHARE
    only_attracted: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """What a bundle says of itself."""

    name: str
    version: str = "1"
    language: str = "en"
    corpus: str = "unknown"
    licence: str = "unknown"


@dataclass(frozen=True, slots=True)
class PrepareJob:
    """Makes a bundle of a corpus.

    Args:
        corpus: What to read.
        output: The folder of the bundle.
        labels: What it says of itself.
        thresholds: What makes an n-gram an expression.
        training: How vectors are trained.
        decompositions: What to split the corpus by.
        lexicons: A folder that scoring wrote; without it, the corpus is counted and scored.
        names_model: A model of spaCy that tells people's names, which are then never written; ``None`` looks for none.
        storage: How vectors are stored.
        memory: The bytes of memory that counting may use.
        overwrite: Replace what is there, and forget an unfinished run.
    """

    corpus: Corpus
    output: Path
    labels: Labels
    thresholds: Thresholds = field(default_factory=Thresholds)
    training: Training = field(default_factory=Training)
    decompositions: tuple[str, ...] = tuple(DECOMPOSERS)
    lexicons: Path | None = None
    names_model: str | None = None
    storage: Storage = "int8"
    memory: int = MEMORY
    overwrite: bool = False

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> Bundle:
        """Prepare, or do what is left of it."""
        self.training.check()
        unfinished = _Unfinished(self.output.resolve())
        # Only what vectors depend on: names, labels and storage may change until the bundle is written.
        settings = {
            "textveil": __version__,
            "thresholds": asdict(self.thresholds),
            "training": asdict(self.training),
            "lexicons": self.lexicons and str(self.lexicons.resolve()),
            **self.corpus.describe(),
        }
        with unfinished.locked():
            resume = not self.overwrite or unfinished.matches(settings)
            unfinished.start(settings, dict, resume=resume, overwrite=self.overwrite)
            bundle = _Preparation(self, unfinished.folder, executor, progress).run()
            put_folder(bundle, unfinished.output)
            unfinished.remove()
        return Bundle(self.output)


@dataclass(slots=True)
class _Preparation:
    """One run of a job."""

    job: PrepareJob
    folder: Path
    executor: Executor
    progress: Progress

    def run(self) -> Path:
        """All steps; the finished bundle."""
        lexicons = self._find_lexicons()
        first = self._write_first(lexicons)
        for decomposition in self.job.decompositions:
            self._train(first, decomposition)
        split = SplitMark.load(self.folder / self.job.decompositions[0] / "split.json")
        return self._write_bundle(lexicons, self._find_names(split.documents), split.words)

    def _find_lexicons(self) -> dict[str, LexiconTable]:
        """The lexicons that the decompositions need."""
        needed = {name for name in self.job.decompositions if issubclass(DECOMPOSERS.load(name), LexiconDecomposer)}
        tables: dict[str, LexiconTable] = {}
        if "wordnet" in needed:
            tables["wordnet"] = read_wordnet_table(find("wordnet"))
        if needed - tables.keys():
            tables |= read_lexicon_tables(self.job.lexicons or self._score())
        for name in sorted(needed - tables.keys()):
            raise InputError(
                f"The corpus is too small for --min-count {self.job.thresholds.min_count}: the lexicon of {name} has "
                "no entry. Lower it, or take more text."
            )
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
        if not folder.exists():
            build_bundle(folder, {}, lexicons=lexicons, **asdict(self.job.labels))
        return folder

    def _check_disk(self) -> None:
        """A decomposition needs the corpus twice, as tokens: in parts, and as one file."""
        needed, free = 2 * self.job.corpus.estimate_plain_size(), shutil.disk_usage(self.folder).free
        if free < needed:
            raise OutputError(
                f"Splitting the corpus needs about {needed >> 20:,} MiB of disk beside {str(self.job.output)!r}; "
                f"{free >> 20:,} MiB are free. Make room, then give the same command again."
            )

    def _train(self, first: Path, decomposition: str) -> None:
        folder = self.folder / decomposition
        if (folder / "vectors").exists():
            return
        self._check_disk()
        tokens = split_corpus(
            self.job.corpus, folder, self.executor, bundle=first, decomposition=decomposition, progress=self.progress
        )

        def tell(stage: str, amount: int, fraction: float | None) -> None:
            self.progress(f"{stage} {decomposition}", amount, fraction)

        train(tokens, self.job.training, workers=self.executor.workers, progress=tell).save(folder / "vectors")
        tokens.unlink()

    def _find_names(self, documents: int) -> NameCounts | None:
        model = self.job.names_model
        if model is None:
            return None
        return count_names(
            self.job.corpus,
            self.folder / "names",
            self.executor,
            documents=documents,
            model=model,
            progress=self.progress,
        )

    def _write_bundle(self, lexicons: dict[str, LexiconTable], names: NameCounts | None, words: int) -> Path:
        folder = self.folder / "bundle"
        shutil.rmtree(folder, ignore_errors=True)
        tables = {}
        for decomposition in self.job.decompositions:
            trained = TrainedVectors.load(self.folder / decomposition / "vectors")
            excluded = names.choose(trained.entries) if names else []
            tables[decomposition] = VectorTable(trained.entries, trained.matrix, excluded, trained.counts)
        build_bundle(
            folder,
            tables,
            lexicons=lexicons,
            tokens=words,
            parameters=self._parameters(),
            storage=self.job.storage,
            **asdict(self.job.labels),
        )
        return folder

    def _parameters(self) -> dict[str, Any]:
        software = ("gensim", "numpy", "nupunkt", *(["spacy"] if self.job.names_model else []))
        return {
            "thresholds": asdict(self.job.thresholds),
            "training": asdict(self.job.training),
            "names": {"model": self.job.names_model, "rules": RULES} if self.job.names_model else None,
            "software": {"textveil": __version__, **{name: version(name) for name in software}},
        }
