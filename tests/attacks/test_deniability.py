import json
import math

import numpy as np
import pytest

from tests.conftest import ENTRIES, random_matrix
from textveil.bundles.building import VectorTable, build_bundle
from textveil.errors import ParameterError
from textveil.lab.attacks import channels, deniability
from textveil.lab.attacks.deniability import measure_deniability
from textveil.obfuscator import Obfuscator


def build(bundle, mechanism="exponential", **options):
    options = {"decomposition": "words", "stopwords": "perturb", "largest_share": math.inf, **options}
    return Obfuscator(bundle, mechanism=mechanism, **options)


def guess_by_hand(vectors, share):
    """Bayes' rule on the whole table of probabilities, with a uniform prior: the guess for each written entry."""
    writable = vectors.matrix[vectors.writable].astype(float)
    logs = -share / 2 * np.linalg.norm(vectors.matrix[:, None].astype(float) - writable[None], axis=2)
    channel = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    guesses = channel.argmax(axis=0)
    return channel, [float(channel[row, guesses == row].sum()) for row in range(len(vectors))]


@pytest.mark.parametrize("share", [0.5, 1.5, 4.0])
def test_guesses_are_those_of_the_whole_table(share, tiny):
    vectors = tiny.vectors("words")
    channel, expected = guess_by_hand(vectors, share)
    words = [entry for entry in vectors.entries if "_" not in entry]
    found = measure_deniability(build(tiny), words, share=share)
    for word in found:
        row = vectors.find(word.word)
        assert word.guessed.value == pytest.approx(expected[row], abs=0.002)
        own = np.flatnonzero(vectors.writable == row)
        assert word.stays.value == pytest.approx(channel[row, own].sum(), rel=1e-3)
    assert any(word.guessed.value > 0.05 for word in found)


def test_no_attacker_does_better_over_all_words(tiny):
    """With a uniform prior, the mean success of the Bayes attacker is at least that of repeating the word."""
    words = [entry for entry in tiny.vectors("words").entries if "_" not in entry]
    found = measure_deniability(build(tiny), words, share=1.0)
    assert sum(word.guessed.value for word in found) >= sum(word.stays.value for word in found) - 0.01


def test_an_unknown_word_neither_stays_nor_is_guessed(tiny):
    for mechanism in ("exponential", "madlib"):
        alpha, unknown = measure_deniability(build(tiny, mechanism), ["Alpha", "xyzzy"], share=5.0, draws=200)
        assert alpha.known
        assert alpha.stays.value > 0.1
        assert not unknown.known
        assert (unknown.stays, unknown.guessed) == ((0, 0, 0), (0, 0, 0))
        assert unknown.others.value > 0


def test_without_a_closed_form_there_are_intervals(tiny):
    (word,) = measure_deniability(build(tiny, "madlib"), ["alpha"], share=2.0, draws=400)
    assert 0 < word.stays.low < word.stays.value < word.stays.high < 1
    assert word.guessed.low <= word.guessed.value <= word.guessed.high
    assert word.others.low <= word.others.value <= word.others.high


def test_every_mechanism_is_measured(tiny_with_prior):
    from textveil.methods.mechanisms import MECHANISMS

    for mechanism in MECHANISMS:
        obfuscator = Obfuscator(tiny_with_prior, decomposition="words", mechanism=mechanism, profile="paper")
        low, high = (measure_deniability(obfuscator, ["film"], share=share, draws=300)[0] for share in (0.2, 50.0))
        if mechanism == "vickrey":  # under which no word stays
            assert low.stays.value == high.stays.value == 0
        elif mechanism != "gumbel":
            assert low.stays.value < 0.5 < high.stays.value


