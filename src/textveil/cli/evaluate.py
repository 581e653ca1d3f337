"""``textveil evaluate``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.certificate import Certificate
from textveil.cli.display import showing_progress
from textveil.cli.options import (
    LABEL_HELP,
    Attacker,
    AttackerModel,
    Attribute,
    Encoders,
    Epochs,
    FormatName,
    Kinds,
    LanguageModel,
    LearningRate,
    MetricNames,
    ObfuscatedText,
    Seeds,
    Text,
    Truncate,
    choose_classifier,
    choose_encoders,
    drop_missing,
    flag,
    split_list,
    unit_of,
)
from textveil.cli.reporting import report, reporting_errors, spell_flag
from textveil.errors import ParameterError, TextveilError
from textveil.jobs import check_free
from textveil.lab.metrics import METRIC_COLUMNS, METRICS, Dataset, Evaluation, Evaluator
from textveil.lab.metrics.base import Measurement
from textveil.lab.metrics.columns import name_column
from textveil.lab.metrics.files import PairedFiles, Pairs
from textveil.lab.metrics.replay import replay
from textveil.lab.metrics.verification import verify_certificate
from textveil.lab.report.card import Card, build_card
from textveil.progress import Progress
from textveil.results import Obfuscation
from textveil.storage.atomic import writing
from textveil.tables import TEXT_COLUMN

_FORMATS = {".html": Card.to_html, ".htm": Card.to_html, ".md": Card.to_markdown}


def check_cards(paths: Sequence[Path] | None, *, overwrite: bool) -> None:
    """Refuse a card that cannot be written: of an unknown format, or one that exists."""
    for path in paths or ():
        if path.suffix.lower() not in _FORMATS:
            raise ParameterError(f"--card writes .html and .md files. {str(path)!r} is neither.")
        check_free(path, overwrite=overwrite)


def write_cards(
    paths: Sequence[Path] | None,
    evaluation: Evaluation,
    pairs: Pairs,
    *,
    certificate: Path | None,
    obfuscations: Sequence[Obfuscation] | None,
    like: Path,
) -> None:
    """Write the card of an evaluation to every path, in the format of its suffix.

    Args:
        paths: The files to write.
        evaluation: Everything that was measured.
        pairs: The texts, with which the certificate is compared.
        certificate: The file of the certificate.
        obfuscations: The outcome of every chunk.
        like: The file of originals. A card is never more readable than it.
    """
    if not paths:
        return
    issued = None if certificate is None else Certificate.load(certificate)
    sha256 = None if certificate is None else hashlib.sha256(certificate.read_bytes()).hexdigest()
    unchanged = evaluation.value("clear_text", "unchanged")
    texts = pairs.originals, pairs.obfuscated, obfuscations
    checks = () if issued is None else verify_certificate(issued, *texts, unchanged=unchanged)
    card = build_card(evaluation, issued, checks, certificate_sha256=sha256)
    for path in paths:
        with writing(path, like=like) as stream:
            stream.write(_FORMATS[path.suffix.lower()](card).encode(errors="replace"))


EXAMPLES = """
\b
Examples:
  textveil evaluate --original reviews.csv --obfuscated out.csv --text text --label sentiment --attribute author
  textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --label topic --sample 1000
  textveil evaluate --original both.jsonl --text text --obfuscated-text hidden --metrics similarity,perplexity
  textveil evaluate --original reviews.csv --obfuscated out.csv --certificate out.json --metrics clear_text,inversion
  textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --json --output evaluation.json
  textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --attacker transformer
      --attacker-model microsoft/deberta-v3-base --seeds 42,43,44
\b
As in the paper:
  textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --attribute author
      --attacker transformer --encoders all-minilm-l6-v2,all-mpnet-base-v2,gte-small --truncate --kinds paper
      --language-model gpt2
