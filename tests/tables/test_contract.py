"""The behavior of every format: rows come back in order with new texts, and everything else is unchanged."""

import io
import json
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.tables import FORMATS, OUTCOME_COLUMN, Result, read_records

WITH_COLUMNS = ["csv", "tsv", "jsonl", "parquet"]

texts = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=30), min_size=1, max_size=12
)


def make(name: str, rows: Iterable[str | None]) -> bytes:
    """A file in the format, with a column before the texts and one after them if the format has columns."""
    out = io.BytesIO()
    table = {"id": [], "text": [], "stars": []}
    for number, text in enumerate(rows):
        table["id"].append(f"r{number}")
        table["text"].append(text)
        table["stars"].append(str(number % 5))
    match name:
        case "txt":
            out.write("".join(f"{text or ''}\n" for text in table["text"]).encode())
        case "csv" | "tsv":
            import csv

            wrapper = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
            writer = csv.writer(wrapper, delimiter="," if name == "csv" else "\t", quoting=csv.QUOTE_ALL)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
            wrapper.detach()
        case "jsonl":
            for values in zip(*table.values(), strict=True):
                out.write(json.dumps(dict(zip(table, values, strict=True))).encode() + b"\n")
        case "parquet":
            pq.write_table(pa.table(table, schema=pa.schema(dict.fromkeys(table, pa.string()))), out, row_group_size=3)
    return out.getvalue()


def open_table(name: str, outcome_column: str | None = OUTCOME_COLUMN):
    return FORMATS.load(name)(column="text", outcome_column=outcome_column, source="the file")


