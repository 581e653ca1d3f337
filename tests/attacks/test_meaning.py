import numpy as np
import pytest

from textveil.errors import ParameterError
from textveil.lab.attacks import deniability as meaning
from textveil.lab.attacks.deniability import POINTS, describe_meaning, measure_deniability
from textveil.methods.mechanisms.returns import LARGEST_RATE
from textveil.obfuscator import Obfuscator


@pytest.mark.parametrize("mechanism", ["madlib", "exponential", "fluent"])
def test_a_larger_epsilon_keeps_and_reveals_more(tiny_with_prior, mechanism):
    obfuscator = Obfuscator(tiny_with_prior, mechanism=mechanism)
    found = describe_meaning(obfuscator)
    assert found["method"] == ("simulated" if mechanism == "madlib" else "exact")
    points = found["points"]
    half = obfuscator.find_share(LARGEST_RATE)
    assert [point["epsilon_per_word"] for point in points] == pytest.approx(
        [number * half / 10 for number in range(1, POINTS + 1)], rel=0.01
    )
    for name in ("stays", "guessed"):
        values = [point[name] for point in points]
        assert all(0 <= value <= 1 for value in values)
        assert values[0] < values[6] < values[-1]


def test_exact_values_are_those_of_deniability(tiny):
    """Over all words, by the same attacker; the draw of 200 words and replacements changes little."""
    obfuscator = Obfuscator(tiny, mechanism="exponential")
    entries = [tiny.vectors("words").entries[row] for row in tiny.vectors("words").writable]
    words = [entry.replace("_", " ") for entry in entries if entry not in ("the", "and", "was", "of")]
    point = describe_meaning(obfuscator)["points"][7]
    exact = measure_deniability(obfuscator, words, share=point["epsilon_per_word"])
    assert point["stays"] == pytest.approx(np.mean([word.stays.value for word in exact]), abs=0.03)
    assert point["guessed"] == pytest.approx(np.mean([word.guessed.value for word in exact]), abs=0.1)


def test_stopwords_are_left_out_where_they_are_kept(tiny):
    entries = tiny.vectors("words").entries
    for stopwords, expected in (("keep", False), ("perturb", True)):
        obfuscator = Obfuscator(tiny, mechanism="exponential", stopwords=stopwords)
        drawn = meaning._draw_words(obfuscator, "words", keeps_stopwords=stopwords == "keep")
        assert ("the" in {entries[row] for row in drawn}) is expected


def test_drafted_texts_have_no_such_curve(tiny):
    with pytest.raises(ParameterError, match="not known for texts that are drafted first"):
        describe_meaning(Obfuscator(tiny, profile="proven", draft_share=0.1))
