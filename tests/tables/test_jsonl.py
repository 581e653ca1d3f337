import json

import pytest

from textveil.errors import ColumnError, InputError

from .test_contract import read, rewrite


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "SECRET', "line 2: this is not a JSON object"),
        (b'["SECRET"]', "line 2: this is not a JSON object"),
        (b'{"text": "a"} SECRET', "line 2: this is not a JSON object"),
        (b'{"text": "a",}', "line 2: this is not a JSON object"),
        (b'{"text" "a"}', "line 2: this is not a JSON object"),
        (b'{7: "a"}', "line 2: this is not a JSON object"),
        (b'{"text": "a", "id": SECRET}', "line 2: this is not a JSON object"),
        (b'{"text": 7}', "line 2: the column 'text' holds no text"),
        (b'{"text": ["SECRET"]}', "line 2: the column 'text' holds no text"),
        (b'{"text": ' + b"[" * 100_000, "line 2: this is not a JSON object"),
    ],
)
def test_broken_jsonl_is_reported_by_line_and_never_quoted(line, message):
    with pytest.raises(InputError, match=message) as caught:
        read("jsonl", b'{"text": "fine"}\n' + line + b"\n")
    assert "SECRET" not in str(caught.value)


def test_jsonl_keeps_values_of_every_type_and_lone_surrogates():
    row = {"text": "a \ud800 b", "tags": [1, 2.5, None, {"x": True}], "big": 10**30}
    content = json.dumps(row).encode() + b"\n\n" + b'{"text": "gr\\u00fcn"}\n'
    result = rewrite("jsonl", content, lambda text: text + "!")
    first, second = (json.loads(line) for line in result.splitlines())
    assert first == {**row, "text": "a \ud800 b!", "textveil_outcome": "fine"}
    assert second["text"] == "grün!"


def test_jsonl_a_row_without_the_column_has_no_text():
    assert read("jsonl", b'{"text": "a"}\n{"id": 1}\n') == ["a", None]


def test_jsonl_copies_other_members_character_by_character():
    content = (
        b'{ "price":1.10, "big":12345678901234567.25,"huge": 1E400, "many": ' + b"7" * 5000 + b', "text":"a",'
        b' "x": {"b" : [1,  2.0]}, "x": "\\u00fc", "nan": NaN }\n'
    )
    result = rewrite("jsonl", content, str.upper)
    for piece in (b'"price": 1.10,', b"12345678901234567.25", b"1E400", b"7" * 5000, b'{"b" : [1,  2.0]}', b"\\u00fc"):
        assert piece in result
    assert result.count(b'"x"') == 2
    assert b'"text": "A"' in result


def test_jsonl_with_the_column_twice_is_refused():
    with pytest.raises(ColumnError, match="more than once"):
        read("jsonl", b'{"text": "a"}\n{"text": "b", "text": "c"}\n')


def test_jsonl_a_first_object_without_the_column_is_refused():
    with pytest.raises(ColumnError, match="It has: 'id'"):
        read("jsonl", b'{"id": 1}\n{"text": "a"}\n')


def test_jsonl_an_empty_object_is_a_row():
    assert read("jsonl", b'{"text": "a"}\n{}\n { } \n') == ["a", None, None]
