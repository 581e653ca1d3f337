"""``textveil obfuscate``."""

from __future__ import annotations

import json
import math
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer

from textveil.budget import LEVEL, LEVELS, MEASURED, Budget, describe_level
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.certificate import Certificate
from textveil.cli.configuration import Config, prefer_flags
from textveil.cli.display import describe_workers, explain, list_warnings, showing_progress
from textveil.cli.options import (
    Address,
    FileExecutorName,
    Workers,
    choose_options,
    flag_of,
    refuse_unused,
    with_method_options,
)
from textveil.cli.reporting import FAILURE, report, reporting_errors
from textveil.cli.start import is_file
from textveil.draft import DRAFT_SHARE
from textveil.errors import ParameterError
from textveil.jobs import FileJob, JobOptions, StreamJob, check_free
from textveil.jobs.workers import Workplace
from textveil.lab.calibration import Calibration
from textveil.ledger import REPEATS, Ledger, Repeat
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES, STRICT, load_profile
from textveil.settings import (
    DECOMPOSITION,
    DISTRIBUTION,
    MECHANISM,
    SIMPLE_MECHANISM,
    choose_decomposition,
    choose_mechanism,
)
from textveil.summary import is_refused, summarize
from textveil.tables import FORMATS, OUTCOME_COLUMN, TEXT_COLUMN, FileSource, Layout, Source, StreamSource
from textveil.text.batches import BATCH_SIZE

