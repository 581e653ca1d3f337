"""``textveil prepare`` and its first two steps, ``count`` and ``score``."""

from __future__ import annotations

import difflib
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from textveil.cli.corpus_options import (
    MEMORY_SIZE,
    Column,
    Config,
    CorpusNames,
    Format,
    MinCount,
    MinPmi,
    OnlyAttracted,
    Quiet,
    Revision,
    Split,
    Top,
    parse_size,
    parse_top,
    unit_of,
)
from textveil.cli.display import showing_progress
from textveil.cli.executor_options import Address, ExecutorName, Workers
from textveil.cli.reporting import report, reporting_errors
from textveil.corpus import MIN_COUNT, MIN_PMI, SPLIT, TOP_SHARE
from textveil.execution import EXECUTORS
from textveil.execution.base import DEFAULT_EXECUTOR
from textveil.extras import require
from textveil.tables import TEXT_COLUMN

COUNT_EXAMPLES = """
\b
Examples:
  textveil prepare count corpus.txt.xz --output counts --min-count 20
  textveil prepare count reviews/ more.jsonl.gz --column body --output counts --workers 8 --memory 16G
  textveil prepare count hf:HuggingFaceFW/fineweb --config sample-10BT --output counts --memory 64G
  textveil prepare count /shared/fineweb --output /shared/counts --executor ray --address auto

After an interruption, the same command resumes.
"""
SCORE_EXAMPLES = """
\b
Examples:
  textveil prepare score counts --output lexicons
  textveil prepare score counts --output lexicons --min-pmi 3 --top 10
"""


ALL_STEPS = "bundle"
"""The command that runs all steps."""


class _Steps(TyperGroup):
    """Runs the step that the first argument names. Without the name of a step, all steps run in one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            if near and not Path(args[0]).exists():
                ctx.fail(f"There is no such step, and no such file. Did you mean {near[0]!r}?")
            args = [ALL_STEPS, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Steps,
    help="Build a bundle from a corpus.\n\nOne command runs all steps:\n\ntextveil prepare CORPUS... --output BUNDLE",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("count", epilog=COUNT_EXAMPLES, no_args_is_help=True)
@reporting_errors
def count(
    corpus: CorpusNames,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the counts.")],
    min_count: MinCount = MIN_COUNT,
    column: Column = TEXT_COLUMN,
    format_name: Format = None,
    config: Config = None,
    split: Split = SPLIT,
    revision: Revision = None,
    executor: ExecutorName = DEFAULT_EXECUTOR,
    workers: Workers = None,
    address: Address = None,
    memory: Annotated[
        str, typer.Option(help="The memory of all processes together, such as 512M or 16G. The rest is on disk.")
    ] = MEMORY_SIZE,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace existing counts. Start over if an unfinished run differs.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Count all frequent n-grams of one to four words, exactly.

    A word is a run of letters, digits and underscores, in lowercase. N-grams do not cross documents. All executors
    write the same bytes. A run needs about 15 bytes of disk per word of the corpus, or 100 with --min-count 1.
    """
    require("pyarrow", extra="prepare")
    from textveil.corpus.counting.job import CountJob
    from textveil.corpus.inputs import Corpus

    started = time.monotonic()
    found = Corpus.find(
        corpus, column=column, format_name=format_name, config=config, split=split, revision=revision, output=output
    )
    job = CountJob(found, output, min_count, parse_size(memory), overwrite)
    job.check()
    with EXECUTORS.load(executor)(workers, address) as chosen, showing_progress(quiet, unit_of) as progress:
        counts = job.run(chosen, progress)
    if quiet:
        return
    seconds = time.monotonic() - started
    manifest = counts.manifest
    report(
        f"{manifest['documents']:,} documents, {counts.tokens:,} words ({manifest['distinct_words']:,} distinct) "
        f"in {seconds:.1f} s ({counts.tokens / seconds:,.0f} words/s)"
    )
    if found.skipped:
        report(f"Skipped files of unknown format: {found.skipped:,}.")
    for length, table in manifest["tables"].items():
        typer.echo(f"{length}-grams that occur {min_count:,} times or more: {table['rows']:,}")
    if not manifest["tables"]["2"]["rows"]:
        report(f"No two words occur together {min_count:,} times. Lower --min-count for a corpus of this size.")


@app.command("score", epilog=SCORE_EXAMPLES, no_args_is_help=True)
@reporting_errors
def score(
    counts: Annotated[Path, typer.Argument(help="The folder that 'textveil prepare count' wrote.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the lexicons.")],
    min_count: Annotated[
        int | None, typer.Option(help="Leave out n-grams that occur less often. The default is that of the counts.")
    ] = None,
    min_pmi: MinPmi = MIN_PMI,
    top: Top = 100 * TOP_SHARE,
    only_attracted: OnlyAttracted = False,
    examples: Annotated[int, typer.Option(help="The number of top entries to show for each lexicon.")] = 5,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing lexicons.")] = False,
) -> None:
    """Score counted n-grams by PMI, LLR and t-score, and write a lexicon for each."""
    require("pyarrow", extra="prepare")
    from textveil.corpus.lexicons import Lexicon, ScoreJob

    manifest = ScoreJob(counts, output, min_count, min_pmi, parse_top(top), only_attracted, overwrite).run()
    typer.echo(f"{manifest['ngrams']:,} n-grams of two to four words, of a corpus of {manifest['tokens']:,} words")
    for measure, entry in manifest["lexicons"].items():
        lengths = ", ".join(f"{number:,} of {length} words" for length, number in entry["entries"].items())
        limit = "" if entry["threshold"] is None else f", scores from {entry['threshold']:.4g}"
        typer.echo(f"{measure:<7} {sum(entry['entries'].values()):,} entries ({lengths}){limit}")
        if entry["rarer_than_chance"]:
            typer.echo(f"        {entry['rarer_than_chance']:,} of them are rarer than by chance")
        lexicon = Lexicon.load(output, measure)
        for row in lexicon.scores.argsort(kind="stable")[::-1][: max(0, examples)]:
            typer.echo(f"        {lexicon.scores[row]:>12,.2f}  {lexicon.counts[row]:>10,}  {lexicon.ngrams[row]}")
