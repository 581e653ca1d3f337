"""The tables of counted n-grams."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tests.corpus.conftest import count, write_lines
from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.lab.corpus.counting import ngrams
from textveil.lab.corpus.counting.ngrams import (
    MANIFEST,
    NgramCounts,
    check_output,
    output_files,
    table_name,
    write_table,
)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Three documents of the same four words."""
    folder = tmp_path_factory.mktemp("ngrams")
    return count(write_lines(folder / "a.txt", ["a b c d"] * 3), folder / "counts", min_count=2)


def test_the_output_is_a_manifest_and_a_table_for_each_length():
    names = ["counts.json", "1-grams.parquet", "2-grams.parquet", "3-grams.parquet", "4-grams.parquet"]
    assert output_files() == names
    assert table_name(3) == "3-grams.parquet"


def test_counts_are_loaded_as_they_were_written(counted):
    loaded = NgramCounts.load(counted.folder)
    assert (loaded.tokens, loaded.min_count) == (12, 2)
    assert {length: len(table) for length, table in loaded.tables.items()} == {1: 4, 2: 3, 3: 2, 4: 1}
    assert loaded.tables[2].ngrams.to_pylist() == ["a b", "b c", "c d"]
    assert loaded.tables[2].counts.tolist() == [3, 3, 3]
    assert loaded.tables[3].prefixes.tolist() == [0, 1]
    assert loaded.tables[3].suffixes.tolist() == [1, 2]
    assert len(loaded.tables[1].prefixes) == 0


blocks = st.lists(st.lists(st.tuples(st.text("abé ", max_size=3), st.integers(1, 9)), max_size=7), max_size=5)


@given(blocks)
def test_the_blocks_of_a_table_make_no_difference(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "GROUP_ROWS", 4)
        for name, parts in (("many", rows), ("one", [[row for part in rows for row in part]])):
            columns = ([[ngram for ngram, _ in part], np.array([n for _, n in part], np.int64)] for part in parts)
            write_table(folder / name, ("ngram", "count"), columns)
    assert (folder / "many").read_bytes() == (folder / "one").read_bytes()
    table = parquet.read_table(folder / "many")
    assert table.to_pylist() == [{"ngram": ngram, "count": n} for part in rows for ngram, n in part]
    groups = parquet.ParquetFile(folder / "many").metadata
    assert all(groups.row_group(number).num_rows <= 4 for number in range(groups.num_row_groups))


def test_columns_have_their_types(tmp_path):
    block = [["a b"], np.array([3]), np.array([0], np.uint32), np.array([1], np.uint32)]
    write_table(tmp_path / "table", ngrams.TABLE_COLUMNS, iter([block]))
    types = [str(kind) for kind in parquet.read_schema(tmp_path / "table").types]
    assert types == ["string", "int64", "uint32", "uint32"]


def test_an_output_may_be_new_or_an_earlier_one(tmp_path, counted):
    check_output(tmp_path / "new", output_files())
    check_output(counted.folder, output_files())


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        (None, ParameterError, "There is no folder"),
        (["me.jpg"], OutputExistsError, r"has no counts\.json"),
        ([], OutputExistsError, r"has no counts\.json"),
        (["counts.json", "me.jpg"], OutputExistsError, r"has other files"),
    ],
)
def test_an_output_that_is_something_else_is_refused(tmp_path, files, error, message):
    output = tmp_path / "folder" / "counts"
    if files is not None:
        output.mkdir(parents=True)
        for name in files:
            (output / name).touch()
    with pytest.raises(error, match=message):
        check_output(output, output_files())


def test_counts_of_a_newer_format_are_refused(tmp_path, counted):
    manifest = {**counted.manifest, "format": ngrams.FORMAT + 1}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="newer textveil"):
        NgramCounts.load(tmp_path)


def test_changed_tables_are_refused(tmp_path):
    counts = count(write_lines(tmp_path / "a.txt", ["a b c d"] * 3), tmp_path / "counts", min_count=2)
    path = counts.folder / table_name(2)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="was changed"):
        _ = NgramCounts.load(counts.folder).tables


@pytest.mark.parametrize(
    "content", [None, "{", '{"format": 1}', '{"format": 1, "tokens": 0, "min_count": 1, "tables": {}}', "[]"]
)
def test_a_folder_without_counts_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "counts.json").write_text(content)
    with pytest.raises(InputError, match=r"prepare count|Count again"):
        NgramCounts.load(tmp_path)