"""

_REPLAYED = ("clear_text", "inversion")
TASK = "downstream"
"""The metric that is measured for every label. Other metrics use the first one."""


@reporting_errors
def evaluate(
    *,
    original: Annotated[
        Path, typer.Option("--original", help="The file with the originals: csv, tsv, jsonl, parquet or txt.")
    ],
    obfuscated: Annotated[
        list[Path] | None,
        typer.Option(
            "--obfuscated", help="The file with the obfuscated texts, in the same rows. Default: the same file."
        ),
    ] = None,
    text: Text = TEXT_COLUMN,
    obfuscated_text: ObfuscatedText = None,
    label: Annotated[list[str] | None, typer.Option(help=f"{LABEL_HELP} (repeatable).")] = None,
    attribute: Attribute = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", help="For clear_text, inversion: the certificate of the obfuscation."),
    ] = None,
    bundle: Annotated[str | None, flag(METRICS, "inversion, clear_text", "bundle")] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder",
            help="For clear_text, inversion: the folder of the encoder that scored the words. Default: the encoder "
            "that the certificate names.",
        ),
    ] = None,
    metrics: MetricNames = None,
    attacker: Attacker = None,
    attacker_model: AttackerModel = None,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    seeds: Seeds = None,
    kinds: Kinds = None,
    encoders: Encoders = None,
    keep_embeddings: Annotated[bool, flag(METRICS, "similarity", "keep_embeddings")] = False,
    truncate: Truncate = None,
    language_model: LanguageModel = None,
    words: Annotated[int | None, flag(METRICS, "clear_text", "words")] = None,
    sample: Annotated[
        int | None, typer.Option(help="Measure at most this number of rows, drawn at random.", min=1)
    ] = None,
    format_name: FormatName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the evaluation as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write the evaluation as JSON to this file.")
    ] = None,
    cards: Annotated[
        list[Path] | None,
        typer.Option("--card", help="Write a release card to this .html or .md file (repeatable)."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="The folder of cached scores, from which a run resumes. Default: ORIGINAL.scores."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Cache scores in memory only.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no notes.")] = False,
) -> None:
    """Measure the privacy and the utility of obfuscated texts.

    Privacy metrics: surviving identifiers, inference of an attribute from words or from style alone, texts linked to
    their originals, membership in the training texts of a model, chunks that can be guessed, unchanged words, lexical
    overlap. Utility metrics: a downstream task, semantic similarity of texts and of tokens, fluency. Also their
    trade-off. By default, the command measures every metric whose inputs are given and whose models are installed. It
    lists the others with the reason. Brackets contain 95 % intervals. The run resumes after an interruption: repeat
    the command.
    """
    if output is not None:
        check_free(output, overwrite=overwrite)
    if keep_embeddings and no_cache:
        raise ParameterError("--keep-embeddings needs a cache. Remove --no-cache.")
    check_cards(cards, overwrite=overwrite)
    wanted = None if metrics is None else [METRICS.load(name).name for name in split_list(metrics, "--metrics")]
    encoded = choose_encoders(encoders, wanted)
    given = {
        **choose_classifier(
            attacker,
            {"model": attacker_model, "epochs": epochs, "learning_rate": learning_rate},
            seeds,
            wanted,
        ),
        "identifiers": {"kinds": kinds},
        **encoded,
        "similarity": {
            **encoded.get("similarity", {}),
            "keep_embeddings": keep_embeddings or None,
            "truncate": truncate,
        },
        "perplexity": {"model": language_model},
        "clear_text": {"words": words},
        "inversion": {"bundle": bundle},
    }
    if bundle is not None and wanted is not None and "inversion" not in wanted:  # then clear_text uses it
        del given["inversion"]
    second = _take_one(obfuscated)
    labels = list(dict.fromkeys(label or ()))
    pairs = PairedFiles(original, second, text, obfuscated_text, labels, attribute, format_name).read()
    folder = None if no_cache else cache or original.with_name(f"{original.name}.scores")
    first = next(iter(pairs.labels.values()), None)
    dataset = Dataset(pairs.originals, label=first, attribute=pairs.attribute, folder=folder, sample=sample)
    issued = None if certificate is None else Certificate.load(certificate)
    with showing_progress(quiet, unit_of=unit_of) as progress:
        options = drop_missing(given)
        evaluator = Evaluator(dataset, wanted, options, progress)
        replayed = None
        if issued is not None and (wanted is None or set(_REPLAYED) & set(wanted)):
            required = wanted is not None and "inversion" in wanted
            chosen = set(dataset.rows)
            texts = [each if row in chosen else None for row, each in enumerate(pairs.originals)]
            replayed = _replay(issued, texts, bundle, encoder, required=required, progress=progress)
        evaluation = evaluator.measure(pairs.obfuscated, certificate=issued, obfuscations=replayed)
        for name in labels[1:] if wanted is None or TASK in wanted else ():
            other = Dataset(pairs.originals, label=pairs.labels[name], folder=folder, sample=sample)
            task = Evaluator(other, [TASK], {TASK: options.get(TASK, {})}, progress)
            evaluation = _add_task(evaluation, f"{TASK} {name}", task, pairs.obfuscated, required=wanted is not None)
    content = json.dumps(evaluation.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if output is not None:
        with writing(output, like=original) as stream:
            stream.write(content.encode(errors="surrogatepass"))
    whole = None if evaluation.sampled_from else replayed
    write_cards(cards, evaluation, pairs, certificate=certificate, obfuscations=whole, like=original)
    if as_json:
        typer.echo(content, nl=False)
    else:
        _show(evaluation)
    if not quiet:
        _add_notes(folder, replayed=replayed is not None)


def _add_task(
    evaluation: Evaluation, name: str, task: Evaluator, texts: list[str | None], *, required: bool
) -> Evaluation:
    """The evaluation with the measurement of a further task, or with the reason why there is none."""
    try:
        found = task.measure(texts).measurements[TASK]
    except TextveilError as error:
        if required:
            raise
        return replace(evaluation, not_measured={**evaluation.not_measured, name: str(error)})
    return replace(evaluation, measurements={**evaluation.measurements, name: found})


def _spell(name: str, value: str | None) -> str:
    """A parameter of the library as a flag."""
    return spell_flag(evaluate, name, value)


def _take_one(files: list[Path] | None) -> Path | None:
    """The file of ``--obfuscated``, of which the last one would otherwise be used without a word."""
    if files and len(files) > 1:
        raise ParameterError(f"--obfuscated was given {len(files)} times. Give one file.")
    return files[0] if files else None


def _replay(
    certificate: Certificate,
    texts: list[str | None],
    bundle: str | None,
    encoder: Path | None,
    *,
    required: bool,
    progress: Progress,
) -> list[Obfuscation] | None:
    """The outcome of every chunk. If it is not required, a replay that fails is only reported."""
    try:
        return replay(certificate, texts, bundle=bundle or DEFAULT_BUNDLE, model=encoder, progress=progress)
    except TextveilError as error:
        if required:
            raise
        report(f"{', '.join(_REPLAYED)}: {error.spell(_spell)}")
        return None


def _add_notes(folder: Path | None, *, replayed: bool) -> None:
    if replayed:
        report(
            f"{', '.join(_REPLAYED)}: the originals were obfuscated again with the settings of the certificate and new "
            "noise."
        )
    if folder is not None:
        report(
            f"Scores are cached in {str(folder)!r}. They contain information about the originals: protect them in the "
            "same way, or delete them."
        )


def _show(evaluation: Evaluation) -> None:
    """Print a table with a row per metric, then the metrics that were not measured."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_count(evaluation), show_lines=True)
    table.add_column("metric")
    table.add_column("values [95 % interval]", no_wrap=True)
    table.add_column("meaning")
    for name, found in evaluation.measurements.items():
        meaning = [found.line, *_write_caveats(found), *_write_details(found)]
        table.add_row(name, Text("\n".join(_write_values(found))), Text("\n".join(meaning)))
    Console().print(table)
    for name, reason in evaluation.not_measured.items():
        typer.echo(f"Not measured: {name}. {TextveilError(reason).spell(_spell)}")


