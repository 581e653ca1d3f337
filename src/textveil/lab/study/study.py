"""The study file: methods to compare, data sets, and metrics."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from textveil.budget import Budget, Length
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.draft import DRAFT_SHARE, choose_draft_share
from textveil.errors import InputError, StudyError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classification import SEEDS, Classification
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.profiles import STRICT, Form, Profile, Stopwords, load_profile
from textveil.registry import Registry, unknown_name
from textveil.settings import SIMPLE_MECHANISM
from textveil.tables import FORMATS, TEXT_COLUMN

SAMPLE_SEED = 42
DRAWS = 3
"""The default number of draws of noise. With one, the effect of noise is unknown."""
REGISTRIES: dict[str, Registry[Any]] = {
    "decompositions": DECOMPOSERS,
    "distributions": DISTRIBUTORS,
    "mechanisms": MECHANISMS,
    "metrics": METRICS,
}
"""The methods to choose from, by the key of the file."""
MODEL_OPTIONS = ("model", "models")
"""Options that may name a folder. A relative path starts from the study file."""

Options: TypeAlias = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
"""A name that can be part of a file name."""
Scalar: TypeAlias = str | int | float | bool
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, strict=True)]
Seed = Annotated[int, Field(ge=0, strict=True)]
Seeds: TypeAlias = Annotated[tuple[Seed, ...], Field(min_length=1)]


def write_value(value: Scalar) -> str:
    """A value in the form in which columns are compared: equal numbers are written alike.

    >>> write_value("5.0"), write_value(5), write_value("en-US"), write_value(True)
    ('5', '5', 'en-US', 'true')
    """
    if isinstance(value, bool) or value in ("True", "False"):
        return str(value).lower()
    try:
        number = float(value)
        return str(int(number)) if number == int(number) else str(number)
    except (ValueError, OverflowError):
        return str(value)


class _Part(BaseModel):
    """A part of the file. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                raise unknown_name("key", key, cls.model_fields)
        return given


def _named(key: str) -> BeforeValidator:
    """Accept a plain value as short for a mapping with one key."""
    return BeforeValidator(lambda given: given if given is None or isinstance(given, dict) else {key: given})


class CalibratedLevel(_Part):
    """A level with the same meaning for all methods. Its epsilon per word depends on mechanism and decomposition."""

    unchanged: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The share of the bundle's words that the mechanism returns unchanged."""
    bound: Positive | None = None
    """The largest log-ratio of probabilities for two typical words: those at the median distance."""

    @model_validator(mode="after")
    def _have_one(self) -> CalibratedLevel:
        if (self.unchanged is None) == (self.bound is None):
            raise ValueError("A level has one key, `unchanged` or `bound`. Write it as {unchanged: 0.2}.")
        return self

    def __str__(self) -> str:
        return f"bound {self.bound:g}" if self.unchanged is None else f"unchanged {self.unchanged:g}"


def _tag_level(given: Any) -> str:
    return "[calibrated]" if isinstance(given, dict | CalibratedLevel) else "[number]"


Level: TypeAlias = Annotated[
    Annotated[Positive, Tag("[number]")] | Annotated[CalibratedLevel, Tag("[calibrated]")], Discriminator(_tag_level)
]
"""An epsilon per word, or a calibrated level. Errors do not show tags in brackets."""


