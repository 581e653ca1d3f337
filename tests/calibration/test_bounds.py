import numpy as np
import pytest

from textveil.lab.calibration.search import find_quantile, widen
from textveil.lab.metrics.uncertainty import bootstrap_mean
from textveil.randomness import SeededRandomness


@pytest.mark.parametrize(
    ("level", "degrees", "quantile"),
    [(0.95, 10, 1.8125), (0.99, 19, 2.5395), (0.995, 59, 2.6618), (0.9995, 30, 3.6460), (0.5, 20, 0.0)],
)
def test_quantiles_are_those_of_tables(level, degrees, quantile):
    assert find_quantile(level, degrees) == pytest.approx(quantile, abs=0.002)


def test_a_smaller_risk_and_fewer_texts_move_the_bound_away():
    assert widen(0.2, 0.25, 50, 0.001) > widen(0.2, 0.25, 50, 0.01) > 0.25
    assert widen(0.2, 0.25, 20, 0.01) > widen(0.2, 0.25, 200, 0.01)
    assert widen(0.2, 0.15, 50, 0.001) < 0.15  # a lower bound moves down


@pytest.mark.parametrize("texts", [20, 60])
def test_a_bound_fails_no_more_often_than_stated(texts):
    """Of 200 upper bounds with a risk of 5 %, 10 may fail; more than 20 would happen by chance once in a thousand."""
    stream = SeededRandomness(texts).stream(0)
    failed = 0
    for _ in range(200):
        shares = stream.binomial(12, 0.3, size=texts) / 12
        interval = bootstrap_mean(shares)
        failed += widen(float(np.mean(shares)), interval.high, texts, 0.05) < 0.3
    assert failed <= 20
