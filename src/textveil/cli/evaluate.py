"""``textveil evaluate``, and the flags of metrics that it shares with ``textveil compare``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.certificate import Certificate
from textveil.cli.display import build_table, show, showing_progress
from textveil.cli.options import AsJson, Overwrite, Quiet, build_app, command, flag_of, refuse_unused
from textveil.cli.reporting import report, spell_flag
from textveil.errors import ParameterError, TextveilError
from textveil.jobs import check_free
from textveil.lab.metrics import METRIC_COLUMNS, METRICS, Dataset, Evaluation, Evaluator
from textveil.lab.metrics.base import Measurement, Need, check_seeds
from textveil.lab.metrics.classification import CLASSIFIER
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.lab.metrics.columns import name_column
from textveil.lab.metrics.files import PairedFiles, Pairs
from textveil.lab.metrics.replay import replay
from textveil.lab.metrics.verification import verify_certificate
from textveil.lab.report.card import Card, build_card
from textveil.progress import Progress
from textveil.registry import Registry
from textveil.results import Obfuscation
from textveil.storage.atomic import writing
from textveil.tables import TEXT_COLUMN

CARD_FORMATS = {".html": Card.to_html, ".htm": Card.to_html, ".md": Card.to_markdown}
TASK = "downstream"
"""The metric that is measured for every label. Other metrics use the first one."""
_REPLAYED = ("clear_text", "inversion")
"""The metrics that need the outcome of every chunk."""
_TRAINED = ("attribute", TASK)
_ENCODED = ("token_similarity", "linkage")
"""The metrics that use one encoder."""

app = build_app()


def flag(registry: Registry[Any], methods: str, option: str, note: str = "") -> Any:
    """A flag for an option of metrics or a classifier, with the help and the default that they declare.

    Args:
        registry: The metrics or the classifiers.
        methods: The methods that take the option, comma-separated.
        option: The name of the option.
        note: A further sentence.
    """
    declared = registry.load(methods.partition(",")[0]).list_options()[option]
    default = ",".join(map(str, declared.default)) if isinstance(declared.default, tuple) else declared.default
    sentences = filter(None, [declared.help, f"Default: {default}.", note])
    return typer.Option(flag_of(declared), help=f"For {methods}: {' '.join(sentences)}")


def _list_takers(need: Need) -> str:
    """The metrics that use the label or the attribute."""
    return ", ".join(name for name in METRICS if need in (*METRICS.load(name).needs, *METRICS.load(name).uses))


LABEL_HELP = f"For {_list_takers(Need.LABEL)}: the column with the label of a task"


@dataclass(frozen=True, kw_only=True)
class MetricFlags:
    """Which columns hold the texts, what is measured on them, and where scores are cached.

    Attributes:
        metrics: Metrics to measure, comma-separated: {textveil.lab.metrics:METRICS}. Default: all.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts. Default: that of --text.
        format_name: The format of the files. Default: by their names.
        cache: The folder of cached scores, from which a run resumes. Default: ORIGINALS.scores.
        no_cache: Cache scores in memory only.
    """

    text: Annotated[str, typer.Option("--text", "--column")] = TEXT_COLUMN
    obfuscated_text: str | None = None
    attribute: Annotated[
        str | None,
        typer.Option(
            help=f"For {_list_takers(Need.ATTRIBUTE)}: the column that an attacker wants to infer, such as the author."
        ),
    ] = None
    metrics: str | None = None
    attacker: Annotated[str | None, flag(METRICS, "attribute, downstream", "classifier")] = None
    attacker_model: Annotated[str | None, flag(CLASSIFIERS, "transformer", "model")] = None
    epochs: Annotated[int | None, flag(CLASSIFIERS, "transformer", "epochs")] = None
    learning_rate: Annotated[float | None, flag(CLASSIFIERS, "transformer", "learning_rate")] = None
    seeds: Annotated[str | None, flag(METRICS, "attribute, downstream, stylometry, membership", "seeds")] = None
    kinds: Annotated[str | None, flag(METRICS, "identifiers", "kinds")] = None
    encoders: Annotated[
        str | None,
        flag(METRICS, f"similarity, {', '.join(_ENCODED)}", "models", f"{' and '.join(_ENCODED)} use the first one."),
    ] = None
    truncate: Annotated[bool | None, flag(METRICS, "similarity", "truncate")] = None
    language_model: Annotated[str | None, flag(METRICS, "perplexity", "model")] = None
    format_name: Annotated[str | None, typer.Option("--format")] = None
    cache: Path | None = None
    no_cache: bool = False

    @property
    def wanted(self) -> list[str] | None:
        """The names of the metrics to measure; ``None`` for all."""
        given = self.metrics
        return None if given is None else [METRICS.load(name).name for name in split_list(given, "--metrics")]

    def choose_options(self, **more: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The options that were given, by metric.

        Args:
            more: Further options of metrics, of which a missing one is ``None``.
        """
        training = {"model": self.attacker_model, "epochs": self.epochs, "learning_rate": self.learning_rate}
        given: dict[str, dict[str, Any]] = {}
        parts: tuple[Mapping[str, Mapping[str, Any]], ...] = (
            choose_classifier(self.attacker, training, self.seeds, self.wanted),
            choose_encoders(self.encoders, self.wanted),
            {"identifiers": {"kinds": self.kinds}, "similarity": {"truncate": self.truncate}},
            {"perplexity": {"model": self.language_model}},
            more,
        )
        for part in parts:
            for metric, options in part.items():
                found = {name: value for name, value in options.items() if value is not None}
                if found:
                    given.setdefault(metric, {}).update(found)
        return given

    def find_folder(self, originals: Path) -> Path | None:
        """The folder of cached scores, if there is one."""
        return None if self.no_cache else self.cache or originals.with_name(f"{originals.name}.scores")