def rewrite(name: str, content: bytes, change, *, batch_size: int = 3, parts: int = 1) -> bytes:
    """Read a file and write it with changed texts, in several parts."""
    table = open_table(name)
    batches = list(table.read(io.BytesIO(content), batch_size=batch_size))
    written = []
    for part in range(parts):
        stream = io.BytesIO()
        with table.writer(stream, head=part == 0) as writer:
            for rows in (
                batches[part::parts]
                if parts == 1
                else batches[part * len(batches) // parts : (part + 1) * len(batches) // parts]
            ):
                writer.write(rows, [Result(change(text), "fine") for text in rows.texts])
        written.append(io.BytesIO(stream.getvalue()))
    target = io.BytesIO()
    table.merge(written, target)
    return target.getvalue()


def read(name: str, content: bytes, column: str = "text") -> list[str | None]:
    table = FORMATS.load(name)(column=column, outcome_column=None, source="the file")
    return [text for rows in table.read(io.BytesIO(content), batch_size=4) for text in rows.texts]


@pytest.fixture(params=list(FORMATS))
def name(request):
    return request.param


@pytest.mark.parametrize("name", list(FORMATS))
@given(rows=texts, parts=st.integers(1, 4))
def test_rows_come_back_with_new_texts_and_everything_else_unchanged(name, rows, parts):
    result = rewrite(name, make(name, rows), lambda text: f"<{text}>", parts=parts)
    assert read(name, result) == [f"<{text}>" for text in rows]
    if name != "txt":
        assert read(name, result, "id") == [f"r{number}" for number in range(len(rows))]
        assert read(name, result, "stars") == [str(number % 5) for number in range(len(rows))]
        assert read(name, result, OUTCOME_COLUMN) == ["fine"] * len(rows)


def test_batches_have_at_most_the_requested_size(name):
    content = make(name, [f"text {number}" for number in range(10)])
    sizes = [len(rows.texts) for rows in open_table(name).read(io.BytesIO(content), batch_size=4)]
    assert sum(sizes) == 10
    assert max(sizes) <= 4


def test_long_texts_make_small_batches(name):
    content = make(name, ["x" * 600_000] * 6)
    sizes = [len(rows.texts) for rows in open_table(name).read(io.BytesIO(content), batch_size=100)]
    assert sizes == [2, 2, 2]


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_a_missing_column_is_an_error_that_lists_the_others(name):
    table = FORMATS.load(name)(column="review", outcome_column=None, source="the file")
    with pytest.raises(ColumnError, match="the file has no column 'review'. It has: 'id', 'text', 'stars'"):
        list(table.read(io.BytesIO(make(name, ["a"])), batch_size=1))


def test_an_existing_outcome_column_is_reused(name):
    once = rewrite(name, make(name, ["a", "b"]), str.upper)
    twice = rewrite(name, once, str.lower)
    assert read(name, twice) == ["a", "b"]
    if name != "txt":
        assert twice.count(OUTCOME_COLUMN.encode()) == once.count(OUTCOME_COLUMN.encode())


def test_a_file_without_rows_stays_without_rows(name):
    result = rewrite(name, make(name, []), str.upper)
    assert read(name, result) == []


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
def test_a_missing_text_stays_missing(name):
    result = rewrite(name, make(name, ["a", None, ""]), lambda text: None if text is None else text.upper())
    assert read(name, result) == ["A", None, ""]


@pytest.mark.parametrize("name", ["txt", "csv", "tsv", "jsonl"])
def test_invalid_utf8_is_reported_by_line_and_never_quoted(name):
    lines = make(name, ["first", "second", "third"]).split(b"\n")
    lines[2] = b"SECRET" + b"\xff" + lines[2]
    with pytest.raises(InputError, match="line 3, byte 7: this is not UTF-8") as caught:
        read(name, b"\n".join(lines))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le"])
@pytest.mark.parametrize("name", ["txt", "csv", "tsv", "jsonl"])
def test_utf16_is_refused_by_position_and_never_quoted(name, encoding):
    content = make(name, ["SECRET diary", "second"]).decode().encode(encoding)
    with pytest.raises(InputError, match=r"^the file, line 1, byte [124]: .*Convert the file to UTF-8") as caught:
        read(name, content)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", ["txt", "csv", "tsv", "jsonl"])
def test_a_byte_order_mark_is_not_part_of_the_text(name):
    assert read(name, b"\xef\xbb\xbf" + make(name, ["a"])) == ["a"]


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_outcomes_do_not_replace_a_column_of_the_user(name):
    with pytest.raises(ParameterError, match="cannot both be in the column 'text'"):
        open_table(name, outcome_column="text")
    with pytest.raises(ColumnError, match="has a column 'stars' already"):
        list(open_table(name, outcome_column="stars").read(io.BytesIO(make(name, ["a"])), batch_size=1))


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_a_changed_row_or_head_changes_the_description(name):
    def describe(content):
        table = open_table(name)
        return [
            [*table.describe_rows(rows), table.describe_head()]
            for rows in table.read(io.BytesIO(content), batch_size=9)
        ]

    content = make(name, ["one", "two", None])
    assert describe(content) == describe(content)
    assert describe(content) != describe(make(name, ["one", "two", ""])) or name in ("csv", "tsv")
    assert describe(content) != describe(make(name, ["one", "too", None]))
    if name in ("csv", "tsv", "jsonl"):
        assert describe(content) != describe(content.replace(b"r1", b"x1"))
    assert describe(content) != describe(content.replace(b"stars", b"moons"))


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_records_have_every_column_and_need_no_text_column(name, tmp_path):
    path = tmp_path / f"rows.{name}"
    path.write_bytes(make(name, ["first", "", "third", "fourth"]))
    records = list(read_records(path))
    assert [record["text"] for record in records] == ["first", "", "third", "fourth"]
    assert list(records[3]) == ["id", "text", "stars"]
    table = FORMATS.load(name)(column="nothing", outcome_column=None, source="the file")
    assert list(table.read_records(io.BytesIO(path.read_bytes()))) == records


def test_records_of_a_compressed_file_and_of_a_missing_one(tmp_path):
    import gzip

    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert list(read_records(path)) == [{"a": "1", "b": "2"}]
    with pytest.raises(InputError, match="is not there"):
        list(read_records(tmp_path / "none.csv"))


def test_records_need_a_header_with_unique_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,a\n1,2,3\n", encoding="utf-8")
    with pytest.raises(ColumnError, match="'a' more than once"):
        list(read_records(path))
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="empty"):
        list(read_records(path))
    with pytest.raises(ParameterError, match="plain text"):
        open_table("txt").read_records(io.BytesIO(b"a line\n"))


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_the_values_of_other_columns_are_read(name):
    table = open_table(name)
    batches = list(table.read(io.BytesIO(make(name, ["one", "two", "three", "four"])), batch_size=3))
    assert [value for rows in batches for value in table.values(rows, "id")] == ["r0", "r1", "r2", "r3"]
    with pytest.raises(ColumnError, match="no column 'author'.* 'stars'"):
        table.values(batches[0], "author")


def test_values_that_are_not_strings_become_strings():
    lines = b'{"text": "a", "n": 1.50, "b": true, "none": null, "s": "\\u00e9"}\n{"text": "b"}\n'
    table = open_table("jsonl")
    (rows,) = table.read(io.BytesIO(lines), batch_size=9)
    read = {column: table.values(rows, column) for column in ("n", "b", "none", "s")}
    assert read == {"n": ["1.50", None], "b": ["true", None], "none": [None, None], "s": ["\u00e9", None]}
    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["a", "b"], "n": [1, None]}), out)
    table = open_table("parquet")
    (rows,) = table.read(io.BytesIO(out.getvalue()), batch_size=9)
    assert table.values(rows, "n") == ["1", None]
    table = open_table("csv")
    (rows,) = table.read(io.BytesIO(b"text,n\na,\nb,0\n"), batch_size=9)
    assert table.values(rows, "n") == [None, "0"]


