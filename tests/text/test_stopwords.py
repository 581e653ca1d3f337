"""Stopwords, contractions, and the stopwords that may be kept."""

import hashlib
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.text.documents import Document, spoken
from textveil.text.plain_stopwords import mark_plain_stopwords
from textveil.text.stopwords import CONTRACTIONS, ENGLISH
from textveil.text.words import find_words

SHARED = Path(__file__).parents[3] / "shared" / "nltk_data"


def test_the_list_contains_lowercase_words_only():
    assert all(re.fullmatch(r"[a-z]+", word) for word in ENGLISH)
    assert {"the", "don", "t", "wouldn"} <= ENGLISH


def test_the_list_has_not_changed():
    """The hash is that of NLTK's list. The next test reads that list itself, if it is installed."""
    digest = hashlib.sha256(" ".join(sorted(ENGLISH)).encode()).hexdigest()
    assert digest == "59feaedbd189ef0b004c1079bceae6c59262083ba4eea23e33ba753f7aa6f9c4"


def test_the_list_is_nltks():
    folder = Path(os.environ.get("NLTK_DATA", SHARED))
    path = folder / "corpora" / "stopwords" / "english"
    if not path.exists():
        pytest.skip("needs NLTK's stopwords; set NLTK_DATA")
    lines = path.read_text(encoding="utf-8").split()
    assert {word for line in lines for word in re.findall(r"\w+", line)} == ENGLISH


WRITTEN = (
    "don't can't won't isn't I'm you're we're they've I've could've she'll it'll that'd he'd it's let's y'all ma'am "
    "o'clock"
).split()


@pytest.mark.parametrize("word", WRITTEN)
@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_a_contraction_is_found_by_its_two_words(word, apostrophe):
    assert tuple(find_words(word.replace("'", apostrophe))) in CONTRACTIONS


@pytest.mark.parametrize("word", ["dog's", "soup's", "rock'n", "i't", "he'm", "cat't"])
def test_a_possessive_or_another_pair_is_not_a_contraction(word):
    assert tuple(find_words(word)) not in CONTRACTIONS


def test_every_contraction_is_two_lowercase_words():
    for first, second in CONTRACTIONS:
        assert find_words(f"{first}'{second}") == [first, second]


@pytest.mark.parametrize("word", WRITTEN)
def test_a_contraction_of_a_vocabulary_is_written_with_an_apostrophe(word):
    assert spoken("_".join(find_words(word))) == word.lower()


def plain(text):
    document = Document.parse(text)
    (marks,) = mark_plain_stopwords([document])
    return [document.text[start:stop] for (start, stop), mark in zip(document.spans, marks, strict=True) if mark]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The soup was cold. It was not for me.", ["The", "was", "It", "was", "not", "for", "me"]),
        ("I asked Will and Don about Ma.", ["I", "and", "about"]),
        ("Will you come? Will will.", ["Will", "you", "will"]),
        ("Don Richardson won the trial and Ma left. Don won.", ["the", "and"]),
        ("don and ma won; re: a safe haven", ["and", "a"]),  # no contractions
        ("Don't, won't, ma'am, haven’t", "Don t won t ma am haven t".split()),
        ("Will left. Can, too, and Do. Will", ["too", "and"]),
        ("Can I? Can't we? Do not. Am I? Will the bus come?", "Can I Can t we Do not Am I Will the".split()),
        ("An hour ago. An old man. An Nguyen left. An went. An is here.", "An An is here".split()),
        ("He met Mr. Will.", ["He"]),  # an abbreviation ends no sentence
        ("The WHO and IT and US", ["The", "and", "and"]),
        ("AT&T, I.T., O'Neill, D.O.A.", []),
        ("s e c r e t: s, t, o, d, m, y", []),
        ("I am a man. A man!", ["I", "am", "a", "A"]),
        ("grade A, vitamin D", []),
        ("Don't, it's, I'm, we've, they'll, he'd", "Don t it s I m we ve they ll he d".split()),
        ("It’s a dog’s life", ["It", "s", "a"]),  # a dog's is no contraction
        ("ｔｈｅ th\u00ade ⓣⓗⓔ the\u0363 the", ["the"]),  # the others would carry more than the word
        ("How\nCan\nThe", ["How"]),  # a new line alone begins no sentence
        ("", []),
    ],
)
def test_which_stopwords_may_be_kept(text, kept):
    assert plain(text) == kept


@given(st.lists(st.text(st.sampled_from("aeio tTheWIwillwas.,!?'&\n"), max_size=60), max_size=4))
def test_only_stopwords_are_marked_and_documents_do_not_matter_to_each_other(texts):
    documents = list(map(Document.parse, texts))
    together = mark_plain_stopwords(documents)
    for document, marks in zip(documents, together, strict=True):
        assert len(marks) == len(document.words)
        assert all(word in ENGLISH for word, mark in zip(document.words, marks, strict=True) if mark)
        assert mark_plain_stopwords([document]) == [marks]