def add_samples(options: Mapping[str, dict[str, Any]], samples: list[str] | None) -> dict[str, dict[str, Any]]:
    """Options of metrics with the sizes of samples, which are given as METRIC=TEXTS."""
    found = {metric: dict(each) for metric, each in options.items()}
    for sample in samples or ():
        name, _, size = sample.partition("=")
        if not size.isdecimal():
            raise ParameterError("--sample must be a metric and a number of texts, such as perplexity=50.")
        metric = METRICS.load(name.strip())
        if "sample" not in metric.list_options():
            takers = ", ".join(each for each in METRICS if "sample" in METRICS.load(each).list_options())
            raise ParameterError(f"--sample: {metric.name} always reads all texts. Metrics with samples: {takers}.")
        found.setdefault(metric.name, {})["sample"] = int(size)
    return found


def split_list(values: str, option: str) -> list[str]:
    """The names in a comma-separated list."""
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not found:
        raise ParameterError(f"{option} is empty. Give at least one name.")
    return found


def choose_classifier(
    attacker: str | None, options: Mapping[str, Any], seeds: str | None, wanted: list[str] | None
) -> dict[str, dict[str, Any]]:
    """The options of the metrics that train classifiers: a classifier for some of them, and seeds for all."""
    name = CLASSIFIERS.load(CLASSIFIER if attacker is None else attacker).name
    given = {option: value for option, value in options.items() if value is not None}
    refuse_unused(given, [CLASSIFIERS.load(name)], {"--attacker": CLASSIFIERS})
    chosen = {
        "classifier": None if attacker is None else name,
        "classifier_options": given or None,
        "seeds": None if seeds is None else _parse_seeds(seeds),
    }
    seeded = [name for name in METRICS if "seeds" in METRICS.load(name).list_options()]
    found = {
        metric: chosen if metric in _TRAINED else {"seeds": chosen["seeds"]}
        for metric in seeded
        if wanted is None or metric in wanted
    }
    return found or {_TRAINED[0]: chosen}


