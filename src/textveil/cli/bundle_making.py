"""``textveil prepare CORPUS... --output BUNDLE``, all steps in one, and ``textveil prepare train``, the last ones."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textveil.bundles.bundle import STORAGES
from textveil.cli.bundle import describe_vectors
from textveil.cli.corpus_options import (
    Address,
    Column,
    Config,
    CorpusNames,
    ExecutorName,
    Format,
    Quiet,
    Revision,
    Split,
    Workers,
    parse_size,
    unit_of,
)
from textveil.cli.display import showing_progress
from textveil.cli.reporting import report, reporting_errors
from textveil.corpus import MEMORY, MIN_COUNT, MIN_PMI, SPLIT, TOP_SHARE
from textveil.decomposition import DECOMPOSERS
from textveil.errors import ParameterError
from textveil.execution import EXECUTORS, Executor
from textveil.extras import require
from textveil.resources import find
from textveil.tables import TEXT_COLUMN

if TYPE_CHECKING:
    from textveil.corpus.preparation import PrepareJob

BUNDLE_EXAMPLES = """
\b
Examples:
  textveil prepare corpus.txt.xz --output my-english --min-count 40 --most-entries 30000
  textveil prepare reviews/ --column body --output reviews-en --decomposition words --decomposition pmi
  textveil prepare hf:HuggingFaceFW/fineweb --config sample-10BT --output fineweb-en --memory 64G --workers 16

Killed, it goes on where it was when the same command is given again: every finished step is kept.
"""
TRAIN_EXAMPLES = """
\b
Examples:
  textveil prepare train corpus.txt.xz --lexicons lexicons --output my-english --epochs 10 --cbow
  textveil prepare train corpus.txt.xz --decomposition words --output my-words --dimensions 100 --no-names

Killed, it goes on where it was when the same command is given again: every finished step is kept.
"""

Output = Annotated[Path, typer.Option("--output", "-o", help="The folder of the new bundle.")]
Name = Annotated[str | None, typer.Option(help="What the bundle calls itself; the folder's name by default.")]
Version = Annotated[str, typer.Option("--bundle-version", help="Its version.")]
CorpusLabel = Annotated[str | None, typer.Option(help="What it says of its corpus; the names of the files by default.")]
Licence = Annotated[str, typer.Option(help="What may be done with the bundle.")]
Decompositions = Annotated[
    list[str] | None,
    typer.Option("--decomposition", "-d", help=f"Only this one, or these; by default all: {', '.join(DECOMPOSERS)}."),
]
Dimensions = Annotated[int, typer.Option(help="How long vectors are.")]
Window = Annotated[int, typer.Option(help="How many chunks on each side are the context of one.")]
MinEntryCount = Annotated[int, typer.Option(help="Leave out of the vocabulary what occurs less often.")]
MostEntries = Annotated[
    int | None, typer.Option(help="Leave out rarer entries, too, until there are no more than so many.")
]
Epochs = Annotated[int, typer.Option(help="How often the corpus is read in training.")]
Negative = Annotated[int, typer.Option(help="How many chunks are drawn against each one of the context.")]
Cbow = Annotated[bool, typer.Option("--cbow", help="Train CBOW instead of skip-gram.")]
StorageName = Annotated[str, typer.Option(help=f"How vectors are stored: {', '.join(STORAGES)}.")]
FindNames = Annotated[
    bool, typer.Option("--names/--no-names", help="Find people's names with spaCy, and never write them.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a bundle, and start an unfinished run over.")]


@reporting_errors
def make_bundle(
    corpus: CorpusNames,
    *,
    output: Output,
    name: Name = None,
    bundle_version: Version = "1",
    corpus_label: CorpusLabel = None,
    license: Licence = "unknown",  # noqa: A002
    decompositions: Decompositions = None,
    min_count: Annotated[
        int, typer.Option(help="Leave out n-grams that occur less often. The paper's is for ten billion words.")
    ] = MIN_COUNT,
    min_pmi: Annotated[float, typer.Option(help="The lexicon of PMI has the n-grams above this.")] = MIN_PMI,
    top: Annotated[
        float, typer.Option(help="The lexicons of LLR and t-score have the best of all n-grams, so many per cent.")
    ] = TOP_SHARE * 100,
    only_attracted: Annotated[
        bool, typer.Option("--only-attracted", help="Leave out of LLR's lexicon what is rarer than by chance.")
    ] = False,
    dimensions: Dimensions = 300,
    window: Window = 5,
    min_entry_count: MinEntryCount = 5,
    most_entries: MostEntries = None,
    epochs: Epochs = 5,
    negative: Negative = 5,
    cbow: Cbow = False,
    storage: StorageName = "int8",
    names: FindNames = True,
    column: Column = TEXT_COLUMN,
    format_name: Format = None,
    config: Config = None,
    split: Split = SPLIT,
    revision: Revision = None,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    address: Address = None,
    memory: Annotated[
        str, typer.Option(help="The memory of counting, such as 512M or 16G; the rest is on disk.")
    ] = f"{MEMORY >> 30}G",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Make a bundle of a corpus: count n-grams, score them, split the corpus by each decomposition, train word2vec.

    The name of this command may be left out: textveil prepare CORPUS... --output BUNDLE
    """
    _require_libraries()
    from textveil.corpus.inputs import Corpus
    from textveil.corpus.preparation import Labels, PrepareJob, Thresholds
    from textveil.corpus.training import Training

    job = PrepareJob(
        Corpus.find(
            corpus, column=column, format_name=format_name, config=config, split=split, revision=revision, output=output
        ),
        output,
        Labels(name or output.name, bundle_version, corpus=corpus_label or _list_names(corpus), license=license),
        thresholds=Thresholds(min_count, min_pmi, top / 100, only_attracted),
        training=Training(dimensions, window, min_entry_count, epochs, negative, not cbow, most_entries),
        decompositions=_choose(decompositions),
        names_model=find("spacy-en") if names else None,
        storage=storage,  # type: ignore[arg-type] # checked by the job
        memory=parse_size(memory),
        overwrite=overwrite,
    )
    _run(job, EXECUTORS.load(executor)(workers, address), quiet=quiet)


