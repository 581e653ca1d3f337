"""Data sets: filtered, classified, sampled, cut, stored, and found again."""

from __future__ import annotations

import json

import pytest

from tests.study.conftest import write_reviews
from textveil.errors import ColumnError, InputError, StudyError
from textveil.lab.study.datasets import find_dataset, read_dataset, read_table, write_table
from textveil.lab.study.study import DatasetSource


@pytest.fixture
def read(tmp_path):
    write_reviews(tmp_path / "reviews.jsonl")
    (tmp_path / "stored").mkdir()

    def read(begun=False, **settings):
        source = DatasetSource(path=tmp_path / "reviews.jsonl", **settings)
        return read_dataset("reviews", source, tmp_path / "stored", begun=begun)

    return read


def test_stars_become_sentiment_and_others_are_dropped(read):
    found = read(label={"column": "stars", "map": {1: "bad", 2: "bad", 4: "good", 5: "good"}}, attribute="author")
    assert set(found.label) == {"bad", "good"}
    assert set(found.attribute) == {"ann", "bob"}
    assert all(("good" in text) == (label == "good") for text, label in zip(found.texts, found.label, strict=True))
    assert found.info.texts == len(found.texts) == 38
    assert found.info.dropped == {"no label (stars)": 10}
    assert found.info.average_length == pytest.approx(
        sum(len(text.replace("!", "").split()) for text in found.texts) / 38
    )


def test_filters_frequent_classes_and_first_words(read):
    found = read(
        where={"stars": [1, 2, "3.0"]}, attribute={"column": "stars", "most_frequent": 2}, first_words=3, sample=10
    )
    assert found.texts == [text for text in found.texts if len(text.split()) == 3]
    assert len(found.texts) == 10
    assert set(found.attribute) == {"1", "2"}  # as frequent as 3, and before it
    assert found.info.dropped["another stars"] == 18
    assert found.label is None


def test_a_sample_is_drawn_by_its_seed(read):
    first, again, other = (read(sample={"size": 20, "seed": seed}).texts for seed in (1, 1, 2))
    assert first == again != other
    whole = read().texts
    assert first == [text for text in whole if text in first]  # in the order of the file
    assert read(sample=48).texts == whole


def test_it_is_found_again_without_its_file(read, tmp_path):
    first = read(attribute="author")
    (tmp_path / "reviews.jsonl").unlink()
    again = read(attribute="author")
    assert again.texts == first.texts
    assert again.info == first.info
    with pytest.raises(InputError, match="is not a file"):
        read(attribute="stars")


def test_a_file_that_has_changed_is_refused(read, tmp_path):
    read(attribute="author")
    with (tmp_path / "reviews.jsonl").open("a") as lines:
        lines.write('{"text": "secret words", "author": "ann"}\n')
    for settings in ({"attribute": "author"}, {"first_words": 5}):
        with pytest.raises(StudyError, match="'reviews' has changed since this study began") as caught:
            read(begun=True, **settings)
        assert "secret" not in str(caught.value)
    assert len(read(attribute="author").texts) == 49  # nothing was made of it yet


def test_a_class_of_one_is_a_problem_of_its_column_alone(read, tmp_path):
    with (tmp_path / "reviews.jsonl").open("a") as lines:
        lines.write('{"text": "secret words", "author": "eve", "stars": 1}\n')
    settings = {"attribute": "author", "label": {"column": "stars", "map": {1: "a", 2: "b"}}}
    found = read(**settings)
    assert list(found.info.problems) == ["attribute"]
    assert found.info.problems["attribute"].startswith("Row 49 is the only one with its attribute.")
    assert (found.info.attribute_sha256, found.info.label_sha256 is None) == (None, False)
    assert read(**settings).info == found.info  # also after it was stored


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"text": "body"}, ColumnError, r"no column 'body'. It has: 'text', .*Fix 'datasets.reviews'"),
        ({"label": "sentiment"}, ColumnError, "no column 'sentiment'.*Fix 'datasets.reviews'"),
        ({"where": {"country": "x"}}, ColumnError, "no column 'country'.*Fix 'datasets.reviews'"),
        ({"where": {"language": "de"}}, InputError, "all rows have another language"),
        ({"label": {"column": "stars", "map": {9: "x"}}}, InputError, r"all rows have no label \(stars\)"),
        ({"sample": 49}, StudyError, "49 texts, but only 48 texts match. Lower 'datasets.reviews.sample'"),
    ],
)
def test_settings_that_do_not_match_the_file(read, settings, error, said):
    with pytest.raises(error, match=said) as caught:
        read(**settings)
    assert "gamma" not in str(caught.value)
    assert "--" not in str(caught.value)


def test_texts_without_words_and_halves_of_characters(tmp_path):
    rows = ["...", None, "a \ud800 b", ""]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
    found = read_dataset("odd", DatasetSource(path=path), tmp_path)
    assert len(found.texts) == 1
    found.texts[0].encode()
    assert found.info.dropped == {"no word in the text": 3}


def test_a_damaged_description_is_an_error(read, tmp_path):
    found = read()
    found.path.with_suffix(".json").write_text("{")
    with pytest.raises(InputError, match="damaged. Remove it"):
        find_dataset("reviews", DatasetSource(path=tmp_path / "reviews.jsonl"), tmp_path / "stored")


def test_what_is_written_is_read(tmp_path):
    columns = {"text": ["a", "ü\n", ""], "row": [1, 2, 3], "label": [None, "x", None]}
    write_table(tmp_path / "a.parquet", columns)
    assert read_table(tmp_path / "a.parquet") == columns
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_a_file_that_is_none_is_an_error(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    for name in ("a.parquet", "b.parquet"):
        with pytest.raises(InputError, match="not a complete Parquet file"):
            read_table(tmp_path / name)
