import json

import pytest

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.lab.metrics.files import read_pairs

ORIGINAL = "id,text,mood,author\n1,one secret,good,anna\n2,,bad,ben\n3,three,good,anna\n"
HIDDEN = "id,text,mood\n1,eins,good\n2,,bad\n3,drei,good\n"


@pytest.fixture
def files(tmp_path):
    original, obfuscated = tmp_path / "a.csv", tmp_path / "b.csv"
    original.write_text(ORIGINAL)
    obfuscated.write_text(HIDDEN)
    return original, obfuscated


def test_two_files(files):
    pairs = read_pairs(*files, labels=["mood"], attribute="author")
    assert pairs.originals == ["one secret", "", "three"]
    assert pairs.obfuscated == ["eins", "", "drei"]
    assert pairs.labels["mood"] == ["good", "bad", "good"]
    assert pairs.attribute == ["anna", "ben", "anna"]
    assert read_pairs(*files).labels == {}


def test_one_file_with_both(tmp_path):
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps({"t": f"a{n}", "h": f"b{n}", "stars": n % 2}) + "\n" for n in range(4)))
    pairs = read_pairs(path, text="t", obfuscated_text="h", labels=["stars"])
    assert (pairs.originals[3], pairs.obfuscated[3], pairs.labels["stars"][3]) == ("a3", "b3", "1")


def test_formats_may_differ(files, tmp_path):
    lines = tmp_path / "b.txt"
    lines.write_text("eins\n\ndrei\n")
    assert read_pairs(files[0], lines, labels=["mood"]).obfuscated == ["eins", "", "drei"]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"text": "review"}, ColumnError, "a.csv' has no column 'review'.*'mood'"),
        ({"labels": ["stars"]}, ColumnError, "a.csv' has no column 'stars'"),
        ({"obfuscated_text": "hidden"}, ColumnError, "b.csv' has no column 'hidden'"),
        ({"obfuscated": None}, ParameterError, "Set `obfuscated` to their file"),
        ({"obfuscated": None, "obfuscated_text": "text"}, ParameterError, "Set `obfuscated` to their file"),
    ],
)
def test_missing_columns(files, options, kind, message):
    with pytest.raises(kind, match=message) as raised:
        read_pairs(**{"original": files[0], "obfuscated": files[1], **options})
    assert "secret" not in str(raised.value)


def test_different_rows_are_refused(files):
    files[1].write_text(HIDDEN + "4,vier,good\n")
    with pytest.raises(InputError, match="a.csv' has 3 rows and .*b.csv' has 4"):
        read_pairs(*files)
    files[1].write_text(HIDDEN.replace("2,,bad", "2,,good"))
    with pytest.raises(InputError, match="Row 2 has a different 'mood'"):
        read_pairs(*files, labels=["mood"])
    assert read_pairs(*files, attribute="author").attribute  # which the other file does not have
    files[1].write_text("text\n")
    with pytest.raises(InputError, match="has no rows"):
        read_pairs(*files)
