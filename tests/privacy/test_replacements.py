import numpy as np
import pytest

from textveil.bundles.vectors import UNKNOWN
from textveil.deniability import LIKELY, Estimate, Replacements, describe_deniability
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.methods.mechanisms.madlib import Madlib

ROWS = np.array([0, 5, 17, UNKNOWN])


@pytest.fixture(scope="module")
def vectors(tiny):
    return tiny.vectors("words")


def test_exact_values_are_those_of_the_closed_form(vectors):
    """By hand: exp(-share * distance / 2) over the sum of all writable entries."""
    mechanism = Exponential(vectors)
    found = Replacements(mechanism, ROWS, 1.5)
    assert found.draws is None
    for number, row in enumerate(ROWS):
        point = vectors.center if row == UNKNOWN else vectors.matrix[row]
        weights = np.exp(-0.75 * np.linalg.norm(vectors.matrix[vectors.writable] - point, axis=1))
        expected = weights / weights.sum()
        np.testing.assert_allclose(found.probabilities[number], expected, rtol=1e-4)
        own = vectors.writable == row
        assert found.find_stays()[number] == Estimate.exactly(pytest.approx(expected[own].sum(), rel=1e-4))
        assert found.count_others()[number].value == ((expected > LIKELY) & ~own).sum()


def test_a_word_that_is_never_written_does_not_stay(vectors):
    row = vectors.find("sigma")
    assert row not in vectors.writable
    stays = Replacements(Exponential(vectors), np.array([row]), 1e6).find_stays()
    assert stays == [Estimate(0.0, 0.0, 0.0)]


def test_draws_agree_with_the_closed_form(vectors):
    """The simulation of a mechanism with a closed form, which 95 % intervals of 40 words hold nearly always."""
    mechanism, rows = Exponential(vectors), vectors.writable
    exact = Replacements(mechanism, rows, 1.5)
    drawn = Replacements(Madlib(vectors), rows[:1], 1.5, draws=10)
    drawn.mechanism, drawn.rows, drawn.draws = mechanism, rows, 2000
    drawn.probabilities = drawn._simulate(None, 2000)
    drawn._own = exact._own
    inside = [two.low <= one.value <= two.high for one, two in zip(exact.find_stays(), drawn.find_stays(), strict=True)]
    assert np.mean(inside) > 0.85
    for one, two in zip(exact.count_others(), drawn.count_others(), strict=True):
        assert two.low <= two.value <= two.high
        assert two.low <= one.value + 2
        assert one.value - 2 <= two.high


def test_a_mechanism_without_a_closed_form_is_simulated(vectors):
    found = Replacements(Madlib(vectors), ROWS, 1e6, draws=100)
    assert [estimate.value for estimate in found.find_stays()] == [1.0, 1.0, float(vectors.entries[17] != "sigma"), 0.0]
    assert found.find_stays()[0].low == pytest.approx(0.9638, abs=1e-3)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    again = Replacements(Madlib(vectors), ROWS, 1.0, draws=100)
    np.testing.assert_array_equal(
        again.probabilities, Replacements(Madlib(vectors), ROWS, 1.0, draws=100).probabilities
    )


@pytest.mark.parametrize("kind", [Exponential, Madlib])
def test_unknown_words_are_placed_by_their_spelling(kind, vectors):
    row = int(vectors.writable[3])
    places = vectors.matrix[[row]].astype(float)
    found = Replacements(kind(vectors), np.array([1, UNKNOWN]), 1e6, spelled=places, draws=50)
    assert found.probabilities[1].argmax() == 3
    assert found.find_stays()[1].value == 0.0


def test_a_language_model_is_asked_for_the_first_word(tiny_with_prior):
    mechanism = Fluent(tiny_with_prior.vectors("words"), tiny_with_prior.prior("words"))
    found = Replacements(mechanism, ROWS[:2], 1.0)
    points = mechanism.space.place(ROWS[:2])
    np.testing.assert_allclose(found.probabilities, np.exp(mechanism.log_channel(points, np.array([1.0, 1.0]))))


def test_quantiles_are_weighted_by_how_often_a_word_is_drawn(vectors):
    mechanism = Exponential(vectors)
    found = describe_deniability(mechanism, np.array([0] * 19 + [5]), {"per word": 2.0})
    stays = Replacements(mechanism, np.array([0]), 2.0).find_stays()[0].value
    assert (found["method"], found["words"]) == ("exact", 20)
    (at,) = found["shares"]
    assert (at["meaning"], at["share"]) == ("per word", 2.0)
    assert at["stays"]["50%"] == pytest.approx(stays, abs=1e-4)


def test_quantiles_grow_with_the_share(vectors):
    for mechanism in (Exponential(vectors), Madlib(vectors)):
        low, high = describe_deniability(mechanism, vectors.writable, {"per word": 0.5, "largest": 8.0})["shares"]
        assert low["stays"]["50%"] < high["stays"]["50%"]
        assert low["others"]["50%"] > high["others"]["50%"]
