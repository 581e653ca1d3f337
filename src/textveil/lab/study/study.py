"""The study file: methods to compare, data sets, and metrics; and presets with comments, to start from."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import yaml
from pydantic import (
    AfterValidator,
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

from textveil.budget import Length
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.errors import InputError, ParameterError, StudyError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classification import SEEDS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.profiles import STRICT, Form, Profile, Stopwords, load_profile
from textveil.registry import Method, Registry, unknown_name
from textveil.settings import SIMPLE_MECHANISM, Settings
from textveil.storage.atomic import writing
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
T = TypeVar("T", bound=Sequence[Any])
_SEE_INIT = "See 'textveil experiment init' for a complete example."


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


def _folder(info: ValidationInfo) -> Path:
    return Path((info.context or {}).get("folder", "."))


def _start_from_study(path: Path, info: ValidationInfo) -> Path:
    return _folder(info) / path.expanduser()


def _find_bundle(name: str, info: ValidationInfo) -> str:
    return name if name in Bundle.shipped() else str(_start_from_study(Path(name), info))


def _resolve(registry: Registry[Any], name: Any) -> str:
    if not isinstance(name, str) or name not in registry:
        raise unknown_name(registry.kind, str(name), registry.list_names())
    return registry.resolve(name)


def _find_format(name: str | None) -> str | None:
    return None if name is None else _resolve(FORMATS, name)


def _once(names: T) -> T:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is repeated. Remove one of them.")
    return names


def _know_profiles(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_once([load_profile(name).name for name in names]))


def _list_names(given: Any) -> Any:
    """Turn a list of names into a mapping from each name to no options."""
    if isinstance(given, list | tuple):
        given = dict.fromkeys(_once([str(name) for name in given]))
    return {name: options or {} for name, options in given.items()} if isinstance(given, dict) else given


Methods: TypeAlias = Annotated[dict[str, Options], BeforeValidator(_list_names)]
Seeds: TypeAlias = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_once)]


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

    path: Annotated[Path, AfterValidator(_start_from_study)]
    """The file, by a path that starts from the folder of the study file."""
    format: Annotated[str | None, AfterValidator(_find_format)] = None
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


def choose_classifier(metric: type[Method], options: Mapping[str, Any]) -> Any:
    """The name of the classifier that a metric trains, given or by default; ``None`` if it trains none."""
    declared = metric.list_options().get("classifier")
    return None if declared is None else options.get("classifier", declared.default)


def _complete_options(method: Any, given: Options, info: ValidationInfo) -> Options:
    """The checked options of a method, with the models that the study sets in one place."""
    options = _add_model(method, given, info)
    method.check_options(options)
    if (name := choose_classifier(method, options)) is not None:
        classifier = CLASSIFIERS.load(_resolve(CLASSIFIERS, name))
        own = _add_model(classifier, options.get("classifier_options") or {}, info)
        classifier.check_options(own)
        method.check_classifier(classifier)
        options |= {"classifier_options": own} if own else {}
    return options


def _add_model(method: type[Method], given: Options, info: ValidationInfo) -> Options:
    """The options of a method, with its model from ``models``. Models that are folders get absolute paths."""
    options, model = dict(given), info.data.get("models", {}).get(method.name)
    if model is not None and (option := find_model_option(method)):
        options = {option: [model] if option == "models" and isinstance(model, str) else model} | options
    return {name: _locate(value, info) if name in MODEL_OPTIONS else value for name, value in options.items()}


def find_model_option(method: type[Method]) -> str | None:
    """The option of a method for its model; ``None`` if it has none."""
    return next((option for option in MODEL_OPTIONS if option in method.list_options()), None)


def _locate(model: Any, info: ValidationInfo) -> Any:
    """A model; if it is a folder beside the study file, by its absolute path."""
    if isinstance(model, list | tuple):
        return [_locate(each, info) for each in model]
    is_folder = isinstance(model, str) and "/" in model and (_folder(info) / model).is_dir()
    return str((_folder(info) / model).resolve()) if is_folder else model


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
    bundle: Annotated[str, AfterValidator(_find_bundle)] = DEFAULT_BUNDLE
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
    decompositions: Annotated[Methods, Field(min_length=1)]
    """The decompositions: a list of names, or a mapping from names to options."""
    distributions: Annotated[Methods, Field(min_length=1)]
    """The distributions: a list of names, or a mapping from names to options."""
    mechanisms: Annotated[Methods, Field(min_length=1)] = {SIMPLE_MECHANISM: {}}
    """The mechanisms: a list of names, or a mapping from names to options."""
    profiles: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_know_profiles)] = (STRICT.name,)
    """The names of privacy profiles."""
    stopwords: Stopwords | None = None
    """What happens to plain stopwords; by default the profile decides."""
    form: Form | None = None
    """How texts are written; by default the profile decides."""
    metrics: Methods
    """The metrics: a list of names, or a mapping from names to options."""
    seeds: Seeds = SEEDS
    """Attackers and classifiers run once for each seed."""

    @field_validator("models")
    @classmethod
    def _know_takers(cls, models: dict[str, Any]) -> dict[str, Any]:
        registries = (*REGISTRIES.values(), CLASSIFIERS) if models else ()
        methods = [registry.load(name) for registry in registries for name in registry]
        takers = [method.name for method in methods if find_model_option(method)]
        for name in models:
            if name not in takers:
                raise unknown_name("method with a model", name, takers)
        return models

    @field_validator("decompositions", "distributions", "mechanisms", "metrics")
    @classmethod
    def _know_methods(cls, given: dict[str, Options], info: ValidationInfo) -> dict[str, Options]:
        registry = REGISTRIES[str(info.field_name)]
        names = _once([_resolve(registry, name) for name in given])
        return {
            name: _complete_options(registry.load(name), options, info)
            for name, options in zip(names, given.values(), strict=True)
        }

    @model_validator(mode="after")
    def _fit_together(self) -> Study:
        if len(set(self.levels.values())) < len(self.levels):
            raise ValueError("Two levels have the same epsilon. Remove one of them.")
        profiles = [load_profile(name) for name in self.profiles]
        if self.draft_share is not None and not any(profile.public_allocation for profile in profiles):
            raise ValueError("`draft_share` goes with the profile 'proven'. Add this profile, or remove the key.")
        splitters = [name for name in self.decompositions if not DECOMPOSERS.load(name).data_independent]
        readers = [*splitters, *(name for name in self.distributions if not DISTRIBUTORS.load(name).data_independent)]
        for profile in profiles:
            settings = self.choose_settings(self.bundle, profile)
            settings.replace(epsilon_per_word=1.0, length=self.length)
            drafts = profile.public_allocation and (readers or settings.draft_share is not None)
            if drafts and "inversion" in self.metrics:
                raise ValueError(
                    f"Under the profile {profile.name!r}, {', '.join(readers) or 'all methods'} read a draft, and the "
                    "metric 'inversion' attacks only texts without one. Remove it, or write another study for this "
                    "profile."
                )
        for name in self.metrics:
            if lacking := [other for other in METRICS.load(name).after if other not in self.metrics]:
                raise ValueError(f"The metric {name!r} is computed from {', '.join(lacking)}. Add the missing metrics.")
        return self

    @property
    def size(self) -> int:
        """The number of cells."""
        factors = (self.datasets, self.levels, self.decompositions, self.distributions, self.mechanisms, self.profiles)
        return self.draws * math.prod(len(factor) for factor in factors)

    def scaled(self) -> Study:
        """The study with every sample multiplied by ``scale``, which is then 1."""
        datasets = {}
        for name, source in self.datasets.items():
            if source.sample is None:
                raise StudyError(f"`scale` needs a `sample` in every data set. Add one to 'datasets.{name}'.")
            sample = source.sample.model_copy(update={"size": max(1, round(self.scale * source.sample.size))})
            datasets[name] = source.model_copy(update={"sample": sample})
        return self.model_copy(update={"scale": 1.0, "datasets": datasets})

    def choose_settings(self, bundle: str | Bundle, profile: Profile) -> Settings:
        """The settings that all cells of a profile share. The draft share is only for profiles with drafts."""
        return Settings(
            bundle,
            profile=profile.name,
            stopwords=self.stopwords,
            form=self.form,
            largest_share=self.largest_share,
            draft_share=self.draft_share if profile.public_allocation else None,
        )

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
    if study.scale != 1:
        study = study.scaled()
    return StudyFile(path, hashlib.sha256(content).hexdigest(), study)


def _read_yaml(path: Path, content: bytes) -> Any:
    """The values of a file, all of them plain."""
    if len(content) > _LARGEST_FILE:
        raise StudyError(f"{str(path)!r} is not a study: it has more than {_LARGEST_FILE:,} bytes. {_SEE_INIT}")
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 # a loader of plain values
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise StudyError(f"{str(path)!r}{place}: {error.problem}. Fix this line.") from error
    except yaml.reader.ReaderError as error:
        line = content[: error.position].count(b"\n") + 1
        raise StudyError(f"{str(path)!r}, line {line}: {error.reason}. Save the file as UTF-8.") from error
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML raises the others for a value that does not fit its tag, such as !!int ''.
        raise StudyError(f"{str(path)!r} is not YAML: {error}. {_SEE_INIT}") from error


_LARGEST_FILE = 1_000_000
_MOST_NODES = 50_000
_CHARACTERS_PER_NODE = 100
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads plain values; refuses repeated keys, and aliases that multiply to a huge content.

    Nodes are counted as they are composed. An alias counts as many as the node that it repeats, so a few lines cannot
    stand for billions of values. A long text counts as several nodes.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._count = 0
        self._sizes: dict[Any, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        before = self._count
        node = super().compose_node(parent, index)
        if not isinstance(event, yaml.AliasEvent):
            length = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
            self._count += 1 + length // _CHARACTERS_PER_NODE
            self._sizes[node] = self._count - before
        elif node in self._sizes:
            self._count += self._sizes[node]
        else:
            raise yaml.MarkedYAMLError(
                None, None, f"the alias '*{event.anchor}' is part of its own value", event.start_mark
            )
        if self._count > _MOST_NODES:
            said = f"the file has more than {_MOST_NODES:,} values, with those that aliases repeat"
            raise yaml.MarkedYAMLError(None, None, said, event.start_mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        # Keys are compared here, before merge keys add the keys of other mappings.
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key_node in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            key = "<<" if key_node.tag == _MERGE else self.construct_object(key_node)
            if key in seen:
                raise yaml.MarkedYAMLError(None, None, f"the key {key!r} is repeated", key_node.start_mark)
            seen.add(key)
        return node


# YAML 1.1 takes 5e-5, which has no point, for a text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def _tell(path: Path, error: ValidationError) -> str:
    """The first fault of a file with its place, and the number of other faults."""
    faults = error.errors(include_url=False, include_input=False)
    first = faults[0]
    place = ".".join(str(part) for part in first["loc"] if not str(part).startswith("[")) or "the file"
    reason = first.get("ctx", {}).get("error")
    message = str(reason) if isinstance(reason, Exception) else f"{first['msg']}. {_SEE_INIT}"
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{str(path)!r}, {place}: {message}{more}"


_PRESETS = files("textveil.lab.study").joinpath("preset_files")


def list_presets() -> list[str]:
    """The names of the presets."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _PRESETS.iterdir() if entry.name.endswith(".yaml"))


