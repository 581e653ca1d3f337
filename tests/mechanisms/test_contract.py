"""What every mechanism promises; a new one is tested by being registered."""

import numpy as np
import pytest

from tests.mechanisms.priors import TablePrior
from textveil.bundles.vectors import UNKNOWN
from textveil.errors import ParameterError
from textveil.mechanisms import MECHANISMS, Request
from textveil.mechanisms.base import NO_GUARANTEE, Draft
from textveil.randomness import SeededRandomness

SHARES = np.array([0.0, 1e-300, 0.1, 5.0, 1e6, 1e300])
PROVED = [name for name in MECHANISMS if MECHANISMS.load(name).guarantee != NO_GUARANTEE]


def build(name, vectors, **options):
    chosen = MECHANISMS.load(name)
    return (
        chosen(vectors, TablePrior.random(len(vectors)), **options) if chosen.uses_prior else chosen(vectors, **options)
    )


@pytest.fixture(params=list(MECHANISMS), scope="module")
def mechanism(request, tiny):
    return build(request.param, tiny.vectors("words"))


@pytest.fixture(params=PROVED, scope="module")
def proved(request, tiny):
    """A mechanism with a guarantee."""
    return build(request.param, tiny.vectors("words"))


def request_for(rows, shares, *, document=0, seed=1, **others):
    return Request(np.array(rows), np.array(shares, dtype=float), SeededRandomness(seed).stream(document), **others)


def test_answers_are_writable_for_every_share(mechanism):
    writable = set(mechanism.vectors.writable.tolist())
    for row in (0, 5, mechanism.vectors.find("sigma"), UNKNOWN):
        (answer,) = mechanism.perturb([request_for([row] * len(SHARES), SHARES)])
        assert len(answer) == len(SHARES)
        assert set(answer.tolist()) <= writable


