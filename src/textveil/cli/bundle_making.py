"""``textveil prepare CORPUS... --output BUNDLE``, all steps in one, and ``textveil prepare train``, the last ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from textveil.bundle import STORAGES, Bundle
from textveil.cli.display import showing_progress
from textveil.cli.prepare import parse_size, unit_of
from textveil.cli.reporting import report, reporting_errors
from textveil.corpus import MEMORY, MIN_COUNT, MIN_PMI, SPLIT, TOP_SHARE
from textveil.decomposition import DECOMPOSERS
from textveil.errors import ParameterError
from textveil.execution import EXECUTORS
from textveil.extras import require
from textveil.registry import unknown_name
from textveil.resources import find
from textveil.tables import FORMATS, TEXT_COLUMN

EXAMPLES = """
\b
Examples:
  textveil prepare corpus.txt.xz --output my-english --min-count 40
  textveil prepare reviews/ --column body --output reviews-en --decomposition words --decomposition pmi
  textveil prepare hf:HuggingFaceFW/fineweb --config sample-10BT --output fineweb-en --memory 64G --workers 16
  textveil prepare train corpus.txt.xz --lexicons lexicons --output my-english --epochs 10 --cbow

Killed, it goes on where it was when the same command is given again.
"""

STEPS = {
    "train": "Split a corpus by each decomposition, train word2vec, and write a bundle.",
    "bundle": "All steps in one: count, score, split, train, write. The name of this command may be left out.",
}

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (txt with a document per line, jsonl, parquet, csv, tsv; plain or .gz, .xz, .zst), folders, "
        "or hf:OWNER/NAME for a Hugging Face data set.",
        show_default=False,
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The folder of the new bundle.")]
Name = Annotated[str | None, typer.Option(help="Its name; the folder's by default.")]
Licence = Annotated[str, typer.Option(help="What may be done with the bundle.")]
Decompositions = Annotated[
    list[str] | None,
    typer.Option("--decomposition", "-d", help=f"Only this one, or these: {', '.join(DECOMPOSERS)}."),
]
Dimensions = Annotated[int, typer.Option(help="How long vectors are.")]
Window = Annotated[int, typer.Option(help="How many chunks on each side are the context of one.")]
MinEntryCount = Annotated[int, typer.Option(help="Leave out of the vocabulary what occurs less often.")]
MostEntries = Annotated[int | None, typer.Option(help="Leave out rarer entries until there are no more than these.")]
Epochs = Annotated[int, typer.Option(help="How often the corpus is read.")]
Negative = Annotated[int, typer.Option(help="How many chunks are drawn against each one of the context.")]
Cbow = Annotated[bool, typer.Option("--cbow", help="Train CBOW instead of skip-gram.")]
StorageName = Annotated[str, typer.Option(help=f"How vectors are stored: {', '.join(STORAGES)}.")]
Names = Annotated[
    bool, typer.Option("--names/--no-names", help="Find people's names with spaCy, and never write them.")
]
Column = Annotated[str, typer.Option("--column", "-c", help="The column with the documents.")]
Format = Annotated[
    str | None, typer.Option("--format", help=f"The format, if names do not tell it: {', '.join(FORMATS)}.")
]
Config = Annotated[str | None, typer.Option(help="The configuration of a Hugging Face data set.")]
Split = Annotated[str, typer.Option(help="The split of a Hugging Face data set.")]
Revision = Annotated[str | None, typer.Option(help="The revision of a Hugging Face data set.")]
ExecutorName = Annotated[str, typer.Option(help=f"Where the corpus is split: {', '.join(EXECUTORS)}.")]
Workers = Annotated[int | None, typer.Option(help="How many work at a time; by default, one per core.")]
Address = Annotated[str | None, typer.Option(help="The address of a running Ray cluster, or auto.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a bundle, and start an unfinished run over.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show neither progress nor a summary.")]


@reporting_errors
def make_bundle(
    context: typer.Context,
    corpus: CorpusNames,
    *,
    output: Output,
    name: Name = None,
    licence: Licence = "unknown",
    decompositions: Decompositions = None,
    lexicons: Annotated[
        Path | None, typer.Option(help="The folder that 'textveil prepare score' wrote; then nothing is counted.")
    ] = None,
    min_count: Annotated[int, typer.Option(help="Leave out n-grams that occur less often.")] = MIN_COUNT,
    min_pmi: Annotated[float, typer.Option(help="The lexicon of PMI has the n-grams above this.")] = MIN_PMI,
    top: Annotated[
        float, typer.Option(help="The lexicons of LLR and t-score have this percentage of all n-grams.")
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
    names: Names = True,
    column: Column = TEXT_COLUMN,
    format_name: Format = None,
    config: Config = None,
    split: Split = SPLIT,
    revision: Revision = None,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    address: Address = None,
    memory: Annotated[str, typer.Option(help="The memory of counting, such as 512M or 16G.")] = f"{MEMORY >> 30}G",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Make a bundle of a corpus: count n-grams, score them, split the corpus by each decomposition, train word2vec.

    Every finished step is kept, so a run that was killed goes on with the next. ``textveil prepare train`` is the same
    without counting and scoring.
    """
    require("pyarrow", extra="prepare")
    require("gensim", extra="prepare")
    from textveil.corpus.inputs import Corpus
    from textveil.corpus.preparation import Labels, PrepareJob, Thresholds
    from textveil.corpus.training import Training

    if storage not in STORAGES:
        raise unknown_name("storage", storage, STORAGES)
    chosen = tuple(dict.fromkeys(DECOMPOSERS.load(name).name for name in decompositions or DECOMPOSERS))
    if context.info_name == "train" and lexicons is None and {"pmi", "llr", "tscore"} & set(chosen):
        raise ParameterError("--lexicons is missing: the folder that 'textveil prepare score' wrote.")
    started = time.monotonic()
    job = PrepareJob(
        Corpus.find(
            corpus, column=column, format_name=format_name, config=config, split=split, revision=revision, output=output
        ),
        output,
        Labels(name or output.name, corpus=", ".join(Path(part).name for part in corpus), licence=licence),
        Thresholds(min_count, min_pmi, top / 100, only_attracted),
        Training(dimensions, window, min_entry_count, epochs, negative, not cbow, most_entries),
        chosen,
        lexicons,
        str(find("spacy-en")) if names else None,
        storage,
        parse_size(memory),
        overwrite,
    )
    with EXECUTORS.load(executor)(workers, address) as workers_of, showing_progress(quiet, unit_of) as progress:
        bundle = job.run(workers_of, progress)
    if not quiet:
        _summarise(bundle, time.monotonic() - started)


def _summarise(bundle: Bundle, seconds: float) -> None:
    report(f"{bundle.manifest.tokens or 0:,} words in {seconds:,.0f} s")
    for decomposition, table in bundle.manifest.vectors.items():
        report(f"{decomposition:<9} {table['entries']:,} entries, {table['writable']:,} may be written")
