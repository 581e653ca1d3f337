"""Parquet files of columns, written atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.errors import InputError
from textveil.extras import require
from textveil.storage.atomic import writing


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
