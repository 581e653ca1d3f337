"""``textveil prepare``: from a corpus to a bundle, in one command or step by step."""

from __future__ import annotations

import difflib
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.cli.bundle import describe_vectors
from textveil.cli.options import ExecutorFlags, Overwrite, Quiet, build_app, command
from textveil.cli.reporting import report, showing_progress
from textveil.errors import ParameterError
from textveil.extras import require
from textveil.lab.corpus import MEMORY, MIN_COUNT, MIN_PMI, SPLIT, TOP_SHARE
from textveil.lab.corpus.settings import (
    MIN_DOCUMENTS,
    STORAGE,
    Labels,
    PriorOptions,
    Selection,
    Thresholds,
    Training,
    VectorOptions,
)
from textveil.methods.decomposition import DECOMPOSERS
from textveil.resources import find
from textveil.tables import TEXT_COLUMN

if TYPE_CHECKING:
    from textveil.lab.corpus.inputs import Corpus
    from textveil.lab.corpus.preparation import PrepareJob, PriorJob

MEMORY_SIZE = f"{MEMORY >> 30}G"
"""The memory of counting by default, as :func:`parse_size` reads it."""
ALL_STEPS = "bundle"
"""The command that runs all steps."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)
_LARGEST_SIZE = 2.0**62
UNITS = {
    "hashing": "files",
    "reading": "words",
    "counting": "words",
    "splitting": "words",
    "training": "epochs",
    "finding": "bytes",
    "numbering": "bytes",
    "choosing": "entries",
    "encoding": "entries",
}
"""What progress counts at stages that do not count n-grams."""

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (txt with one document per line, jsonl, parquet, csv, tsv; plain or .gz, .xz, .zst), folders, "
        "or hf:OWNER/NAME for a Hugging Face data set.",
        show_default=False,
    ),
]
BundleFolder = Annotated[Path, typer.Option("--output", "-o", help="The folder of the new bundle.")]


@dataclass(frozen=True, kw_only=True)
class CountFlags:
    """How n-grams are counted.

    Attributes:
        min_count: Leave out n-grams that occur less often. The default is for ten billion words.
        memory: The memory of counting, such as 512M or 16G. The rest is on disk.
    """

    min_count: int = MIN_COUNT
    memory: str = MEMORY_SIZE


@dataclass(frozen=True, kw_only=True)
class CorpusFlags:
    """How a corpus is read, and which part of it.

    Attributes:
        format_name: The format, if file names do not show it: {textveil.tables:FORMATS}.
        column: The column that holds the documents.
        subset: The configuration of a Hugging Face data set.
        split: The split of a Hugging Face data set.
        revision: The revision of a Hugging Face data set.
    """

    column: Annotated[str, typer.Option("--column", "-c")] = TEXT_COLUMN
    format_name: Annotated[str | None, typer.Option("--format")] = None
    subset: str | None = None
    split: str = SPLIT
    revision: str | None = None

    def find(self, names: Sequence[str], output: Path, background: Sequence[str] = ()) -> Corpus:
        """The corpus."""
        require("pyarrow", extra="prepare")
        from textveil.lab.corpus.inputs import Corpus

        return Corpus.find(
            names,
            column=self.column,
            format_name=self.format_name,
            config=self.subset,
            split=self.split,
            revision=self.revision,
            output=output,
            background=background,
        )


@dataclass(frozen=True, kw_only=True)
class LexiconFlags:
    """What makes an n-gram an expression.

    Attributes:
        min_pmi: The PMI lexicon has the n-grams with a PMI above this value.
        top: The LLR and t-score lexicons have the top N % of all n-grams.
        only_attracted: Leave n-grams that are rarer than by chance, such as 'the the', out of the LLR lexicon. The
            paper keeps them.
    """

    min_pmi: float = MIN_PMI
    top: float = 100 * TOP_SHARE
    only_attracted: bool = False


@dataclass(frozen=True, kw_only=True)
class PriorFlags:
    """How n-gram models are built.

    Attributes:
        order: The number of chunks of the longest n-grams of a prior.
        most_ngrams: The largest number of n-grams of a prior. Those with the least effect are left out.
        min_documents: Leave out chunks, expressions and n-grams of priors that occur in fewer documents, so that a
            bundle quotes nobody.
    """

    order: Annotated[int, typer.Option("--prior-order")] = PriorOptions.order
    most_ngrams: int = PriorOptions.most_ngrams
    min_documents: int = MIN_DOCUMENTS


@dataclass(frozen=True, kw_only=True)
class BundleFlags(PriorFlags):
    """What a bundle is called, what it has, and how its vectors are found.

    Attributes:
        decompositions: A decomposition to prepare; may be repeated. By default, all:
            {textveil.methods.decomposition:DECOMPOSERS}.
        encoder: The sentence encoder of --vectors encoder and both: {textveil.models.files:MODEL_SOURCES}.
        dimensions: The length of a vector. By default {textveil.lab.corpus.settings:Training.dimensions} for word2vec
            and {textveil.lab.corpus.settings:PROJECTED} for others, which are projected on their principal axes.
        architecture: The architecture of word2vec: {textveil.lab.corpus.settings:ARCHITECTURES}.
        storage: The storage of vectors: {textveil.bundles.bundle:STORAGES}.
        name: The name of the bundle; by default, that of its folder.
        bundle_version: The version of the bundle.
        corpus_label: The description of the corpus; by default, the names of its files.
        license_name: The license of the bundle.
        min_entry_count: Leave out chunks that occur less often.
        most_entries: The largest size of a vocabulary, such as 50000, or of that of a decomposition, such as
            words=60000; may be repeated. The rarest chunks are left out.
        vectors: The origin of vectors: word2vec learns them from the corpus, encoder takes those that a sentence
            encoder gives to the entries, both joins the two.
        window: The number of chunks on each side that are the context of a chunk.
        epochs: The number of passes over the corpus.
        negative: The number of negative samples for each chunk of the context.
        prior: Build n-gram models, which the mechanism fluent needs.
        names: Find people's names with spaCy, and never write them.
        wording: Never write odd numbers, leftovers of markup, and misspelled, archaic or offensive English words.
        background: A file or folder whose words become known, but are neither written nor part of lexicons and priors,
            such as old novels; may be repeated.
    """

    name: str | None = None
    bundle_version: str = Labels.version
    corpus_label: str | None = None
    license_name: Annotated[str, typer.Option("--license")] = Labels.license
    decompositions: Annotated[list[str] | None, typer.Option("--decomposition", "-d")] = None
    min_entry_count: int = Selection.min_entry_count
    most_entries: list[str] | None = None
    vectors: str = VectorOptions.source
    encoder: str = VectorOptions.encoder
    dimensions: int | None = VectorOptions.dimensions
    window: int = Training.window
    epochs: int = Training.epochs
    negative: int = Training.negative
    architecture: str = Training.architecture
    prior: Annotated[bool, typer.Option("--prior/--no-prior")] = True
    storage: str = STORAGE
    names: Annotated[bool, typer.Option("--names/--no-names")] = True
    wording: Annotated[bool, typer.Option("--wording/--no-wording")] = True
    background: list[str] | None = None

    def build(self, corpus: Sequence[str], reading: CorpusFlags, output: Path, **more: Any) -> PrepareJob:
        """The job of a bundle."""
        found = reading.find(corpus, output, self.background or ())
        from textveil.lab.corpus.preparation import PrepareJob

        label = self.corpus_label or ", ".join(Path(part).name for part in corpus)
        training = Training(**{name: getattr(self, name) for name in ("window", "epochs", "negative", "architecture")})
        return PrepareJob(
            found,
            output,
            Labels(self.name or output.name, self.bundle_version, corpus=label, license=self.license_name),
            selection=_select(self.min_entry_count, self.min_documents, self.most_entries or ()),
            vectors=VectorOptions(self.vectors, self.dimensions, self.encoder, training),  # type: ignore[arg-type]
            prior=PriorOptions(self.order, self.min_documents, self.most_ngrams) if self.prior else None,
            decompositions=_choose(self.decompositions),
            names_model=find("spacy-en") if self.names else None,
            wording=self.wording,
            storage=self.storage,  # type: ignore[arg-type] # checked by the job
            **more,
        )


class _Steps(TyperGroup):
    """Runs the step that the first argument names. Without the name of a step, all steps run in one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            if near and not Path(args[0]).exists():
                ctx.fail(f"There is no such step, and no such file. Did you mean {near[0]!r}?")
            args = [ALL_STEPS, *args]
        return super().parse_args(ctx, args)


