import numpy as np
import pytest

from textveil.methods.mechanisms.base import Mechanism
from textveil.methods.mechanisms.madlib import Madlib
from textveil.methods.mechanisms.returns import draw_entries, find_share, measure_returns


class Coin(Mechanism):
    """Gives an entry back with a probability of share / (1 + share), and the first entry otherwise."""

    name = guarantee = "coin"

    def perturb(self, requests):
        answers = []
        for request in requests:
            keeps = request.generator.random(len(request.rows)) < request.shares / (1 + request.shares)
            answers.append(np.where(keeps, request.rows, self.vectors.writable[0]))
        return answers


@pytest.fixture
def coin(tiny):
    return Coin(tiny.vectors("words"))


def test_entries_are_writable_and_the_same_each_time(coin):
    entries = draw_entries(coin, None)
    assert set(entries) <= set(coin.vectors.writable)
    assert entries.tolist() == draw_entries(coin, None).tolist()


def test_entries_are_drawn_by_their_frequency(coin):
    counts = np.ones(len(coin.vectors), dtype=np.int64)
    frequent = coin.vectors.writable[5]
    counts[frequent] = 1000
    assert np.mean(draw_entries(coin, counts) == frequent) > 0.9


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_share_with_a_rate_is_found(coin, rate):
    entries = draw_entries(coin, None)[1:]
    entries = entries[entries != coin.vectors.writable[0]]
    share = find_share(coin, rate, entries)
    assert share == pytest.approx(rate / (1 - rate), rel=0.35)  # 500 draws
    assert measure_returns(coin, share, entries) <= rate
    assert measure_returns(coin, 1.05 * share, entries) >= rate


def test_a_rate_that_is_always_reached_ends_the_search(coin):
    only = np.full(50, coin.vectors.writable[0])
    assert 0 < find_share(coin, 0.5, only) < 1e-9


def test_longer_vectors_return_at_smaller_shares(make_bundle, tiny):
    long = make_bundle(matrix=1000 * tiny.vectors("words").matrix)
    shares = [
        find_share(mechanism, 0.5, draw_entries(mechanism, None))
        for mechanism in (Madlib(tiny.vectors("words")), Madlib(long.vectors("words")))
    ]
    assert shares[0] / shares[1] == pytest.approx(1000, rel=0.25)


def test_a_mechanism_with_a_language_model_is_measured_on_short_documents(coin, monkeypatch):
    entries = draw_entries(coin, None)
    lengths = []
    perturb = Coin.perturb
    monkeypatch.setattr(Coin, "uses_prior", True)
    monkeypatch.setattr(
        Coin, "perturb", lambda self, requests: lengths.extend(len(r.rows) for r in requests) or perturb(self, requests)
    )
    assert measure_returns(coin, 1.0, entries) == pytest.approx(0.5, abs=0.1)
    assert max(lengths) == 10
    assert sum(lengths) == len(entries)
