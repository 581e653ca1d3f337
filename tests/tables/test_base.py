"""The parts of a table that every format shares: columns, names, lines and batches."""

import io

import pytest

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.tables.base import (
    LONGEST_NAME,
    OUTCOME_COLUMN,
    TEXT_COLUMN,
    Rows,
    Table,
    Writer,
    batch_rows,
    check_names,
    decode_lines,
    list_columns,
    spell,
)


class ListTable(Table):
    """The smallest table: a line is a text, and a row is its number."""

    name = "list"

    def _read(self, stream, batch_size):
        lines = decode_lines(stream, self.source)
        return batch_rows((((line.strip() or None,), number) for number, line in enumerate(lines)), batch_size)

    def values(self, rows, column):
        self._position(["number"], column)
        return [str(number) for number in rows.carried]

    def writer(self, stream, *, head):
        return ListWriter(stream)

    def export(self, rows):
        return [rows.carried, rows.texts]

    def pack(self, rows, values, *, first):
        raise NotImplementedError


class ListWriter(Writer):
    def __init__(self, stream):
        self._stream = stream

    def write(self, rows, results):
        self._stream.write(" ".join(str(result.text) for result in results).encode())


def open_table(column=TEXT_COLUMN, outcome_column=OUTCOME_COLUMN):
    return ListTable(column=column, outcome_column=outcome_column, source="'in.list'")


def test_rows_are_described_by_their_texts_and_a_missing_text_differs_from_an_empty_one():
    described = list(open_table().describe_rows(Rows(["a", None, ""], None)))
    assert described == ["text a", "", "text "]
    assert open_table().describe_head() == ""


def test_a_table_without_records_names_the_formats_that_have_them():
    with pytest.raises(ParameterError, match=r"^'in.list' is plain text.* Use csv, tsv, jsonl or parquet\.$"):
        open_table().read_records(io.BytesIO())


def test_texts_and_outcomes_need_two_columns():
    with pytest.raises(ParameterError, match="column 'fate'") as caught:
        open_table("fate", "fate")
    assert caught.value.parameters == ("outcome_column",)
    assert open_table("fate", None).outcome_column is None


def test_columns_must_be_unique():
    with pytest.raises(ColumnError, match="s has the column 'x' more than once"):
        check_names(["a", "x", "x"], "s")
    check_names(["a", "b"], "s")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("stars", True),
        ("Review text", True),
        ("a.b:c/d-e_f", True),
        ("größe", True),
        ("Dear Dr Smith", False),
        ("Grzybowski, Jan", False),
        ("5", False),
        ("2020-01-31", False),
        ("", False),
        ("x" * LONGEST_NAME, True),
        ("x" * (LONGEST_NAME + 1), False),
        ("Congratulations Grzybowski", False),
    ],
)
def test_a_name_that_looks_like_a_text_is_numbered_and_not_quoted(name, shown):
    listed = list_columns(["id", name])
    assert (repr(name) in listed) is shown
    if not shown:
        assert listed == "2 columns (column 2 looks like a text, so the file may lack a header)"


def test_a_name_that_exists_twice_is_quoted_only_in_a_header():
    with pytest.raises(ColumnError, match="^s has the column more than once: columns 1 and 3") as caught:
        check_names(["Grzybowski", "Dear Dr Smith", "Grzybowski"], "s")
    assert "Grzybowski" not in str(caught.value)


def test_lines_keep_their_ends_and_lose_a_byte_order_mark_at_the_beginning_only():
    lines = b"\xef\xbb\xbfone\r\n\xef\xbb\xbftwo\nthree"
    assert list(decode_lines(io.BytesIO(lines), "s")) == ["one\r\n", "\ufefftwo\n", "three"]


def test_lines_before_a_broken_one_are_read_and_the_broken_one_is_located():
    lines = decode_lines(io.BytesIO(b"fine\nSECRET\xff\n"), "'in.txt'")
    assert next(lines) == "fine\n"
    with pytest.raises(InputError, match="^'in.txt', line 2, byte 7: this is not UTF-8.*iconv") as caught:
        next(lines)
    assert "SECRET" not in str(caught.value)


def test_rows_are_batched_with_what_they_carry():
    batches = list(batch_rows([(("a",), 1), ((None,), 2), (("c",), 3)], 2))
    assert batches == [Rows(["a", None], [1, 2]), Rows(["c"], [3])]
    assert list(batch_rows([], 2)) == []


def test_rows_with_several_texts_are_batched_and_split_by_row():
    (rows,) = batch_rows([(("a", "b"), 1), ((None, "c"), 2), (("d", "e"), 3)], 9)
    assert (rows.texts, rows.size, rows.width) == (["a", "b", None, "c", "d", "e"], 3, 2)
    first, rest = rows.split(1)
    assert first == Rows(["a", "b"], [1], 2)
    assert rest == Rows([None, "c", "d", "e"], [2, 3], 2)


def test_the_texts_of_a_row_count_together_for_the_length_of_a_batch():
    sizes = [rows.size for rows in batch_rows([(("x" * 300_000, "x" * 300_000), None)] * 6, 100)]
    assert sizes == [2, 2, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\xff", "\\xff"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [None]}, '{"a": [null]}'),
        ("\ud800", "?"),
    ],
)
def test_a_value_of_any_type_is_spelled(value, text):
    assert spell(value) == text
