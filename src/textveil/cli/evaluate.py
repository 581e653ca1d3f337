"""``textveil evaluate``, and the flags of metrics that it shares with ``textveil compare``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.certificate import Certificate
from textveil.cli.options import AsJson, Overwrite, Quiet, build_app, command, flag_of, refuse_unused
from textveil.cli.reporting import print_table, report, showing_progress, spell_message, write_file, write_json
from textveil.errors import ParameterError, TextveilError
from textveil.jobs import check_free
from textveil.lab.metrics import METRIC_COLUMNS, METRICS, Dataset, Evaluation, Evaluator
from textveil.lab.metrics.base import Measurement, Need, check_seeds
from textveil.lab.metrics.classification import CLASSIFIER
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.lab.metrics.columns import name_column
from textveil.lab.metrics.files import Pairs, read_pairs
from textveil.lab.metrics.replay import replay
from textveil.lab.metrics.verification import verify_certificate
from textveil.lab.report.card import Card, build_card
from textveil.registry import Registry
from textveil.results import Obfuscation
from textveil.tables import TEXT_COLUMN

CARD_FORMATS = {".html": Card.to_html, ".htm": Card.to_html, ".md": Card.to_markdown}
TASK = "downstream"
"""The metric that is measured for every label. Other metrics use the first one."""
_REPLAYED = ("clear_text", "inversion")
"""The metrics that need the outcome of every chunk."""
_TRAINED = ("attribute", TASK)
_ENCODED = ("token_similarity", "linkage")
"""The metrics that use one encoder."""
UNITS = {"inversion": "chunks", "fine-tuning": "steps"}
"""What progress counts at stages that do not count texts."""

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
ATTRIBUTE_HELP = f"For {_list_takers(Need.ATTRIBUTE)}: the column that an attacker wants to infer, such as the author"


@dataclass(frozen=True, kw_only=True)
class MetricFlags:
    """Which columns hold the texts, what is measured on them, and where scores are cached.

    Attributes:
        attribute: {textveil.cli.evaluate:ATTRIBUTE_HELP}.
        metrics: Metrics to measure, comma-separated: {textveil.lab.metrics:METRICS}. Default: all.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts. Default: that of --text.
        format_name: The format of the files. Default: by their names.
        cache: The folder of cached scores, from which a run resumes. Default: ORIGINALS.scores.
        no_cache: Cache scores in memory only.
    """

    text: Annotated[str, typer.Option("--text", "--column")] = TEXT_COLUMN
    obfuscated_text: str | None = None
    attribute: str | None = None
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
        """The options that were given, by metric, and ``more`` of them. A missing option is ``None``.

        Metrics that are not wanted get none, unless no other metric takes the option: it is then refused.
        """
        wanted = self.wanted
        encoders = None if self.encoders is None else split_list(self.encoders, "--encoders")
        first = None if encoders is None else encoders[0]
        seeds = None if self.seeds is None else _parse_seeds(self.seeds)
        groups: list[dict[str, Mapping[str, Any]]] = [
            {name: {"seeds": seeds} for name in METRICS if "seeds" in METRICS.load(name).list_options()},
            {name: self._choose_classifier() for name in _TRAINED},
            {"similarity": {"models": encoders}, **{name: {"model": first} for name in _ENCODED}},
            {"similarity": {"truncate": self.truncate}},
            {"identifiers": {"kinds": self.kinds}},
            {"perplexity": {"model": self.language_model}},
            *({metric: options} for metric, options in more.items()),
        ]
        found: dict[str, dict[str, Any]] = {}
        for group in groups:
            for metric in [name for name in group if wanted is None or name in wanted] or list(group)[:1]:
                given = {name: value for name, value in group[metric].items() if value is not None}
                if given:
                    found.setdefault(metric, {}).update(given)
        return found

    def _choose_classifier(self) -> dict[str, Any]:
        """The options of metrics that train a classifier."""
        name = CLASSIFIERS.load(self.attacker or CLASSIFIER).name
        options = {"model": self.attacker_model, "epochs": self.epochs, "learning_rate": self.learning_rate}
        given = {option: value for option, value in options.items() if value is not None}
        refuse_unused(given, [CLASSIFIERS.load(name)], {"--attacker": CLASSIFIERS})
        return {"classifier": name if self.attacker else None, "classifier_options": given or None}

    def find_folder(self, originals: Path) -> Path | None:
        """The folder of cached scores, if there is one."""
        return None if self.no_cache else self.cache or originals.with_name(f"{originals.name}.scores")


def add_samples(options: Mapping[str, dict[str, Any]], samples: list[str] | None) -> dict[str, dict[str, Any]]:
    """Options of metrics with the sizes of samples, which are given as METRIC=TEXTS."""
    found = {metric: dict(each) for metric, each in options.items()}
    takers = [name for name in METRICS if "sample" in METRICS.load(name).list_options()]
    for sample in samples or ():
        name, _, size = sample.partition("=")
        metric = METRICS.load(name.strip()).name
        if metric not in takers or not size.isdecimal():
            raise ParameterError(f"--sample must be METRIC=TEXTS, such as perplexity=50. Metrics: {', '.join(takers)}.")
        found.setdefault(metric, {})["sample"] = int(size)
    return found


def split_list(values: str, option: str) -> list[str]:
    """The names in a comma-separated list."""
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not found:
        raise ParameterError(f"{option} is empty. Give at least one name.")
    return found


def _parse_seeds(seeds: str) -> tuple[int, ...]:
    numbers = split_list(seeds, "--seeds")
    if not all(number.isdecimal() for number in numbers):
        raise ParameterError("--seeds must be comma-separated, non-negative integers, such as 42,43,44.")
    return check_seeds(list(map(int, numbers)))


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
        certificate: For clear_text, inversion: the certificate of the obfuscation. The originals are obfuscated again
            with its settings and new noise.
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
    if len(obfuscated or ()) > 1:
        raise ParameterError("--obfuscated was given more than once. Give one file.")
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
    pairs = read_pairs(
        original,
        next(iter(obfuscated or ()), None),
        text=flags.text,
        obfuscated_text=flags.obfuscated_text,
        labels=labels,
        attribute=flags.attribute,
        format_name=flags.format_name,
    )
    folder = flags.find_folder(original)
    first = next(iter(pairs.labels.values()), None)
    dataset = Dataset(pairs.originals, label=first, attribute=pairs.attribute, folder=folder, sample=sample)
    issued = None if certificate is None else Certificate.load(certificate)
    with showing_progress(quiet, "texts", UNITS) as progress:
        evaluator = Evaluator(dataset, wanted, options, progress)
        replayed = None
        if issued is not None and (wanted is None or set(_REPLAYED) & set(wanted)):
            chosen = set(dataset.rows)
            texts = [each if row in chosen else None for row, each in enumerate(pairs.originals)]
            again = partial(replay, issued, texts, bundle=bundle or DEFAULT_BUNDLE, model=encoder, progress=progress)
            replayed = again() if "inversion" in (wanted or ()) else _try(again)
        evaluation = evaluator.measure(pairs.obfuscated, certificate=issued, obfuscations=replayed)
        for name in labels[1:] if wanted is None or TASK in wanted else ():
            other = Dataset(pairs.originals, label=pairs.labels[name], folder=folder, sample=sample)
            task = Evaluator(other, [TASK], {TASK: options.get(TASK, {})}, progress)
            evaluation = _add_task(evaluation, f"{TASK} {name}", task, pairs.obfuscated, required=wanted is not None)
    content = write_json(evaluation.as_dict())
    if output is not None:
        write_file(output, content, like=original)
    if cards:
        card = _build_card(evaluation, pairs, certificate, None if evaluation.sampled_from else replayed)
        for path in cards:
            write_file(path, CARD_FORMATS[path.suffix.lower()](card), like=original)
    if as_json:
        typer.echo(content, nl=False)
    else:
        _show(evaluation)
    if not quiet:
        report_cache(folder)


def report_cache(folder: Path | None) -> None:
    """Say where scores are cached."""
    if folder is not None:
        report(f"Scores are cached in {str(folder)!r}. Protect them like the originals, or delete them.")


def list_not_measured(reasons: Mapping[str, str], command: Any) -> Iterator[str]:
    """A line for every metric that was not measured, with the flags of a command."""
    for name, reason in reasons.items():
        yield f"Not measured: {name}. {spell_message(command, reason)}"


def _check_outputs(output: Path | None, cards: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse files that exist, and a card of an unknown format."""
    for path in cards:
        if path.suffix.lower() not in CARD_FORMATS:
            raise ParameterError(f"--card writes .html and .md files. {str(path)!r} is neither.")
    for path in filter(None, (*cards, output)):
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


