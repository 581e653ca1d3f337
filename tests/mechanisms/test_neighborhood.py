import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tests.mechanisms.priors import TablePrior
from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.base import ASKED, Draft
from textveil.methods.mechanisms.neighborhood import (
    FACTOR_BITS,
    Distances,
    Neighborhood,
    Order,
    UniformIntegers,
    raise_to_units,
)
from textveil.randomness import SeededRandomness
from textveil.testing.checks import run_check
from textveil.testing.methods import ALL, PROVED, MechanismCase

ENTRIES = 12


@pytest.fixture(scope="module")
def vectors():
    matrix = np.random.default_rng(4).normal(size=(ENTRIES, 3)).astype(np.float32)
    return Vectors([f"w{chr(97 + number)}" for number in range(ENTRIES)], matrix, excluded=["wb"])


@pytest.fixture(scope="module")
def prior():
    return TablePrior.random(ENTRIES)


def ask(rows, share=1.0, *, document=0, **others):
    return Request(np.array(rows), np.full(len(rows), float(share)), SeededRandomness(2).stream(document), **others)


def find_order(mechanism, row):
    distances = Distances(mechanism.space.matrix[mechanism.space.writable])
    return Order(distances.measure(mechanism.space.place(np.array([row])))[0])


def list_numerators(mechanism, row, share, context=None):
    """The whole numbers that the entries get, and their total, as the mechanism draws them."""
    weights = mechanism.weigh(context)
    units = weights.list_units()
    odds = mechanism.find_odds(int(units.sum()), weights.lightest, share)
    inside = find_order(mechanism, row).share_out(units, odds.mass)
    numerators = [
        int(near) * odds.inside + int(unit - near) * odds.outside for near, unit in zip(inside, units, strict=True)
    ]
    assert sum(numerators) == odds.total
    return numerators, odds.total


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 4.0, 9.5])
@pytest.mark.parametrize("options", [{}, {"weight": 0.0}, {"neighborhood": 0.3}, {"dimensions": 2, "weight": 2.0}])
def test_no_ratio_of_any_two_chunks_in_any_context_passes_the_bound_and_some_attain_it(vectors, prior, share, options):
    mechanism = Neighborhood(vectors, prior, **options)
    largest = Fraction(raise_to_units(share), 1 << FACTOR_BITS)
    attained = Fraction(1)
    for context in (UNKNOWN, 3, 7):
        channels = [list_numerators(mechanism, row, share, np.array([context])) for row in range(ENTRIES)]
        assert len({total for _, total in channels}) == 1
        for one, _ in channels:
            for other, _ in channels:
                ratio = max(Fraction(left, right) for left, right in zip(one, other, strict=True))
                assert ratio <= largest
                attained = max(attained, ratio)
    assert attained == largest


@pytest.mark.parametrize("check", [*ALL, *PROVED], ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_mechanisms(tiny, check):
    vectors = tiny.vectors("words")
    case = MechanismCase(Neighborhood, vectors, TablePrior.random(len(vectors)), {})
    run_check(case.build(), check, case)


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.5, 1.0, 12.0, 33.3, 300.0])
def test_the_factor_is_the_exponential_rounded_down(share):
    units = raise_to_units(share)
    assert Fraction(units, 1 << FACTOR_BITS) <= Fraction(math.exp(share)) * (1 + Fraction(1, 10**14))
    assert math.isclose(units / 2**FACTOR_BITS, math.exp(share), rel_tol=1e-9)