@reporting_errors
def train(
    corpus: CorpusNames,
    *,
    output: Output,
    lexicons: Annotated[
        Path | None, typer.Option(help="The folder that 'textveil prepare score' wrote; for pmi, llr and tscore.")
    ] = None,
    name: Name = None,
    bundle_version: Version = "1",
    corpus_label: CorpusLabel = None,
    license: Licence = "unknown",  # noqa: A002
    decompositions: Decompositions = None,
    dimensions: Dimensions = 300,
    window: Window = 5,
    min_entry_count: MinEntryCount = 5,
    most_entries: MostEntries = None,
    epochs: Epochs = 5,
    negative: Negative = 5,
    cbow: Cbow = False,
    storage: StorageName = "int8",
    names: FindNames = True,
    column: Column = TEXT_COLUMN,
    format_name: Format = None,
    config: Config = None,
    split: Split = SPLIT,
    revision: Revision = None,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    address: Address = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Split a corpus by each decomposition, train word2vec, and write a bundle: the last steps of preparing."""
    _require_libraries()
    from textveil.corpus.association import MEASURES
    from textveil.corpus.inputs import Corpus
    from textveil.corpus.preparation import Labels, PrepareJob
    from textveil.corpus.training import Training

    chosen = _choose(decompositions)
    if lexicons is None and (scored := [measure for measure in MEASURES if measure in chosen]):
        raise ParameterError(
            f"--lexicons is missing: {', '.join(scored)} need the folder that 'textveil prepare score' wrote. For all "
            "steps in one: textveil prepare CORPUS --output BUNDLE"
        )
    job = PrepareJob(
        Corpus.find(
            corpus, column=column, format_name=format_name, config=config, split=split, revision=revision, output=output
        ),
        output,
        Labels(name or output.name, bundle_version, corpus=corpus_label or _list_names(corpus), license=license),
        training=Training(dimensions, window, min_entry_count, epochs, negative, not cbow, most_entries),
        decompositions=chosen,
        lexicons=lexicons,
        names_model=find("spacy-en") if names else None,
        storage=storage,  # type: ignore[arg-type] # checked by the job
        overwrite=overwrite,
    )
    _run(job, EXECUTORS.load(executor)(workers, address), quiet=quiet)


def _require_libraries() -> None:
    for library in ("pyarrow", "gensim"):
        require(library, extra="prepare")


def _choose(decompositions: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(DECOMPOSERS.load(name).name for name in decompositions or DECOMPOSERS))


def _list_names(corpus: Sequence[str]) -> str:
    return ", ".join(Path(part).name for part in corpus)


def _run(job: PrepareJob, executor: Executor, *, quiet: bool) -> None:
    """Say what it needs, do it, say what came out."""
    job.check()
    if not quiet:
        needed, free = job.estimate_disk(), shutil.disk_usage(job.output.absolute().parent).free
        more = ", and more for data sets, whose size is not known" if job.corpus.datasets else ""
        report(
            f"Needs up to {needed >> 20:,} MiB of disk beside {str(job.output)!r} while it runs{more}; "
            f"{free >> 20:,} MiB are free."
        )
    started = time.monotonic()
    with executor, showing_progress(quiet, unit_of) as progress:
        bundle = job.run(executor, progress)
    if quiet:
        return
    report(f"{bundle.manifest.tokens or 0:,} words in {time.monotonic() - started:,.0f} s")
    for decomposition, table in bundle.manifest.vectors.items():
        typer.echo(describe_vectors(decomposition, table))
