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
    ids=["open quote", "text behind a quote", "too many", "too few", "bare return", "behind a long record"],
)
def test_csv_that_is_broken_is_reported_by_the_line_where_the_record_begins(content, line):
    with pytest.raises(InputError, match=f"the file, line {line}: "):
        read("csv", content)


def test_csv_keeps_line_ends_quotes_and_commas_inside_fields():
    content = b'id,text\n1,"a ""b"", c\r\nd\re"\n'
    assert read("csv", content) == ['a "b", c\r\nd\re']
    assert read("csv", rewrite("csv", content, str)) == ['a "b", c\r\nd\re']


def test_csv_blank_lines_are_rows_only_where_there_is_one_column():
    assert read("csv", b"id,text\n1,a\n\n2,b\n\n") == ["a", "b"]
    assert read("csv", b"text\na\n\nb\n") == ["a", "", "b"]


def test_csv_without_a_header_is_refused():
    with pytest.raises(InputError, match="is empty"):
        read("csv", b"")


def test_csv_with_a_column_twice_is_refused():
    with pytest.raises(ColumnError, match="more than once"):
        read("csv", b"text,text\na,b\n")


def test_csv_without_a_header_does_not_have_its_first_text_quoted():
    with pytest.raises(ColumnError, match="is the header missing") as caught:
        read("csv", b"1,Mr Grzybowski has been ill,5\n")
    assert "Grzybowski" not in str(caught.value)
    assert "'1', '5'" in str(caught.value)


def test_csv_with_another_delimiter_is_told_so():
    with pytest.raises(InputError, match="its header has ';' where ',' is expected"):
        read("csv", b"id;text\n1;a\n")


def test_csv_takes_fields_of_a_megabyte():
    assert read("csv", b"text\n" + b"x" * 1_000_000 + b"\n") == ["x" * 1_000_000]
