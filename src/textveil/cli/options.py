"""The options that say where work runs: ``--executor``, ``--workers`` and ``--address``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from textveil.errors import ParameterError
from textveil.execution import EXECUTORS
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.base import Need, check_seeds
from textveil.lab.metrics.classification import CLASSIFIER
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.registry import Method, Option, Registry

ExecutorName = Annotated[str, typer.Option(help=f"Where the work runs: {', '.join(EXECUTORS)}.")]
FileExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        help=f"For a file, where the work runs: {', '.join(EXECUTORS)}. By default local, or processes with --workers. "
        "With a seed, the output does not depend on it.",
    ),
]
Workers = Annotated[int | None, typer.Option(help="The number of workers. By default, one per core.")]
Address = Annotated[
    str | None,
    typer.Option(help="The address of a running Ray cluster, or auto. Its machines must share the files."),
]


R = TypeVar("R")

HIDDEN = ("batch_size",)
"""Options that only Python offers."""
GENERIC = "option"
"""The parameter of commands that takes the options of plugins, which have no flags of their own."""


def flag_of(option: Option) -> str:
    """How the command line spells an option."""
    return option.flag or f"--{option.name.replace('_', '-')}"


def collect_options(*registries: Registry[Any]) -> dict[str, tuple[Option, list[str]]]:
    """The options of all methods of some axes, each with the names of the methods that take it."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for registry in registries:
        for name in registry:
            for option in registry.load(name).list_options().values():
                if option.name not in HIDDEN:
                    found.setdefault(option.name, (option, []))[1].append(name)
    return found


def with_method_options(*registries: Registry[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add a flag for every option of the methods of some axes.

    The command takes them as ``method_options``: the options that were given, by name.
    """
    options = collect_options(*registries)

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> R:
            given = {name: value for name in options if (value := kwargs.pop(name)) is not None}
            for setting in kwargs.pop(GENERIC) or ():
                name, equals, value = setting.partition("=")
                if not equals or name in given:
                    raise ParameterError(f"--{GENERIC} must be NAME=VALUE, once for each name.")
                given[name] = _Written(value)
            return command(*args, method_options=given, **kwargs)

        hints = get_type_hints(command, include_extras=True)
        flags = {
            name: Annotated[option.kind | None, typer.Option(flag_of(option), help=_describe(option, methods))]
            for name, (option, methods) in options.items()
        }
        flags[GENERIC] = Annotated[
            list[str] | None,
            typer.Option(f"--{GENERIC}", metavar="NAME=VALUE", help="An option of a method of a plugin; repeatable."),
        ]
        signature = inspect.signature(command)
        kept = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
        kept = [parameter for parameter in kept if parameter.name != "method_options"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for name, hint in flags.items()
        ]
        run.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {**{name: hint for name, hint in hints.items() if name != "method_options"}, **flags}
        return run

    return decorate


def _describe(option: Option, methods: Iterable[str]) -> str:
    default = "" if option.default is None else f" Default: {option.default}."
    return f"For {', '.join(methods)}: {option.help}{default}"


class _Written(str):
    """The value of an option, as it was written: its kind is known once the method is."""

    def read(self, option: Option) -> Any:
        """The value in the kind that the option has; one that cannot be read stays text, which the method refuses."""
        if option.kind is bool:
            return {"true": True, "false": False}.get(self.lower(), str(self))
        try:
            return option.kind(self) if option.kind in (int, float) else str(self)
        except ValueError:
            return str(self)


def choose_options(method: type[Method], given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options that were given, those that a method takes."""
    taken = method.list_options()
    return {
        name: value.read(taken[name]) if isinstance(value, _Written) else value
        for name, value in given.items()
        if name in taken
    }


def refuse_unused(given: Mapping[str, Any], methods: Iterable[type[Method]], registries: Mapping[str, Any]) -> None:
    """Refuse an option that none of the chosen methods takes.

    Args:
        given: The options.
        methods: The chosen methods.
        registries: The axes to choose from, by the flag that chooses.
    """
    taken = {name for method in methods for name in method.list_options()}
    for name in given:
        if name not in taken:
            if name not in collect_options(*registries.values()):
                raise ParameterError(f"None of the chosen methods has the option {name!r}. Remove --{GENERIC}.")
            places = [
                f"{flag} {' or '.join(takers)}"
                for flag, registry in registries.items()
                if (takers := [known for known in registry if name in registry.load(known).list_options()])
            ]
            option, _ = collect_options(*registries.values())[name]
            raise ParameterError(f"{flag_of(option)} goes with {', or '.join(places)}.")


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
