"""Adding priors to a bundle: the corpus is split by the bundle's decomposers, and a copy of the bundle is written.

words/split, words/rows ...     unfinished steps of a decomposition
words/prior                     its finished prior
bundle                          the finished bundle, which is then renamed to the output
"""

from __future__ import annotations

import re
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from textveil.bundles.building import add_priors
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import PriorTable
from textveil.errors import OutputError
from textveil.execution import Executor
from textveil.lab.corpus import MEMORY
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.priors import PriorBuilder, load_prior
from textveil.lab.corpus.resumption import CorpusRun, Reading
from textveil.lab.corpus.settings import PriorOptions, check_bundle_folder
from textveil.lab.corpus.splitting import split_corpus
from textveil.methods.decomposition import DECOMPOSERS
from textveil.progress import Progress, ignore_progress
from textveil.registry import unknown_name
from textveil.storage.atomic import put_folder, strip_unfinished
from textveil.version import __version__


class _PriorRun(CorpusRun):
    """The folder of an unfinished run."""

    our_names = re.compile(r"bundle")

    def owns(self, name: str) -> bool:
        """Whether a run writes a file or folder of this name: each decomposition has a folder."""
        return strip_unfinished(name) in DECOMPOSERS or super().owns(name)


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
        if not self.output.absolute().parent.is_dir():
            raise OutputError(f"The folder for {str(self.output)!r} does not exist. Create it first.")
        if self.output.exists():
            check_bundle_folder(self.output)
        _PriorRun(self.output.resolve()).check(resume=not self.overwrite, overwrite=self.overwrite)

    def estimate_disk(self) -> int:
        """The approximate peak of disk space in bytes that the run needs besides the output."""
        return max(1 << 20, int(2.5 * self.corpus.estimate_plain_size()))

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> Bundle:
        """Write the bundle, or resume an unfinished run."""
        self.check()
        unfinished = _PriorRun(self.output.resolve())
        settings = {"textveil": __version__, "bundle": self.bundle.hash, "prior": asdict(self.options)}
        with unfinished.locked():
            reading = Reading(self.corpus, executor, progress)
            job = unfinished.begin(reading, settings, lambda: {"workers": executor.workers}, overwrite=self.overwrite)
            corpus = unfinished.hash_files(reading)
            priors = {
                decomposition: self._build(
                    replace(reading, corpus=corpus), unfinished.folder / decomposition, int(job["workers"])
                )
                for decomposition in self.decompositions or self.bundle.decompositions
            }
            folder = unfinished.folder / "bundle"
            shutil.rmtree(folder, ignore_errors=True)
            add_priors(self.bundle, folder, {name: _cite(prior, corpus) for name, prior in priors.items()})
            put_folder(folder, unfinished.output)
            unfinished.remove()
        return Bundle(self.output)

    def _build(self, reading: Reading, folder: Path, workers: int) -> PriorTable:
        """The prior of the decomposition that gave the folder its name."""
        finished = folder / "prior"
        if finished.exists():
            return load_prior(finished)
        tokens = split_corpus(
            reading.corpus,
            folder,
            reading.executor,
            workers=workers,
            bundle=self.bundle.folder.resolve(),
            decomposition=folder.name,
            progress=reading.progress,
        )
        entries = self.bundle.vectors(folder.name).entries
        builder = PriorBuilder(
            tokens, folder, self.options, reading.executor, self.memory, reading.progress, folder.name
        )
        prior = builder.run(entries)
        tokens.unlink()
        return prior


def _cite(prior: PriorTable, corpus: Corpus) -> PriorTable:
    """The same prior with the names and hashes of its corpus."""
    cited: dict[str, Any] = {**prior.description, "corpus": corpus.cite(), "textveil": __version__}
    return replace(prior, description=cited)
