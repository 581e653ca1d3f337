import logging
import re

import pytest

from textveil.methods.distribution.yake import Yake
from textveil.text.documents import Document


@pytest.fixture(scope="module")
def distributor():
    return Yake()


def score(distributor, text):
    document = Document.parse(text)
    return dict(zip(document.words, *distributor.score([document]), strict=True))


def test_it_is_what_yake_gives(distributor, real_texts):
    from yake import KeywordExtractor

    extractor = KeywordExtractor(lan="en", n=1, dedup_lim=1.0, top=10_000)
    for review in real_texts[:10]:
        text = re.sub(r"(?<=\w)[^\w\s]+(?=\w)", " ", review)
        plain = dict(extractor.extract_keywords(text))
        scores = score(distributor, text)
        assert scores == {word: pytest.approx(plain[word]) if word in plain else None for word in scores}
        assert len(plain) > 10


def test_more_than_twenty_words_are_scored_and_none_is_left_out_as_similar(distributor):
    words = "films filmed filming filmic filmy actress actresses actor actors waiter waiters wait waited"
    letters = "alphas betas gammas deltas epsilons zetas thetas iotas kappas lambdas omicrons sigmas upsilons omegas"
    scores = score(distributor, f"{words} {letters}")
    assert len(scores) > 25
    assert None not in scores.values()


def test_what_yake_does_not_score(distributor):
    scores = score(distributor, "The film of 1999 had ab 3rd café_42 actors")
    assert {word for word, found in scores.items() if found is None} == {
        "the",
        "of",
        "1999",
        "had",
        "ab",
        "3rd",
        "café_42",
    }


def test_words_that_are_joined_are_scored(distributor):
    scores = score(
        distributor, "A star-studded cast and/or crew. Rotten.Potatoes was the director's e.g. name@studio.org"
    )
    assert {word for word, found in scores.items() if found is not None} >= {
        "star", "studded", "cast", "crew", "rotten", "potatoes", "director", "studio"
    }  # fmt: skip


def test_frequent_words_are_important_and_so_have_small_scores(distributor):
    scores = score(distributor, "The soup was cold. Soup again. Nobody liked the soup. A spoon lay there.")
    assert scores["soup"] < scores["spoon"]


def test_an_error_of_yake_is_no_silent_nothing(distributor, monkeypatch, caplog):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("yake.data.DataCore.build_single_terms_features", fail)
    with caplog.at_level(logging.DEBUG), pytest.raises(ZeroDivisionError):
        distributor.score([Document.parse("a secret text")])
    assert "secret" not in caplog.text


@pytest.mark.parametrize("text", ["", "...", "the of and", "1 2 3", "\n\t\n", "a\u2028b", "\x00"])
def test_texts_without_keywords(distributor, text):
    document = Document.parse(text)
    assert distributor.score([document]) == [[None] * len(document.words)]


@pytest.mark.slow
def test_a_text_of_200_000_words(distributor):
    document = Document.parse("some words are repeated very often " * (200_000 // 6 + 1))
    (scores,) = distributor.score([document])
    assert len(scores) == len(document.words) >= 200_000
