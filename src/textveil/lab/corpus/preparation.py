"""Preparing a language: from a corpus to a bundle, in steps. Finished steps are stored in ``OUTPUT.partial``.

hashes              the SHA-256 of every file of the corpus
counts, lexicons    the results of counting and scoring
documents           the number of documents with each expression, by block
first               a bundle with lexicons and without vectors, for splitting the corpus
pmi/vocabulary      the entries of a decomposition
pmi/word2vec        their trained vectors, until they are joined with those of an encoder
pmi/vectors         their vectors
pmi/prior           its n-gram prior
names               the counts of capitals and of people's names, by block
bundle              the finished bundle, which is then renamed to the output

Adding priors to an existing bundle has the same steps from ``pmi/prior`` on: the corpus is split by its decomposers.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.building import LexiconTable, VectorTable, add_priors, build_bundle
from textveil.bundles.bundle import STORAGES, Bundle, Storage
from textveil.bundles.prior import PriorTable
from textveil.errors import OutputError, ResourceError, SmallCorpusError, TextveilError
from textveil.execution import Executor
from textveil.extras import require
from textveil.lab.corpus import MEMORY
from textveil.lab.corpus.counting.job import CountJob
from textveil.lab.corpus.entry_filters import PASSAGES, RULES, find_names, list_unfit, load_recognizer
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.lexicons import ScoreJob, explain_empty, read_lexicon_tables
from textveil.lab.corpus.priors import PriorBuilder, load_prior
from textveil.lab.corpus.resumption import CorpusRun, Reading
from textveil.lab.corpus.settings import (
    STORAGE,
    Labels,
    PriorOptions,
    Selection,
    Thresholds,
    VectorOptions,
    check_bundle_folder,
)
from textveil.lab.corpus.splitting import count_documents, join_tokens, read_split, split_corpus
from textveil.lab.corpus.training import (
    TRAINED,
    VOCABULARY,
    TrainTask,
    Vocabulary,
    choose_entries,
    embed_entries,
    join_vectors,
    load_vectors,
    save_vectors,
    train,
    train_beside,
)
from textveil.lab.corpus.wordnet import read_wordnet_table
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.decomposition.lexicons import LexiconDecomposer
from textveil.models.files import EXTRA, ModelFiles
from textveil.progress import Progress, ignore_progress
from textveil.registry import unknown_name
from textveil.resources import find
from textveil.storage.atomic import strip_unfinished
from textveil.storage.resumable import SETTINGS
from textveil.version import __version__

_TRAINED = (TRAINED, "vectors")
"""The steps after which there is nothing to train."""


class BundleRun(CorpusRun):
    """The folder of an unfinished run that writes a bundle."""

    our_names = re.compile(r"counts|counts\.partial|\.counts\.lock|lexicons|documents|first|names|bundle")

    def owns(self, name: str) -> bool:
        """Whether a run writes a file or folder of this name: each decomposition has a folder."""
        return strip_unfinished(name) in DECOMPOSERS or super().owns(name)

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse to start where something would be lost, or where the output cannot be created."""
        if not self.output.parent.is_dir():
            raise OutputError(f"The folder for {str(self.output)!r} does not exist. Create it first.")
        if self.output.exists():
            check_bundle_folder(self.output)
        super().check(resume=resume, overwrite=overwrite)


def estimate_disk(corpus: Corpus, beside: int = 1) -> int:
    """The approximate peak of disk space in bytes that a run needs besides its output.

    Splitting writes the corpus twice, in parts and as one file. Counting needs about as much.

    Args:
        corpus: The corpus.
        beside: The number of decompositions that are trained side by side. Each has a file of its own.
    """
    return max(1 << 20, int((2.5 + 1.25 * (beside - 1)) * corpus.estimate_plain_size()))


