import pytest

from textveil.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.corpus.settings import Labels, Thresholds, Training
from textveil.errors import ParameterError


def test_the_defaults_are_the_papers():
    assert Thresholds() == Thresholds(275, 2.0, 0.05, only_attracted=False)
    assert (MIN_COUNT, MIN_PMI, TOP_SHARE) == (275, 2.0, 0.05)
    assert Training() == Training(dimensions=300, window=5, min_entry_count=5, epochs=5, negative=5, skip_gram=True)


@pytest.mark.parametrize("name", ["dimensions", "window", "min_entry_count", "epochs", "negative", "most_entries"])
@pytest.mark.parametrize("value", [0, -3])
def test_numbers_below_one_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"`{name}` must be at least 1. Got {value} instead") as caught:
        Training(**{name: value}).check()
    assert caught.value.parameters == (name,)
    Training(**{name: 1}).check()


def test_a_vocabulary_is_unlimited_by_default():
    assert Training().most_entries is None
    Training().check()


def test_a_manifest_records_training_under_the_names_of_its_format():
    recorded = Training(min_entry_count=7).as_dict()
    assert recorded == {
        "dimensions": 300,
        "window": 5,
        "min_count": 7,
        "epochs": 5,
        "negative": 5,
        "skip_gram": True,
        "most_entries": None,
        "seed": 1,
    }


def test_labels_need_only_a_name():
    assert Labels("mine") == Labels("mine", version="1", language="en", corpus="unknown", license="unknown")
