"""The data sets of a study: read once from their files, filtered, classified, sampled, cut, and stored."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from textveil.errors import ColumnError, InputError, StudyError
from textveil.extras import require
from textveil.lab.metrics.dataset import Classes, Texts
from textveil.lab.metrics.files import Values, read_columns
from textveil.lab.study.study import DatasetSource, Target, write_value
from textveil.models.files import make_readable
from textveil.randomness import SeededRandomness
from textveil.storage.atomic import hash_file, writing
from textveil.storage.score_cache import hash_text
from textveil.text.documents import cut
from textveil.text.words import find_spans, has_word


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of the same length, to a file that only the user may read."""
    arrow, parquet = require("pyarrow", extra="parquet"), require("pyarrow.parquet", extra="parquet")
    with writing(path, private=True) as stream:
        parquet.write_table(arrow.table(dict(columns)), stream, compression="zstd")


def read_table(path: Path) -> dict[str, list[Any]]:
    """Read all columns.

    Raises:
        InputError: The file does not exist, or is damaged.
    """
    arrow, parquet = require("pyarrow", extra="parquet"), require("pyarrow.parquet", extra="parquet")
    try:
        found: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{str(path)!r} is not a complete Parquet file. Remove it, and rerun the study.") from error
    return found


@dataclass(frozen=True)
class DatasetInfo:
    """A data set without its texts."""

    name: str
    source: str
    """The name of the file."""
    source_sha256: str
    settings: dict[str, Any]
    texts: int
    texts_sha256: str
    average_length: float
    """In words. The budget of a document is a multiple of it."""
    label_sha256: str | None
    """A hash of the classes; ``None`` if there are none, or if they cannot be learned."""
    attribute_sha256: str | None
    dropped: dict[str, int]
    """The number of unused rows of the file, by reason."""
    problems: dict[str, str] = field(default_factory=dict)
    """The reason why the label or the attribute cannot be learned. The metrics that need it are not measured."""


@dataclass(frozen=True)
class StudyDataset:
    """The texts of a data set, with their classes, as a study uses them."""

    info: DatasetInfo
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
        """The classes of the task, if there is one."""
        return self._columns.get("label")

    @property
    def attribute(self) -> list[str] | None:
        """The classes that an attacker tries to infer, if there are any."""
        return self._columns.get("attribute")


def read_dataset(name: str, source: DatasetSource, folder: Path, *, begun: bool = False) -> StudyDataset:
    """Read a data set from its file and store it, or find it if it is stored.

    A label or attribute that cannot be learned, because a class has a single text for example, stops only the metrics
    that need it.

    Args:
        name: Its name in the study.
        source: Its file, and the rows to use.
        folder: The folder of stored data sets.
        begun: Whether the study has made texts of it. Then the file must not have changed.

    Raises:
        InputError: The file cannot be read, or no text is left.
        ColumnError: A column is missing.
        StudyError: The file has changed since the study began, or has fewer texts than the sample.
    """
    check_source(name, source, folder)
    _check_unchanged(name, source.path, folder, begun)
    if found := find_dataset(name, source, folder):
        return found
    rows = _Rows(name, source)
    problems = _find_problems(rows.classes, rows.chosen)
    columns: dict[str, list[Any]] = {"row": [row + 1 for row in rows.chosen], "text": rows.texts}
    columns |= {role: [values[row] for row in rows.chosen] for role, values in rows.classes.items()}
    path, settings = _locate(name, source, folder)
    info = DatasetInfo(
        name=name,
        source=source.path.name,
        source_sha256=hash_file(source.path),
        settings=settings,
        texts=len(rows.texts),
        texts_sha256=Texts(rows.texts).hash,
        average_length=sum(len(find_spans(text)) for text in rows.texts) / len(rows.texts),
        label_sha256=None if "label" in problems else _hash(columns.get("label")),
        attribute_sha256=None if "attribute" in problems else _hash(columns.get("attribute")),
        dropped=dict(rows.dropped),
        problems=problems,
    )
    write_table(path, columns)
    with writing(path.with_suffix(".json"), private=True) as stream:  # last: a data set with this file is complete
        stream.write(json.dumps(asdict(info), indent=1).encode())
    return StudyDataset(info, path)


def check_source(name: str, source: DatasetSource, folder: Path) -> None:
    """Check that the file of a data set exists, or that the data set is stored.

    Raises:
        InputError: Neither is true.
    """
    if not source.path.is_file() and find_dataset(name, source, folder) is None:
        raise InputError(f"The data set {name!r} was not found: {str(source.path)!r} is not a file. Check its `path`.")


def find_dataset(name: str, source: DatasetSource, folder: Path) -> StudyDataset | None:
    """A data set that was stored with the same settings. The original file is not checked."""
    path, _ = _locate(name, source, folder)
    if not (path.exists() and path.with_suffix(".json").exists()):
        return None
    return StudyDataset(_read_info(path.with_suffix(".json")), path)