@dataclass(frozen=True, slots=True)
class PrepareJob:
    """Builds a bundle from a corpus.

    Args:
        corpus: The corpus.
        output: The folder of the bundle.
        labels: The description of the bundle.
        thresholds: The thresholds that make an n-gram an expression.
        selection: The thresholds that make a chunk an entry.
        vectors: The origin of the vectors.
        prior: The settings of the n-gram priors. ``None`` skips this step.
        decompositions: The decompositions that the bundle supports.
        lexicons: A folder that scoring wrote. Without it, the corpus is counted and scored.
        names_model: The folder of a spaCy model that recognizes people's names, which the bundle then never writes.
            ``None`` skips this step.
        wording: Never write entries that a reader of English would notice, such as misspelled and archaic words.
        storage: The storage of vectors.
        memory: The number of bytes of memory that counting may use.
        overwrite: Replace an existing bundle, and start over if an unfinished run has other settings.
    """

    corpus: Corpus
    output: Path
    labels: Labels
    thresholds: Thresholds = field(default_factory=Thresholds)
    selection: Selection = field(default_factory=Selection)
    vectors: VectorOptions = field(default_factory=VectorOptions)
    prior: PriorOptions | None = field(default_factory=PriorOptions)
    decompositions: tuple[str, ...] = tuple(DECOMPOSERS)
    lexicons: Path | None = None
    names_model: Path | None = None
    wording: bool = True
    storage: Storage = STORAGE
    memory: int = MEMORY
    overwrite: bool = False

    def check(self) -> None:
        """Refuse invalid settings before anything is read."""
        self.selection.check()
        self.vectors.check()
        if self.prior is not None:
            self.prior.check()
        if self.storage not in STORAGES:
            raise unknown_name("storage", self.storage, STORAGES)
        for library in self.list_libraries():
            require(library, extra="prepare")
        if self.vectors.uses_encoder:
            require("sentence_transformers", extra=EXTRA)
            ModelFiles.find(self.vectors.encoder)
        if self.names_model is not None:
            load_recognizer(self.names_model)
        BundleRun(self.output.resolve()).check(resume=not self.overwrite, overwrite=self.overwrite)

    def list_libraries(self) -> list[str]:
        """The names of the libraries that the job needs."""
        trained = ["gensim"] if self.vectors.uses_word2vec else []
        return ["pyarrow", *trained, *(["spacy"] if self.names_model else [])]

    def estimate_disk(self, beside: int = 1) -> int:
        """The approximate peak of disk space in bytes that the run needs; see :func:`estimate_disk`."""
        return estimate_disk(self.corpus, beside)

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> Bundle:
        """Build the bundle, or resume an unfinished run."""
        self.check()
        unfinished = BundleRun(self.output.resolve())
        # Vectors depend on these settings. Names, labels, priors and storage may change until the bundle is written.
        settings = {
            "thresholds": asdict(self.thresholds),
            "selection": asdict(self.selection),
            "vectors": self.identify_vectors(),
            "lexicons": self.lexicons and str(self.lexicons.resolve()),
        }
        unfinished.write(
            Reading(self.corpus, executor, progress),
            settings,
            lambda reading, _: _Preparation(self, unfinished.folder, reading).run(),
            overwrite=self.overwrite,
            is_worth_keeping=lambda error: _is_worth_keeping(unfinished.folder, error),
        )
        return Bundle(self.output)

    def identify_vectors(self) -> dict[str, Any]:
        """The options of the vectors, with the hash of the encoder."""
        described = self.vectors.describe()
        if self.vectors.uses_encoder:
            described["encoder"] = ModelFiles.find(self.vectors.encoder).as_dict()
        return described


def _is_worth_keeping(folder: Path, error: TextveilError) -> bool:
    """Whether a resumption would save work. If thresholds must change, only vectors can be reused."""
    if isinstance(error, SmallCorpusError):
        return any(folder.glob("*/vectors"))
    begun = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    return bool(begun - {SETTINGS, "hashes", "first"})


