"""Columns as Parquet."""

from __future__ import annotations

import pytest

from textveil.errors import InputError
from textveil.lab.study.datasets import read_table, write_table


def test_what_is_written_is_read(tmp_path):
    columns = {"text": ["a", "ü\n", ""], "row": [1, 2, 3], "label": [None, "x", None]}
    write_table(tmp_path / "a.parquet", columns)
    assert read_table(tmp_path / "a.parquet") == columns
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_a_file_that_is_none_is_an_error(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    for name in ("a.parquet", "b.parquet"):
        with pytest.raises(InputError, match="not a complete Parquet file"):
            read_table(tmp_path / name)
