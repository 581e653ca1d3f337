"""Adding priors to a bundle: the corpus is split by the bundle's decomposers, and a copy of the bundle is written.

words/split, words/rows ...     unfinished steps of a decomposition
words/prior                     its finished prior
bundle                          the finished bundle, which is then renamed to the output
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from textveil.bundles.building import add_priors
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import PriorTable
from textveil.execution import Executor
from textveil.lab.corpus import MEMORY
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.preparation import BundleRun, estimate_disk
from textveil.lab.corpus.priors import PriorBuilder, load_prior
from textveil.lab.corpus.resumption import Reading
from textveil.lab.corpus.settings import PriorOptions
from textveil.lab.corpus.splitting import split_corpus
from textveil.progress import Progress, ignore_progress
from textveil.registry import unknown_name
from textveil.version import __version__


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

        def add(reading: Reading, job: Mapping[str, Any]) -> Path:
            reading = replace(reading, workers=int(job["workers"]))
            cited = {"corpus": reading.corpus.cite(), "textveil": __version__}
            priors: dict[str, PriorTable] = {}
            for name in self.decompositions or self.bundle.decompositions:
                prior = self._build(reading, unfinished.folder / name)
                priors[name] = replace(prior, description={**prior.description, **cited})
            folder = unfinished.folder / "bundle"
            shutil.rmtree(folder, ignore_errors=True)
            return add_priors(self.bundle, folder, priors).folder

        unfinished.write(
            Reading(self.corpus, executor, progress),
            {"textveil": __version__, "bundle": self.bundle.hash, "prior": asdict(self.options)},
            lambda: {"workers": executor.workers},
            overwrite=self.overwrite,
            build=add,
        )
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
