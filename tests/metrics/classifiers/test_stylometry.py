import numpy as np
import pytest

from textveil.lab.metrics.classifiers.stylometry import FUNCTION_WORDS, LONGEST_WORD, MARKS, Stylometry, find_features
from textveil.lab.metrics.dataset import Classes, Texts

WORDS = len(FUNCTION_WORDS)


def test_the_features_of_a_text_by_hand():
    text = "The soup, the WAITER. Ok"
    found = find_features(text)
    assert found[FUNCTION_WORDS.index("the")] == pytest.approx(2 / 5)
    assert found[:WORDS].sum() == pytest.approx(2 / 5)
    lengths = found[WORDS : WORDS + LONGEST_WORD]
    assert lengths[[1, 2, 3, 5]] == pytest.approx([1 / 5, 2 / 5, 1 / 5, 1 / 5])
    marks = found[WORDS + LONGEST_WORD : WORDS + LONGEST_WORD + len(MARKS)]
    assert marks[[MARKS.index(","), MARKS.index("."), MARKS.index(";")]] == pytest.approx([1 / 24, 1 / 24, 0])
    expected = [np.log(6), np.log(25), 5 / 2, (3 + 4 + 3 + 6 + 2) / 5, 3 / 5, 1 / 5, 0, 4 / 5]
    assert found[-8:] == pytest.approx(expected)


def test_content_words_are_only_measured():
    assert find_features("The soup was cold.").tolist() == find_features("The bank was warm.").tolist()
    assert find_features("The soup was cold.").tolist() != find_features("The soup was cold!").tolist()


def test_every_text_has_the_same_number_of_finite_features():
    for text in ("", "?!", "\ud800", "東京", "x" * 99):
        found = find_features(text)
        assert len(found) == len(find_features("The soup was cold."))
        assert np.isfinite(found).all()


def test_features_are_computed_once_per_list_of_texts(monkeypatch):
    classifier, texts = Stylometry(), Texts(["One, two.", "Three; four!"] * 5)
    classes = Classes.of(["a", "b"] * 5, range(10), "author")
    classifier.fit(texts, np.arange(8), classes, seed=1)
    monkeypatch.setattr("textveil.lab.metrics.classifiers.stylometry.find_features", lambda _: pytest.fail("again"))
    fitted = classifier.fit(texts, np.arange(2, 10), classes, seed=2)
    assert fitted.predict(texts, np.arange(10)).tolist() == [0, 1] * 5


def test_the_record_has_the_number_of_features():
    assert Stylometry().as_dict()["options"] == {"features": len(find_features("")), "C": 0.1}
