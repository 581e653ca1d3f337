"""Data sets as a study uses them: filtered, with their classes, sampled and cut; read once, and kept."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from textveil.errors import InputError, StudyError
from textveil.evaluation.dataset import Classes
from textveil.evaluation.files import Values, read_columns
from textveil.evaluation.texts import Texts
from textveil.experiments.study import DatasetSource, Target, write_value
from textveil.experiments.tables import read_table, write_table
from textveil.jobs import Budget
from textveil.language.text import cut
from textveil.language.words import WORD
from textveil.models.files import make_readable
from textveil.randomness import SeededRandomness
from textveil.storage.atomic import writing
from textveil.storage.hashing import hash_file
from textveil.storage.score_cache import hash_text


@dataclass(frozen=True)
class Description:
    """What is known of a prepared data set without its texts."""

    name: str
    source: str
    """The name of the file."""
    source_sha256: str
    settings: dict[str, Any]
    texts: int
    texts_sha256: str
    average_length: float
    """In words: what budgets are scaled by."""
    label_sha256: str | None
    attribute_sha256: str | None
    dropped: dict[str, int]
    """How many rows of the file are not used, by reason."""


@dataclass(frozen=True)
class PreparedDataset:
    """The texts of a study, with their classes."""

    description: Description
    path: Path
    """The table of the texts."""

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        return read_table(self.path)

    @property
    def texts(self) -> list[str]:
        """The texts, in the order of the file."""
        return self._columns["text"]

    @property
    def label(self) -> list[str] | None:
        """The classes of a task."""
        return self._columns.get("label")

    @property
    def attribute(self) -> list[str] | None:
        """The classes that an attacker wants to know."""
        return self._columns.get("attribute")


def prepare_dataset(name: str, source: DatasetSource, folder: Path, *, begun: bool = False) -> PreparedDataset:
    """Read a data set, or find it as it was read before.

    Args:
        name: Its name in the study.
        source: Where it is, and what is taken of it.
        folder: Where prepared data sets are kept.
        begun: Whether texts were made of it already, so that it must be what it was.

    Raises:
        InputError: The file cannot be read, nothing is left of it, or its classes cannot be told apart.
        ColumnError: A column is missing.
        StudyError: The file has changed since the study began, or has fewer texts than the sample.
    """
    _check_unchanged(name, source.path, folder, begun)
    if found := find_dataset(name, source, folder):
        return found
    rows = _Rows(source)
    for role, values in rows.classes.items():
        _check_classes(name, role, values, rows.chosen)
    columns: dict[str, list[Any]] = {"row": [row + 1 for row in rows.chosen], "text": rows.texts}
    columns |= {role: [values[row] for row in rows.chosen] for role, values in rows.classes.items()}
    path, settings = _locate(name, source, folder)
    description = Description(
        name=name,
        source=source.path.name,
        source_sha256=hash_file(source.path),
        settings=settings,
        texts=len(rows.texts),
        texts_sha256=Texts(rows.texts).hash,
        average_length=Budget(epsilon_per_word=1.0).resolve(rows.texts).epsilon,
        label_sha256=_hash(columns.get("label")),
        attribute_sha256=_hash(columns.get("attribute")),
        dropped=dict(rows.dropped),
    )
    write_table(path, columns)
    with writing(path.with_suffix(".json")) as stream:  # last: what has it is complete
        stream.write(json.dumps(asdict(description), indent=1).encode())
    return PreparedDataset(description, path)


def find_dataset(name: str, source: DatasetSource, folder: Path) -> PreparedDataset | None:
    """A data set that was prepared with the same settings before; the file itself is not looked at."""
    path, _ = _locate(name, source, folder)
    if not (path.exists() and path.with_suffix(".json").exists()):
        return None
    return PreparedDataset(_read_description(path.with_suffix(".json")), path)


def _read_description(path: Path) -> Description:
    try:
        return Description(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it: the data set is read again.") from error


def _locate(name: str, source: DatasetSource, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The table of a data set with these settings, and the settings."""
    settings = source.model_dump(mode="json", exclude={"path"}, exclude_defaults=True)
    key = hashlib.sha256(json.dumps([name, source.path.name, settings], sort_keys=True).encode()).hexdigest()[:12]
    return folder / f"{name}-{key}.parquet", settings