def test_equal_weights_and_a_whole_number_of_entries_are_bipartite_randomized_response(vectors):
    """Zhang et al. (2025): the m nearest of n entries get e^epsilon / (m e^epsilon + n - m), all others 1 / (...)."""
    share, nearest, number = 1.7, 4, ENTRIES - 1
    mechanism = Neighborhood(vectors, None, neighborhood=nearest / number)
    points = mechanism.space.place(np.arange(ENTRIES))
    found = np.exp(mechanism.log_channel(points, np.full(ENTRIES, share)))
    distances = np.linalg.norm(points[:, None] - vectors.matrix[vectors.writable], axis=2)
    near = distances.argsort(axis=1).argsort(axis=1) < nearest
    expected = np.where(near, math.exp(share), 1.0) / (nearest * math.exp(share) + number - nearest)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_draws_follow_the_definition(vectors, prior):
    """Against a plain transcription of two steps: all pairs of answers, by the chain rule."""
    share, draws = 2.0, 20_000
    mechanism = Neighborhood(vectors, prior)
    chosen = np.array(mechanism.perturb([ask([3, 8], share, document=number) for number in range(draws)]))

    def transcribe(row, context):
        weights = np.exp(prior.table[context][vectors.writable].astype(float))
        weights /= weights.sum()
        kappa = 7 / (7 + math.exp(share))
        distances = np.linalg.norm(vectors.matrix[vectors.writable] - vectors.matrix[row], axis=1)
        odds, left = np.empty(len(weights)), kappa
        for entry in np.argsort(distances):
            inside = min(weights[entry], left)
            left -= inside
            odds[entry] = inside * math.exp(share) + weights[entry] - inside
        return odds / odds.sum()

    expected = np.zeros((ENTRIES, ENTRIES))
    for row, probability in zip(vectors.writable, transcribe(3, -1), strict=True):
        expected[row, vectors.writable] = probability * transcribe(8, row)
    observed = np.zeros((ENTRIES, ENTRIES))
    np.add.at(observed, tuple(chosen.T), 1)
    assert observed[expected == 0].sum() == 0
    common = expected * draws >= 5
    rest = ~common & (expected > 0)
    counts = [*observed[common], observed[rest].sum()]
    assert stats.chisquare(counts, [*(expected[common] * draws), expected[rest].sum() * draws]).pvalue > 1e-4


def test_log_probabilities_are_those_of_the_whole_numbers(vectors, prior):
    mechanism = Neighborhood(vectors, prior)
    points = mechanism.space.place(np.array([5, 9]))
    logs = mechanism.log_channel(points, np.array([0.8, 6.0]), np.array([[UNKNOWN], [2]]))
    for found, row, share, context in zip(logs, [5, 9], [0.8, 6.0], [UNKNOWN, 2], strict=True):
        numerators, total = list_numerators(mechanism, row, share, np.array([context]))
        np.testing.assert_allclose(np.exp(found), [float(Fraction(each, total)) for each in numerators], rtol=1e-9)


def test_without_a_share_answers_follow_the_language_model_alone(vectors, prior):
    mechanism = Neighborhood(vectors, prior)
    numerators = [list_numerators(mechanism, row, 0.0)[0] for row in range(ENTRIES)]
    assert all(each == numerators[0] for each in numerators)


def test_answers_depend_neither_on_the_batch_nor_on_blocks(vectors, prior, monkeypatch):
    requests = [[3, 4, UNKNOWN, 0] * 9, [7, 3], [], [4]]
    spelled = np.random.default_rng(1).normal(size=(9, 3))
    texts = []
    for measured, frequent in [(1, 0), (7, 2), (1000, 128)]:
        monkeypatch.setattr("textveil.methods.mechanisms.neighborhood.MEASURED", measured)
        monkeypatch.setattr("textveil.methods.mechanisms.neighborhood.FREQUENT", frequent)
        mechanism = Neighborhood(vectors, prior)
        asked = [ask(rows, document=number) for number, rows in enumerate(requests)]
        asked[0] = asked[0]._replace(spelled=spelled)
        texts.append([rows.tolist() for rows in mechanism.perturb(asked)])
        fresh = [ask(rows, document=number) for number, rows in enumerate(requests)]
        fresh[0] = fresh[0]._replace(spelled=spelled)
        texts.append([mechanism.perturb([request])[0].tolist() for request in fresh])
    assert all(text == texts[0] for text in texts)