app = build_app(
    "Build a bundle from a corpus.\n\nOne command runs all steps:\n\ntextveil prepare CORPUS... --output BUNDLE",
    cls=_Steps,
)


@command(app, "count")
def count(
    corpus: CorpusNames,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")],
    counting: CountFlags,
    reading: CorpusFlags,
    place: ExecutorFlags,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Count all frequent n-grams of one to four words, exactly.

    A word is a run of letters, digits and underscores, in lowercase. N-grams do not cross documents. All executors
    write the same bytes. A run needs about 15 bytes of disk per word of the corpus, or 100 with --min-count 1.

    Args:
        output: The folder of the counts.

    Examples:
      textveil prepare count corpus.txt.xz --output counts --min-count 20
      textveil prepare count reviews/ more.jsonl.gz --column body --output counts --workers 8 --memory 16G
      textveil prepare count hf:HuggingFaceFW/fineweb --subset sample-10BT --output counts --memory 64G
      textveil prepare count /shared/fineweb --output /shared/counts --executor ray --address auto

    After an interruption, the same command resumes. With --overwrite, it starts over.
    """
    found = reading.find(corpus, output)
    from textveil.lab.corpus.counting.job import CountJob

    min_count = counting.min_count
    counts = _run(CountJob(found, output, min_count, parse_size(counting.memory), overwrite), place, quiet=quiet)
    if quiet:
        return
    manifest = counts.manifest
    words = f"{counts.tokens:,} words ({manifest['distinct_words']:,} distinct)"
    report(f"{manifest['documents']:,} documents, {words}; skipped files of unknown format: {found.skipped:,}")
    for length, table in manifest["tables"].items():
        typer.echo(f"{length}-grams that occur {min_count:,} times or more: {table['rows']:,}")
    if not manifest["tables"]["2"]["rows"]:
        report(f"No two words occur together {min_count:,} times. Lower --min-count for a corpus of this size.")


@command(app, "score")
def score(
    counts: Path,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")],
    min_count: int | None = None,
    lexicon: LexiconFlags,
    examples: int = 5,
    overwrite: Overwrite = False,
) -> None:
    """Score counted n-grams by PMI, LLR and t-score, and write a lexicon for each.

    Args:
        counts: The folder that 'textveil prepare count' wrote.
        output: The folder of the lexicons.
        min_count: Leave out n-grams that occur less often. The default is that of the counts.
        examples: The number of top entries to show for each lexicon.

    Examples:
      textveil prepare score counts --output lexicons
      textveil prepare score counts --output lexicons --min-pmi 3 --top 10
    """
    require("pyarrow", extra="prepare")
    from textveil.lab.corpus.lexicons import Lexicon, ScoreJob

    share = parse_top(lexicon.top)
    manifest = ScoreJob(counts, output, min_count, lexicon.min_pmi, share, lexicon.only_attracted, overwrite).run()
    typer.echo(f"{manifest['ngrams']:,} n-grams of two to four words, of a corpus of {manifest['tokens']:,} words")
    for measure, entry in manifest["lexicons"].items():
        lengths = ", ".join(f"{number:,} of {length} words" for length, number in entry["entries"].items())
        limit = "" if entry["threshold"] is None else f", scores from {entry['threshold']:.4g}"
        rarer = f", {entry['rarer_than_chance']:,} rarer than by chance" if entry["rarer_than_chance"] else ""
        typer.echo(f"{measure:<7} {lengths}{limit}{rarer}")
        found = Lexicon.load(output, measure)
        for row in found.scores.argsort(kind="stable")[::-1][: max(0, examples)]:
            typer.echo(f"        {found.scores[row]:>12,.2f}  {found.counts[row]:>10,}  {found.ngrams[row]}")


@command(app, "train")
def train(
    corpus: CorpusNames,
    *,
    output: BundleFolder,
    lexicons: Path | None = None,
    bundle: BundleFlags,
    reading: CorpusFlags,
    place: ExecutorFlags,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Split a corpus, embed its chunks, and write a bundle.

    These are the last steps of a preparation. The corpus is split by each decomposition.

    Args:
        lexicons: The folder that 'textveil prepare score' wrote, for pmi, llr and tscore.

    Examples:
      textveil prepare train corpus.txt.xz --lexicons lexicons --output my-english --epochs 10 --architecture cbow
      textveil prepare train corpus.txt.xz --decomposition words --output my-words --dimensions 100 --no-names

    After an interruption, the same command resumes. Finished steps are not repeated.
    """
    require("pyarrow", extra="prepare")
    from textveil.lab.corpus.lexicons import MEASURES

    chosen = _choose(bundle.decompositions)
    if lexicons is None and (scored := [measure for measure in MEASURES if measure in chosen]):
        raise ParameterError(f"--lexicons is missing: {', '.join(scored)} need the folder of 'textveil prepare score'.")
    _build(bundle.build(corpus, reading, output, lexicons=lexicons, overwrite=overwrite), place, quiet=quiet)


@command(app, "prior")
def prior(
    corpus: CorpusNames,
    *,
    bundle: Annotated[str, typer.Option("--bundle", "-b")] = DEFAULT_BUNDLE,
    output: BundleFolder,
    decompositions: Annotated[list[str] | None, typer.Option("--decomposition", "-d")] = None,
    options: PriorFlags,
    reading: CorpusFlags,
    place: ExecutorFlags,
    memory: str = MEMORY_SIZE,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a copy of a bundle with n-gram priors.

    A prior states which chunk is likely after two others.

    The mechanism fluent needs a prior. The corpus is split by the decompositions of the bundle. One of 100 documents
    is not counted, and shows how well the prior predicts. All other files of the bundle are copied unchanged. The
    corpus need not be that of the bundle. Choose texts like those that you want to write.

    Args:
        bundle: The name or the folder of a bundle.
        decompositions: A decomposition that gets a prior; may be repeated. By default, all.
        memory: The memory of counting, such as 512M or 16G. The rest is on disk.

    Examples:
      textveil prepare prior corpus.txt.xz --bundle en --output en-fluent
      textveil prepare prior posts.jsonl.gz --column body --bundle mine --output mine-fluent -d words -d pmi
      textveil prepare prior small.txt --bundle mine --output mine-fluent --min-documents 5 --prior-order 2

    After an interruption, the same command resumes. Finished steps are not repeated.
    """
    found = reading.find(corpus, output)
    from textveil.lab.corpus.preparation import PriorJob

    wanted = PriorOptions(options.order, options.min_documents, options.most_ngrams)
    chosen = _choose(decompositions) if decompositions else None
    job = PriorJob(found, Bundle.load(bundle), output, wanted, chosen, parse_size(memory), overwrite)
    _build(job, place, quiet=quiet)


@command(app, ALL_STEPS)
def make_bundle(
    corpus: CorpusNames,
    *,
    output: BundleFolder,
    bundle: BundleFlags,
    counting: CountFlags,
    lexicon: LexiconFlags,
    reading: CorpusFlags,
    place: ExecutorFlags,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Build a bundle from a corpus, with all steps.

    The steps count n-grams, score them, split the corpus by each decomposition, and embed the chunks.

    The name of this command is optional: textveil prepare CORPUS... --output BUNDLE

    Examples:
      textveil prepare corpus.txt.xz --output my-english --min-count 40 --most-entries 30000
      textveil prepare reviews/ --column body --output reviews-en --decomposition words --decomposition pmi
      textveil prepare posts.txt.xz --background novels.txt.xz --vectors encoder --output everyday-en
      textveil prepare hf:HuggingFaceFW/fineweb --subset sample-10BT --output fineweb-en --memory 64G --workers 16

    After an interruption, the same command resumes. Finished steps are not repeated.
    """
    thresholds = Thresholds(counting.min_count, lexicon.min_pmi, parse_top(lexicon.top), lexicon.only_attracted)
    memory = parse_size(counting.memory)
    job = bundle.build(corpus, reading, output, thresholds=thresholds, memory=memory, overwrite=overwrite)
    _build(job, place, quiet=quiet)


def parse_size(text: str) -> int:
    """The number of bytes that a size such as ``16G`` stands for.

    >>> parse_size("1.5G"), parse_size("512 MiB")
    (1610612736, 536870912)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ParameterError("`memory` must be a number of bytes, such as 512M or 16G.")
    size = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")
    return int(min(size, _LARGEST_SIZE))


def parse_top(percent: float) -> float:
    """The share that a percentage stands for.

    >>> parse_top(5)
    0.05
    """
    if not 0 < percent <= 100:
        raise ParameterError(f"`top` must be a percentage above 0, up to 100. Got {percent:g} instead.")
    return percent / 100


def _choose(decompositions: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(DECOMPOSERS.load(name).name for name in decompositions or DECOMPOSERS))


def _select(min_entry_count: int, min_documents: int, most_entries: Sequence[str]) -> Selection:
    """The thresholds of vocabularies."""
    limits: dict[str, int] = {}
    for limit in most_entries:
        name, _, number = limit.rpartition("=")
        try:
            limits[DECOMPOSERS.load(name).name if name else ""] = int(number)
        except ValueError as error:
            raise ParameterError(f"--most-entries must be such as 50000 or words=60000. Got {limit!r}.") from error
    return Selection(min_entry_count, min_documents, limits.pop("", None), limits)


def _run(job: Any, place: ExecutorFlags, *, quiet: bool) -> Any:
    """Run a job, after a check that comes before a cluster is started for it."""
    job.check()
    started = time.monotonic()
    with place.start() as executor, showing_progress(quiet, "n-grams", UNITS) as progress:
        made = job.run(executor, progress)
    if not quiet:
        report(f"Done in {time.monotonic() - started:,.0f} s")
    return made


def _build(job: PrepareJob | PriorJob, place: ExecutorFlags, *, quiet: bool) -> None:
    """Report the disk space that a bundle needs, build it, and describe it."""
    if not quiet and job.output.absolute().parent.is_dir():
        needed, free = job.estimate_disk() >> 20, shutil.disk_usage(job.output.absolute().parent).free >> 20
        more = ", and more for data sets of unknown size" if job.corpus.datasets else ""
        report(f"The run needs up to {needed:,} MiB of disk next to {str(job.output)!r}{more}. {free:,} MiB are free.")
    bundle = _run(job, place, quiet=quiet)
    for decomposition in () if quiet else bundle.manifest.vectors:
        for line in describe_vectors(bundle, decomposition):
            typer.echo(line)