@dataclass(frozen=True, slots=True)
class _Preparation:
    """A run of a :class:`PrepareJob` in a folder, on the corpus with known hashes."""

    job: PrepareJob
    folder: Path
    reading: Reading

    def run(self) -> Path:
        """Run all steps; the folder of the finished bundle."""
        self._check_disk()
        lexicons = self._find_lexicons()
        first = self._write_first(lexicons)
        needed = [name for name in self.job.decompositions if self._lacks(name)]
        while needed:
            beside = self._count_beside()
            tokens = {name: self._choose(first, name) for name in needed[:beside]}
            self._train_beside(tokens)
            for name, files in tokens.items():
                self._finish(name, files)
            needed = needed[beside:]
        return self._write_bundle(lexicons)

    @property
    def _foreground(self) -> Reading:
        """The corpus without its background."""
        return replace(self.reading, corpus=self.reading.corpus.split()[0])

    def _find_lexicons(self) -> dict[str, LexiconTable]:
        """The lexicons that the decompositions need."""
        needed = {name for name in self.job.decompositions if issubclass(DECOMPOSERS.load(name), LexiconDecomposer)}
        tables: dict[str, LexiconTable] = {}
        if "wordnet" in needed:
            tables["wordnet"] = read_wordnet_table(find("wordnet"))
        if needed - tables.keys():
            folder = self.job.lexicons or self._score()
            scored = {name: table for name, table in read_lexicon_tables(folder).items() if name in needed}
            for name in sorted(needed - tables.keys() - scored.keys()):
                raise SmallCorpusError(explain_empty(folder, name))
            tables |= self._leave_out_rare(scored)
        return tables

    def _score(self) -> Path:
        """Count and score the n-grams of the corpus."""
        counts, lexicons, thresholds = self.folder / "counts", self.folder / "lexicons", self.job.thresholds
        if not counts.exists():
            job = CountJob(self._foreground.corpus, counts, thresholds.min_count, self.job.memory)
            job.run(self.reading.executor, self.reading.progress)
        if not lexicons.exists():
            options = {name: value for name, value in asdict(thresholds).items() if name != "min_count"}
            ScoreJob(counts, lexicons, **options).run()
        return lexicons

    def _leave_out_rare(self, tables: dict[str, LexiconTable]) -> dict[str, LexiconTable]:
        """The lexicons without the expressions that are in too few documents."""
        least = self.job.selection.min_documents
        expressions = [ngram for table in tables.values() for ngram in table.ngrams]
        found = count_documents(self._foreground, self.folder / "documents", expressions)
        kept: dict[str, LexiconTable] = {}
        for name, table in tables.items():
            filtered = table.keep(lambda ngram: found[ngram] >= least)
            if not filtered.ngrams:
                raise SmallCorpusError(
                    f"The {name} lexicon is empty: no expression is in {least} documents. "
                    "Lower `min_documents`, or use more text."
                )
            kept[name] = replace(filtered, origin={**filtered.origin, "min_documents": least})
        return kept

    def _write_first(self, lexicons: dict[str, LexiconTable]) -> Path:
        folder = self.folder / "first"
        if folder.exists() and Bundle(folder).manifest.lexicons.keys() != lexicons.keys():
            shutil.rmtree(folder)  # it is for other decompositions
        if not folder.exists():
            build_bundle(folder, {}, lexicons=lexicons, **asdict(self.job.labels))
        return folder

    def _check_disk(self) -> None:
        needed, free = self.job.estimate_disk(), shutil.disk_usage(self.folder).free
        if free < needed:
            raise OutputError(
                f"The run needs about {needed >> 20:,} MiB of disk next to {str(self.job.output)!r}, and "
                f"{free >> 20:,} MiB are free. Free some space, then run the same command again."
            )

    def _lacks(self, decomposition: str) -> bool:
        """Whether the vectors or the prior of a decomposition are missing."""
        return not (self.folder / decomposition / "vectors").exists() or self._lacks_prior(decomposition)

    def _lacks_prior(self, decomposition: str) -> bool:
        return self.job.prior is not None and self._find_prior(decomposition) is None

    def _count_beside(self) -> int:
        """The number of decompositions to train side by side: one per worker, if there is room on the disk."""
        executor = self.reading.executor
        if executor.processes == 1 or not self.job.vectors.uses_word2vec:
            return 1
        free = shutil.disk_usage(self.folder).free
        return next((count for count in range(executor.workers, 1, -1) if self.job.estimate_disk(count) <= free), 1)

    def _choose(self, first: Path, decomposition: str) -> list[Path]:
        """Split the corpus and choose the entries of a decomposition; its files of tokens, the background last."""
        self._check_disk()
        folder = self.folder / decomposition
        tokens = [
            split_corpus(replace(self.reading, corpus=corpus), place, bundle=first, decomposition=decomposition)
            for corpus, place in zip(self.reading.corpus.split(), (folder, folder / "background"), strict=True)
            if corpus
        ]
        if not (folder / VOCABULARY).exists():
            self.reading.progress(f"choosing entries of {decomposition}", 0, None)
            choose_entries(tokens, self.job.selection.narrow(decomposition)).save(folder / VOCABULARY)
        return tokens

    def _train_beside(self, tokens: Mapping[str, Sequence[Path]]) -> None:
        """Train the decompositions that lack it side by side. One that is alone is trained later, on all cores."""
        missing = [name for name in tokens if not any((self.folder / name / step).exists() for step in _TRAINED)]
        if self.job.vectors.uses_word2vec and len(missing) > 1:
            options = self.job.vectors.train_options
            tasks = [TrainTask(name, join_tokens(tokens[name]), self.folder / name, options) for name in missing]
            train_beside(tasks, self.reading.executor, self.job.memory, self.reading.progress)

    def _finish(self, decomposition: str, tokens: Sequence[Path]) -> None:
        """Find the vectors and build the prior of a decomposition, unless they are there."""
        folder = self.folder / decomposition
        entries = Vocabulary.load(folder / VOCABULARY).entries
        if not (folder / "vectors").exists():
            save_vectors(self._compute_vectors(decomposition, entries, tokens), folder / "vectors")
        if self.job.prior is not None and self._lacks_prior(decomposition):
            PriorBuilder(tokens[0], folder, self.job.prior, self.reading, self.job.memory).run(entries)
        tokens[0].unlink()
        for more in tokens[1:]:
            shutil.rmtree(more.parent)
        shutil.rmtree(folder / TRAINED, ignore_errors=True)

    def _compute_vectors(self, decomposition: str, entries: Sequence[str], tokens: Sequence[Path]) -> npt.NDArray[Any]:
        """The vectors of the entries: trained, of an encoder, or both."""
        options = self.job.vectors

        def tell(stage: str, amount: int, fraction: float | None) -> None:
            self.reading.progress(f"{stage} {decomposition}", amount, fraction)

        trained = self.folder / decomposition / TRAINED
        if options.uses_word2vec and not trained.exists():
            workers = self.reading.executor.workers
            matrix = train(join_tokens(tokens), entries, options.train_options, workers=workers, progress=tell)
            save_vectors(matrix, trained)
        found = [load_vectors(trained)] if options.uses_word2vec else []
        if not options.uses_encoder:
            return found[0]
        return join_vectors([*found, embed_entries(ModelFiles.find(options.encoder), entries, tell)], options.length)

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

    def _write_bundle(self, lexicons: dict[str, LexiconTable]) -> Path:
        folder = self.folder / "bundle"
        shutil.rmtree(folder, ignore_errors=True)
        chosen = {name: Vocabulary.load(self.folder / name / VOCABULARY) for name in self.job.decompositions}
        unwritten = {name: self._list_unwritten(vocabulary) for name, vocabulary in chosen.items()}
        others = {entry for name in chosen for entry in chosen[name].entries if entry not in unwritten[name]}
        people = self._find_people(others)
        tables = {
            name: VectorTable(
                vocabulary.entries,
                load_vectors(self.folder / name / "vectors"),
                [entry for entry in vocabulary.entries if entry in unwritten[name] or entry in people],
                vocabulary.counts,
                self._find_prior(name),
            )
            for name, vocabulary in chosen.items()
        }
        build_bundle(
            folder,
            tables,
            lexicons=lexicons,
            tokens=read_split(self.folder / self.job.decompositions[0] / "split.json")[1],
            parameters=self._parameters(),
            storage=self.job.storage,
            **asdict(self.job.labels),
        )
        return folder

    def _find_people(self, entries: Iterable[str]) -> set[str]:
        """The entries that are people's names."""
        if self.job.names_model is None:
            return set()
        reading, model = self._foreground, self.job.names_model
        names = find_names(reading, self.folder / "names", entries, model=model, wordnet=_find_wordnet())
        return set(names.choose(entries))

    def _list_unwritten(self, vocabulary: Vocabulary) -> set[str]:
        """The entries that are unfit to be written, and those that only the background has."""
        unwritten: set[str] = set()
        if self.job.wording:
            words = vocabulary.entries, vocabulary.documents, vocabulary.total
            unwritten.update(list_unfit(*words, wordnet=_find_wordnet()))
        if self.reading.corpus.in_background:
            rare = vocabulary.documents < self.job.selection.min_documents
            unwritten.update(vocabulary.entries[row] for row in np.flatnonzero(rare).tolist())
        return unwritten

    def _parameters(self) -> dict[str, Any]:
        software = ["numpy", "nupunkt", *self.job.list_libraries()]
        if self.job.vectors.uses_encoder:
            software += ["torch", "transformers", "sentence-transformers"]
        return {
            "corpus": self.reading.corpus.cite(),
            "thresholds": asdict(self.job.thresholds),
            "selection": asdict(self.job.selection),
            "vectors": self.job.identify_vectors(),
            "names": self._describe_names(),
            "wording": self.job.wording,
            "software": {"textveil": __version__, **{name: version(name) for name in software}},
        }

    def _describe_names(self) -> dict[str, Any] | None:
        if self.job.names_model is None:
            return None
        model = json.loads((self.job.names_model / "meta.json").read_bytes())
        return {"model": f"{model['name']} {model['version']}", "rules": RULES, "passages": PASSAGES}