def test_a_word_in_clear_stays_and_is_no_secret(tiny):
    options = {"decomposition": "words", "largest_share": math.inf}
    (kept,) = measure_deniability(Obfuscator(tiny, **options), ["the"], share=1.0)
    assert (kept.stays.value, kept.others.value, kept.guessed.value) == (1, 0, 1)
    (unknown,) = measure_deniability(Obfuscator(tiny, **options, profile="paper"), ["zyxwvut"], share=1.0)
    assert (unknown.known, unknown.stays.value, unknown.guessed.value) == (False, 1, 1)


@pytest.mark.parametrize("mechanism", ["exponential", "fluent"])
@pytest.mark.parametrize("block", [1, 64])
def test_guesses_are_those_of_an_attacker_who_computes_all_posteriors(mechanism, block, tiny_with_prior, monkeypatch):
    monkeypatch.setattr(deniability, "BLOCK", block)
    monkeypatch.setattr(deniability, "RIVALS", 1)
    monkeypatch.setattr(channels, "LIKELY", 2)
    obfuscator = build(tiny_with_prior, mechanism=mechanism)
    vectors = obfuscator.mechanism.vectors
    words = [entry for entry in vectors.entries if "_" not in entry]
    found = measure_deniability(obfuscator, words, share=2.0)
    channel = np.exp(obfuscator.mechanism.log_channel(vectors.matrix.astype(float), np.full(len(vectors), 2.0)))
    counts = tiny_with_prior.counts("words")
    prior = np.ones(len(vectors)) if counts is None else counts + 1.0
    guesses = (prior[:, None] * channel).argmax(axis=0)
    expected = [float(channel[row][guesses == row].sum()) for row in map(vectors.find, words)]
    assert [word.guessed.value for word in found] == pytest.approx(expected, abs=deniability.NEGLECTED)
    assert max(expected) > 0.05


def test_few_normalizing_sums_are_computed(monkeypatch):
    """The posteriors of all 48,000 candidates took a minute."""
    computed = []
    log_sums = channels.ExactChannel.sum_up
    monkeypatch.setattr(
        channels.ExactChannel, "sum_up", lambda *given: computed.append(len(given[1])) or log_sums(*given)
    )
    (tea,) = measure_deniability(Obfuscator(), ["tea"], share=13.0)
    assert 0 < tea.stays.value <= tea.guessed.value < 0.1
    assert sum(computed) < 1000


def test_a_kept_stopword_is_never_the_best_guess_for_a_frequent_word(tmp_path):
    """Where stopwords are kept, a replaced word was none of them, however frequent they are."""
    counts = np.array([10**6 if entry == "the" else 10 for entry in ENTRIES])
    table = VectorTable(ENTRIES, random_matrix(len(ENTRIES), 12), counts=counts)
    bundle = build_bundle(tmp_path / "b", {"words": table}, name="b", version="1", corpus="none", license="MIT")
    kept, perturbed = (
        measure_deniability(build(bundle, stopwords=stopwords), ["alpha"], share=9.0)[0].guessed.value
        for stopwords in ("keep", "perturb")
    )
    assert kept > 0.5 > perturbed  # "the" is always the best guess, unless it is kept


def test_an_entry_of_several_words(tiny):
    (found,) = measure_deniability(build(tiny), ["New York"], share=3.0)
    assert found.known
    assert found.stays.value == 0  # entries of several words are not written where texts are split into words


def test_as_json(tiny):
    (found,) = measure_deniability(build(tiny), ["alpha"], share=3.0)
    values = json.loads(json.dumps(found.as_dict()))
    assert values["word"] == "alpha"
    assert values["stays"] == {"value": found.stays.value, "low": found.stays.value, "high": found.stays.value}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "`share` must be positive"),
        ({"share": math.nan}, "`share` must be positive"),
        ({"share": 1.0, "draws": 0}, "`draws` must be"),
        ({"share": 1.0, "words": ["alpha", "?!"]}, "Argument 2 of `words` has no word"),
    ],
)
def test_wrong_values_are_refused(options, message, tiny):
    with pytest.raises(ParameterError, match=message):
        measure_deniability(build(tiny), **{"words": ["alpha"], **options})
