"""Data sets: filtered, classified, sampled, cut; and found again."""

from __future__ import annotations

import json

import pytest

from tests.experiments.conftest import write_reviews
from textveil.errors import ColumnError, InputError, StudyError
from textveil.experiments.datasets import find_dataset, prepare_dataset
from textveil.experiments.study import DatasetSource


@pytest.fixture
def prepare(tmp_path):
    write_reviews(tmp_path / "reviews.jsonl")
    (tmp_path / "kept").mkdir()

    def prepare(begun=False, **settings):
        source = DatasetSource(path=tmp_path / "reviews.jsonl", **settings)
        return prepare_dataset("reviews", source, tmp_path / "kept", begun=begun)

    return prepare


def test_stars_become_sentiment_and_others_are_dropped(prepare):
    found = prepare(label={"column": "stars", "map": {1: "bad", 2: "bad", 4: "good", 5: "good"}}, attribute="author")
    assert set(found.label) == {"bad", "good"}
    assert set(found.attribute) == {"ann", "bob"}
    assert all(("good" in text) == (label == "good") for text, label in zip(found.texts, found.label, strict=True))
    assert found.description.texts == len(found.texts) == 38
    assert found.description.dropped == {"no label (stars)": 10}
    assert found.description.average_length == pytest.approx(
        sum(len(text.replace("!", "").split()) for text in found.texts) / 38
    )


def test_filters_frequent_classes_and_first_words(prepare):
    found = prepare(
        where={"stars": [1, 2, "3.0"]}, attribute={"column": "stars", "most_frequent": 2}, first_words=3, sample=10
    )
    assert found.texts == [text for text in found.texts if len(text.split()) == 3]
    assert len(found.texts) == 10
    assert set(found.attribute) == {"1", "2"}  # as frequent as 3, and before it
    assert found.description.dropped["another stars"] == 18
    assert found.label is None


def test_a_sample_is_drawn_by_its_seed(prepare):
    first, again, other = (prepare(sample={"size": 20, "seed": seed}).texts for seed in (1, 1, 2))
    assert first == again != other
    whole = prepare().texts
    assert first == [text for text in whole if text in first]  # in the order of the file
    assert prepare(sample=48).texts == whole


def test_it_is_found_again_without_its_file(prepare, tmp_path):
    first = prepare(attribute="author")
    (tmp_path / "reviews.jsonl").unlink()
    again = prepare(attribute="author")
    assert again.texts == first.texts
    assert again.description == first.description
    with pytest.raises(InputError, match="is not there|no file"):
        prepare(attribute="stars")


def test_a_file_that_has_changed_is_refused(prepare, tmp_path):
    prepare(attribute="author")
    with (tmp_path / "reviews.jsonl").open("a") as lines:
        lines.write('{"text": "secret words", "author": "ann"}\n')
    for settings in ({"attribute": "author"}, {"first_words": 5}):
        with pytest.raises(StudyError, match="'reviews' has changed since this study began") as caught:
            prepare(begun=True, **settings)
        assert "secret" not in str(caught.value)
    assert len(prepare(attribute="author").texts) == 49  # nothing was made of it yet


def test_a_class_of_one_is_said_with_its_row_before_anything_is_kept(prepare, tmp_path):
    with (tmp_path / "reviews.jsonl").open("a") as lines:
        lines.write('{"text": "secret words", "author": "eve", "stars": 1}\n')
    with pytest.raises(InputError, match="'reviews': Row 49 is the only one with its attribute"):
        prepare(attribute="author", label={"column": "stars", "map": {1: "a", 2: "b"}})
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"text": "body"}, ColumnError, "no column 'body'"),
        ({"label": "sentiment"}, ColumnError, "no column 'sentiment'"),
        ({"where": {"country": "x"}}, ColumnError, "no column 'country'"),
        ({"where": {"language": "de"}}, InputError, "all rows have another language"),
        ({"label": {"column": "stars", "map": {9: "x"}}}, InputError, r"all rows have no label \(stars\)"),
        ({"sample": 49}, StudyError, "49 texts, and there are 48 that fit"),
    ],
)
def test_what_does_not_fit_the_file(prepare, settings, error, said):
    with pytest.raises(error, match=said) as caught:
        prepare(**settings)
    assert "gamma" not in str(caught.value)


def test_texts_without_words_and_halves_of_characters(tmp_path):
    rows = ["...", None, "a \ud800 b", ""]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
    found = prepare_dataset("odd", DatasetSource(path=path), tmp_path)
    assert len(found.texts) == 1
    found.texts[0].encode()
    assert found.description.dropped == {"no word in the text": 3}


def test_a_damaged_description_is_an_error(prepare, tmp_path):
    found = prepare()
    found.path.with_suffix(".json").write_text("{")
    with pytest.raises(InputError, match="damaged. Remove it"):
        find_dataset("reviews", DatasetSource(path=tmp_path / "reviews.jsonl"), tmp_path / "kept")