def _find_wordnet() -> Path | None:
    """The folder of WordNet, if it is installed."""
    try:
        return find("wordnet")
    except ResourceError:
        return None


@dataclass(frozen=True, slots=True)
class PriorJob:
    """Writes a copy of a bundle with n-gram priors.

    Args:
        corpus: The corpus.
        bundle: The bundle.
        output: The folder of the copy.
        options: The settings of the priors.
        decompositions: The decompositions that get a prior; by default, all of the bundle.
        memory: The number of bytes of memory that counting may use.
        overwrite: Replace an existing bundle, and start over if an unfinished run has other settings.
    """

    corpus: Corpus
    bundle: Bundle
    output: Path
    options: PriorOptions = field(default_factory=PriorOptions)
    decompositions: tuple[str, ...] | None = None
    memory: int = MEMORY
    overwrite: bool = False

    def check(self) -> None:
        """Refuse invalid settings before anything is read."""
        self.options.check()
        for name in self.decompositions or ():
            if name not in self.bundle.decompositions:
                raise unknown_name("decomposition of the bundle", name, self.bundle.decompositions)
        BundleRun(self.output.resolve()).check(resume=not self.overwrite, overwrite=self.overwrite)

    def estimate_disk(self) -> int:
        """The approximate peak of disk space in bytes that the run needs besides the output."""
        return estimate_disk(self.corpus)

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> Bundle:
        """Write the bundle, or resume an unfinished run."""
        self.check()
        unfinished = BundleRun(self.output.resolve())

        def add(reading: Reading, _: Mapping[str, Any]) -> Path:
            cited = {"corpus": reading.corpus.cite(), "textveil": __version__}
            priors: dict[str, PriorTable] = {}
            for name in self.decompositions or self.bundle.decompositions:
                prior = self._build(reading, unfinished.folder / name)
                priors[name] = replace(prior, description={**prior.description, **cited})
            folder = unfinished.folder / "bundle"
            shutil.rmtree(folder, ignore_errors=True)
            return add_priors(self.bundle, folder, priors).folder

        settings = {"bundle": self.bundle.hash, "prior": asdict(self.options)}
        unfinished.write(Reading(self.corpus, executor, progress), settings, add, overwrite=self.overwrite)
        return Bundle(self.output)

    def _build(self, reading: Reading, folder: Path) -> PriorTable:
        """The prior of the decomposition that gave the folder its name."""
        if (folder / "prior").exists():
            return load_prior(folder / "prior")
        tokens = split_corpus(reading, folder, bundle=self.bundle.folder.resolve(), decomposition=folder.name)
        entries = self.bundle.vectors(folder.name).entries
        prior = PriorBuilder(tokens, folder, self.options, reading, self.memory).run(entries)
        tokens.unlink()
        return prior
