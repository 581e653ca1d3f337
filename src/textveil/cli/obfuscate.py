"""``textveil obfuscate``."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.options import BundleName, ExecutorFlags, Overwrite, Quiet, build_app, command
from textveil.cli.reporting import FAILURE, list_warnings, print_json, print_table, report, showing_progress
from textveil.cli.settings import BUDGET, METHODS, SETTINGS, Config, build_settings, pick, prefer_flags
from textveil.cli.start import is_file
from textveil.errors import ParameterError
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome
from textveil.summary import is_refused, summarize
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN, FileSource, Layout, Source, StreamSource
from textveil.text.batches import BATCH_SIZE

if TYPE_CHECKING:
    from textveil.jobs import JobReport
    from textveil.ledger import Ledger
    from textveil.progress import Progress
    from textveil.results import Obfuscation

STANDARD = "-"

app = build_app()


@dataclass(frozen=True, kw_only=True)
class PlaceFlags(ExecutorFlags):
    """Where a file is obfuscated.

    Attributes:
        executor: For a file, where the work runs: {textveil.execution:EXECUTORS}. By default local, or processes with
            --workers. With a seed, the output does not depend on it.
    """

    executor: str | None = None  # type: ignore[assignment] # unlike elsewhere, the workers decide it


@dataclass(frozen=True, kw_only=True)
class FileFlags:
    """How files of texts are read and written.

    Attributes:
        column: The column with the texts (repeatable). By default {textveil.tables:TEXT_COLUMN}.
        format_name: The format of the input: {textveil.tables:FORMATS}. By default, by its name.
        input_file: A file of texts: txt (one document per line), csv, tsv, jsonl or parquet, optionally compressed
            (.gz, .xz, .zst); - is standard input.
        output: The file to write. Its name decides the format. By default, standard output.
        drop_columns: Another column that is not copied (repeatable).
        keep_columns: Another column to copy; all others are left out (repeatable).
        outcome_column: The column for the outcome of each row; '' writes none. With several text columns, _COLUMN is
            appended.
        batch_size: Number of documents per batch.
        resume: Resume an interrupted run.
    """

    input_file: Annotated[str | None, typer.Option("--input", "-i")] = None
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None
    column: Annotated[list[str] | None, typer.Option("--column", "-c")] = None
    drop_columns: Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN")] = None
    keep_columns: Annotated[list[str] | None, typer.Option("--keep-column", metavar="COLUMN")] = None
    outcome_column: str = OUTCOME_COLUMN
    format_name: Annotated[str | None, typer.Option("--format")] = None
    batch_size: int = BATCH_SIZE
    resume: bool = False

    @property
    def are_files(self) -> bool:
        """Whether both ends are files, which can be read again and completed."""
        return self.output is not None and self.input_file not in (None, STANDARD)

    def open_source(self) -> Source:
        """The texts."""
        if self.input_file not in (None, STANDARD):
            return FileSource(Path(str(self.input_file)))
        if sys.stdin is None:
            raise ParameterError("Standard input is closed. Give --input FILE.")
        return StreamSource(sys.stdin.buffer)

    def build_layout(self) -> Layout:
        """The columns."""
        return Layout(
            self.column or TEXT_COLUMN,
            self.outcome_column or None,
            self.format_name,
            tuple(self.drop_columns or ()),
            self.keep_columns or None,
        )


@dataclass(frozen=True, kw_only=True)
class LedgerFlags:
    """Where the budgets of documents are recorded, and how much they may spend.

    Attributes:
        ledger: Record the budgets that documents spend over all releases in this file. It contains no text.
        ledger_key: The key file of the ledger. By default LEDGER.key.
        budget_per_document: For --ledger: the most that a document may spend. A release beyond it is refused.
        repeat: For --ledger: fresh or same. same gives the same text with the same settings its first answer again,
            which spends nothing. By default fresh.
    """

    ledger: Path | None = None
    ledger_key: Path | None = None
    budget_per_document: float | None = None
    repeat: str | None = None

    def open(self) -> Ledger | None:
        """The ledger, if one is wanted; a new one is announced, because a mistyped name would start at nothing."""
        others = {"key_path": self.ledger_key, "budget_per_document": self.budget_per_document, "repeat": self.repeat}
        given: dict[str, Any] = {name: value for name, value in others.items() if value is not None}
        if self.ledger is None:
            if given:
                raise ParameterError("--ledger-key, --budget-per-document and --repeat go with --ledger.")
            return None
        from textveil.ledger import Ledger

        opened = Ledger(self.ledger, **given)
        if opened.created:
            report(f"New ledger: {opened.path} (key: {opened.key_path}). Keep copies of both.")
        return opened


@command(app, "obfuscate", settings=pick(*SETTINGS), methods=METHODS)
def obfuscate(
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT")] = None,
    *,
    settings: dict[str, Any],
    target: Path | None = None,
    bundle: BundleName = DEFAULT_BUNDLE,
    files: FileFlags,
    spending: LedgerFlags,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    explained: Annotated[bool, typer.Option("--explain")] = False,
    certificate: Path | None = None,
    deniability: bool = False,
    overwrite: Overwrite = False,
    place: PlaceFlags,
    quiet: Quiet = False,
    config: Config = None,  # noqa: ARG001 # read before the others
    method_options: dict[str, Any],
) -> None:
    """Obfuscate a text, a file of texts, or standard input.

    Every document gets a privacy budget, epsilon, which is divided over its words. A mechanism replaces each word by a
    random word of similar meaning. By default, plain stopwords are kept and get no budget, and case and punctuation are
    computed from the new words. The certificate states what is protected. In a file, rows stay in order and other
    columns are copied. --resume continues an interrupted run, and --workers uses several cores.

    Args:
        text: The text, in quotes. - reads standard input, one document per line.
        target: A file of textveil calibrate, with the epsilon per word and the largest share to use.
        as_json: For a text: print text, chunks and certificate as JSON. For a file: print the certificate.
        explained: For a text: show a table of chunks, scores, shares, drafts and outcomes.
        certificate: Write the certificate to this file. It states what is protected and what is not.
        deniability: Add to the certificate how likely words stay unchanged, and how many others they may become. It
            takes seconds for each new budget.

    Examples:
      textveil obfuscate "The soup was cold and the waiter rude."
      textveil obfuscate "The soup was cold." --level high --explain
      textveil obfuscate "It was out of the question." --epsilon-per-word 12 --distribution yake --explain
      textveil obfuscate --input reviews.csv --column text --output out.csv --profile proven
      textveil obfuscate --input reviews.csv --output out.parquet --epsilon-per-word 15 --certificate out.json
      textveil obfuscate --input big.jsonl.zst --output big.out.jsonl.zst --epsilon-per-word 15 --resume
      textveil obfuscate --input big.jsonl.zst --output big.out.jsonl.zst --workers 8
      textveil obfuscate --input big.parquet --output out.parquet --executor ray --address auto
      textveil obfuscate --input reviews.csv --output out.csv --epsilon 60 --ledger spent.db --budget-per-document 100
      cat notes.txt | textveil obfuscate - --level low
    """
    words = _choose_text(text or (), files.input_file)
    _check_combination(words, files, place, explained=explained, as_json=as_json)
    budget = prefer_flags({**{name: settings.pop(name, None) for name in BUDGET}, "target": target})
    target = budget.pop("target")
    settings |= {name: value for name, value in budget.items() if value is not None}
    obfuscator = _build(bundle, settings, method_options, target, spending)
    if deniability:
        obfuscator.add_deniability(obfuscator.build_budget())
    if words is not None:
        if certificate is not None:
            from textveil.jobs import check_free

            check_free(certificate, overwrite=overwrite)
        result = next(obfuscator.obfuscate_all([words])).released()
        if certificate is not None:
            result.certificate.write(certificate)
        _show_text(result, explained=explained, as_json=as_json)
        return
    with showing_progress(quiet) as progress:
        finished = _run_job(obfuscator, files, place, certificate, overwrite=overwrite, progress=progress)
    _show_report(finished, as_json=as_json, quiet=quiet)


def _run_job(
    obfuscator: Obfuscator,
    files: FileFlags,
    place: PlaceFlags,
    certificate: Path | None,
    *,
    overwrite: bool,
    progress: Progress,
) -> JobReport:
    """Obfuscate a file or a stream."""
    from textveil.jobs import FileJob, JobOptions, StreamJob
    from textveil.jobs.workers import Workplace

    options = JobOptions(obfuscator.build_budget(), files.build_layout(), files.batch_size, overwrite, certificate)
    if not files.are_files:
        return StreamJob(files.open_source(), files.output, options).run(obfuscator, sys.stdout.buffer, progress)
    source, output = Path(str(files.input_file)), cast(Path, files.output)
    workplace = Workplace(place.executor, place.workers, place.address)
    return FileJob(source, output, options, resume=files.resume, workplace=workplace).run(obfuscator, progress)


def _show_report(finished: JobReport, *, as_json: bool, quiet: bool) -> None:
    """Print a summary and warnings, the warnings first if texts were refused."""
    if as_json:
        typer.echo(finished.certificate.to_json(), nl=False)
    lines = [] if quiet else list(summarize(finished.certificate, finished.seconds))
    if finished.peaks and not quiet:
        peak = max(finished.peaks.values()) >> 20
        lines.append(f"workers        {len(finished.peaks):,}, each with at most {peak:,} MiB of memory at its peak")
    cautions = list_warnings(finished.certificate)
    refused = is_refused(finished.certificate)
    for line in [*cautions, *lines] if refused else [*lines, *cautions]:
        report(line)
    if refused:
        raise typer.Exit(FAILURE)


def _build(
    bundle: str, settings: dict[str, Any], method_options: dict[str, Any], target: Path | None, spending: LedgerFlags
) -> Obfuscator:
    """The obfuscator, with the budget that is given or that a calibration decides."""
    if target is None:
        return Obfuscator(build_settings(bundle, settings, method_options, ledger=spending.open()))
    from textveil.lab.calibration import Calibration

    if any(name in settings for name in (*BUDGET, "length", "largest_share")):
        raise ParameterError("--target decides --epsilon-per-word, --level, --length and --largest-share. Remove them.")
    found = Calibration.load(target)
    if found.sample.data_dependent:
        report("Note: the epsilon was calibrated on texts of your own, so it depends on them.")
    settings |= {"epsilon_per_word": found.epsilon_per_word, "length": "own"}
    settings["largest_share"] = found.largest_share or math.inf
    obfuscator = Obfuscator(build_settings(bundle, settings, method_options, ledger=spending.open()))
    found.check(obfuscator.terms)
    obfuscator.add_calibration(found.summary)
    return obfuscator


def _choose_text(arguments: Sequence[str], input_file: str | None) -> str | None:
    """The text of the command line; ``None`` where texts come from a file or from standard input."""
    if arguments and input_file is not None:
        raise ParameterError("Give a text or --input, not both.")
    if not arguments and input_file is None:
        raise ParameterError("There is no text. Give one in quotes, --input FILE, or - for standard input.")
    if len(arguments) > 1:
        raise ParameterError("Put the text in quotes: it must be one argument.")
    if not arguments or arguments[0] == STANDARD:
        return None
    if is_file(arguments[0]):
        raise ParameterError(
            f"{arguments[0]!r} is a file. For its texts, give --input {shlex.quote(arguments[0])}. For these words "
            "themselves, send them to standard input and give -."
        )
    return arguments[0]


def _check_combination(
    text: str | None, files: FileFlags, place: PlaceFlags, *, explained: bool, as_json: bool
) -> None:
    if text is not None and (files.output is not None or files.resume):
        raise ParameterError("--output and --resume go with --input.")
    if text is None and explained:
        raise ParameterError("--explain goes with a single text on the command line.")
    if text is None and as_json and files.output is None:
        raise ParameterError("--json goes with a single text or with --output, because rows go to standard output.")
    if files.resume and not files.are_files:
        raise ParameterError("--resume needs --input FILE and --output FILE: a stream cannot be read again.")
    if place != PlaceFlags() and not files.are_files:
        raise ParameterError("--executor, --workers and --address need --input FILE and --output FILE.")


def _show_text(result: Obfuscation, *, explained: bool, as_json: bool) -> None:
    if as_json:
        print_json(result.as_dict())
    else:
        typer.echo(result.text)
    if explained:
        _explain(result)
    for warning in list_warnings(result.certificate):
        report(warning)


def _explain(result: Obfuscation) -> None:
    """Print a table: chunk, draft if there is one, the scores of its words, share, outcome, replacement."""
    terms = result.certificate.terms
    drafted = terms.draft_share is not None
    rows = []
    for chunk in result.chunks:
        draft = (f"{chunk.draft_share:.4g}", chunk.draft or "") if drafted else ()
        known = () if chunk.outcome is Outcome.KEPT_STOPWORD else chunk.scores
        scores = " + ".join("none" if score is None else f"{score:.3g}" for score in known)
        share = f"{chunk.share:.4g}" if chunk.share else ""
        rows.append((chunk.original, *draft, scores, share, chunk.outcome.value, chunk.replacement or ""))
    numbers = ("draft share", "draft", "scores of the draft", "share") if drafted else ("scores", "share")
    title = f"budget {result.certificate.tally.largest_budget:g}, profile {terms.profile.name}"
    print_table(("chunk", *numbers, "outcome", "replacement"), rows, right=numbers, title=title)
