import pytest

from textveil.errors import OutputExistsError, ParameterError
from textveil.lab.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.lab.corpus.settings import (
    PriorOptions,
    Selection,
    Thresholds,
    Training,
    VectorOptions,
    check_bundle_folder,
)


def test_the_defaults_are_the_papers():
    assert Thresholds() == Thresholds(275, 2.0, 0.05, only_attracted=False)
    assert (MIN_COUNT, MIN_PMI, TOP_SHARE) == (275, 2.0, 0.05)
    assert Training() == Training(dimensions=300, window=5, epochs=5, negative=5, architecture="skip-gram")
    assert VectorOptions().source == "word2vec"
    assert Selection().min_entry_count == 5


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        *((Training, name) for name in ("dimensions", "window", "epochs", "negative")),
        *((Selection, name) for name in ("min_entry_count", "min_documents", "most_entries")),
        (VectorOptions, "dimensions"),
    ],
)
@pytest.mark.parametrize("value", [0, -3])
def test_numbers_below_one_are_refused(settings, name, value):
    with pytest.raises(ParameterError, match=f"`{name}` must be at least 1. Got {value} instead") as caught:
        settings(**{name: value}).check()
    assert caught.value.parameters == (name,)
    settings(**{name: 1}).check()


def test_a_vocabulary_is_unlimited_by_default_and_a_decomposition_may_have_a_limit_of_its_own():
    assert Selection().most_entries is None
    chosen = Selection(most_entries=40, limits={"words": 60})
    assert [chosen.narrow(name).most_entries for name in ("words", "pmi")] == [60, 40]
    with pytest.raises(ParameterError, match="`most_entries` must be at least 1"):
        Selection(limits={"words": 0}).check()


def test_word2vec_has_the_length_of_the_vectors_unless_they_are_projected():
    alone, both = VectorOptions(dimensions=100), VectorOptions("both", dimensions=100)
    assert (alone.length, alone.train_options.dimensions) == (100, 100)
    assert (both.length, both.train_options.dimensions) == (100, 300)
    assert (VectorOptions().length, VectorOptions("encoder").length) == (300, 64)


def test_a_manifest_records_only_the_options_that_count():
    assert VectorOptions("encoder", encoder="mine").describe() == {
        "source": "encoder",
        "dimensions": 64,
        "encoder": "mine",
    }
    assert VectorOptions(dimensions=8).describe() == {
        "source": "word2vec",
        "dimensions": 8,
        "word2vec": {
            "dimensions": 8,
            "window": 5,
            "epochs": 5,
            "negative": 5,
            "architecture": "skip-gram",
            "seed": 1,
        },
    }


def test_unknown_sources_and_architectures_are_refused():
    with pytest.raises(ParameterError, match="Did you mean 'encoder'"):
        VectorOptions("encodr").check()
    with pytest.raises(ParameterError, match="Did you mean 'cbow'"):
        VectorOptions(training=Training(architecture="cbwo")).check()


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
