"""The folder of a study: texts, values and failures of every cell, each in a file that is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from textveil.errors import InputError
from textveil.evaluation import Measurement
from textveil.evaluation.texts import Texts
from textveil.experiments.grid import Cell
from textveil.experiments.tables import read_table, write_table
from textveil.privacy.certificate import Certificate
from textveil.storage.atomic import output_error, writing
from textveil.storage.resumable import ResumableRun

T = TypeVar("T")

OBFUSCATION = "obfuscation"
"""What failed, where it was no metric."""


@dataclass(frozen=True, slots=True)
class CellTexts:
    """What is known of the texts of a finished cell."""

    certificate: Certificate
    """With the counts of words by outcome."""
    sha256: str
    """Of the obfuscated texts, in their order."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Value:
    """What a metric measured of a cell's texts."""

    measurement: Measurement
    texts_sha256: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something of a cell is not there; it quotes no text."""

    what: str
    """``obfuscation``, or the name of a metric."""
    reason: str


@dataclass(frozen=True)
class Store:
    """Everything that a study has worked out, file by file. What is there is complete.

    Texts of originals and of cells lie in it: keep it as you keep the originals.

    Args:
        folder: Where it is.
    """

    folder: Path

    @property
    def datasets(self) -> Path:
        """Prepared data sets."""
        return self.folder / "datasets"

    @property
    def scores(self) -> Path:
        """Scores of words, for all cells that share a distribution."""
        return self.folder / "scores"

    @property
    def numbers(self) -> Path:
        """What metrics keep of single texts."""
        return self.folder / "numbers"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other runs away from it."""
        try:
            for folder in (self.datasets, self._texts, self._values, self._failures):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(self.folder, error) from error
        with ResumableRun(self.folder).locked():
            yield

    @cached_property
    def _texts(self) -> Path:
        return self.folder / "texts"

    @cached_property
    def _values(self) -> Path:
        return self.folder / "values"

    @cached_property
    def _failures(self) -> Path:
        return self.folder / "failures"

    @property
    def begun(self) -> bool:
        """Whether the texts of any cell were made."""
        return any(self._texts.glob("*.json"))

    def write_texts(
        self, cell: Cell, texts: Sequence[str], outcomes: Sequence[str], certificate: Certificate, seconds: float
    ) -> CellTexts:
        """Keep the texts of a cell: the table first, then what says that it is complete."""
        found = CellTexts(certificate, Texts(texts).hash, seconds)
        write_table(self._locate_texts(cell), {"text": texts, "outcome": outcomes})
        described = {"certificate": certificate.as_dict(), "sha256": found.sha256, "seconds": seconds}
        _write_json(self._texts / f"{cell.id}.json", {"cell": asdict(cell), **described})
        return found

    def find_texts(self, cell: Cell) -> CellTexts | None:
        """What is known of a cell's texts; ``None`` if there are none yet."""
        if not self._locate_texts(cell).exists():
            return None
        return _read_json(
            self._texts / f"{cell.id}.json",
            lambda values: CellTexts(Certificate.from_dict(values["certificate"]), values["sha256"], values["seconds"]),
        )

    def read_texts(self, cell: Cell) -> list[str]:
        """The obfuscated texts of a cell.

        Raises:
            InputError: They are not there, or not what they were.
        """
        path, known = self._locate_texts(cell), self.find_texts(cell)
        texts: list[str] = read_table(path).get("text", [])
        if known is None or Texts(texts).hash != known.sha256:
            raise InputError(f"{str(path)!r} is not what it was. Run again: it is made anew.")
        return texts

    def _locate_texts(self, cell: Cell) -> Path:
        return self._texts / f"{cell.id}.parquet"

    def write_value(self, cell: Cell, metric: str, key: str, value: Value) -> None:
        """Keep what a metric measured."""
        folder = self._values / cell.id
        folder.mkdir(exist_ok=True)
        measured = {"metric": value.measurement.metric, **value.measurement.as_dict()}
        content = {"measurement": measured, "texts_sha256": value.texts_sha256, "seconds": value.seconds}
        _write_json(folder / f"{metric}-{key}.json", content)

    def find_value(self, cell: Cell, metric: str, key: str, texts: CellTexts | None) -> Value | None:
        """What a metric measured of these very texts; ``None`` if it has not."""
        value = _read_json(
            self._values / cell.id / f"{metric}-{key}.json",
            lambda values: Value(Measurement(**values["measurement"]), values["texts_sha256"], values["seconds"]),
        )
        return value if value and texts and value.texts_sha256 == texts.sha256 else None

    def write_failure(self, cell: Cell, key: str, failure: Failure) -> None:
        """Keep why something is not there."""
        folder = self._failures / cell.id
        folder.mkdir(exist_ok=True)
        _write_json(folder / f"{failure.what}-{key}.json", asdict(failure))

    def find_failure(self, cell: Cell, what: str, key: str) -> Failure | None:
        """Why something is not there; ``None`` if it did not fail."""
        return _read_json(self._failures / cell.id / f"{what}-{key}.json", lambda values: Failure(**values))

    def forget_failure(self, cell: Cell, what: str, key: str) -> None:
        """Something is there now, or is tried again."""
        (self._failures / cell.id / f"{what}-{key}.json").unlink(missing_ok=True)


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    with writing(path) as stream:
        stream.write(json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False).encode())


def _read_json(path: Path, unpack: Callable[[Any], T]) -> T | None:
    """What is made of what a file holds; ``None`` if it is not there."""
    try:
        return unpack(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, InputError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it: it is worked out again.") from error
