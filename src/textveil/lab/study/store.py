"""The folder of a study: texts, values and failures of every cell, in files that are written atomically."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from textveil.certificate import Certificate
from textveil.errors import InputError
from textveil.lab.metrics import Interval, Measurement
from textveil.lab.metrics.dataset import Texts
from textveil.lab.study.datasets import read_table, write_table
from textveil.lab.study.grid import Cell
from textveil.storage.atomic import make_folder, writing
from textveil.storage.resumable import ResumableRun

T = TypeVar("T")

OBFUSCATION = "obfuscation"
"""The name of the step that is not a metric."""


@dataclass(frozen=True, slots=True)
class CellTexts:
    """The texts of a cell, without the texts themselves."""

    certificate: Certificate
    """It has the number of words by outcome."""
    sha256: str
    """The hash of the obfuscated texts, in order."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Value:
    """The measurement of a metric on a cell's texts."""

    measurement: Measurement
    texts_sha256: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a step of a cell. It quotes no text."""

    what: str
    """``obfuscation``, or the name of a metric."""
    reason: str


class Store:
    """Everything that a study has computed. A file that exists is complete.

    The folder holds original texts: protect it like the originals. Only the user may read what is written there.

    Args:
        folder: The folder of texts, values and failures.
        cache: The folder of data sets, scores of words, and numbers that metrics cache for single texts; by default
            the same.
    """

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder = folder
        self.datasets, self.scores, self.numbers = (
            (cache or folder) / name for name in ("datasets", "scores", "numbers")
        )
        self._texts, self._values, self._failures = (folder / name for name in ("texts", "values", "failures"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder, and lock it against other runs."""
        for folder in (self.datasets, self._texts, self._values, self._failures):
            make_folder(folder, private=True)
        with ResumableRun(self.folder).locked():
            yield

    @property
    def begun(self) -> bool:
        """Whether any cell has texts."""
        return any(self._texts.glob("*.json"))

    def write_texts(
        self, cell: Cell, texts: Sequence[str], outcomes: Sequence[str], certificate: Certificate, seconds: float
    ) -> CellTexts:
        """Store the texts of a cell: first the table, then the file that marks it as complete."""
        found = CellTexts(certificate, Texts(texts).hash, seconds)
        write_table(self._locate_texts(cell), {"text": texts, "outcome": outcomes})
        described = {"certificate": certificate.as_dict(), "sha256": found.sha256, "seconds": seconds}
        _write_json(self._texts / f"{cell.id}.json", {"cell": asdict(cell), **described})
        return found

    def find_texts(self, cell: Cell) -> CellTexts | None:
        """The texts of a cell; ``None`` if there are none yet."""
        if not self._locate_texts(cell).exists():
            return None
        return _read_json(
            self._texts / f"{cell.id}.json",
            lambda values: CellTexts(Certificate.from_dict(values["certificate"]), values["sha256"], values["seconds"]),
        )

    def read_texts(self, cell: Cell) -> list[str]:
        """The obfuscated texts of a cell.

        Raises:
            InputError: They do not exist, or were changed.
        """
        path, known = self._locate_texts(cell), self.find_texts(cell)
        texts: list[str] = read_table(path).get("text", [])
        if known is None or Texts(texts).hash != known.sha256:
            raise InputError(f"{str(path)!r} was changed. Run the study again: the texts are then made again.")
        return texts

    def _locate_texts(self, cell: Cell) -> Path:
        return self._texts / f"{cell.id}.parquet"

    def write_value(self, cell: Cell, metric: str, key: str, value: Value) -> None:
        """Store the measurement of a metric."""
        _write_json(self._values / cell.id / f"{metric}-{key}.json", asdict(value))

    def find_values(self, cell: Cell, keys: Mapping[str, str], texts: CellTexts | None) -> dict[str, Value]:
        """The measurements on these texts, by metric. The keys are those of metrics."""
        folder = self._values / cell.id
        found = {name: _read_json(folder / f"{name}-{key}.json", _read_value) for name, key in keys.items()}
        return {name: value for name, value in found.items() if value and texts and value.texts_sha256 == texts.sha256}

    def write_failure(self, cell: Cell, key: str, failure: Failure) -> None:
        """Store the failure of a step."""
        _write_json(self._locate_failure(cell, failure.what, key), asdict(failure))

    def find_failure(self, cell: Cell, what: str, key: str) -> Failure | None:
        """The failure of a step; ``None`` if it did not fail."""
        return _read_json(self._locate_failure(cell, what, key), lambda values: Failure(**values))

    def forget_failure(self, cell: Cell, what: str, key: str) -> None:
        """Remove the failure of a step that succeeded or is retried."""
        self._locate_failure(cell, what, key).unlink(missing_ok=True)

    def _locate_failure(self, cell: Cell, what: str, key: str) -> Path:
        return self._failures / cell.id / f"{what}-{key}.json"


def _read_value(values: dict[str, Any]) -> Value:
    measured = values["measurement"]
    intervals = {name: Interval(*bounds) for name, bounds in measured.get("intervals", {}).items()}
    measured |= {"intervals": intervals, "caveats": tuple(measured.get("caveats", ()))}
    return Value(Measurement(**measured), values["texts_sha256"], values["seconds"])


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    make_folder(path.parent, private=True)
    with writing(path, private=True) as stream:
        stream.write(json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False).encode())


def _read_json(path: Path, unpack: Callable[[Any], T]) -> T | None:
    """The unpacked content of a file; ``None`` if it does not exist."""
    try:
        return unpack(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, InputError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it, and run the study again.") from error
