"""The choice between an exact and an approximate search."""

import numpy as np
import pytest

from tests.mechanisms.test_contract import build_case
from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import Vectors
from textveil.errors import ParameterError, UnknownNameError
from textveil.methods.mechanisms import MECHANISMS, Request
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.methods.mechanisms.noise import NearestEntry, measure_recall
from textveil.randomness import SeededRandomness
from textveil.testing.checks import run_check
from textveil.testing.methods import ALL, PROVED

NAMES = ["madlib", "mahalanobis"]


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """Two thousand vectors around fifty places."""
    stream = SeededRandomness(1).stream(0)
    matrix = 3 * stream.standard_normal((50, 8))[np.arange(2000) % 50] + stream.standard_normal((2000, 8))
    return Vectors([f"w{row}" for row in range(2000)], matrix.astype(np.float32), excluded=["w7"])


def ask(vectors: Vectors, share: float, seed: int = 2) -> Request:
    return Request(np.arange(1500) % len(vectors), np.full(1500, share), SeededRandomness(seed).stream(0))


def build(name: str, vectors: Vectors, **options) -> NearestEntry:
    return MECHANISMS.load(name)(vectors, **options)


SURE = ("check_a_huge_share_keeps_a_word", "check_a_draft_guides_by_its_share")
"""What an approximate index does only if it reads all lists: a word with a huge share may be in another one."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", [*ALL, *PROVED], ids=lambda check: check.__name__)
def test_an_approximate_index_keeps_the_contract(name, check, tiny):
    options = {} if check.__name__ in SURE else {"probes": 2}
    case = build_case(name, tiny.vectors("words"), index="approximate", **options)
    run_check(case.build(), check, case)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 3.0, 1e12])
def test_an_approximate_index_finds_the_same_entry_mostly(name, share, vectors):
    exact, few, all_lists = (
        build(name, vectors, **options).perturb([ask(vectors, share)])[0]
        for options in ({}, {"index": "approximate", "probes": 16}, {"index": "approximate", "probes": 10**6})
    )
    np.testing.assert_array_equal(all_lists, exact)
    assert np.mean(few == exact) > 0.6
    assert 7 not in few


@pytest.mark.parametrize("name", NAMES)
def test_answers_do_not_depend_on_the_batch(name, vectors):
    mechanism = build(name, vectors, index="approximate", probes=3)
    both = mechanism.perturb([ask(vectors, 2.0), ask(vectors, 2.0, seed=3)])
    alone = [mechanism.perturb([ask(vectors, 2.0, seed=seed)])[0] for seed in (2, 3)]
    np.testing.assert_array_equal(both, alone)


def test_an_exact_search_is_recorded_as_before_there_was_a_choice(vectors):
    recorded = build("madlib", vectors, index="exact").as_dict()
    assert recorded == {"name": "madlib", "options": {"dimensions": None, "rank_decay": None}, "model": None}
    other = build("madlib", vectors, index="approximate", probes=9)
    assert other.as_dict()["options"] == {
        "dimensions": None, "index": "approximate", "probes": 9, "rank_decay": None,
    }  # fmt: skip
    assert other.description == "madlib (index approximate, probes 9)"
    assert other.rebuild(vectors).as_dict() == other.as_dict()


def test_wrong_options_are_refused(vectors):
    with pytest.raises(UnknownNameError, match="`index` of madlib 'aproximate'. Did you mean 'approximate'"):
        build("madlib", vectors, index="aproximate")
    with pytest.raises(ParameterError, match="`probes` goes with `index='approximate'`"):
        build("madlib", vectors, probes=3)
    with pytest.raises(ParameterError, match="`probes` of mahalanobis must be a whole number of at least 1"):
        build("mahalanobis", vectors, index="approximate", probes=0)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in NAMES])
def test_mechanisms_without_such_a_search_have_no_choice(name):
    assert not {"index", "probes"} & MECHANISMS.load(name).list_options().keys()
    assert MECHANISMS.load(name).index == "exact"


def test_recall_is_measured_on_noisy_points(vectors):
    entries = vectors.writable[:400]
    recall = [
        measure_recall(build("madlib", vectors, index="approximate", probes=probes), (0.0, 4.0), entries)
        for probes in (1, 20, 10**6)
    ]
    assert list(recall[0]) == ["0", "4"]
    assert recall[0]["0"] < recall[1]["0"] <= recall[2]["0"] == 1.0
    assert recall[0]["4"] < recall[2]["4"] == 1.0
    assert recall == [
        measure_recall(build("madlib", vectors, index="approximate", probes=probes), (0.0, 4.0), entries)
        for probes in (1, 20, 10**6)
    ]


def test_a_neighbor_of_the_entry_found_may_be_written():
    vectors = Bundle.load().vectors("words")
    mechanism = build("madlib", vectors, index="approximate", rank_decay=0.5)
    request = Request(vectors.writable[:20], np.full(20, 10.0), SeededRandomness(1).stream(0))
    assert set(mechanism.perturb([request])[0].tolist()) <= set(vectors.writable.tolist())
    assert mechanism.guarantee != NO_GUARANTEE