STANDARD = "-"
EXAMPLES = """
\b
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


FORM_HELP = (
    "The form of the output. plain computes case and punctuation from the released words; keep keeps those of the "
    "original; bare writes only the words. By default plain; keep with the profile paper."
)


def _names(registry: Any) -> str:
    return ", ".join(registry)


MECHANISM_HELP = (
    f"How chunks are perturbed: {_names(MECHANISMS)}. By default {MECHANISM}; {SIMPLE_MECHANISM} if the bundle has no "
    "language model or the profile is paper."
)
LEVELS_HELP = f"{'; '.join(f'{level}: {describe_level(level)}' for level in LEVELS)} ({MEASURED})"


@reporting_errors
@with_method_options(DECOMPOSERS, DISTRIBUTORS, MECHANISMS)
def obfuscate(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="The text, in quotes. - reads standard input, one document per line."),
    ] = None,
    *,
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The budget of a document.")] = None,
    epsilon_per_word: Annotated[
        float | None,
        typer.Option(help="The budget per word. A document gets this times its number of words to perturb."),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help=f"The level of protection, instead of a number. {LEVELS_HELP}. By default {LEVEL}, if no "
            "other budget is given."
        ),
    ] = None,
    length: Annotated[
        str | None,
        typer.Option(
            help="For --epsilon-per-word: multiply by a document's own length (own), or by the average length "
            "(average, as in the paper; short documents then return nearly unchanged). By default own; average with "
            "--profile paper."
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(help="A file of textveil calibrate, with the epsilon per word and the largest share to use."),
    ] = None,
    largest_share: Annotated[
        float | None,
        typer.Option(
            help="The largest share of a word or expression; the rest is not spent. By default that of the "
            "level low; inf removes the limit."
        ),
    ] = None,
    draft_share: Annotated[float | None, typer.Option(flag_of(DRAFT_SHARE), help=DRAFT_SHARE.help)] = None,
    input_file: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            help="A file of texts: txt (one document per line), csv, tsv, jsonl or parquet, "
            "optionally compressed (.gz, .xz, .zst); - is standard input.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Its name decides the format. By default, standard output.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            help=f"The column with the texts (repeatable). By default {TEXT_COLUMN}.",
        ),
    ] = None,
    drop_columns: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="COLUMN", help="Another column that is not copied (repeatable)."),
    ] = None,
    keep_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-column", metavar="COLUMN", help="Another column to copy; all others are left out (repeatable)."
        ),
    ] = None,
    outcome_column: Annotated[
        str,
        typer.Option(
            help="The column for the outcome of each row; '' writes none. With several text columns, "
            "_COLUMN is appended."
        ),
    ] = OUTCOME_COLUMN,
    format_name: Annotated[
        str | None,
        typer.Option("--format", help=f"The format of the input: {_names(FORMATS)}. By default, by its name."),
    ] = None,
    profile: Annotated[
        str, typer.Option(help=f"The profile, which decides what is kept and what is guaranteed: {_names(PROFILES)}.")
    ] = STRICT.name,
    decomposition: Annotated[
        str | None,
        typer.Option(
            help=f"How texts are split: {_names(DECOMPOSERS)}. By default {DECOMPOSITION}; words if the bundle "
            "has no vectors for it or the profile is proven."
        ),
    ] = None,
    distribution: Annotated[
        str, typer.Option(help=f"How the budget is divided: {_names(DISTRIBUTORS)}.")
    ] = DISTRIBUTION,
    mechanism: Annotated[str | None, typer.Option(help=MECHANISM_HELP)] = None,
    stopwords: Annotated[
        str | None, typer.Option(help="keep or perturb stopwords. By default the profile decides.")
    ] = None,
    form: Annotated[str | None, typer.Option(help=FORM_HELP)] = None,
    keep_emoji: Annotated[
        bool, typer.Option("--keep-emoji", help="Keep emoji. By default the profile strict drops them.")
    ] = False,
    identifiers: Annotated[
        str | None,
        typer.Option(
            help="Find identifiers (names, places, dates, numbers) with Presidio. redact replaces them by their kind, "
            "such as <PERSON>; perturb keeps none of their words."
        ),
    ] = None,
    bundle: Annotated[str, typer.Option(help="The name or folder of a bundle.")] = DEFAULT_BUNDLE,
    seed: Annotated[
        int | None, typer.Option(help="Make the noise repeatable, and so predictable. Only for experiments.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="Record the budgets that documents spend over all releases in this file. It contains no text."
        ),
    ] = None,
    ledger_key: Annotated[Path | None, typer.Option(help="The key file of the ledger. By default LEDGER.key.")] = None,
    budget_per_document: Annotated[
        float | None,
        typer.Option(help="For --ledger: the most that a document may spend. A release beyond it is refused."),
    ] = None,
    repeat: Annotated[
        str | None,
        typer.Option(
            help=f"For --ledger: {' or '.join(REPEATS)}. same gives the same text with the same settings its first "
            "answer again, which spends nothing. By default fresh."
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Number of documents per batch.")] = BATCH_SIZE,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="For a text: print text, chunks and certificate as JSON. For a file: print the certificate."
        ),
    ] = False,
    explained: Annotated[
        bool,
        typer.Option("--explain", help="For a text: show a table of chunks, scores, shares, drafts and outcomes."),
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the certificate to this file. It states what is protected and what is not."),
    ] = None,
    deniability: Annotated[
        bool,
        typer.Option(
            "--deniability",
            help="Add to the certificate how likely words stay unchanged, and how many others they may become. It "
            "takes seconds for each new budget.",
        ),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    executor: FileExecutorName = None,
    workers: Workers = None,
    address: Address = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress and no summary; warnings stay.")
    ] = False,
    config: Config = None,  # noqa: ARG001 # read before the others
    method_options: dict[str, Any],
) -> None:
    """Obfuscate a text, a file of texts, or standard input.

    Every document gets a privacy budget, epsilon, which is divided over its words. A mechanism replaces each word by a
    random word of similar meaning. By default, plain stopwords are kept and get no budget, and case and punctuation are
    computed from the new words. The certificate states what is protected. In a file, rows stay in order and other
    columns are copied. --resume continues an interrupted run, and --workers uses several cores.
    """
    words = _choose_text(text, input_file)
    place = Workplace(executor, workers, address)
    _check_combination(words, input_file, output, place, explained=explained, as_json=as_json, resume=resume)
    budgets = prefer_flags({"epsilon": epsilon, "epsilon_per_word": epsilon_per_word, "level": level, "target": target})
    target = budgets.pop("target")
    given = _Given(**budgets, length=length, largest_share=largest_share).calibrate(target)
    obfuscator = build_obfuscator(
        bundle,
        decomposition,
        distribution,
        mechanism,
        method_options,
        profile=profile,
        stopwords=stopwords,
        form=form,
        keep_emoji=keep_emoji,
        identifiers=identifiers,
        largest_share=given.largest_share,
        draft_share=draft_share,
        seed=seed,
        ledger=_open_ledger(ledger, ledger_key, budget_per_document, repeat),
    )
    budget = given.build(obfuscator, deniability=deniability)
    if words is not None:
        if certificate is not None:
            check_free(certificate, overwrite=overwrite)
        issued = _obfuscate_text(obfuscator, words, budget, explained=explained, as_json=as_json)
        if certificate is not None:
            issued.write(certificate)
        return
    layout = Layout(
        column or TEXT_COLUMN, outcome_column or None, format_name, tuple(drop_columns or ()), keep_columns or None
    )
    options = JobOptions(budget, layout, batch_size, overwrite, certificate)
    with showing_progress(quiet) as progress:
        if input_file in (None, STANDARD) or output is None:
            finished = StreamJob(_open_source(input_file), output, options).run(obfuscator, sys.stdout.buffer, progress)
        else:
            job = FileJob(Path(str(input_file)), output, options, resume=resume, workplace=place)
            finished = job.run(obfuscator, progress)
    if as_json:
        typer.echo(finished.certificate.to_json(), nl=False)
    summary = [] if quiet else [*summarize(finished.certificate, finished.seconds), *describe_workers(finished.peaks)]
    cautions = list_warnings(finished.certificate)
    refused = is_refused(finished.certificate)
    for line in [*cautions, *summary] if refused else [*summary, *cautions]:
        report(line)
    if refused:
        raise typer.Exit(FAILURE)


def build_obfuscator(
    bundle: str,
    decomposition: str | None,
    distribution: str,
    mechanism: str | None,
    given: dict[str, Any],
    *,
    profile: str = STRICT.name,
    **settings: Any,
) -> Obfuscator:
    """The obfuscator, with every option handed to the methods that take it."""
    loaded, rules = Bundle.load(bundle), load_profile(profile)
    split = DECOMPOSERS.load(decomposition or choose_decomposition(loaded, rules))
    divide = DISTRIBUTORS.load(distribution)
    perturb = MECHANISMS.load(mechanism or choose_mechanism(loaded, split.name, rules))
    axes = {"--decomposition": DECOMPOSERS, "--distribution": DISTRIBUTORS, "--mechanism": MECHANISMS}
    refuse_unused(given, (split, divide, perturb), axes)
    return Obfuscator(
        loaded,
        decomposition=split.name,
        decomposition_options=choose_options(split, given),
        distribution=divide.name,
        distribution_options=choose_options(divide, given),
        mechanism=perturb.name,
        mechanism_options=choose_options(perturb, given),
        profile=profile,
        **settings,
    )


class _Given(NamedTuple):
    """The budget as it was given, or as a calibration decides it."""

    epsilon: float | None
    epsilon_per_word: float | None
    level: str | None
    length: str | None
    largest_share: float | None
    calibration: Calibration | None = None

    def calibrate(self, path: Path | None) -> _Given:
        """The budget of a calibration. What it decides must not be given, too."""
        if path is None:
            return self
        if any(value is not None for value in self):
            raise ParameterError(
                "--target decides --epsilon-per-word, --level, --length and --largest-share. Remove them."
            )
        found = Calibration.load(path)
        if found.sample.data_dependent:
            report("Note: the epsilon was calibrated on texts of your own, so it depends on them.")
        return _Given(None, found.epsilon_per_word, None, "own", found.largest_share or math.inf, found)

    def build(self, obfuscator: Obfuscator, *, deniability: bool) -> Budget:
        """The budget, if the obfuscator is the one that was calibrated.

        On request, certificates will state the deniability of words at its shares.
        """
        if self.calibration is not None:
            self.calibration.check(obfuscator.terms)
            obfuscator.add_calibration(self.calibration.summary)
        budget = obfuscator.build_budget(self.epsilon, self.epsilon_per_word, self.length, self.level)
        if deniability:
            obfuscator.add_deniability(budget)
        return budget


def _open_ledger(path: Path | None, key: Path | None, budget: float | None, repeat: str | None) -> Ledger | None:
    """The ledger, if one is wanted; a new one is announced, because a mistyped name would start at nothing."""
    if path is None:
        given = {"--ledger-key": key, "--budget-per-document": budget, "--repeat": repeat}
        for flag, value in given.items():
            if value is not None:
                raise ParameterError(f"{flag} goes with --ledger.")
        return None
    chosen = cast(Repeat, repeat or REPEATS[0])  # checked there
    ledger = Ledger(path, key_path=key, budget_per_document=budget, repeat=chosen)
    if ledger.created:
        report(f"New ledger: {ledger.path} (key: {ledger.key_path}). Keep copies of both.")
    return ledger


def _choose_text(arguments: list[str] | None, input_file: str | None) -> str | None:
    """The text of the command line; ``None`` where texts come from a file or from standard input."""
    if arguments and input_file is not None:
        raise ParameterError("Give a text or --input, not both.")
    if not arguments and input_file is None:
        raise ParameterError("There is no text. Give one in quotes, --input FILE, or - for standard input.")
    if arguments and len(arguments) > 1:
        raise ParameterError("Put the text in quotes: it must be one argument.")
    if arguments and arguments[0] != STANDARD and is_file(arguments[0]):
        raise ParameterError(
            f"{arguments[0]!r} is a file. To obfuscate its texts, give --input {shlex.quote(arguments[0])}. To "
            "obfuscate these words themselves, send them to standard input and give -."
        )
    return arguments[0] if arguments and arguments[0] != STANDARD else None


def _open_source(input_file: str | None) -> Source:
    if input_file not in (None, STANDARD):
        return FileSource(Path(str(input_file)))
    if sys.stdin is None:
        raise ParameterError("Standard input is closed. Give --input FILE.")
    return StreamSource(sys.stdin.buffer)


def _check_combination(
    text: str | None,
    input_file: str | None,
    output: Path | None,
    place: Workplace,
    *,
    explained: bool,
    as_json: bool,
    resume: bool,
) -> None:
    if text is not None and (output is not None or resume):
        raise ParameterError("--output and --resume go with --input.")
    if text is None and explained:
        raise ParameterError("--explain goes with a single text on the command line.")
    if text is None and as_json and output is None:
        raise ParameterError("--json goes with a single text or with --output, because rows go to standard output.")
    if resume and (output is None or input_file in (None, STANDARD)):
        raise ParameterError("--resume needs --input FILE and --output FILE: a stream cannot be read again.")
    if place != Workplace() and (output is None or input_file in (None, STANDARD)):
        raise ParameterError("--executor, --workers and --address need --input FILE and --output FILE.")


def _obfuscate_text(
    obfuscator: Obfuscator, text: str, budget: Budget, *, explained: bool, as_json: bool
) -> Certificate:
    result = next(obfuscator.obfuscate_all([text], budget=budget)).released()
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        typer.echo(result.text)
    if explained:
        explain(result)
    for warning in list_warnings(result.certificate):
        report(warning)
    return result.certificate
