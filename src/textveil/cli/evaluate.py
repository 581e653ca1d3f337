"""``textveil evaluate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.display import showing_progress
from textveil.cli.reporting import report, reporting_errors
from textveil.errors import ParameterError, TextveilError
from textveil.evaluation import CLASSIFIERS, METRICS, Dataset, Evaluation, Evaluator
from textveil.evaluation.base import Measurement, check_seeds
from textveil.evaluation.classification import CLASSIFIER, SEEDS
from textveil.evaluation.files import PairedFiles
from textveil.evaluation.replay import replay
from textveil.jobs import check_free
from textveil.privacy.certificate import Certificate
from textveil.privacy.results import Obfuscation
from textveil.progress import Progress
from textveil.storage.atomic import writing
from textveil.tables import TEXT_COLUMN

EXAMPLES = """
\b
Examples:
  textveil evaluate --original reviews.csv --obfuscated out.csv --text text --label sentiment --attribute author
  textveil evaluate --original both.jsonl --text text --obfuscated-text hidden --metrics similarity,perplexity
  textveil evaluate --original reviews.csv --obfuscated out.csv --certificate out.json --metrics clear_text,inversion
  textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --json --output evaluation.json
  textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --attacker transformer
      --attacker-model microsoft/deberta-v3-base --seeds 42,43,44
\b
As in the paper:
  textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --attribute author
      --attacker transformer --encoders all-minilm-l6-v2,all-mpnet-base-v2,gte-small --language-model gpt2
