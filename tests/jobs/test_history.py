"""The finished rows of a job: their number, and a digest that detects changes."""

import io

import pytest

from textveil.errors import InputError
from textveil.jobs.file import History
from textveil.tables import FORMATS, Rows

KEY = bytes(32)
LINES = [f"text {number}" for number in range(10)]


def open_csv(lines=LINES, header="text", batch_size=4):
    """A table, and the batches of a file that it reads."""
    table = FORMATS.load("csv")(column="text", outcome_column=None, source="'in.csv'")
    content = "".join(f"{line}\n" for line in (header, *lines)).encode()
    return table, table.read(io.BytesIO(content), batch_size=batch_size)


def finish(rows, **options):
    """The mark of a run that has finished so many rows."""
    table, batches = open_csv(batch_size=1, **options)
    history = History(table, KEY)
    for _, batch in zip(range(rows), batches, strict=False):
        history.add(batch)
    return history.as_dict()


def skip(mark, **options):
    """The history of a resumed run, and the texts that are left for it."""
    table, batches = open_csv(**options)
    history = History(table, KEY)
    left = [text for rows in history.skip(batches, [mark] if mark else []) for text in rows.texts]
    return history, left


def test_a_new_history_has_no_rows_and_skips_nothing():
    history, left = skip(None)
    assert left == LINES
    assert history.rows == 0


def test_rows_are_counted_and_hashed():
    assert finish(3)["rows"] == 3
    assert len({finish(rows)["digest"] for rows in range(1, 6)}) == 5
    assert finish(4) == finish(4)


def test_a_digest_is_short():
    assert len(finish(2)["digest"]) == 8


@pytest.mark.parametrize("done", [1, 4, 5, 8, 10])
@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_finished_rows_are_skipped_whatever_the_batches(done, batch_size):
    history, left = skip(finish(done), batch_size=batch_size)
    assert left == LINES[done:]
    assert history.as_dict() == finish(done)


def test_only_the_last_mark_counts():
    table, batches = open_csv()
    history = History(table, KEY)
    next(history.skip(batches, [{"rows": 2, "digest": "of another time"}, finish(6)]))
    assert history.rows == 6


def test_rows_after_the_finished_ones_may_change():
    _, left = skip(finish(3), lines=[*LINES[:3], "new", "rows"])
    assert left == ["new", "rows"]


@pytest.mark.parametrize(
    "options",
    [
        {"lines": ["other", *LINES[1:]]},
        {"lines": [*LINES[:5], "other", *LINES[6:]]},
        {"lines": [LINES[1], LINES[0], *LINES[2:]]},
        {"lines": [f"{line},1" for line in LINES], "header": "text,stars"},
    ],
    ids=["first row", "last finished row", "order", "header"],
)
def test_a_change_in_finished_rows_is_an_error_that_quotes_no_text(options):
    with pytest.raises(InputError, match="^'in.csv' has changed") as caught:
        skip(finish(6), **options)
    assert "text 0" not in str(caught.value)
    assert caught.value.parameters in ((), ("overwrite",))


def test_a_header_counts_from_the_first_row_on():
    with pytest.raises(InputError, match="has changed"):
        skip(finish(1), lines=["text 0,1"], header="text,stars")


def test_a_shorter_file_is_an_error():
    with pytest.raises(InputError, match="^'in.csv' is shorter than when the run began"):
        skip(finish(6), lines=LINES[:5])


def test_the_boundary_between_rows_is_part_of_the_digest():
    digests = []
    for texts in (["ab", "c"], ["a", "bc"]):
        table = FORMATS.load("txt")(column="text", outcome_column=None, source="s")
        history = History(table, KEY)
        history.add(Rows(texts, [None, None]))
        digests.append(history.as_dict()["digest"])
    assert digests[0] != digests[1]


def test_lone_surrogates_are_hashed():
    table = FORMATS.load("jsonl")(column="text", outcome_column=None, source="s")
    history = History(table, KEY)
    history.add(Rows(["\ud83d"], [[]]))
    assert history.rows == 1


def test_a_mark_without_its_key_confirms_no_row():
    table, batches = open_csv()
    ours, same, other = (History(table, key) for key in (KEY, KEY, bytes([1]) * 32))
    for batch in batches:
        for history in (ours, same, other):
            history.add(batch)
    assert ours.as_dict() == same.as_dict()
    assert ours.as_dict()["digest"] != other.as_dict()["digest"]
