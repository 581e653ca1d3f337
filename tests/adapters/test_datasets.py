from __future__ import annotations

import logging
import warnings

import datasets
import pytest

from tests.adapters.conftest import TEXTS
from textveil.adapters.datasets import BatchObfuscator, obfuscate_dataset
from textveil.errors import BudgetError, ColumnError, ParameterError, TextveilWarning

LABELS = datasets.ClassLabel(names=["bad", "good"])


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    datasets.disable_progress_bars()


@pytest.fixture
def dataset() -> datasets.Dataset:
    features = datasets.Features({"text": datasets.Value("large_string"), "label": LABELS})
    return datasets.Dataset.from_dict({"text": [*TEXTS, None], "label": [0, 1, 0, 1, 0, 1]}, features=features)


@pytest.fixture
def cached(dataset, tmp_path) -> datasets.Dataset:
    """A data set in files, as those of the hub are."""
    dataset.save_to_disk(tmp_path / "saved")
    return datasets.load_from_disk(tmp_path / "saved")


def test_texts_change_and_all_else_stays(dataset, obfuscator):
    result = obfuscate_dataset(dataset, epsilon=20, batch_size=2, obfuscator=obfuscator)
    assert result.dataset.features == {**dataset.features, "textveil_outcome": datasets.Value("string")}
    assert result.dataset["label"][:] == dataset["label"][:]
    assert result.dataset["text"][0] != TEXTS[0]
    assert result.dataset["text"][-1] is None
    assert result.dataset["textveil_outcome"][-3:] == ["only_stopwords", "no_words", "missing"]
    assert result.certificate.tally.documents.total() == 6
    assert result.certificate.other_columns
    assert dataset["text"][:-1] == TEXTS


def test_streams_are_obfuscated_while_they_are_read(dataset, settings):
    stream = dataset.to_iterable_dataset()
    result = obfuscate_dataset(stream, epsilon=20, batch_size=2, seed=7, **settings)
    assert result.certificate.tally.documents.total() == 0
    rows = list(result.dataset)
    expected = obfuscate_dataset(dataset, epsilon=20, seed=7, **settings)
    assert rows == list(expected.dataset)
    assert result.certificate == expected.certificate


def test_a_stream_that_does_not_know_its_columns(settings):
    stream = datasets.IterableDataset.from_generator(lambda: iter([{"text": "good plot"}, {"text": None}]))
    assert stream.column_names is None
    rows = list(obfuscate_dataset(stream, epsilon=20, **settings).dataset)
    assert rows[1] == {"text": None, "textveil_outcome": "missing"}


@pytest.mark.parametrize("kind", [datasets.DatasetDict, datasets.IterableDatasetDict])
def test_all_splits_are_obfuscated(kind, dataset, obfuscator):
    streams = kind is datasets.IterableDatasetDict
    splits = kind({name: dataset.to_iterable_dataset() if streams else dataset for name in ("train", "test")})
    result = obfuscate_dataset(splits, epsilon=20, obfuscator=obfuscator)
    assert type(result.dataset) is kind
    train, test = [[row["text"] for row in result.dataset[name]] for name in ("train", "test")]
    assert len(train) == len(test) == 6
    assert train != test  # other noise
    assert result.certificate.tally.documents.total() == 12


def test_noise_in_the_cache_is_not_taken_for_new(cached, settings):
    with pytest.warns(UserWarning, match="The cache keeps the original texts: .*saved"):
        results = [obfuscate_dataset(cached, epsilon=1, **settings).dataset for _ in range(2)]
    assert results[0]["text"][:] != results[1]["text"][:]
    assert results[0]._fingerprint != results[1]._fingerprint


def test_a_data_set_in_memory_gives_no_warning(dataset, obfuscator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        obfuscate_dataset(dataset, epsilon=20, obfuscator=obfuscator)


def test_map_does_not_find_noise_in_its_cache_either(cached, settings):
    obfuscate = BatchObfuscator(epsilon=1, **settings)
    texts = {tuple(cached.map(obfuscate, batched=True)["text"][:]) for _ in range(4)}
    assert len(texts) == 4


def test_map_runs_in_several_processes(cached, settings):
    done = cached.map(BatchObfuscator(epsilon=20, **settings), batched=True, num_proc=2)
    assert done["textveil_outcome"][-3:] == ["only_stopwords", "no_words", "missing"]
    with pytest.raises(ParameterError, match="With `seed`, all processes would draw the same noise"):
        cached.map(BatchObfuscator(epsilon=20, seed=1, **settings), batched=True, num_proc=2)


def test_map_takes_an_obfuscator_in_one_process(cached, obfuscator, caplog):
    caplog.set_level(logging.ERROR)
    done = cached.map(BatchObfuscator(epsilon=20, obfuscator=obfuscator), batched=True)
    assert done["text"][0] != TEXTS[0]


def test_several_columns(settings):
    pair = datasets.Dataset.from_dict({"title": TEXTS, "text": TEXTS[::-1]})
    result = obfuscate_dataset(pair, ["title", "text"], epsilon=20, **settings)
    names = ["title", "text", "textveil_outcome_title", "textveil_outcome_text"]
    assert result.dataset.column_names == names
    assert not result.certificate.other_columns


def test_mistakes_are_found_before_anything_is_read(dataset, obfuscator):
    with pytest.raises(ColumnError, match="The data set has no column 'txt'. It has: 'text', 'label'"):
        obfuscate_dataset(dataset.to_iterable_dataset(), "txt", epsilon=20, obfuscator=obfuscator)
    with pytest.raises(ParameterError, match="`dataset` must be a data set of Hugging Face. Got list instead"):
        obfuscate_dataset(TEXTS, epsilon=20, obfuscator=obfuscator)
    with pytest.raises(BudgetError, match="needs all texts at once"):
        obfuscate_dataset(dataset, epsilon_per_word=1, length="average", obfuscator=obfuscator)


@pytest.mark.parametrize("streams", [False, True])
def test_columns_are_dropped_or_kept_and_those_that_may_identify_people_are_pointed_out(dataset, obfuscator, streams):
    named = dataset.rename_column("label", "author")
    if streams:
        named = named.to_iterable_dataset()
    with pytest.warns(TextveilWarning, match=r"copied: 'author' \(names\)"):
        obfuscate_dataset(named, epsilon=20, obfuscator=obfuscator)
    for choice in ({"drop_columns": "author"}, {"keep_columns": []}):
        done = obfuscate_dataset(named, epsilon=20, obfuscator=obfuscator, **choice)
        assert list(next(iter(done.dataset))) == ["text", "textveil_outcome"]
        assert not done.certificate.other_columns
    with pytest.raises(ColumnError, match="no column 'name'"):
        obfuscate_dataset(named, epsilon=20, obfuscator=obfuscator, drop_columns="name")
