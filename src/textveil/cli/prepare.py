"""``textveil prepare``."""

from __future__ import annotations

import difflib
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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
from textveil.execution import EXECUTORS
from textveil.extras import require
from textveil.tables import TEXT_COLUMN

COUNT_EXAMPLES = """
\b
Examples:
  textveil prepare count corpus.txt.xz --output counts --min-count 20
  textveil prepare count reviews/ more.jsonl.gz --column body --output counts --workers 8 --memory 16G
  textveil prepare count hf:HuggingFaceFW/fineweb --config sample-10BT --output counts --memory 64G
  textveil prepare count /shared/fineweb --output /shared/counts --executor ray --address auto

Killed, it goes on where it was when the same command is given again.
"""
SCORE_EXAMPLES = """
\b
Examples:
  textveil prepare score counts --output lexicons
  textveil prepare score counts --output lexicons --min-pmi 3 --top 10
"""


class _Steps(TyperGroup):
    """A step by its name; anything else is a corpus, for all steps in one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            if near and not Path(args[0]).exists():
                ctx.fail(f"There is no such step, and no such file. Did you mean {near[0]!r}?")
            args = ["bundle", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Steps,
    help="Prepare a language from a corpus.\n\nAll steps in one:\n\ntextveil prepare CORPUS... --output BUNDLE",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("count", epilog=COUNT_EXAMPLES, no_args_is_help=True)
@reporting_errors
def count(
    corpus: CorpusNames,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the counts.")],
    min_count: Annotated[
        int, typer.Option(help="Leave out n-grams that occur less often. The paper's is for ten billion words.")
    ] = MIN_COUNT,
    column: Column = TEXT_COLUMN,
    format_name: Format = None,
    config: Config = None,
    split: Split = SPLIT,
    revision: Revision = None,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    address: Address = None,
    memory: Annotated[
        str, typer.Option(help="The memory of all processes together, such as 512M or 16G; the rest is on disk.")
    ] = f"{MEMORY >> 30}G",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace counts that are there, and start an unfinished run over.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Count all n-grams of one to four words that occur often enough, exactly.

    Words are the runs of letters, digits and underscores of the lower-cased text; n-grams do not cross documents.
    The result is the same to the byte wherever the work is done. While it runs, it needs about 15 bytes of disk per
    word of the corpus, 100 at a --min-count of 1.
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
        f"{manifest['documents']:,} documents, {counts.tokens:,} words, {manifest['distinct_words']:,} of them "
        f"different, in {seconds:.1f} s ({counts.tokens / seconds:,.0f} words/s)"
    )
    if found.skipped:
        report(f"Files in no known format were skipped: {found.skipped:,}.")
    for length, table in manifest["tables"].items():
        typer.echo(f"{length}-grams that occur {min_count:,} times or more: {table['rows']:,}")
    if not manifest["tables"]["2"]["rows"]:
        report(f"No two words occur together {min_count:,} times. For a corpus of this size, lower --min-count.")


@app.command("score", epilog=SCORE_EXAMPLES, no_args_is_help=True)
@reporting_errors
def score(
    counts: Annotated[Path, typer.Argument(help="The folder that textveil prepare count wrote.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the lexicons.")],
    min_count: Annotated[
        int | None, typer.Option(help="Leave out n-grams that occur less often; by default as in the counts.")
    ] = None,
    min_pmi: Annotated[float, typer.Option(help="The lexicon of PMI has the n-grams above this.")] = MIN_PMI,
    top: Annotated[
        float, typer.Option(help="The lexicons of LLR and t-score have the best of all n-grams, so many per cent.")
    ] = 100 * TOP_SHARE,
    only_attracted: Annotated[
        bool,
        typer.Option(
            "--only-attracted",
            help="Leave out of the lexicon of LLR what stands together less often than by chance, such as 'the the'; "
            "the paper has it in.",
        ),
    ] = False,
    examples: Annotated[int, typer.Option(help="Show so many of the best entries of every lexicon.")] = 5,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace lexicons that are there.")] = False,
) -> None:
    """Score counted n-grams by PMI, LLR and t-score, and write a lexicon for each."""
    require("pyarrow", extra="prepare")
    from textveil.corpus.lexicons import Lexicon, ScoreJob

    manifest = ScoreJob(counts, output, min_count, min_pmi, top / 100, only_attracted, overwrite).run()
    typer.echo(f"{manifest['ngrams']:,} n-grams of two to four words, of a corpus of {manifest['tokens']:,} words")
    for measure, entry in manifest["lexicons"].items():
        lengths = ", ".join(f"{number:,} of {length} words" for length, number in entry["entries"].items())
        limit = "" if entry["threshold"] is None else f", scores from {entry['threshold']:.4g}"
        typer.echo(f"{measure:<7} {sum(entry['entries'].values()):,} entries ({lengths}){limit}")
        if entry["rarer_than_chance"]:
            typer.echo(f"        {entry['rarer_than_chance']:,} of them stand together less often than by chance")
        lexicon = Lexicon.load(output, measure)
        for row in lexicon.scores.argsort(kind="stable")[::-1][: max(0, examples)]:
            typer.echo(f"        {lexicon.scores[row]:>12,.2f}  {lexicon.counts[row]:>10,}  {lexicon.ngrams[row]}")
