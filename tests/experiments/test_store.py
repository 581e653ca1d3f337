"""The folder of a study: what is there is whole, and belongs together."""

from __future__ import annotations

import pytest

from tests.experiments.test_grid import CELL
from textveil.errors import InputError, OutputExistsError
from textveil.evaluation import Measurement
from textveil.experiments.store import Failure, Store, Value


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    with store.locked():
        yield store


def keep(store: Store, *texts: str):
    return store.write_texts(CELL, texts, ["obfuscated"] * len(texts), {"words": {"perturbed": 2}}, 1.5)


def test_texts_and_their_certificate(store):
    assert store.find_texts(CELL) is None
    kept = keep(store, "a b", "ü")
    assert store.find_texts(CELL) == kept
    assert store.read_texts(CELL) == ["a b", "ü"]
    assert kept.certificate["words"] == {"perturbed": 2}


def test_a_table_without_its_completion_is_not_there(store):
    keep(store, "a")
    (store.folder / "texts" / f"{CELL.id}.json").unlink()
    assert store.find_texts(CELL) is None


def test_values_belong_to_the_texts_that_were_measured(store):
    texts = keep(store, "a")
    value = Value(Measurement("similarity", "similarity (x)", {"cosine": 0.5}, "Half."), texts.sha256, 2.0)
    store.write_value(CELL, "similarity", "key", value)
    assert store.find_value(CELL, "similarity", "key", texts) == value
    assert store.find_value(CELL, "similarity", "other key", texts) is None
    assert store.find_value(CELL, "similarity", "key", keep(store, "b")) is None  # the texts were made anew


def test_failures_are_kept_and_forgotten(store):
    failure = Failure("similarity", "No model.")
    store.write_failure(CELL, "key", failure)
    assert store.find_failure(CELL, "similarity", "key") == failure
    assert store.find_failure(CELL, "similarity", "other key") is None
    store.forget_failure(CELL, "similarity", "key")
    store.forget_failure(CELL, "similarity", "key")
    assert store.find_failure(CELL, "similarity", "key") is None


def test_one_run_at_a_time(store):
    with pytest.raises(OutputExistsError, match="Another run is writing"), Store(store.folder).locked():
        pass


def test_what_is_damaged_is_said(store):
    keep(store, "a")
    for damaged in ("[", "[]", '{"a": 1}'):
        (store.folder / "texts" / f"{CELL.id}.json").write_text(damaged)
        with pytest.raises(InputError, match="is damaged. Remove it"):
            store.find_texts(CELL)
    keep(store, "a")
    (store.folder / "texts" / f"{CELL.id}.parquet").write_text("PAR1")
    with pytest.raises(InputError, match="not a complete Parquet file"):
        store.read_texts(CELL)
