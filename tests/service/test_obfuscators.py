import threading

import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.methods.distribution import DISTRIBUTORS
from textveil.service import obfuscators
from textveil.service.models import Methods
from textveil.service.obfuscators import Obfuscators
from textveil.service.settings import Settings


@pytest.fixture
def few(tiny_with_prior, monkeypatch):
    """Builds a pool that keeps only some obfuscators."""

    def build(kept):
        monkeypatch.setattr(obfuscators, "KEPT", kept)
        return Obfuscators(Settings(bundles=(str(tiny_with_prior.folder),), mechanism="exponential"))

    return build


@pytest.fixture
def pool(few):
    return few(16)


def test_the_same_settings_share_an_obfuscator(pool):
    assert pool.find_kept(Methods()) is None
    first = pool.find(Methods())
    assert pool.find(Methods()) is pool.find_kept(Methods()) is first
    assert pool.find(Methods(mechanism="santext", profile="strict", bundle="tiny")) is first  # what it is by default
    assert pool.find(Methods(mechanism_options={"cap": 1.0})) is not first


def test_models_are_shared_between_obfuscators(pool):
    assert pool.find_distributor("uniform", {}) is pool.find_distributor("baseline", {})
    bundle = pool.choose_bundle(None)
    assert pool.find_decomposer(bundle, "words") is pool.find_decomposer(bundle, "words")


def test_the_server_decides_what_a_request_leaves_open(pool):
    terms = pool.find(Methods()).terms
    assert (terms.mechanism["name"], terms.profile.name, terms.bundle["name"]) == ("exponential", "strict", "tiny")
    assert pool.find(Methods(mechanism="fluent", profile="proven")).terms.profile.name == "proven"


def test_what_is_loaded_at_the_start(pool):
    assert pool.list_loaded() == set()
    pool.load()
    assert pool.list_loaded() == {"words", "uniform", "exponential"}


def test_few_obfuscators_are_kept(few):
    pool = few(2)
    wanted = [Methods(mechanism_options={"cap": cap}, largest_share=1.0) for cap in (1.0, 2.0, 3.0)]
    for each in wanted[:2]:
        pool.find(each)
    pool.find_kept(wanted[0])  # used again, so the other one is dropped
    pool.find(wanted[2])
    assert [pool.find_kept(each) is not None for each in wanted] == [True, False, True]


def test_what_was_loaded_at_the_start_stays(few):
    pool = few(1)
    pool.load()
    first = pool.find_kept(Methods())
    for cap in (1.0, 2.0, 3.0):
        pool.find(Methods(mechanism_options={"cap": cap}, largest_share=1.0))
    assert pool.find_kept(Methods()) is first
    assert pool.list_loaded() == {"words", "uniform", "exponential"}


def test_a_loaded_distributor_does_not_wait_for_another_one(pool, monkeypatch):
    uniform = pool.find_distributor("uniform", {})
    loading, loaded = threading.Event(), threading.Event()

    def load(*_, **__):
        loading.set()
        assert loaded.wait(10)

    monkeypatch.setattr(DISTRIBUTORS.load("yake"), "__init__", load)
    other = threading.Thread(target=pool.find_distributor, args=("yake", {}))
    other.start()
    assert loading.wait(10)
    found = pool.find_distributor("uniform", {})
    loaded.set()
    other.join()
    assert found is uniform


@pytest.mark.parametrize("option", ["model", "device", "batch_size"])
def test_a_request_may_not_name_models_or_devices(pool, option):
    with pytest.raises(ParameterError, match=f"`{option}` of the distribution is decided by the server"):
        pool.find(Methods(distribution="attention", distribution_options={option: "/etc/passwd"}))


def test_only_loaded_bundles_can_be_chosen(pool):
    with pytest.raises(UnknownNameError, match="There is no loaded bundle"):
        pool.find(Methods(bundle="/etc"))


def test_two_bundles_of_one_name_are_refused(tiny, tiny_with_prior):
    with pytest.raises(ParameterError, match="Two of the `bundles` have the same name"):
        Obfuscators(Settings(bundles=(str(tiny.folder), str(tiny_with_prior.folder))))
