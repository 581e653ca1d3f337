"""Classifiers that are found again instead of being trained again."""

import stat

import numpy as np
import pytest

from tests.metrics.conftest import make_rows
from textveil.errors import InputError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classification import Scenario
from textveil.lab.metrics.classifiers.base import find_or_fit
from textveil.lab.metrics.classifiers.linear import Linear
from textveil.lab.metrics.classifiers.transformer import Transformer
from textveil.lab.metrics.dataset import Classes, Texts

TEXTS, _, AUTHORS = make_rows(40)
CLASSES = Classes.of(AUTHORS, range(40), "author")
ALL = np.arange(40)


@pytest.fixture(scope="module")
def encoder(make_encoder):
    return make_encoder()


@pytest.fixture
def train(encoder, tmp_path, monkeypatch):
    """Finds or trains a classifier, and returns its predictions and whether it was trained."""
    runs = []
    fit = Transformer.fit
    monkeypatch.setattr(Transformer, "fit", lambda self, *a, **k: runs.append(1) or fit(self, *a, **k))

    def run(texts=TEXTS, classes=CLASSES, rows=ALL, seed=1, folder=tmp_path / "cache", **options):
        before = len(runs)
        classifier = Transformer(**{"model": encoder, "learning_rate": 0.01, **options})
        found = Texts(texts, folder)
        fitted = find_or_fit(classifier, found, rows, classes, seed=seed)
        return fitted.predict(found, ALL).tolist(), len(runs) > before

    return run


def stored(tmp_path):
    return sorted(tmp_path.glob("cache/*/classifier-*/*.safetensors"))


def test_a_stored_classifier_predicts_the_same_without_training(train, tmp_path):
    first, trained = train()
    assert trained
    again, trained = train()
    assert (again, trained) == (first, False)
    assert len(stored(tmp_path)) == 1


def test_only_the_user_may_read_it_and_names_hold_no_plain_hash(train, tmp_path):
    train()
    (path,) = stored(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert Texts(TEXTS).hash[:8] not in str(path)
    content = path.read_bytes()
    assert not any(text.encode() in content for text in TEXTS)
    assert content[8:9] == b"{"  # the header of safetensors, which cannot hold code


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"epochs": 2},
        {"learning_rate": 0.02},
        {"texts": TEXTS[::-1]},
        {"rows": ALL[:30]},
        {"classes": Classes.of(AUTHORS[1:] + AUTHORS[:1], range(40), "author")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_changes_a_classifier_trains_another(train, change):
    train()
    assert train(**change)[1]


def test_nothing_is_stored_without_a_cache_or_a_wish(train, tmp_path):
    assert train(folder=None)[1]
    assert train(folder=None)[1]
    assert train(keep=False)[1]
    assert stored(tmp_path) == []
    find_or_fit(Linear(), Texts(TEXTS, tmp_path / "cache"), ALL, CLASSES, seed=1)
    assert stored(tmp_path) == []


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: content[:-4] + b"\x00\x00\x80\x7f"])
def test_a_damaged_file_is_refused(train, tmp_path, damage):
    train()
    (path,) = stored(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="is damaged or cannot be read. Remove it: the classifier is trained again"):
        train()


def test_weights_of_another_model_are_refused(encoder):
    with pytest.raises(InputError, match="does not match the model"):
        Transformer(model=encoder).unpack(b"junk", CLASSES)


def test_a_new_process_does_not_train_the_static_attacker_again(encoder, tmp_path, monkeypatch):
    def measure(obfuscated):
        dataset = Dataset(TEXTS, attribute=AUTHORS, folder=tmp_path / "cache")
        metric = AttributeInference(classifier=Transformer(model=encoder, learning_rate=0.01), seeds=[42])
        return metric.predict(Case(dataset, dataset.pair(obfuscated)), Scenario.STATIC).by_seed

    first = measure(TEXTS[::-1])
    monkeypatch.setattr(Transformer, "fit", lambda *_, **__: pytest.fail("it is trained again"))
    assert measure(TEXTS[::-1]) == first  # its F1 was cached
    assert 0 <= measure([text.upper() for text in TEXTS])[0] <= 1  # the classifier was stored