def _check_classes(name: str, role: str, values: Values, rows: Sequence[int]) -> None:
    """See that a classifier can learn the classes; rows are those of the file."""
    try:
        Classes.of(values, rows, role)
    except InputError as error:
        raise InputError(f"The data set {name!r}: {error}") from error


def _check_unchanged(name: str, path: Path, folder: Path, begun: bool) -> None:
    """Refuse a file that is not what it was: old texts would be compared with new ones. Before that, forget it."""
    known = {described: _read_description(described) for described in folder.glob(f"{name}-*.json")}
    hashes = {file: each.source_sha256 for file, each in known.items() if (each.name, each.source) == (name, path.name)}
    if not path.is_file():
        if not hashes:
            raise InputError(f"The data set {name!r} is not there: {str(path)!r} is no file. Check its path.")
    elif hashes and set(hashes.values()) != {hash_file(path)}:
        if not begun:
            for file in hashes:
                file.unlink()
            return
        raise StudyError(
            f"The data set {name!r} has changed since this study began: {str(path)!r} has another SHA-256 than it had. "
            "Put the file back, or begin anew with another --folder."
        )


def _hash(values: Sequence[str] | None) -> str | None:
    return None if values is None else hash_text(*values, str(len(values))).hex()


class _Rows:
    """The rows of a file that a study uses, one step after the other: those that fit, those sampled, the words used."""

    def __init__(self, source: DatasetSource) -> None:
        targets = {"label": source.label, "attribute": source.attribute}
        self._targets = {role: target for role, target in targets.items() if target is not None}
        wanted = dict.fromkeys([*source.where, *(target.column for target in self._targets.values())])
        texts, columns = read_columns(source.path, source.text, list(wanted), source.format)
        self._source = source
        self.dropped: Counter[str] = Counter()
        self.chosen = list(range(len(texts)))
        self.classes: dict[str, Values] = {}
        self._keep("no word in the text", lambda row: WORD.search(texts[row] or "") is not None)
        self._filter(columns)
        for role, target in self._targets.items():
            self._classify(role, target, columns[target.column])
        self._sample()
        self.texts = [self._cut(texts[row] or "") for row in self.chosen]

    def _keep(self, reason: str, fits: Callable[[int], bool]) -> None:
        kept = [row for row in self.chosen if fits(row)]
        if len(kept) < len(self.chosen):
            self.dropped[reason] += len(self.chosen) - len(kept)
        if not kept:
            raise InputError(
                f"No text of {str(self._source.path)!r} is left: all rows have {reason}. Check the data set's settings."
            )
        self.chosen = kept

    def _filter(self, columns: dict[str, Values]) -> None:
        for column, wanted in self._source.where.items():
            values = wanted if isinstance(wanted, tuple) else (wanted,)
            allowed = {write_value(value) for value in values}
            held = columns[column]
            self._keep(f"another {column}", _is_among([None if v is None else write_value(v) for v in held], allowed))

    def _classify(self, role: str, target: Target, values: Values) -> None:
        classes = self.classes[role] = target.classify(values)
        self._keep(f"no {role} ({target.column})", lambda row: classes[row] is not None)
        if target.most_frequent is not None:
            counts = Counter(classes[row] for row in self.chosen)
            frequent = sorted(counts, key=lambda name: (-counts[name], str(name)))[: target.most_frequent]
            self._keep(f"a less frequent {role}", _is_among(classes, frequent))

    def _sample(self) -> None:
        sample = self._source.sample
        if sample is None:
            return
        if sample.size > len(self.chosen):
            raise StudyError(
                f"The sample of {str(self._source.path)!r} is {sample.size:,} texts, and there are "
                f"{len(self.chosen):,} that fit. Take a smaller one, or leave out 'sample' to use all."
            )
        drawn = SeededRandomness(sample.seed).stream(0).permutation(len(self.chosen))[: sample.size]
        rows = {self.chosen[place] for place in drawn.tolist()}
        if len(rows) < len(self.chosen):
            self._keep("not drawn for the sample", rows.__contains__)

    def _cut(self, text: str) -> str:
        readable = make_readable(text)  # half a character cannot be kept in a table
        return readable if self._source.first_words is None else cut(readable, self._source.first_words)


def _is_among(values: Sequence[str | None], allowed: Iterable[str | None]) -> Callable[[int], bool]:
    names = set(allowed)
    return lambda row: values[row] in names