def test_kept_words_are_context_and_an_unknown_word_ends_it(vectors):
    table = np.full((ENTRIES + 1, ENTRIES), 1e-9)
    table[3, 5] = table[-1, 7] = 1.0  # after w_d comes w_f, and without a context w_h
    mechanism = Neighborhood(vectors, TablePrior(table))
    (after_kept,) = mechanism.perturb([ask([0], 0.0, context=np.array([3, ASKED]))])
    (after_unknown,) = mechanism.perturb([ask([0], 0.0, context=np.array([UNKNOWN, ASKED]))])
    assert (after_kept.tolist(), after_unknown.tolist()) == ([5], [7])


def test_a_draft_makes_its_neighbors_likelier_and_leaves_the_bound(vectors, prior):
    mechanism = Neighborhood(vectors, prior)
    plain, drafted = mechanism.weigh().list_units(), mechanism.weigh(draft=(4, 3.0)).list_units()
    column = int(np.searchsorted(vectors.writable, 4))
    assert drafted[column] / drafted.sum() > plain[column] / plain.sum()
    draft = Draft(np.full(ENTRIES, 4), np.full(ENTRIES, 3.0))
    points = mechanism.space.place(np.arange(ENTRIES))
    logs = mechanism.log_channel(points, np.full(ENTRIES, 1.2), draft=draft)
    assert np.ptp(logs, axis=0).max() <= 1.2 + 1e-9


def test_an_entry_far_out_is_ordered_like_all_others():
    matrix = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    distances = Distances(matrix)
    far = np.full((1, 8), 1e6)
    measured = distances.measure(np.concatenate([matrix[:3].astype(np.float64), far]))
    assert measured.max() <= 2**24
    assert (measured == np.rint(measured)).all()
    exact = np.linalg.norm(matrix - matrix[0], axis=1)
    assert stats.spearmanr(measured[0], exact).statistic > 0.9999
    assert measured[0].argmin() == 0


@pytest.mark.parametrize("limit", [1, 3, 2**64, 10**25, 2**300 - 1])
def test_whole_numbers_are_uniform_below_any_limit(limit):
    random = UniformIntegers(SeededRandomness(5).stream(1), 10)
    numbers = [random.draw(limit) for _ in range(3_000)]
    assert 0 <= min(numbers) <= max(numbers) < limit
    if limit == 1:
        return
    bins = min(limit, 10)
    counts = np.bincount([number * bins // limit for number in numbers], minlength=bins)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_numbers_that_would_make_some_limits_likelier_are_drawn_again():
    class Words:
        def __init__(self) -> None:
            self.words = iter([2**64 - 1] * 3 + [0, 0, 1] + [0] * 9)

        def integers(self, low, high, size, dtype):
            return np.array([next(self.words) for _ in range(size)], dtype=np.uint64)

    assert UniformIntegers(Words(), 2).draw(3) == 0  # 2^192 - 1 is the one number that 3 does not divide evenly


@pytest.mark.parametrize("mass", [0.0, 1.0, -0.5, 2.0, math.nan, math.inf])
def test_a_neighborhood_has_a_mass_between_0_and_1(vectors, mass):
    with pytest.raises(ParameterError, match="neighborhood"):
        Neighborhood(vectors, None, neighborhood=mass)


def test_a_prior_of_other_entries_is_refused(vectors):
    with pytest.raises(ParameterError, match="prior"):
        Neighborhood(vectors, TablePrior.random(ENTRIES + 1))


def test_entries_that_are_all_at_one_place_are_drawn_evenly_in_all_neighborhoods():
    vectors = Vectors(["a", "b", "c"], np.zeros((3, 2), dtype=np.float32))
    mechanism = Neighborhood(vectors, None)
    chosen = np.concatenate(mechanism.perturb([ask([2] * 300, 0.0)]))
    assert set(chosen.tolist()) == {0, 1, 2}
    (logs,) = mechanism.log_channel(mechanism.space.place(np.array([2])), np.array([3.0]))
    assert logs[0] >= logs[2]  # ties by row: the first ones are nearest
