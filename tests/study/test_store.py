"""The folder of a study: complete files that belong together, also those of earlier versions."""

from __future__ import annotations

import pytest

from tests.study.test_grid import CELL
from textveil.errors import InputError, OutputExistsError
from textveil.lab.metrics import Measurement
from textveil.lab.study.store import Failure, Store, Value
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    with store.locked():
        yield store


@pytest.fixture
def certificate(tiny):
    return Obfuscator(tiny, seed=1).obfuscate("alpha beta", epsilon=1).certificate


@pytest.fixture
def keep(store, certificate):
    """Stores texts."""
    return lambda *texts: store.write_texts(CELL, texts, ["obfuscated"] * len(texts), certificate, 1.5)


def test_texts_and_their_certificate(store, keep, certificate):
    assert store.find_texts(CELL) is None
    stored = keep("a b", "ü")
    assert store.find_texts(CELL) == stored
    assert store.read_texts(CELL) == ["a b", "ü"]
    assert store.find_texts(CELL).certificate == certificate
    assert certificate.tally.words[Outcome.PERTURBED] == 2


def test_a_table_without_its_completion_mark_is_not_found(store, keep):
    keep("a")
    (store.folder / "texts" / f"{CELL.id}.json").unlink()
    assert store.find_texts(CELL) is None


def test_values_belong_to_the_texts_that_were_measured(store, keep):
    texts = keep("a")
    value = Value(Measurement("similarity", "similarity (x)", {"cosine": 0.5}, "Half."), texts.sha256, 2.0)
    store.write_value(CELL, "similarity", "key", value)
    assert store.find_values(CELL, {"similarity": "key"}, texts) == {"similarity": value}
    assert store.find_values(CELL, {"similarity": "other key"}, texts) == {}
    assert store.find_values(CELL, {"similarity": "key"}, keep("b")) == {}  # the texts were made again


def test_failures_are_stored_and_forgotten(store):
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


def test_a_damaged_file_is_reported(store, keep):
    keep("a")
    for damaged in ("[", "[]", '{"a": 1}'):
        (store.folder / "texts" / f"{CELL.id}.json").write_text(damaged)
        with pytest.raises(InputError, match="is damaged. Remove it, and run the study again"):
            store.find_texts(CELL)
    keep("a")
    (store.folder / "texts" / f"{CELL.id}.parquet").write_text("PAR1")
    with pytest.raises(InputError, match="not a complete Parquet file"):
        store.read_texts(CELL)


def test_a_cache_is_separate_from_the_folder(tmp_path):
    store = Store(tmp_path / "results", tmp_path / "cache")
    for folder in (store.datasets, store.scores, store.numbers):
        assert folder.parent == tmp_path / "cache"
    assert not store.begun


def test_everything_in_the_folder_is_for_the_user_only(store, keep):
    texts = keep("a")
    value = Value(Measurement("similarity", "similarity (x)", {"cosine": 0.5}, "Half."), texts.sha256, 2.0)
    store.write_value(CELL, "similarity", "key", value)
    store.write_failure(CELL, "key", Failure("similarity", "It failed."))
    modes = {path: path.stat().st_mode & 0o777 for path in (store.folder, *store.folder.rglob("*"))}
    assert {path.name for path in modes} >= {"texts", f"{CELL.id}.parquet", "similarity-key.json"}
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}
