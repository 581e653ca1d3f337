"""The facade: obfuscation in one call, and lists of everything that a call can choose."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from textveil.budget import LEVELS
from textveil.bundles.bundle import Bundle
from textveil.execution import Executor
from textveil.jobs import JobReport
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES
from textveil.progress import Progress
from textveil.results import Obfuscation
from textveil.settings import Arguments, Settings, check_names, name_bundle, split_budget

CACHED = 4
"""The number of obfuscators to keep for further calls with the same settings."""


class FileArguments(Arguments, total=False):
    """All settings, and the arguments of ``Obfuscator.obfuscate_file``, which explains them."""

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


def obfuscate(text: str, **settings: Unpack[Arguments]) -> Obfuscation:
    """Obfuscate one text with the budget ``epsilon``, or ``epsilon_per_word`` times its number of words.

    The first call with some settings loads a bundle and builds an :class:`~textveil.Obfuscator`, which takes a second
    or more. Further calls with the same settings use it again and take milliseconds; the last four are kept. For many
    texts, ``Obfuscator.obfuscate_all`` is several times faster, because it works on batches.

    Args:
        text: The text.
        settings: Any of :class:`~textveil.settings.Settings`, with those of the budget. With a ``seed``, the same call
            gives the same result.

    >>> result = obfuscate("The tea was lovely.", epsilon=20, seed=1)
    >>> result.text == obfuscate("The tea was lovely.", epsilon=20, seed=1).text
    True
    """
    check_names(settings)
    own, budget = split_budget(settings)
    return _find_obfuscator(own).obfuscate(text, **budget)


def obfuscate_file(source: str | Path, target: str | Path, **settings: Unpack[FileArguments]) -> JobReport:
    """Obfuscate a file of texts row by row into another file, resumable.

    Args:
        source: The file to read: txt (a document per line), csv, tsv, jsonl or parquet, also compressed.
        target: The file to write, in the format that its name shows; it gets its name when it is complete.
        settings: Any of :class:`~textveil.settings.Settings`, and any argument of ``Obfuscator.obfuscate_file``, such
            as ``column``.
    """
    check_names(settings, FileArguments.__annotations__)
    own = {name: value for name, value in settings.items() if name in Arguments.__annotations__}
    others: dict[str, Any] = {name: value for name, value in settings.items() if name not in own}
    own, budget = split_budget(own)
    return _find_obfuscator(own).obfuscate_file(source, target, **others, **budget)


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


_obfuscators: list[tuple[Settings, Obfuscator]] = []
"""The obfuscators of the last calls, the latest one last."""
_lock = threading.Lock()


def _find_obfuscator(given: Mapping[str, Any]) -> Obfuscator:
    """The obfuscator of an earlier call with the same settings, or a new one. With a seed, its texts start at 0."""
    settings = Settings(**given)
    if not isinstance(settings.bundle, Bundle):
        settings = settings.replace(bundle=name_bundle(settings.bundle))
    unseeded = settings.replace(seed=None)
    with _lock:
        found = next((pair for pair in _obfuscators if pair[0] == unseeded), None) or (unseeded, Obfuscator(unseeded))
        _obfuscators[:] = [*(pair for pair in _obfuscators if pair is not found), found][-CACHED:]
    return found[1] if settings.seed is None else found[1].with_seed(settings.seed)