def read_preset(name: str) -> str:
    """A study file with comments.

    Raises:
        UnknownNameError: There is no such preset.
    """
    if name not in list_presets():
        raise unknown_name("preset", name, list_presets())
    return _PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def fill_preset(name: str, *, scale: float = 1.0, samples: Mapping[str, int] | None = None) -> str:
    """A study file with comments, for a part of the texts.

    Args:
        name: The preset.
        scale: The share of every sample to use.
        samples: The numbers of texts of data sets. Samples are not larger.

    Raises:
        ParameterError: The scale is not above 0 and at most 1.
        UnknownNameError: There is no such preset.
    """
    if not 0 < scale <= 1:
        raise ParameterError(f"`scale` must be greater than 0 and at most 1. Got {scale!r} instead.")
    content = re.sub(r"^scale: .*$", f"scale: {scale:g}", read_preset(name), flags=re.MULTILINE)
    for dataset, texts in (samples or {}).items():
        pattern = rf"^  {dataset}:\n(?:    .*\n)*?    sample: {{size: (\d+)"
        if size := re.search(pattern, content, flags=re.MULTILINE):
            content = f"{content[: size.start(1)]}{min(int(size[1]), texts)}{content[size.end(1) :]}"
    return content


def write_preset(name: str, path: Path, *, scale: float = 1.0, samples: Mapping[str, int] | None = None) -> None:
    """Write a preset as a study file, as :func:`fill_preset` returns it."""
    content = fill_preset(name, scale=scale, samples=samples)
    with writing(path) as stream:
        stream.write(content.encode())
