import math

import numpy as np
import pytest

from textveil.budget import Budget
from textveil.lab.audit.claims import find_exact_ratio
from textveil.obfuscator import Obfuscator

BUDGET = Budget(epsilon_per_word=1.5, length="own")


def build(bundle, mechanism, **options):
    return Obfuscator(bundle, decomposition="words", mechanism=mechanism, largest_share=math.inf, **options)


def ratio(obfuscator, first, second):
    requests = [obfuscator.plan(text, BUDGET)[1] for text in (first, second)]
    return find_exact_ratio(obfuscator.mechanism, *requests)


def channel(obfuscator, word, *context):
    mechanism = obfuscator.mechanism
    point = mechanism.space.place(np.array([mechanism.vectors.find(word)]))
    return mechanism.log_channel(point, np.array([1.5]), *context)[0]


def test_a_mechanism_without_a_closed_form_has_none(tiny):
    assert ratio(build(tiny, "madlib"), "alpha", "beta") is None


def test_it_is_the_largest_ratio_of_all_answers(tiny):
    obfuscator = build(tiny, "exponential")
    first, second = channel(obfuscator, "alpha"), channel(obfuscator, "beta")
    expected = max((first - second).max(), (second - first).max())
    assert ratio(obfuscator, "alpha", "beta") == pytest.approx(expected)
    assert ratio(obfuscator, "alpha", "alpha") == 0


def test_the_words_of_a_text_add_up_in_one_direction(tiny):
    obfuscator = build(tiny, "exponential")
    gaps = [
        channel(obfuscator, first) - channel(obfuscator, second)
        for first, second in (("alpha", "beta"), ("psi", "omega"))
    ]
    expected = max(sum(gap.max() for gap in gaps), sum((-gap).max() for gap in gaps))
    assert ratio(obfuscator, "alpha film psi", "beta film omega") == pytest.approx(expected)


def test_a_language_model_is_given_what_was_written_before(tiny_with_prior):
    obfuscator = build(tiny_with_prior, "fluent")
    row = obfuscator.mechanism.vectors.find("the")
    context = np.array([[row]])
    first, second = channel(obfuscator, "alpha", context), channel(obfuscator, "beta", context)
    expected = max((first - second).max(), (second - first).max())
    assert ratio(obfuscator, "the alpha film", "the beta film") == pytest.approx(expected)  # the is kept
    assert ratio(obfuscator, "alpha film", "beta film") != pytest.approx(expected)


@pytest.mark.parametrize("mechanism", ["exponential", "fluent"])
def test_draws_agree_with_it(mechanism, tiny_with_prior):
    """The exact ratio is that of an answer, which the frequencies of many draws show, too."""
    obfuscator = build(tiny_with_prior, mechanism, seed=4)
    first, second = channel(obfuscator, "film"), channel(obfuscator, "story")
    answers = [
        [result.chunks[0].replacement for result in obfuscator.obfuscate_all([text] * 4000, budget=BUDGET)]
        for text in ("film", "story")
    ]
    best = int((first - second).argmax())
    word = obfuscator.mechanism.vectors.entries[obfuscator.mechanism.space.writable[best]]
    assert answers[0].count(word) / 4000 == pytest.approx(math.exp(first[best]), abs=0.03)
    assert answers[1].count(word) / 4000 == pytest.approx(math.exp(second[best]), abs=0.03)
