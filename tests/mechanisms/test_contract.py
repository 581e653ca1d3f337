"""What every mechanism promises; a new one is tested by being registered."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tests.mechanisms.priors import TablePrior
from textveil.bundles.vectors import UNKNOWN
from textveil.methods.mechanisms import MECHANISMS
from textveil.methods.mechanisms.base import NO_GUARANTEE, Draft
from textveil.methods.mechanisms.exponential import Exponential
from textveil.testing.checks import run_check
from textveil.testing.methods import (
    ALL,
    PROVED,
    MechanismCase,
    answer_batch,
    ask,
    check_answers_do_not_depend_on_the_batch,
    check_no_log_ratio_passes_the_bound,
    list_mechanism_checks,
)


def build_case(name, vectors, **options):
    return MechanismCase(MECHANISMS.load(name), vectors, TablePrior.random(len(vectors)), options)


@pytest.fixture(params=list(MECHANISMS), scope="module")
def case(request, tiny):
    return build_case(request.param, tiny.vectors("words"))


@pytest.mark.parametrize("check", [*ALL, *PROVED], ids=lambda check: check.__name__)
def test_the_contract(case, check):
    if check in PROVED and case.method.guarantee == NO_GUARANTEE:
        pytest.skip("it has no guarantee")
    run_check(case.build(), check, case)


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_whole_contract_on_a_small_bundle(name):
    for check in list_mechanism_checks(MECHANISMS.load(name)):
        if "refutes" not in check.statement:  # it takes seconds, and has been run above
            check()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_answer_depends_neither_on_blocks_nor_on_threads(case, threads, monkeypatch):
    mechanism = case.build()
    before = answer_batch(mechanism)
    if isinstance(mechanism, Exponential):
        monkeypatch.setattr(mechanism, "_drawn", 2)
        monkeypatch.setattr(mechanism, "_measured", 7)
    for module in ("noise", "gumbel"):
        monkeypatch.setattr(f"textveil.methods.mechanisms.{module}.BLOCK_CHUNKS", 7)
    with threadpool_limits(threads):
        after = answer_batch(mechanism)
        run_check(mechanism, check_answers_do_not_depend_on_the_batch, case)
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)


def test_the_name_is_the_registered_one(case):
    assert MECHANISMS.load(case.build().name) is case.method


@pytest.mark.parametrize("options", [{}, {"cap": 0.8}, {"dimensions": 2}, {"dimensions": 3, "cap": 0.5}, {"cap": 0.0}])
@pytest.mark.parametrize("share", [0.0, 0.3, 2.0, 25.0])
@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_no_log_ratio_passes_the_bound(name, share, options, tiny):
    """Exact, over all pairs of inputs and all outputs; no sampling is needed."""
    case = build_case(name, tiny.vectors("words"), **options)
    contexts = (UNKNOWN, 0, 17) if name == "fluent" else (None,)
    run_check(case.build(), check_no_log_ratio_passes_the_bound, case, [share], contexts)


@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_the_bound_is_not_idle(name, tiny):
    mechanism = build_case(name, tiny.vectors("words")).build()
    places = mechanism.space.matrix.astype(float)
    bounds = 2 * np.linalg.norm(places[:, None] - places[None], axis=2)
    logs = mechanism.log_channel(places, np.full(len(places), 2.0))
    assert (np.abs(logs[:, None] - logs[None]).max(axis=2) > 0.3 * bounds)[bounds > 0].any()


@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_a_huge_share_of_one_document_changes_no_other_one(name, tiny):
    mechanism = build_case(name, tiny.vectors("words")).build()
    others = [([n % 30] * 40, [4.0] * 40) for n in range(5)]
    before = mechanism.perturb([ask(*r, document=i) for i, r in enumerate(others)])
    huge = ask([3] * 40, [1e6] * 40, document=99)
    after = mechanism.perturb([*(ask(*r, document=i) for i, r in enumerate(others)), huge])
    for one, two in zip(before, after, strict=False):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_no_log_ratio_passes_the_bound_after_a_draft(name, tiny):
    mechanism = build_case(name, tiny.vectors("words"), cap=3.0).build()
    places = mechanism.space.place(np.array([UNKNOWN, *range(len(mechanism.vectors))]))
    bounds = 2 * np.minimum(np.linalg.norm(places[:, None] - places[None], axis=2), 3.0)
    plain = mechanism.log_channel(places, np.full(len(places), 2.0))
    for row in (0, 20):
        draft = Draft(np.full(len(places), row), np.full(len(places), 1.5))
        logs = mechanism.log_channel(places, np.full(len(places), 2.0), draft=draft)
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)
        assert (np.abs(logs[:, None] - logs[None]).max(axis=2) <= bounds + 1e-4).all()
        column = mechanism.vectors.writable.tolist().index(row)
        assert (logs[:, column] > plain[:, column]).all()
