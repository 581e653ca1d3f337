"""The facade: obfuscation in one call, and lists of everything that a call can choose."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from textveil.budget import LEVELS, Length, Level
from textveil.bundles.bundle import Bundle
from textveil.execution import Executor
from textveil.jobs import JobReport
from textveil.lab.metrics import METRICS
from textveil.ledger import Ledger
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.mechanisms import MECHANISMS, Mechanism
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES, Form, Stopwords
from textveil.progress import Progress
from textveil.redaction import Screen, Treatment
from textveil.registry import unknown_name
from textveil.results import Obfuscation

CACHED = 4
"""The number of obfuscators to keep for further calls with the same settings."""


class Settings(TypedDict, total=False):
    """The settings of an :class:`~textveil.Obfuscator`, which explains them."""

    bundle: Bundle | str | Path
    decomposition: str | Decomposer | None
    decomposition_options: Mapping[str, Any] | None
    distribution: str | Distributor
    distribution_options: Mapping[str, Any] | None
    mechanism: str | Mechanism | None
    mechanism_options: Mapping[str, Any] | None
    profile: str
    stopwords: Stopwords | None
    form: Form | None
    keep_emoji: bool
    identifiers: Treatment | Screen | None
    largest_share: float | None
    draft_share: float | None
    seed: int | None
    ledger: Ledger | None


class FileSettings(Settings, total=False):
    """The settings of an :class:`~textveil.Obfuscator`, and those of its ``obfuscate_file``, which explain them."""

    epsilon: float | None
    epsilon_per_word: float | None
    level: Level | None
    length: Length | None
    column: str | Sequence[str]
    drop_columns: str | Sequence[str]
    keep_columns: str | Sequence[str] | None
    outcome_column: str | None
    format: str | None
    certificate: str | Path | None
    batch_size: int
    resume: bool
    overwrite: bool
    executor: str | Executor | None
    workers: int | None
    address: str | None
    progress: Progress


def obfuscate(
    text: str,
    *,
    epsilon: float | None = None,
    epsilon_per_word: float | None = None,
    level: Level | None = None,
    **settings: Unpack[Settings],
) -> Obfuscation:
    """Obfuscate one text with the budget ``epsilon``, or ``epsilon_per_word`` times its number of words.

    The first call with some settings loads a bundle and builds an :class:`~textveil.Obfuscator`, which takes a second
    or more. Further calls with the same settings use it again and take milliseconds; the last four are kept. For many
    texts, ``Obfuscator.obfuscate_all`` is several times faster, because it works on batches.

    Args:
        text: The text.
        epsilon: The budget of the text.
        epsilon_per_word: The budget per word, instead of ``epsilon``; kept stopwords do not count.
        level: The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``.
        settings: Any argument of ``Obfuscator``. With a ``seed``, the same call gives the same result.

    >>> result = obfuscate("The tea was lovely.", epsilon=20, seed=1)
    >>> result.text == obfuscate("The tea was lovely.", epsilon=20, seed=1).text
    True
    """
    _check_names(settings, {*Settings.__annotations__, "epsilon", "epsilon_per_word", "level"})
    seed = settings.pop("seed", None)
    obfuscator = _find_obfuscator(settings)
    if seed is not None:
        obfuscator = obfuscator.with_seed(seed)  # its texts are numbered from 0
    return obfuscator.obfuscate(text, epsilon=epsilon, epsilon_per_word=epsilon_per_word, level=level)


def obfuscate_file(source: str | Path, target: str | Path, **settings: Unpack[FileSettings]) -> JobReport:
    """Obfuscate a file of texts row by row into another file, resumable.

    Args:
        source: The file to read: txt (a document per line), csv, tsv, jsonl or parquet, also compressed.
        target: The file to write, in the format that its name shows; it gets its name when it is complete.
        settings: Any argument of ``Obfuscator`` and of its ``obfuscate_file``, such as ``epsilon`` and ``column``.
    """
    _check_names(settings, FileSettings.__annotations__)
    own = {name: value for name, value in settings.items() if name in Settings.__annotations__}
    others: dict[str, Any] = {name: value for name, value in settings.items() if name not in own}
    seed = own.pop("seed", None)
    obfuscator = _find_obfuscator(own)
    if seed is not None:
        obfuscator = obfuscator.with_seed(seed)  # type: ignore[arg-type] # checked there
    return obfuscator.obfuscate_file(source, target, **others)


def list_decompositions() -> list[str]:
    """The names of all decompositions, with those of plugins.

    >>> list_decompositions()
    ['words', 'pmi', 'llr', 'tscore', 'pos', 'wordnet']
    """
    return DECOMPOSERS.list_names()


def list_distributions() -> list[str]:
    """The names of all distributions, with those of plugins."""
    return DISTRIBUTORS.list_names()


def list_mechanisms() -> list[str]:
    """The names of all mechanisms, with those of plugins."""
    return MECHANISMS.list_names()


def list_metrics() -> list[str]:
    """The names of all metrics of an evaluation, with those of plugins."""
    return METRICS.list_names()


def list_profiles() -> list[str]:
    """The names of all profiles.

    >>> list_profiles()
    ['strict', 'paper', 'proven']
    """
    return list(PROFILES)


def list_levels() -> list[str]:
    """The levels of protection, the strongest first."""
    return list(LEVELS)


def list_bundles() -> list[str]:
    """The names of the bundles that ship with textveil. Others are given by their folder.

    >>> list_bundles()
    ['en']
    """
    return list(Bundle.shipped())


_obfuscators: OrderedDict[Hashable, Obfuscator] = OrderedDict()
_lock = threading.Lock()


def _check_names(settings: Mapping[str, Any], known: Collection[str]) -> None:
    for name in settings:
        if name not in known:
            raise unknown_name("argument", name, known)


def _find_obfuscator(settings: Mapping[str, Any]) -> Obfuscator:
    """The obfuscator of an earlier call with the same settings, or a new one."""
    key = _freeze(_locate_bundle(settings))
    with _lock:
        found = _obfuscators.pop(key, None) or Obfuscator(**settings)
        _obfuscators[key] = found
        while len(_obfuscators) > CACHED:
            _obfuscators.popitem(last=False)
    return found


def _locate_bundle(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings with a whole path, since another folder may be the current one at the next call."""
    bundle = settings.get("bundle")
    if isinstance(bundle, str | Path) and Path(bundle).exists():
        return {**settings, "bundle": Path(bundle).resolve()}
    return settings


def _freeze(value: Any) -> Hashable:
    """A key for a value: equal for equal settings. An object that cannot be compared is itself alone."""
    if isinstance(value, Mapping):
        return tuple(sorted((name, _freeze(part)) for name, part in value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    plain = value is None or isinstance(value, str | int | float | Path)
    return (type(value).__name__, value) if plain else _Same(value)


class _Same:
    """An object that equals itself only. It is kept alive, so that no other object gets its id."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