def test_plain_text_has_no_other_columns():
    table = open_table("txt")
    (rows,) = table.read(io.BytesIO(b"a\n"), batch_size=9)
    with pytest.raises(ColumnError, match="no column 'author'.* Use csv"):
        table.values(rows, "author")


class Endless(io.RawIOBase):
    """A header or a line, then more and more of the same."""

    def __init__(self, start: bytes, more: bytes) -> None:
        self._start, self._more = start, more

    def readable(self):
        return True

    def readinto(self, buffer):
        data = (self._start or self._more * len(buffer))[: len(buffer)]
        self._start = b""
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize(
    ("name", "start", "more"),
    [
        ("txt", b"fine\n", b"x"),
        ("csv", b"text\n", b"x"),
        ("csv", b'id,text\n1,"', b"x\n"),
        ("csv", b"id,text\n", b'"abcd\n",'),
        ("jsonl", b'{"text": "fine"}\n', b"["),
        ("txt", b"fine\n", b"\0"),
    ],
    ids=["txt", "csv", "open quote", "fields of several lines", "jsonl", "device"],
)
def test_a_record_without_an_end_is_refused_while_it_is_read(monkeypatch, name, start, more):
    monkeypatch.setattr("textveil.tables.base.LONGEST_LINE", 1 << 20)
    stream = io.BufferedReader(Endless(start, more))
    with pytest.raises(InputError, match="^the file, line 2: what begins here has more than 1 MiB, .* Split it"):
        list(open_table(name).read(stream, batch_size=9))


def read_chosen(name, content, **choice):
    """The columns of the rewritten file, and the rows."""
    table = open_table(name)
    table.choose_columns(choice.get("drop", ()), choice.get("keep"))
    stream = io.BytesIO()
    batches = list(table.read(io.BytesIO(content), batch_size=9))
    with table.writer(stream, head=True) as writer:
        for rows in batches:
            writer.write(rows, [Result(text, "fine") for text in rows.texts])
    return list(open_table(name).read_records(io.BytesIO(stream.getvalue())))


@pytest.mark.parametrize("name", WITH_COLUMNS)
@pytest.mark.parametrize(
    ("choice", "columns"),
    [
        ({"drop": "id"}, ["text", "stars"]),
        ({"drop": ["stars", "id"]}, ["text"]),
        ({"keep": "stars"}, ["text", "stars"]),
        ({"keep": ["text"]}, ["text"]),
        ({"keep": ["stars", "id"]}, ["id", "text", "stars"]),
    ],
)
def test_columns_are_dropped_or_kept(name, choice, columns):
    rows = read_chosen(name, make(name, ["one", "two"]), **choice)
    assert list(rows[0]) == [*columns, OUTCOME_COLUMN]
    assert [row["text"] for row in rows] == ["one", "two"]
    if "stars" in columns:
        assert [row["stars"] for row in rows] == ["0", "1"]


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_a_column_to_drop_must_exist_and_have_no_texts(name):
    for choice in ({"drop": "ID"}, {"keep": "ID"}):
        with pytest.raises(ColumnError, match=f"no column 'ID'. It has: 'id', .*`{next(iter(choice))}_columns`"):
            read_chosen(name, make(name, ["one"]), **choice)
    with pytest.raises(ParameterError, match="'text' has the texts, so it cannot be dropped"):
        open_table(name).choose_columns("text", None)
    with pytest.raises(ParameterError, match="`drop_columns` or `keep_columns`, not both"):
        open_table(name).choose_columns("id", "stars")


def test_plain_text_has_no_columns_to_drop():
    with pytest.raises(ParameterError, match="plain text, which has no columns to drop"):
        open_table("txt").choose_columns("id", None)


def test_members_of_later_objects_are_dropped_and_kept_as_well():
    content = b'{"text": "a", "id": 1}\n{"id": 2, "text": "b", "email": "x", "id": 3}\n'
    assert read_chosen("jsonl", content, drop="id")[1] == {"text": "b", "email": "x", OUTCOME_COLUMN: "fine"}
    assert read_chosen("jsonl", content, keep="id")[1] == {"text": "b", "id": 3, OUTCOME_COLUMN: "fine"}
