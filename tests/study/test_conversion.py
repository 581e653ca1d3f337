"""Raw downloads of review sites, converted to data sets."""

from __future__ import annotations

import csv
import json
import stat

import pytest

from textveil.errors import ColumnError, InputError
from textveil.lab.study.conversion import AUTHORS, convert_trustpilot, convert_yelp

USERS = [
    {
        "user_id": 1,
        "gender": "F",
        "reviews": [
            {"rating": "5", "text": ["Quick delivery.", "Nice shoes."], "title": "Good"},
            {"rating": "3", "text": ["It was a shop."]},
            {"rating": 1, "text": []},
        ],
    },
    {"user_id": 2, "gender": None, "reviews": [{"rating": "1", "text": ["Never came."]}]},
    {"user_id": 3, "gender": "M", "reviews": [{"rating": "2", "text": ["Too slow."]}]},
]
EXPECTED = [
    {"text": "Quick delivery. Nice shoes.", "stars": "5", "gender": "female", "language": "en-US"},
    {"text": "Too slow.", "stars": "2", "gender": "male", "language": "en-US"},
]


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("us.jsonl", lambda rows: "\n".join(map(json.dumps, rows))),
        ("us.jsonl.tmp", lambda rows: "\n\n".join(map(repr, rows))),  # as Python writes them
        ("us.json", json.dumps),
        ("us.json", lambda rows: json.dumps(rows, indent=1)),
    ],
    ids=["jsonl", "python", "list", "indented"],
)
def test_users_with_their_reviews(tmp_path, name, write):
    (tmp_path / name).write_text(write(USERS), encoding="utf-8")
    done = convert_trustpilot(tmp_path / name, tmp_path / "trustpilot.jsonl")
    assert read(done.path) == EXPECTED
    assert done.texts == 2
    assert done.columns == {"text": "text", "stars": "rating", "gender": "gender"}
    assert done.dropped == {"3 stars or none": 1, "no text": 1, "another gender or none": 1}


def test_reviews_in_a_csv_file_with_other_names(tmp_path):
    with (tmp_path / "reviews.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["Review Text", "Star-Rating", "Sex", "locale"])
        rows.writerow(["Quick delivery. Nice shoes.", "5.0", "female", "en_US"])
        rows.writerow(["Schnell geliefert.", "5", "female", "de-DE"])
        rows.writerow(["Too slow.", "2", "m", "en-us"])
    done = convert_trustpilot(tmp_path / "reviews.csv", tmp_path / "trustpilot.jsonl")
    assert read(done.path) == EXPECTED
    assert done.dropped == {"another language or none": 1}


def test_the_most_frequent_authors_of_yelp_are_kept(tmp_path):
    rows = [
        {"user_id": f"u{author:02}", "stars": 4.0, "text": f"Visit {number}."}
        for author in range(15)
        for number in range(author + 1)
    ]
    rows += [{"user_id": "neutral", "stars": 3, "text": "So so."}] * 40
    (tmp_path / "yelp.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = convert_yelp(tmp_path / "yelp.json", tmp_path / "converted.jsonl")
    assert {row["author"] for row in read(done.path)} == {f"u{number:02}" for number in range(5, 15)}
    assert len({row["author"] for row in read(done.path)}) == AUTHORS
    assert done.texts == sum(range(6, 16))
    assert done.dropped == {"3 stars or none": 40, "another author or none": sum(range(1, 6))}


@pytest.mark.parametrize(
    ("values", "expected"), [((0, 1, 2), ["negative", "positive"]), (("pos", "NEG", ""), ["positive", "negative"])]
)
def test_a_file_may_have_sentiments_instead_of_stars(tmp_path, values, expected):
    rows = [{"author": "a", "sentiment": value, "review": "Nice."} for value in values]
    (tmp_path / "yelp.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = convert_yelp(tmp_path / "yelp.jsonl", tmp_path / "converted.jsonl")
    assert [row["stars"] for row in read(done.path)] == expected


def test_a_missing_column_is_named_with_those_that_are_recognized(tmp_path):
    (tmp_path / "yelp.jsonl").write_text('{"text": "A secret.", "stars": 5, "who": "ann"}\n', encoding="utf-8")
    with pytest.raises(
        ColumnError, match="no column for the author. It has: 'text', 'stars', 'who'.*author_id, user_id"
    ) as told:
        convert_yelp(tmp_path / "yelp.jsonl", tmp_path / "converted.jsonl")
    assert "secret" not in str(told.value)
    assert not (tmp_path / "converted.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 junk", "Unpack a zip file first"),
        (b'{"text": "secret", "stars": 3, "author": "a"}', "1 with 3 stars or none"),
        (b"[1, 2", "is not valid JSON"),
        (b"", "object 1: this is not a JSON object"),
    ],
)
def test_files_that_cannot_be_converted(tmp_path, content, said):
    (tmp_path / "yelp.json").write_bytes(content)
    with pytest.raises(InputError, match=said) as told:
        convert_yelp(tmp_path / "yelp.json", tmp_path / "converted.jsonl")
    assert "secret" not in str(told.value)
    assert not (tmp_path / "converted.jsonl").exists()


def test_the_result_is_as_private_as_the_download(tmp_path):
    source = tmp_path / "us.jsonl"
    source.write_text("\n".join(map(json.dumps, USERS)), encoding="utf-8")
    source.chmod(0o600)
    done = convert_trustpilot(source, tmp_path / "trustpilot.jsonl")
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