def _read_info(path: Path) -> DatasetInfo:
    try:
        return DatasetInfo(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it. The data set is then read again.") from error


def _locate(name: str, source: DatasetSource, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The table of a data set with these settings, and the settings."""
    settings = source.model_dump(mode="json", exclude={"path"}, exclude_defaults=True)
    key = hashlib.sha256(json.dumps([name, source.path.name, settings], sort_keys=True).encode()).hexdigest()[:12]
    return folder / f"{name}-{key}.parquet", settings


def _find_problems(classes: Mapping[str, Values], rows: Sequence[int]) -> dict[str, str]:
    """The reasons why a classifier cannot learn classes, by their role. Rows are those of the file."""
    found: dict[str, str] = {}
    for role, values in classes.items():
        try:
            Classes.of(values, rows, role)
        except InputError as error:
            found[role] = str(error)
    return found


def _check_unchanged(name: str, path: Path, folder: Path, begun: bool) -> None:
    """Refuse a file that has changed since texts were made of it. Before that, forget what was stored of it."""
    known = {file: _read_info(file) for file in folder.glob(f"{name}-*.json")}
    hashes = {file: info.source_sha256 for file, info in known.items() if (info.name, info.source) == (name, path.name)}
    if not path.is_file() or not hashes or set(hashes.values()) == {hash_file(path)}:
        return
    if begun:
        raise StudyError(
            f"The data set {name!r} has changed since this study began: {str(path)!r} has another SHA-256. Restore the "
            "file, or run the study in another `folder`."
        )
    for file in hashes:
        file.unlink()


def _hash(values: Sequence[str] | None) -> str | None:
    return None if values is None else hash_text(*values, str(len(values))).hex()


class _Rows:
    """The rows of a file that a study uses: filtered, classified, sampled and cut, in this order."""

    def __init__(self, name: str, source: DatasetSource) -> None:
        targets = {"label": source.label, "attribute": source.attribute}
        self._targets = {role: target for role, target in targets.items() if target is not None}
        self._name, self._source = name, source
        texts, columns = self._read()
        self.dropped: Counter[str] = Counter()
        self.chosen = list(range(len(texts)))
        self.classes: dict[str, Values] = {}
        self._keep("no word in the text", lambda row: has_word(texts[row] or ""))
        self._filter(columns)
        for role, target in self._targets.items():
            self._classify(role, target, columns[target.column])
        self._sample()
        self.texts = [self._cut(texts[row] or "") for row in self.chosen]

    def _read(self) -> tuple[Values, dict[str, Values]]:
        """The texts, and the columns that the study names."""
        source = self._source
        wanted = [*source.where, *(target.column for target in self._targets.values())]
        try:
            return read_columns(source.path, source.text, list(dict.fromkeys(wanted)), source.format)
        except ColumnError as error:
            said = str(error).partition(" Choose one")[0]  # with a parameter, but here the study file chooses
            raise ColumnError(f"{said} Fix 'datasets.{self._name}' in the study file.") from error

    def _keep(self, reason: str, fits: Callable[[int], bool]) -> None:
        kept = [row for row in self.chosen if fits(row)]
        if len(kept) < len(self.chosen):
            self.dropped[reason] += len(self.chosen) - len(kept)
        if not kept:
            raise InputError(
                f"No text of {str(self._source.path)!r} is left: all rows have {reason}. Check 'datasets.{self._name}' "
                "in the study file."
            )
        self.chosen = kept

    def _filter(self, columns: dict[str, Values]) -> None:
        for column, wanted in self._source.where.items():
            allowed = {write_value(value) for value in (wanted if isinstance(wanted, tuple) else (wanted,))}
            held = [None if value is None else write_value(value) for value in columns[column]]
            self._keep(f"another {column}", _is_among(held, allowed))

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
                f"The sample of the data set {self._name!r} has {sample.size:,} texts, but only {len(self.chosen):,} "
                f"texts match. Lower 'datasets.{self._name}.sample' in the study file, or remove it to use all texts."
            )
        drawn = SeededRandomness(sample.seed).stream(0).permutation(len(self.chosen))[: sample.size]
        rows = {self.chosen[place] for place in drawn.tolist()}
        if len(rows) < len(self.chosen):
            self._keep("not drawn for the sample", rows.__contains__)

    def _cut(self, text: str) -> str:
        readable = make_readable(text)  # a table cannot hold half a character
        return readable if self._source.first_words is None else cut(readable, self._source.first_words)


def _is_among(values: Sequence[str | None], allowed: Iterable[str | None]) -> Callable[[int], bool]:
    names = set(allowed)
    return lambda row: values[row] in names
