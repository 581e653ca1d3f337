import numpy as np
import pytest

from textveil.budget import Budget
from textveil.deniability import has_closed_form, list_alternatives
from textveil.methods.mechanisms import MECHANISMS, Request
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness

TEXT = "the alpha sigma xyzzy and beta"


def find(obfuscator, number=5, seed=1):
    """The alternatives of a text, with the request and the chosen rows."""
    _, request = obfuscator.plan(TEXT, Budget(epsilon=6.0))
    (chosen,) = obfuscator.mechanism.perturb([request._replace(generator=SeededRandomness(seed).stream(0))])
    return list_alternatives(obfuscator.mechanism, request, chosen, number=number), request, chosen


@pytest.mark.parametrize("mechanism", ["exponential", "fluent"])
def test_the_likeliest_come_first_and_all_sum_to_one(tiny_with_prior, mechanism):
    obfuscator = Obfuscator(tiny_with_prior, mechanism=mechanism)
    found, request, _ = find(obfuscator, number=100)
    assert len(found) == len(request.rows) == 4
    for each in found:
        probabilities = [probability for _, probability in each.likeliest]
        assert len(probabilities) == len(obfuscator.mechanism.space.writable)
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) == pytest.approx(1)
    alpha, sigma, unknown, beta = found
    assert alpha.stays == dict(alpha.likeliest)["alpha"] > 0
    assert sigma.stays == unknown.stays == 0  # one is never written, the other is not in the vocabulary
    assert "sigma" not in dict(beta.likeliest)
    short, _, _ = find(obfuscator, number=3)
    assert [each.likeliest for each in short] == [each.likeliest[:3] for each in found]


def test_the_probability_is_that_of_the_draw(tiny_with_prior):
    """For the mechanism with a language model, that depends on the words before, written or kept."""
    obfuscator = Obfuscator(tiny_with_prior, mechanism="fluent")
    mechanism = obfuscator.mechanism
    found, request, chosen = find(obfuscator)
    kept = [mechanism.vectors.find(word) for word in ("the", "and")]
    contexts = np.array([[kept[0]], [chosen[0]], [chosen[1]], [kept[1]]])
    logs = mechanism.log_channel(mechanism.place(request, slice(None)), request.shares, contexts)
    columns = np.searchsorted(mechanism.space.writable, chosen)
    expected = np.exp(logs[np.arange(4), columns])
    assert [each.probability for each in found] == pytest.approx(expected.tolist())


def test_draws_have_these_probabilities(tiny_with_prior):
    """Of 2,000 draws, the likeliest replacement has its share; false alarm with less than 1 in 10,000."""
    obfuscator = Obfuscator(tiny_with_prior, mechanism="exponential")
    found, request, _ = find(obfuscator)
    name, probability = found[0].likeliest[0]
    row = obfuscator.mechanism.vectors.spoken_rows[name]
    many = Request(
        np.repeat(request.rows[:1], 2000), np.repeat(request.shares[:1], 2000), SeededRandomness(4).stream(0)
    )
    (drawn,) = obfuscator.mechanism.perturb([many])
    assert np.mean(drawn == row) == pytest.approx(probability, abs=4 * np.sqrt(probability / 2000))


def test_mechanisms_without_a_closed_form_have_none(tiny):
    assert find(Obfuscator(tiny, mechanism="madlib"))[0] is None
    closed = {name for name in MECHANISMS if has_closed_form(MECHANISMS.load(name))}
    assert closed == {"exponential", "fluent"}


def test_a_text_without_words(tiny):
    obfuscator = Obfuscator(tiny, mechanism="exponential")
    _, request = obfuscator.plan("?", Budget(epsilon=1.0))
    assert list_alternatives(obfuscator.mechanism, request, np.empty(0, dtype=np.int64), number=3) == []