class Target(_Part):
    """The source of the classes of texts: the values of a column, or classes that they are mapped to."""

    column: str
    """The column with the values."""
    map: dict[str, str] | None = None
    """The class of each value. Texts with other values are dropped."""
    most_frequent: Count | None = None
    """The number of most frequent classes to keep. Texts of other classes are dropped."""

    def classify(self, values: Sequence[str | None]) -> list[str | None]:
        """The class of every value of the column; ``None`` for a text that is dropped."""
        if self.map is None:
            return list(values)
        return [None if value is None else self.map.get(write_value(value)) for value in values]

    @field_validator("map", mode="before")
    @classmethod
    def _write_values(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        if not all(isinstance(value, Scalar) for value in [*given.keys(), *given.values()]):
            raise ValueError("Each value and each class must be a word or a number. Leave out values to be dropped.")
        written = {write_value(key): write_value(name) for key, name in given.items()}
        if len(written) < len(given):
            raise ValueError("Two values are the same number. Remove one of them.")
        return written


class Sample(_Part):
    """A random sample of the texts, drawn with a seed."""

    size: Count
    """The number of texts."""
    seed: Seed = SAMPLE_SEED
    """The seed of the draw."""


class DatasetSource(_Part):
    """A file of texts, and the rows and columns to use."""

    path: Path
    """The file, by a path that starts from the folder of the study file."""
    format: str | None = None
    """The format of the file, if its name does not show it."""
    text: str = TEXT_COLUMN
    """The column with the texts."""
    label: Annotated[Target | None, _named("column")] = None
    """The class that the task predicts: a column, or a mapping with the keys of a target."""
    attribute: Annotated[Target | None, _named("column")] = None
    """The class that attackers infer: a column, or a mapping with the keys of a target."""
    where: dict[str, Scalar | tuple[Scalar, ...]] = {}
    """The values that a text must have, by column."""
    sample: Annotated[Sample | None, _named("size")] = None
    """A random sample: its size, or a mapping with the keys of a sample. By default all texts."""
    first_words: Count | None = None
    """The number of words to use from the beginning of a text."""

    @field_validator("path")
    @classmethod
    def _beside_the_study(cls, path: Path, info: ValidationInfo) -> Path:
        return _folder(info) / path.expanduser()

    @field_validator("format")
    @classmethod
    def _know_format(cls, name: str | None) -> str | None:
        return name if name is None else _resolve(FORMATS, name)


def fill_models(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a study file, with the ``models`` of methods among their options. Own options take precedence.

    >>> fill_models({"models": {"perplexity": "gpt2"}, "metrics": ["perplexity"]})["metrics"]
    {'perplexity': {'model': 'gpt2'}}
    """
    filled, models = dict(given), given.get("models")
    if not isinstance(models, Mapping):
        return filled
    takers = {name: (key, option) for key, name, option in _list_model_options()}
    for name, model in models.items():
        if name not in takers:
            raise unknown_name("method with a model", name, takers)
        key, option = takers[name]
        value = [model] if option == "models" and isinstance(model, str) else model
        section = "metrics" if key == _CLASSIFIERS else key
        methods = _name_options(filled.get(section))
        for method, options in methods.items():
            if key != _CLASSIFIERS and REGISTRIES[key].resolve(method) == name:
                methods[method] = {option: value, **options}
            elif key == _CLASSIFIERS and CLASSIFIERS.resolve(str(options.get("classifier"))) == name:
                own = options.get("classifier_options") or {}
                methods[method] = {**options, "classifier_options": {option: value, **own}}
        if methods:
            filled[section] = methods
    return filled


_CLASSIFIERS = "classifiers"


def _list_model_options() -> Iterator[tuple[str, str, str]]:
    """Every method that has an option for a model: the key of its kind, its name and the option."""
    for key, registry in {**REGISTRIES, _CLASSIFIERS: CLASSIFIERS}.items():
        for name in registry:
            yield from ((key, name, option) for option in MODEL_OPTIONS if option in registry.load(name).list_options())


def choose_classifier(metric: str, options: Mapping[str, Any]) -> Any:
    """The name of the classifier that a metric trains, given or by default; ``None`` if it trains none."""
    declared = METRICS.load(metric).list_options().get("classifier")
    return None if declared is None else options.get("classifier", declared.default)


def _name_options(section: Any) -> dict[str, Options]:
    """The options of methods by name; nothing if the section is wrong, which is reported later."""
    if isinstance(section, list | tuple):
        return {str(name): {} for name in section}
    if not isinstance(section, dict) or not all(isinstance(each or {}, dict) for each in section.values()):
        return {}
    return {name: each or {} for name, each in section.items()}


def scale_samples(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a study file, with the sample of every data set multiplied by ``scale``."""
    scale, datasets = given.get("scale", 1), given.get("datasets")
    is_share = isinstance(scale, int | float) and not isinstance(scale, bool) and 0 < scale < 1
    if not is_share or not isinstance(datasets, dict):
        return dict(given)
    scaled = {}
    for name, source in datasets.items():
        sample = source.get("sample") if isinstance(source, dict) else None
        size = sample.get("size") if isinstance(sample, dict) else sample
        if not isinstance(size, int):
            raise ValueError(f"`scale` needs a `sample` in every data set. Add one to 'datasets.{name}'.")
        others = sample if isinstance(sample, dict) else {}
        scaled[name] = {**source, "sample": {**others, "size": max(1, round(scale * size))}}
    return {**given, "scale": 1, "datasets": scaled}


class Study(_Part):
    """A study: every combination of data set, level, decomposition, distribution, mechanism and profile.

    Every combination is obfuscated several times, with independent draws of noise.
    """

    name: str = "study"
    """The name of the study in its report."""
    seed: Seed | None = None
    """Makes the noise of every cell repeatable. Without a seed, noise comes from the operating system."""
    draws: Count = DRAWS
    """The number of times that every combination is obfuscated, with independent noise."""
    bundle: str = DEFAULT_BUNDLE
    """The name of a shipped bundle, or a folder. A relative path starts from the study file."""
    models: dict[str, str | tuple[str, ...]] = {}
    """The models of methods, metrics and classifiers, by their names. An option of a method itself takes precedence."""
    scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The share of every sample to use, for a trial in miniature. In a study that was read it is 1: samples are
    multiplied by it."""
    datasets: Annotated[dict[Name, DatasetSource], Field(min_length=1)]
    """The data sets by name."""
    levels: Annotated[dict[Name, Level], Field(min_length=1)]
    """The epsilon per word, or the calibrated level, by the name of the level."""
    length: Length | None = None
    """The length that an epsilon per word is multiplied by: a document's own, or the average of the data set. By
    default the profile decides: own, and average with the profile paper."""
    largest_share: Annotated[float, Field(gt=0)] | None = None
    """The largest share of a chunk. By default, profiles other than paper take it from the bundle; inf lifts it."""
    draft_share: float | None = None
    """The part of a budget that buys a draft, under the profile proven. By default the obfuscator decides."""
    decompositions: Annotated[dict[str, Options], Field(min_length=1)]
    """The decompositions: a list of names, or a mapping from names to options."""
    distributions: Annotated[dict[str, Options], Field(min_length=1)]
    """The distributions: a list of names, or a mapping from names to options."""
    mechanisms: Annotated[dict[str, Options], Field(min_length=1)] = {SIMPLE_MECHANISM: {}}
    """The mechanisms: a list of names, or a mapping from names to options."""
    profiles: Annotated[tuple[str, ...], Field(min_length=1)] = (STRICT.name,)
    """The names of privacy profiles."""
    stopwords: Stopwords | None = None
    """What happens to plain stopwords; by default the profile decides."""
    form: Form | None = None
    """How texts are written; by default the profile decides."""
    metrics: dict[str, Options]
    """The metrics: a list of names, or a mapping from names to options."""
    seeds: Seeds = SEEDS
    """Attackers and classifiers run once for each seed."""

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, given: Any) -> Any:
        return scale_samples(fill_models(given)) if isinstance(given, dict) else given

    @field_validator("bundle")
    @classmethod
    def _find_bundle(cls, name: str, info: ValidationInfo) -> str:
        return name if name in Bundle.shipped() else str(_folder(info) / Path(name).expanduser())

    @field_validator("seeds")
    @classmethod
    def _differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        _once([str(seed) for seed in seeds])
        return seeds

    @field_validator("draft_share")
    @classmethod
    def _check_draft_share(cls, share: float | None) -> float | None:
        return None if share is None else float(DRAFT_SHARE.check(share, of="the study"))

    @field_validator("profiles", mode="after")
    @classmethod
    def _know_profiles(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_once([load_profile(name).name for name in names]))

    @field_validator("decompositions", "distributions", "mechanisms", "metrics", mode="before")
    @classmethod
    def _fill_options(cls, given: Any) -> Any:
        """Turn a list of names into a mapping from each name to no options."""
        if isinstance(given, list | tuple):
            given = {name: {} for name in _once([str(name) for name in given])}
        if not isinstance(given, dict):
            raise ValueError("This must be a list of names, or a mapping of names to options. Write it as [one, two].")
        return {name: value or {} for name, value in given.items()}

    @field_validator("decompositions", "distributions", "mechanisms", "metrics", mode="after")
    @classmethod
    def _know_options(cls, given: dict[str, Options], info: ValidationInfo) -> dict[str, Options]:
        registry = REGISTRIES[str(info.field_name)]
        _once([_resolve(registry, name) for name in given])
        known = {_resolve(registry, name): options for name, options in given.items()}
        for name, options in known.items():
            method = registry.load(name)
            method.check_options(options)
            if issubclass(method, Classification):
                chosen = CLASSIFIERS.load(_resolve(CLASSIFIERS, choose_classifier(name, options)))
                chosen.check_options(options.get("classifier_options") or {})
                method.check_classifier(chosen)
        return {name: _locate(options, _folder(info)) for name, options in known.items()}

    @model_validator(mode="after")
    def _fit_together(self) -> Study:
        if len(set(self.levels.values())) < len(self.levels):
            raise ValueError("Two levels have the same epsilon. Remove one of them.")
        profiles = [*map(load_profile, self.profiles)]
        if self.draft_share is not None and not any(profile.public_allocation for profile in profiles):
            raise ValueError("`draft_share` goes with the profile 'proven'. Add this profile, or remove the key.")
        for profile in profiles:
            profile.choose_stopwords(self.stopwords)
            profile.choose_form(self.form)
            profile.choose_budget(Budget(epsilon_per_word=1.0, length=self.length))
            methods: list[Any] = [
                *map(DECOMPOSERS.load, self.decompositions),
                *map(DISTRIBUTORS.load, self.distributions),
            ]
            dependent = [method.name for method in methods if not method.data_independent]
            drafted = choose_draft_share(profile, self.choose_draft_share(profile), data_independent=not dependent)
            if drafted is not None and "inversion" in self.metrics:
                readers = ", ".join(dependent) or "all methods"
                raise ValueError(
                    f"Under the profile {profile.name!r}, {readers} read a draft, and the metric "
                    "'inversion' attacks only texts without one. Remove it, or write another study for this profile."
                )
        for name in self.metrics:
            if lacking := [other for other in METRICS.load(name).after if other not in self.metrics]:
                raise ValueError(f"The metric {name!r} is computed from {', '.join(lacking)}. Add the missing metrics.")
        return self

    @property
    def size(self) -> int:
        """The number of cells."""
        factors: tuple[Collection[str], ...] = (
            self.datasets,
            self.levels,
            self.decompositions,
            self.distributions,
            self.mechanisms,
            self.profiles,
        )
        return self.draws * math.prod(map(len, factors))

    def choose_draft_share(self, profile: Profile) -> float | None:
        """The `draft_share` under a profile; ``None`` if the profile has no drafts."""
        return self.draft_share if profile.public_allocation else None

    def choose_options(self, metric: str) -> Options:
        """The options of a metric, including those that the study sets for all metrics."""
        common = {"seeds": list(self.seeds), "bundle": self.bundle}
        taken = METRICS.load(metric).list_options()
        return {name: value for name, value in common.items() if name in taken} | self.metrics[metric]


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study and its file."""

    path: Path
    sha256: str
    study: Study

    @property
    def folder(self) -> Path:
        """The default folder of its results."""
        return self.path.with_name(f"{self.path.stem}-results")


def load_study(path: Path) -> StudyFile:
    """Read and check a study file.

    Raises:
        InputError: It cannot be read.
        StudyError: It is not YAML, is too large, or has an unknown key or an invalid value.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"The study {str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
    values = _read_yaml(path, content)
    if not isinstance(values, dict):
        raise StudyError(f"{str(path)!r} is not a study: a study has keys. {_SEE_INIT}")
    try:
        study = Study.model_validate(values, context={"folder": path.resolve().parent})
    except ValidationError as error:
        raise StudyError(_tell(path, error)) from error
    return StudyFile(path, hashlib.sha256(content).hexdigest(), study)


def _read_yaml(path: Path, content: bytes) -> Any:
    """The values of a file, all of them plain."""
    if len(content) > _LARGEST_FILE:
        raise StudyError(f"{str(path)!r} is not a study: it has more than {_LARGEST_FILE:,} bytes. {_SEE_INIT}")
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 # a loader of plain values
    except _RefusedError as error:
        raise StudyError(f"{str(path)!r}{_say_place(error)}: {error.problem}. Fix this line.") from error
    except yaml.MarkedYAMLError as error:
        fault = f"this is not YAML: {error.problem}. Fix this line."
        if r"'\t'" in str(error.problem):
            fault = "this is not YAML: a tab indents the line. Use spaces."
        raise StudyError(f"{str(path)!r}{_say_place(error)}: {fault}") from error
    except yaml.reader.ReaderError as error:
        line = content[: error.position].count(b"\n") + 1
        raise StudyError(
            f"{str(path)!r}, line {line}: this is not YAML: {error.reason}. Fix this line, or save the file as UTF-8."
        ) from error
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML raises the others for a value that does not fit its tag, such as !!int ''.
        raise StudyError(f"{str(path)!r} is not YAML. {_SEE_INIT}") from error


def _say_place(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark
    return "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"


_LARGEST_FILE = 1_000_000
_MOST_NODES = 50_000
_DEEPEST = 50
_CHARACTERS_PER_NODE = 100
_MERGE = "tag:yaml.org,2002:merge"


class _RefusedError(yaml.MarkedYAMLError):  # type: ignore[misc]
    """YAML that is not accepted in a study."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads plain values; refuses repeated keys, deep nesting, and aliases that multiply to a huge content.

    Nodes are counted as they are composed. An alias counts as many as the node that it repeats, so a few lines cannot
    stand for billions of values. A long text counts as several nodes.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = 0
        self._count = 0
        self._sizes: dict[Any, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        before = self._count
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _RefusedError(None, None, f"values are nested more than {_DEEPEST} deep", event.start_mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not isinstance(event, yaml.AliasEvent):
            length = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
            self._count += 1 + length // _CHARACTERS_PER_NODE
            self._sizes[node] = self._count - before
        elif node in self._sizes:
            self._count += self._sizes[node]
        else:
            raise _RefusedError(None, None, f"the alias '*{event.anchor}' is part of its own value", event.start_mark)
        if self._count > _MOST_NODES:
            said = f"the file has more than {_MOST_NODES:,} values, with those that aliases repeat"
            raise _RefusedError(None, None, said, event.start_mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        # Keys are compared here, before merge keys add the keys of other mappings.
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key_node in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            key = "<<" if key_node.tag == _MERGE else self.construct_object(key_node)
            if key in seen:
                raise _RefusedError(None, None, f"the key {key!r} is repeated", key_node.start_mark)
            seen.add(key)
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            said = "this looks like a number or a date, but is not a valid one. Put it in quotes, or correct it"
            raise _RefusedError(None, None, said, node.start_mark) from error


# YAML 1.1 takes 5e-5, which has no point, for a text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)

_SEE_INIT = "See 'textveil experiment init' for a complete example."
_FAULTS = {
    "missing": f"This key is missing. {_SEE_INIT}",
    "tuple_type": "This must be a list. Write it as [one, two].",
    **dict.fromkeys(
        ("dict_type", "model_type", "model_attributes_type"),
        "This must be a mapping. Write each entry as 'key: value'.",
    ),
    "too_short": "This is empty. Add at least one entry.",
    "string_type": "This must be text. Put it in quotes.",
    "path_type": "This must be a path. Put it in quotes.",
    "string_pattern_mismatch": "A name may contain only letters, digits, '_', '-' and '.'. Choose another name.",
    **dict.fromkeys(("float_type", "float_parsing"), "This must be a number. Write it without quotes."),
    "int_type": "This must be a whole number. Write it without quotes.",
    "int_from_float": "This must be a whole number. Round it.",
    "greater_than": "This must be greater than {gt}. Choose another number.",
    "less_than": "This must be less than {lt}. Choose another number.",
    "less_than_equal": "This must be at most {le}. Choose another number.",
    "greater_than_equal": "This must be at least {ge}. Choose another number.",
    "finite_number": "This must be finite. Choose another number.",
}
"""The message for a fault, by pydantic's name of it."""


def _tell(path: Path, error: ValidationError) -> str:
    """The first fault of a file with its place, and the number of other faults."""
    faults = error.errors(include_url=False, include_input=False)
    first = faults[0]
    place = ".".join(str(part) for part in first["loc"] if not str(part).startswith("[")) or "the file"
    context = first.get("ctx", {})
    reason = context.get("error")
    said = _FAULTS.get(first["type"], f"{first['msg']}. {_SEE_INIT}")
    message = str(reason) if isinstance(reason, Exception) else said.format(**context)
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{str(path)!r}, {place}: {message}{more}"


def _folder(info: ValidationInfo) -> Path:
    return Path((info.context or {}).get("folder", "."))


def _resolve(registry: Registry[Any], name: str) -> str:
    if not isinstance(name, str) or name not in registry:
        raise unknown_name(registry.kind, str(name), registry.list_names())
    return registry.resolve(name)


def _once(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is repeated. Remove one of them.")
    return names


def _locate(options: Mapping[str, Any], folder: Path) -> Options:
    """The options, with absolute paths for models that are folders beside the study file."""

    def locate(value: Any) -> Any:
        if isinstance(value, list):
            return [locate(each) for each in value]
        is_folder = isinstance(value, str) and "/" in value and (folder / value).is_dir()
        return str((folder / value).resolve()) if is_folder else value

    found = {name: locate(value) if name in MODEL_OPTIONS else value for name, value in options.items()}
    if isinstance(options.get("classifier_options"), dict):
        found["classifier_options"] = _locate(options["classifier_options"], folder)
    return found