def _count(evaluation: Evaluation) -> str:
    counted = f"{evaluation.texts:,} pairs of texts"
    if evaluation.sampled_from:
        counted += f", a random sample of {evaluation.sampled_from:,}"
    if evaluation.left_out:
        counted += f", {evaluation.left_out:,} skipped because the original has no word"
    if evaluation.empty:
        counted += f"; {evaluation.empty:,} obfuscated texts are empty"
    return counted


def _write_values(found: Measurement) -> list[str]:
    """The values of a measurement as declared, each with its interval. Deviations over seeds are in JSON only."""
    lines = []
    for name, value in found.values.items():
        if name.endswith("_std"):
            continue
        column = METRIC_COLUMNS.get(name_column(found.metric, name))
        interval = found.intervals.get(name)
        if column is None:  # only a count is not declared
            lines.append(f"{name} {value:,.0f}")
        elif interval is None:
            lines.append(f"{name} {column.show(value)}")
        else:
            lines.append(
                f"{name} {column.show(value)} [{column.show_bare(interval.low)}, {column.show(interval.high)}]"
            )
    return lines


def _write_caveats(found: Measurement) -> list[str]:
    """The caveats of a measurement, unless its sentence has them."""
    return [f"No conclusion: {caveat}" for caveat in found.caveats if caveat not in found.line]


def _write_details(found: Measurement) -> list[str]:
    """The details of a measurement: kinds of identifiers, encoders, unchanged words."""
    kinds = found.details.get("kinds", {})
    encoders = found.details.get("encoders", {})
    words = found.details.get("words", {})
    return [
        *(
            f"{each['harm']}, {kind.lower()}: {each['remaining']:.1%} of {each['found']:,}"
            for kind, each in kinds.items()
        ),
        *(f"{name}: {cosine:.3f}" for name, cosine in encoders.items() if len(encoders) > 1),
        *(f"{reason}: {', '.join(shown)}" for reason, shown in words.items()),
    ]