"""

_TRAINED = ("attribute", "downstream")


@reporting_errors
def evaluate(
    *,
    original: Annotated[
        Path, typer.Option("--original", help="The file of originals: csv, tsv, jsonl, parquet or txt.")
    ],
    obfuscated: Annotated[
        Path | None,
        typer.Option(
            "--obfuscated", help="The file of obfuscated texts, with the same rows; by default the same file."
        ),
    ] = None,
    text: Annotated[str, typer.Option("--text", "--column", help="The column with the texts.")] = TEXT_COLUMN,
    obfuscated_text: Annotated[
        str | None, typer.Option(help="The column with the obfuscated texts, if it has another name.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column with the label of a task, for downstream.")] = None,
    attribute: Annotated[
        str | None, typer.Option(help="The column with what an attacker wants to know, such as the author.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="The certificate of the obfuscation, for clear_text and inversion."),
    ] = None,
    bundle: Annotated[str, typer.Option(help="The bundle of the obfuscation, for inversion.")] = DEFAULT_BUNDLE,
    metrics: Annotated[str | None, typer.Option(help=f"Only these, with commas between: {', '.join(METRICS)}.")] = None,
    attacker: Annotated[
        str, typer.Option(help=f"What attribute and downstream learn with: {', '.join(CLASSIFIERS)}.")
    ] = CLASSIFIER,
    attacker_model: Annotated[
        str | None,
        typer.Option(
            help="For --attacker transformer: a resource, a folder or OWNER/NAME; by default deberta-v3-base."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(help="One run of attackers and classifiers for each.")] = ",".join(
        map(str, SEEDS)
    ),
    encoders: Annotated[
        str | None, typer.Option(help="Sentence encoders for similarity; by default all-minilm-l6-v2.")
    ] = None,
    language_model: Annotated[
        str | None, typer.Option(help="A causal language model for perplexity; by default smollm2.")
    ] = None,
    words: Annotated[int, typer.Option(min=0, help="Show this many words for each reason of clear_text.")] = 0,
    format_name: Annotated[
        str | None, typer.Option("--format", help="The format, if the names do not tell it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the evaluation as JSON.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it as JSON to this file, too.")] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Where scores are kept, so that a run goes on where it stopped; by default ORIGINAL.scores."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no scores on the disk.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an output that exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, and no word on what is kept.")] = False,
) -> None:
    """Measure what obfuscated texts still tell, and what they are still good for.

    Privacy: identifiers that still stand (Presidio), an attribute that attackers infer, chunks that can be guessed,
    words in clear. Utility: a task that is learnt, similarity of meaning, fluency. And their trade-off.
    All that can be measured with what is given and installed is measured; what is not is listed, with the reason.
    A run that was stopped goes on with the same command.
    """
    if sys.stdout is None:
        raise ParameterError("Standard output is closed.")
    if output is not None:
        check_free(output, overwrite=overwrite)
    wanted = None if metrics is None else [METRICS.load(name).name for name in _split(metrics, "--metrics")]
    options = {
        **_choose_classifier(attacker, attacker_model, seeds, wanted),
        "similarity": {} if encoders is None else {"models": _split(encoders, "--encoders")},
        "perplexity": {} if language_model is None else {"model": language_model},
        "clear_text": {"words": words} if words else {},
        "inversion": {} if bundle == DEFAULT_BUNDLE else {"bundle": bundle},
    }
    pairs = PairedFiles(original, obfuscated, text, obfuscated_text, label, attribute, format_name).read()
    folder = None if no_cache else cache or original.with_name(f"{original.name}.scores")
    dataset = Dataset(pairs.originals, label=pairs.label, attribute=pairs.attribute, folder=folder)
    issued = None if certificate is None else Certificate.load(certificate)
    with showing_progress(quiet, unit_of=_unit_of) as progress:
        evaluator = Evaluator(dataset, wanted, {name: given for name, given in options.items() if given}, progress)
        chunks = None if issued is None else _replay(issued, pairs.originals, bundle, wanted, progress)
        evaluation = evaluator.measure(pairs.obfuscated, certificate=issued, obfuscations=chunks)
    content = json.dumps(evaluation.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if output is not None:
        with writing(output) as stream:
            stream.write(content.encode(errors="surrogatepass"))
    if as_json:
        typer.echo(content, nl=False)
    else:
        _show(evaluation)
    if chunks is not None and not quiet:
        report("clear_text, inversion: the originals were obfuscated again, as the certificate says, with new noise.")
    if folder is not None and not quiet:
        report(
            f"Scores are kept in {str(folder)!r}. They tell of the originals: keep them as you keep those, or remove "
            "them."
        )


def _split(values: str, option: str) -> list[str]:
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not found:
        raise ParameterError(f"{option} names nothing.")
    return found


def _choose_classifier(
    attacker: str, model: str | None, seeds: str, wanted: list[str] | None
) -> dict[str, dict[str, Any]]:
    """The options of the two metrics that train classifiers, where something else than the default is chosen."""
    name = CLASSIFIERS.load(attacker).name
    if model is not None and name != "transformer":
        raise ParameterError("--attacker-model goes with --attacker transformer.")
    numbers = _split(seeds, "--seeds")
    if not all(number.isdecimal() for number in numbers):
        raise ParameterError("--seeds must be whole numbers from 0 with commas between, such as 42,43,44.")
    chosen = check_seeds(list(map(int, numbers)))
    if (name, chosen) == (CLASSIFIER, SEEDS):
        return {}
    options = {"classifier": name, "classifier_options": {} if model is None else {"model": model}, "seeds": chosen}
    return {metric: options for metric in _TRAINED if wanted is None or metric in wanted} or {_TRAINED[0]: options}


def _replay(
    certificate: Certificate, texts: list[str | None], bundle: str, wanted: list[str] | None, progress: Progress
) -> list[Obfuscation] | None:
    """What became of every chunk, where a metric asks for it and it can be worked out again."""
    if wanted is not None and not {"inversion", "clear_text"} & set(wanted):
        return None
    try:
        return replay(certificate, texts, bundle=bundle, progress=progress)
    except TextveilError as error:
        if wanted is not None and "inversion" in wanted:
            raise
        report(f"clear_text, inversion: {error}")
        return None


def _unit_of(stage: str) -> str:
    return "chunks" if stage == "inversion" else "steps" if stage == "fine-tuning" else "texts"


def _show(evaluation: Evaluation) -> None:
    """Print a table: a line per metric; then what was not measured."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr] # for what no encoding can hold
    table = Table(title=_count(evaluation), show_lines=True)
    table.add_column("metric")
    table.add_column("values", no_wrap=True)
    table.add_column("in words")
    for name, found in evaluation.measurements.items():
        table.add_row(name, "\n".join(_write_values(found)), Text("\n".join([found.line, *_write_details(found)])))
    Console().print(table)
    for name, reason in evaluation.not_measured.items():
        typer.echo(f"Not measured: {name}. {reason}")


def _count(evaluation: Evaluation) -> str:
    counted = f"{evaluation.texts:,} pairs of texts"
    if evaluation.left_out:
        counted += f", and {evaluation.left_out:,} left out because the original has no word"
    if evaluation.empty:
        counted += f"; {evaluation.empty:,} obfuscated texts are empty"
    return counted


def _write_values(found: Measurement) -> list[str]:
    """The values of a measurement, with the standard deviation behind the mean it belongs to."""
    lines = []
    for name, value in found.values.items():
        if name.endswith("_std"):
            continue
        spread = found.values.get(f"{name}_std")
        written = f"{value:,.0f}" if value >= 100 or value == int(value) > 1 else f"{value:.3f}"
        lines.append(f"{name} {written}" + ("" if spread is None else f" ± {spread:.3f}"))
    return lines


def _write_details(found: Measurement) -> list[str]:
    """What is told besides: every kind of identifier, every encoder, words in clear."""
    kinds = found.details.get("kinds", {})
    encoders = found.details.get("encoders", {})
    words = found.details.get("words", {})
    return [
        *(f"{kind.lower()}: {each['remaining']:.1%} of {each['found']:,}" for kind, each in kinds.items()),
        *(f"{name}: {cosine:.3f}" for name, cosine in encoders.items() if len(encoders) > 1),
        *(f"{reason}: {', '.join(shown)}" for reason, shown in words.items()),
    ]
