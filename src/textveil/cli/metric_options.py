"""Flags of the commands that measure: those of metrics and classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from textveil.cli.method_options import flag_of, refuse_unused
from textveil.errors import ParameterError
from textveil.evaluation import CLASSIFIERS, METRICS
from textveil.evaluation.base import Need, check_seeds
from textveil.evaluation.classification import CLASSIFIER
from textveil.registry import Registry

_TRAINED = ("attribute", "downstream")
_ENCODED = ("token_similarity", "linkage")
"""The metrics that use one encoder."""


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


Text = Annotated[str, typer.Option("--text", "--column", help="The column with the texts.")]
ObfuscatedText = Annotated[
    str | None, typer.Option(help="The column with the obfuscated texts. Default: that of --text.")
]


def _list_takers(need: Need) -> str:
    """The metrics that use the label or the attribute."""
    return ", ".join(name for name in METRICS if need in (*METRICS.load(name).needs, *METRICS.load(name).uses))


LABEL_HELP = f"For {_list_takers(Need.LABEL)}: the column with the label of a task"
Label = Annotated[str | None, typer.Option(help=f"{LABEL_HELP}.")]
Attribute = Annotated[
    str | None,
    typer.Option(
        help=f"For {_list_takers(Need.ATTRIBUTE)}: the column that an attacker wants to infer, such as the author."
    ),
]
MetricNames = Annotated[
    str | None, typer.Option(help=f"Metrics to measure, comma-separated: {', '.join(METRICS)}. Default: all.")
]
Attacker = Annotated[str | None, flag(METRICS, "attribute, downstream", "classifier")]
AttackerModel = Annotated[str | None, flag(CLASSIFIERS, "transformer", "model")]
Epochs = Annotated[int | None, flag(CLASSIFIERS, "transformer", "epochs")]
LearningRate = Annotated[float | None, flag(CLASSIFIERS, "transformer", "learning_rate")]
Seeds = Annotated[str | None, flag(METRICS, "attribute, downstream, stylometry, membership", "seeds")]
Kinds = Annotated[str | None, flag(METRICS, "identifiers", "kinds")]
Encoders = Annotated[
    str | None,
    flag(METRICS, f"similarity, {', '.join(_ENCODED)}", "models", f"{' and '.join(_ENCODED)} use the first one."),
]
Truncate = Annotated[bool | None, flag(METRICS, "similarity", "truncate")]
LanguageModel = Annotated[str | None, flag(METRICS, "perplexity", "model")]
Samples = Annotated[
    list[str] | None,
    typer.Option(
        "--sample",
        metavar="METRIC=TEXTS",
        help="Measure a metric on at most this number of texts, such as perplexity=50 (repeatable).",
    ),
]
FormatName = Annotated[str | None, typer.Option("--format", help="The format of the files. Default: by their names.")]


def drop_missing(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The options that were given, of the metrics that have any."""
    given = {
        metric: {name: value for name, value in each.items() if value is not None} for metric, each in options.items()
    }
    return {metric: each for metric, each in given.items() if each}


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