def test_the_same_stream_gives_the_same_answer(mechanism):
    rows, shares = [1, 2, 3, UNKNOWN], [1.0, 2.0, 0.0, 3.0]
    first, second, other = (mechanism.perturb([request_for(rows, shares, seed=seed)])[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert first.tolist() != other.tolist()


def test_an_answer_does_not_depend_on_the_batch(mechanism, monkeypatch):
    requests = [([n % 30] * n, [0.5] * n) for n in (3, 0, 17, 1, 40)]
    together = mechanism.perturb([request_for(*r, document=i) for i, r in enumerate(requests)])
    monkeypatch.setattr(mechanism, "_block", 7, raising=False)
    for module in ("noise", "gumbel"):
        monkeypatch.setattr(f"textveil.mechanisms.{module}.BLOCK_CHUNKS", 7)
    monkeypatch.setattr("textveil.mechanisms.fluent.BLOCK_DOCUMENTS", 2)
    monkeypatch.setattr("textveil.mechanisms.fluent.BLOCK_PROBABILITIES", 0)
    few = mechanism.perturb([request_for(*r, document=i) for i, r in enumerate(requests)])
    apart = [mechanism.perturb([request_for(*r, document=i)])[0] for i, r in enumerate(requests)]
    for one, two, three in zip(together, few, apart, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


def test_without_a_share_the_answer_does_not_depend_on_the_input(proved):
    shares = [0.0] * 300
    answers = [proved.perturb([request_for([row] * 300, shares)])[0] for row in (0, 7, 20, UNKNOWN)]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    assert len(set(answers[0].tolist())) > 5


def test_a_huge_share_keeps_a_writable_entry(proved):
    rows = proved.vectors.writable
    (answer,) = proved.perturb([request_for(rows, np.full(len(rows), 1e6))])
    np.testing.assert_array_equal(answer, rows)


def test_an_unknown_chunk_is_where_its_spelling_says(proved):
    place = proved.vectors.matrix[proved.vectors.writable[4]][None].astype(float)
    request = request_for([UNKNOWN, 0, UNKNOWN], [1e6] * 3, spelled=np.concatenate([place, place]))
    (answer,) = proved.perturb([request])
    assert answer[[0, 2]].tolist() == [proved.vectors.writable[4]] * 2


def test_fewer_dimensions_project_all_vectors(proved):
    few = build(proved.name, proved.vectors, dimensions=2)
    assert few.space.dimensions == 2
    assert few.vectors is proved.vectors
    assert few.as_dict()["options"]["dimensions"] == 2
    rows = few.vectors.writable
    (answer,) = few.perturb([request_for(rows, np.full(len(rows), 1e9))])
    np.testing.assert_array_equal(answer, rows)


@pytest.mark.parametrize("dimensions", [0, -1, 1000, 2.5, float("nan")])
def test_dimensions_must_be_there(proved, dimensions):
    with pytest.raises(ParameterError, match="`dimensions`"):
        build(proved.name, proved.vectors, dimensions=dimensions)


def test_no_request_no_answer(mechanism):
    assert mechanism.perturb([]) == []
    (answer,) = mechanism.perturb([request_for([], [])])
    assert len(answer) == 0


def test_the_name_is_the_registered_one(mechanism):
    assert MECHANISMS.load(mechanism.name) is type(mechanism)


@pytest.mark.parametrize("options", [{}, {"cap": 0.8}, {"dimensions": 2}, {"dimensions": 3, "cap": 0.5}, {"cap": 0.0}])
@pytest.mark.parametrize("share", [0.0, 0.3, 2.0, 25.0])
@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_no_log_ratio_passes_the_bound(name, share, options, tiny):
    """Exact, over all pairs of inputs and all outputs; no sampling is needed."""
    mechanism = build(name, tiny.vectors("words"), **options)
    places = mechanism.space.place(np.array([UNKNOWN, *range(len(mechanism.vectors))]))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    bounds = share * np.minimum(distances, np.inf if mechanism.cap is None else mechanism.cap)
    for context in (UNKNOWN, 0, 17) if name == "fluent" else (None,):
        given = () if context is None else (np.full((len(places), 1), context),)
        logs = mechanism.log_channel(places, np.full(len(places), share), *given)
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)
        ratios = np.abs(logs[:, None] - logs[None]).max(axis=2)
        assert (ratios <= bounds + 1e-5 * (1 + share)).all()
        if share >= 2 and mechanism.cap != 0:
            assert (ratios > 0.3 * bounds)[distances > 0].any()  # and the bound is not idle
        assert mechanism.bound(share) == (np.inf if mechanism.cap is None else share * mechanism.cap)


@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_a_huge_share_of_one_document_changes_no_other_one(name, tiny):
    mechanism = build(name, tiny.vectors("words"))
    others = [([n % 30] * 40, [4.0] * 40) for n in range(5)]
    before = mechanism.perturb([request_for(*r, document=i) for i, r in enumerate(others)])
    huge = request_for([3] * 40, [1e6] * 40, document=99)
    after = mechanism.perturb([*(request_for(*r, document=i) for i, r in enumerate(others)), huge])
    for one, two in zip(before, after, strict=False):
        np.testing.assert_array_equal(one, two)


def test_a_draft_has_the_answers_of_the_mechanism(proved):
    requests = [([1, 2, UNKNOWN, 3], [0.5] * 4), ([], []), ([7] * 600, [9.0] * 600)]
    drafts = proved.draft([request_for(*each, document=number) for number, each in enumerate(requests)])
    rows = proved.perturb([request_for(*each, document=number) for number, each in enumerate(requests)])
    for draft, expected, (_, shares) in zip(drafts, rows, requests, strict=True):
        np.testing.assert_array_equal(draft.rows, expected)
        np.testing.assert_array_equal(draft.shares, shares)
    assert proved.draft([]) == []


@pytest.mark.parametrize("share", [0.0, 1e-300, 0.1, 1e300])
def test_a_draft_with_a_large_share_decides_and_one_without_does_not(proved, share):
    rows = np.resize(proved.vectors.writable, 60)
    (sure,) = proved.draft([request_for(rows, np.full(60, 1e6))])
    np.testing.assert_array_equal(sure.rows, rows)
    asked = [5] * 60, [min(share, 0.1)] * 60
    (answer,) = proved.perturb([request_for(*asked, draft=sure)])
    np.testing.assert_array_equal(answer, rows)
    (unsure,) = proved.draft([request_for(rows, np.full(60, 1e-9))])
    (answer,) = proved.perturb([request_for([5] * 60, [1e6] * 60, draft=unsure)])
    assert set(answer.tolist()) == {5}


def test_the_draft_of_a_chunk_has_the_shares_of_its_words(proved):
    (draft,) = proved.draft([request_for([1, 2, 3, 4], [1e6, 2e6, 3e6, 4e6])])
    joined = proved.regroup(draft, np.array([0, 1, 3]), np.array([1, 9, 4]))
    assert joined.shares.tolist() == [1e6, 5e6, 4e6]
    assert joined.rows.tolist() == [1, 9, 4]
    (answer,) = proved.perturb([request_for([7, 7, 7], [0.1] * 3, draft=joined)])
    assert answer.tolist() == [1, 9, 4]
    (empty,) = proved.draft([request_for([], [])])
    none = np.empty(0, dtype=np.int64)
    assert len(proved.regroup(empty, none, none).shares) == 0


def test_a_mechanism_is_rebuilt_with_its_options(proved, tiny):
    few = build(proved.name, tiny.vectors("words"), dimensions=3)
    again = few.rebuild(tiny.vectors("words").limit_to_words())
    assert again.as_dict() == few.as_dict()
    np.testing.assert_array_equal(again.space.matrix, few.space.matrix)


@pytest.mark.parametrize("name", ["exponential", "fluent"])
def test_no_log_ratio_passes_the_bound_after_a_draft(name, tiny):
    mechanism = build(name, tiny.vectors("words"), cap=3.0)
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
