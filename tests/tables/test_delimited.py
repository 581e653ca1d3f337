import csv

import pytest

from textveil.errors import ColumnError, InputError

from .test_contract import read, rewrite


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'id,text\n1,"never closed\n2,b\n', 2),
        (b'id,text\n1,a\n2,"x"y\n', 3),
        (b"id,text\n1,a\n2,b,c\n", 3),
        (b"id,text\n1,a\n2\n", 3),
        (b"id,text\n1,a\rb\n", 2),
        (b'id,text\n1,"two\nlines"\n2\n', 4),
    ],
    ids=["open quote", "text after a quote", "too many", "too few", "bare return", "after a long record"],
)
def test_broken_csv_is_reported_by_the_first_line_of_the_record(content, line):
    with pytest.raises(InputError, match=f"the file, line {line}: "):
        read("csv", content)


def test_a_field_that_is_too_long_is_reported_by_the_limit(monkeypatch):
    monkeypatch.setattr("textveil.tables.delimited.LONGEST_FIELD", 1000)
    old = csv.field_size_limit(1000)
    try:
        assert read("csv", b"text\n" + b"x" * 1000 + b"\n") == ["x" * 1000]
        with pytest.raises(InputError, match=r"^the file, line 3: .* a field of more than 1,000 characters.* Split"):
            read("csv", b"text\nfine\n" + b"x" * 1001 + b"\n")
    finally:
        csv.field_size_limit(old)


def test_csv_keeps_line_ends_quotes_and_commas_inside_fields():
    content = b'id,text\n1,"a ""b"", c\r\nd\re"\n'
    assert read("csv", content) == ['a "b", c\r\nd\re']
    assert read("csv", rewrite("csv", content, str)) == ['a "b", c\r\nd\re']


def test_csv_blank_lines_are_rows_only_in_a_file_with_one_column():
    assert read("csv", b"id,text\n1,a\n\n2,b\n\n") == ["a", "b"]
    assert read("csv", b"text\na\n\nb\n") == ["a", "", "b"]


def test_an_empty_csv_is_refused():
    with pytest.raises(InputError, match="is empty"):
        read("csv", b"")


def test_csv_with_a_column_twice_is_refused():
    with pytest.raises(ColumnError, match="more than once"):
        read("csv", b"text,text\na,b\n")


def test_the_first_text_of_a_csv_without_a_header_is_not_quoted():
    with pytest.raises(ColumnError, match="the file may lack a header") as caught:
        read("csv", b"1,Mr Grzybowski has been ill,5\n")
    assert "Grzybowski" not in str(caught.value)
    assert "It has: 3 columns (columns 1, 2, 3 look like a text" in str(caught.value)


def test_another_delimiter_is_named_in_the_error():
    with pytest.raises(InputError, match="its header has ';' where ',' is expected. Convert the file to csv"):
        read("csv", b"id;text\n1;a\n")


def test_csv_accepts_fields_of_a_megabyte():
    assert read("csv", b"text\n" + b"x" * 1_000_000 + b"\n") == ["x" * 1_000_000]


def test_txt_keeps_carriage_returns_and_odd_separators():
    content = "one\r\ntwo\u2028still two\x0b\x1e\n\nfour".encode()
    assert read("txt", content) == ["one\r", "two\u2028still two\x0b\x1e", "", "four"]
    assert rewrite("txt", content, str) == content + b"\n"
