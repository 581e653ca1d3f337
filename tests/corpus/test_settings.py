import pytest

from textveil.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.corpus.settings import Labels, PriorOptions, Thresholds, Training, check_bundle_folder
from textveil.errors import OutputExistsError, ParameterError


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


def test_a_prior_keeps_what_occurs_in_twenty_documents_by_default():
    assert PriorOptions() == PriorOptions(order=3, min_documents=20, most_ngrams=1_200_000)
    assert PriorOptions().describes({"order": 3, "min_documents": 20, "most_ngrams": 1_200_000, "tokens": 7})
    assert not PriorOptions().describes({"order": 3, "min_documents": 5, "most_ngrams": 1_200_000})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("min_documents", 0, "at least 1. Got 0 instead"),
        ("most_ngrams", -1, "at least 1. Got -1 instead"),
        ("order", 0, "from 1 to 4. Got 0 instead"),
        ("order", 5, "from 1 to 4. Got 5 instead"),
    ],
)
def test_settings_of_a_prior_are_checked(name, value, message):
    with pytest.raises(ParameterError, match=f"`{name}` must be {message}"):
        PriorOptions(**{name: value}).check()
    PriorOptions(**{name: 1}).check()


def test_only_a_bundle_without_other_files_may_be_replaced(tiny, copied_bundle, tmp_path):
    check_bundle_folder(copied_bundle)
    (copied_bundle / "me.jpg").touch()
    with pytest.raises(OutputExistsError, match="not part of the bundle"):
        check_bundle_folder(copied_bundle)
    with pytest.raises(OutputExistsError, match="is not a bundle"):
        check_bundle_folder(tmp_path)
