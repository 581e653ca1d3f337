import numpy as np
import pytest

from textveil.lab.audit.events import MOST_PLACES, PROPERTIES, TOGETHER, Coder, find_event
from textveil.randomness import SeededRandomness


def encode(*samples):
    coder = Coder()
    return coder, [coder.look_up(coder.encode(sample)) for sample in samples]


def draw(words, weights, number, seed):
    return list(SeededRandomness(seed).stream(0).choice(words, number, p=weights))


def test_equal_answers_have_equal_codes():
    coder, (codes,) = encode(["a b", "b a", "a b"])
    assert codes.shape == (3, len(PROPERTIES))
    assert (codes[0] == codes[2]).all()
    assert not (codes[0] == codes[1]).all()
    assert coder.name(0, codes[:, 0].tolist()) == ["a", "b", "a"]


def test_an_answer_keeps_its_number():
    coder = Coder()
    assert coder.encode(["a b", "b", "a b"]).tolist() == [0, 1, 0]
    assert coder.encode(["b", "c"]).tolist() == [1, 2]


def test_no_answers_have_no_codes():
    assert encode([])[1][0].shape == (0, len(PROPERTIES))


def test_the_word_that_tells_texts_apart_is_found():
    likely = draw(["a", "b", "c"], [0.5, 0.4, 0.1], 4000, 1)
    unlikely = draw(["a", "b", "c"], [0.5, 0.1, 0.4], 4000, 2)
    coder, (first, second) = encode(likely, unlikely)
    event = find_event(first, second, coder, 3.0)
    assert event.count(first) == likely.count("b")
    assert event.count(second) == unlikely.count("b")
    assert event.describe(coder) == "word 1 is 'b'"


def test_the_place_of_a_word_is_found():
    likely = [f"{one} {two} x" for one, two in zip(draw(["a", "b"], [0.5, 0.5], 2000, 1), "pq" * 1000, strict=True)]
    unlikely = [f"{one} {two} x" for one, two in zip(draw(["a", "b"], [0.5, 0.5], 2000, 2), "pqqq" * 500, strict=True)]
    coder, (first, second) = encode(likely, unlikely)
    assert find_event(first, second, coder, 3.0).describe(coder) == "word 2 is 'p'"


def test_words_that_tell_little_are_taken_together():
    def sample(share, seed):
        drawn = SeededRandomness(seed).stream(0).random((4000, 6)) < share
        return [" ".join("ab"[told] for told in row) for row in drawn.astype(int)]

    coder, (first, second) = encode(sample(0.75, 1), sample(0.25, 2))
    event = find_event(first, second, coder, 3.0)
    assert event.describe(coder).startswith(TOGETHER) or "the answer" in event.describe(coder)
    ratio = event.count(first) / max(1, event.count(second))
    assert ratio > 10  # a single word has a ratio of 3


@pytest.mark.parametrize(
    ("likely", "unlikely", "found"),
    [
        ("a b c", "a b", "the number of words is '3'"),
        ("a a b", "a b c", "the number of repeated words is '1'"),
        (" a", "a ", "the answer is ' a'"),
    ],
)
def test_other_properties_are_found(likely, unlikely, found):
    coder, (first, second) = encode([likely] * 200, [unlikely] * 200)
    event = find_event(first, second, coder, 3.0)
    assert (event.count(first), event.count(second)) == (200, 0)
    columns = [PROPERTIES.index(found.partition(" is ")[0])]
    assert (first[:, columns] != second[:, columns]).all()


def test_values_that_come_later_are_outside_of_the_event():
    coder, (first, second) = encode(["a"] * 100, ["b"] * 100)
    event = find_event(first, second, coder, 3.0)
    assert event.count(coder.look_up(coder.encode(["a", "new", "b"]))) == 1


def test_long_answers_are_cut():
    _, (codes,) = encode(["x " * MOST_PLACES + "a", "x " * MOST_PLACES + "b"])
    assert (codes[0, :MOST_PLACES] == codes[1, :MOST_PLACES]).all()
    assert codes[0, PROPERTIES.index("the answer")] != codes[1, PROPERTIES.index("the answer")]


def test_the_same_answers_always_have_an_event():
    coder, (first, second) = encode(["a"] * 10, ["a"] * 10)
    event = find_event(first, second, coder, 3.0)
    assert event.count(first) == event.count(second)
    assert np.isfinite(event.threshold)