def choose_encoders(encoders: str | None, wanted: list[str] | None) -> dict[str, dict[str, Any]]:
    """The options of the metrics that use encoders: all encoders for similarity, and the first one for the others."""
    if encoders is None:
        return {}
    names = split_list(encoders, "--encoders")
    found = {
        metric: {"model": names[0]} if metric in _ENCODED else {"models": names}
        for metric in ("similarity", *_ENCODED)
        if wanted is None or metric in wanted
    }
    return found or {"similarity": {"models": names}}  # which is then refused


def _parse_seeds(seeds: str) -> tuple[int, ...]:
    numbers = split_list(seeds, "--seeds")
    if not all(number.isdecimal() for number in numbers):
        raise ParameterError("--seeds must be comma-separated, non-negative integers, such as 42,43,44.")
    return check_seeds(list(map(int, numbers)))


def unit_of(stage: str) -> str:
    """What progress counts at a stage of an evaluation."""
    return "chunks" if stage == "inversion" else "steps" if stage == "fine-tuning" else "texts"


@command(app, "evaluate")
def evaluate(
    *,
    original: Path,
    obfuscated: list[Path] | None = None,
    label: list[str] | None = None,
    flags: MetricFlags,
    certificate: Path | None = None,
    bundle: Annotated[str | None, flag(METRICS, "inversion, clear_text", "bundle")] = None,
    encoder: Path | None = None,
    keep_embeddings: Annotated[bool, flag(METRICS, "similarity", "keep_embeddings")] = False,
    words: Annotated[int | None, flag(METRICS, "clear_text", "words")] = None,
    sample: Annotated[int | None, typer.Option(min=1)] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    cards: Annotated[list[Path] | None, typer.Option("--card")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Measure the privacy and the utility of obfuscated texts.

    Privacy metrics: surviving identifiers, inference of an attribute from words or from style alone, texts linked to
    their originals, membership in the training texts of a model, chunks that can be guessed, unchanged words, lexical
    overlap. Utility metrics: a downstream task, semantic similarity of texts and of tokens, fluency. Also their
    trade-off. By default, the command measures every metric whose inputs are given and whose models are installed. It
    lists the others with the reason. Brackets contain 95 % intervals. The run resumes after an interruption: repeat
    the command.

    Args:
        label: {textveil.cli.evaluate:LABEL_HELP} (repeatable).
        original: The file with the originals: csv, tsv, jsonl, parquet or txt.
        obfuscated: The file with the obfuscated texts, in the same rows. Default: the same file.
        certificate: For clear_text, inversion: the certificate of the obfuscation.
        encoder: For clear_text, inversion: the folder of the encoder that scored the words. Default: the encoder that
            the certificate names.
        sample: Measure at most this number of rows, drawn at random.
        output: Also write the evaluation as JSON to this file.
        cards: Write a release card to this .html or .md file (repeatable).

    Examples:
      textveil evaluate --original reviews.csv --obfuscated out.csv --text text --label sentiment --attribute author
      textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --label topic --sample 1000
      textveil evaluate --original both.jsonl --text text --obfuscated-text hidden --metrics similarity,perplexity
      textveil evaluate --original reviews.csv --obfuscated out.csv --certificate out.json --metrics inversion
      textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --json --output evaluation.json
      textveil evaluate --original reviews.csv --obfuscated out.csv --attribute author --attacker transformer
          --attacker-model microsoft/deberta-v3-base --seeds 42,43,44

    As in the paper:
      textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --attribute author
          --attacker transformer --encoders all-minilm-l6-v2,all-mpnet-base-v2,gte-small --truncate --kinds paper
          --language-model gpt2
    """
    if keep_embeddings and flags.no_cache:
        raise ParameterError("--keep-embeddings needs a cache. Remove --no-cache.")
    _check_outputs(output, cards or (), overwrite=overwrite)
    wanted = flags.wanted
    # If the metrics are named and inversion is none of them, it is clear_text that uses the bundle.
    own = bundle is not None and (wanted is None or "inversion" in wanted)
    options = flags.choose_options(
        similarity={"keep_embeddings": keep_embeddings or None},
        clear_text={"words": words},
        inversion={"bundle": bundle if own else None},
    )
    labels = list(dict.fromkeys(label or ()))
    pairs = PairedFiles(
        original,
        _take_one(obfuscated or ()),
        flags.text,
        flags.obfuscated_text,
        labels,
        flags.attribute,
        flags.format_name,
    ).read()
    folder = flags.find_folder(original)
    first = next(iter(pairs.labels.values()), None)
    dataset = Dataset(pairs.originals, label=first, attribute=pairs.attribute, folder=folder, sample=sample)
    issued = None if certificate is None else Certificate.load(certificate)
    with showing_progress(quiet, unit_of=unit_of) as progress:
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
    content = write_json(evaluation.as_dict())
    if output is not None:
        with writing(output, like=original) as stream:
            stream.write(content.encode(errors="surrogatepass"))
    if cards:
        whole = None if evaluation.sampled_from else replayed
        content_of = _build_card(evaluation, pairs, certificate, whole)
        for path in cards:
            with writing(path, like=original) as stream:
                stream.write(CARD_FORMATS[path.suffix.lower()](content_of).encode(errors="replace"))
    if as_json:
        typer.echo(content, nl=False)
    else:
        _show(evaluation)
    if not quiet and replayed is not None:
        report(
            f"{', '.join(_REPLAYED)}: the originals were obfuscated again with the settings of the certificate and new "
            "noise."
        )
    if not quiet:
        report_cache(folder)


def write_json(values: Mapping[str, Any]) -> str:
    """Values as indented JSON with a newline at the end."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def report_cache(folder: Path | None) -> None:
    """Say where scores are cached."""
    if folder is not None:
        report(
            f"Scores are cached in {str(folder)!r}. They contain information about the originals: protect them in the "
            "same way, or delete them."
        )


def list_not_measured(reasons: Mapping[str, str], command: Any) -> Iterator[str]:
    """A line for every metric that was not measured, with the flags of a command."""
    for name, reason in reasons.items():
        yield f"Not measured: {name}. {TextveilError(reason).spell(partial(spell_flag, command))}"


def _check_outputs(output: Path | None, cards: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse files that exist, and a card of an unknown format."""
    for path in cards:
        if path.suffix.lower() not in CARD_FORMATS:
            raise ParameterError(f"--card writes .html and .md files. {str(path)!r} is neither.")
    for path in (*cards, *([output] if output else [])):
        check_free(path, overwrite=overwrite)


def _build_card(
    evaluation: Evaluation, pairs: Pairs, certificate: Path | None, obfuscations: Sequence[Obfuscation] | None
) -> Card:
    """The card of an evaluation, with the checks of the certificate against the texts."""
    if certificate is None:
        return build_card(evaluation, None, (), certificate_sha256=None)
    issued = Certificate.load(certificate)
    unchanged = evaluation.value("clear_text", "unchanged")
    checks = verify_certificate(issued, pairs.originals, pairs.obfuscated, obfuscations, unchanged=unchanged)
    sha256 = hashlib.sha256(certificate.read_bytes()).hexdigest()
    return build_card(evaluation, issued, checks, certificate_sha256=sha256)


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


def _take_one(files: Sequence[Path]) -> Path | None:
    """The file of ``--obfuscated``, of which the last one would otherwise be used without a word."""
    if len(files) > 1:
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
        report(f"{', '.join(_REPLAYED)}: {error.spell(partial(spell_flag, evaluate))}")
        return None


def _show(evaluation: Evaluation) -> None:
    """Print a table with a row per metric, then the metrics that were not measured."""
    rows = []
    for name, found in evaluation.measurements.items():
        caveats = [f"No conclusion: {caveat}" for caveat in found.caveats if caveat not in found.line]
        meaning = [found.line, *caveats, *_write_details(found)]
        rows.append((name, "\n".join(_write_values(found)), "\n".join(meaning)))
    table = build_table(
        ("metric", "values [95 % interval]", "meaning"), rows, title=_count(evaluation), show_lines=True
    )
    table.columns[1].no_wrap = True
    show(table)
    for line in list_not_measured(evaluation.not_measured, evaluate):
        typer.echo(line)


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
