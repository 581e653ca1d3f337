import json

import pytest

from textveil.errors import InputError

from .test_contract import read, rewrite


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "SECRET', "line 2: this is not JSON"),
        (b'["SECRET"]', "line 2: expected a JSON object"),
        (b'{"text": 7}', "line 2: the column 'text' holds int"),
        (b"[" * 100_000, "line 2: this is not JSON"),
    ],
)
def test_jsonl_that_is_broken_is_reported_by_line_and_never_quoted(line, message):
    with pytest.raises(InputError, match=message) as caught:
        read("jsonl", b'{"text": "fine"}\n' + line + b"\n")
    assert "SECRET" not in str(caught.value)


def test_jsonl_keeps_values_of_every_kind_and_lone_surrogates():
    row = {"text": "a \ud800 b", "tags": [1, 2.5, None, {"x": True}], "big": 10**30}
    content = json.dumps(row).encode() + b"\n\n" + b'{"text": "gr\\u00fcn"}\n'
    result = rewrite("jsonl", content, lambda text: text + "!")
    first, second = (json.loads(line) for line in result.splitlines())
    assert first == {**row, "text": "a \ud800 b!", "outcome": "fine"}
    assert second["text"] == "grün!"


def test_jsonl_a_row_without_the_column_has_no_text():
    assert read("jsonl", b'{"text": "a"}\n{"id": 1}\n') == ["a", None]