def _try(again: Callable[[], list[Obfuscation]]) -> list[Obfuscation] | None:
    """The outcome of every chunk, if the originals can be obfuscated again."""
    try:
        return again()
    except TextveilError as error:
        report(f"{', '.join(_REPLAYED)}: {spell_message(evaluate, str(error))}")
        return None


def _show(evaluation: Evaluation) -> None:
    """Print a table with a row per metric, then the metrics that were not measured."""
    rows = []
    for name, found in evaluation.measurements.items():
        caveats = [f"No conclusion: {caveat}" for caveat in found.caveats if caveat not in found.line]
        rows.append((name, "\n".join(_write_values(found)), "\n".join([found.line, *caveats, *_write_details(found)])))
    counts = {
        "pairs of texts": evaluation.texts,
        "rows from which they were drawn": evaluation.sampled_from,
        "skipped because the original has no word": evaluation.left_out,
        "empty obfuscated texts": evaluation.empty,
    }
    title = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    print_table(("metric", "values [95 % interval]", "meaning"), rows, title=title, lines=True)
    for line in list_not_measured(evaluation.not_measured, evaluate):
        typer.echo(line)


def _write_values(found: Measurement) -> Iterator[str]:
    """The values of a measurement as declared, each with its interval. Deviations over seeds are in JSON only."""
    for name, value in found.values.items():
        column = METRIC_COLUMNS.get(name_column(found.metric, name))
        interval = found.intervals.get(name)
        if column is None and not name.endswith("_std"):  # only a count is not declared
            yield f"{name} {value:,.0f}"
        elif column is not None and not name.endswith("_std"):
            bounds = f" [{column.show_bare(interval.low)}, {column.show(interval.high)}]" if interval else ""
            yield f"{name} {column.show(value)}{bounds}"


def _write_details(found: Measurement) -> Iterator[str]:
    """The details of a measurement: kinds of identifiers, encoders, unchanged words."""
    for kind, each in found.details.get("kinds", {}).items():
        yield f"{each['harm']}, {kind.lower()}: {each['remaining']:.1%} of {each['found']:,}"
    if len(encoders := found.details.get("encoders", {})) > 1:
        yield from (f"{name}: {cosine:.3f}" for name, cosine in encoders.items())
    for reason, words in found.details.get("words", {}).items():
        yield f"{reason}: {', '.join(words)}"
