import pytest

from textveil.text.documents import Document
from textveil.text.sentences import ENGLISH_ABBREVIATIONS, find_sentences, load_splitter
from textveil.text.stopwords import ENGLISH

TITLES = ["mr", "mrs", "dr", "prof", "gen", "sgt", "st"]


def count_sentences(text: str) -> int:
    return len(find_sentences(Document.parse(text)))


def test_every_abbreviation_is_a_lowercase_word_of_at_least_two_letters():
    assert all(word.isascii() and word.isalpha() and word.islower() and len(word) > 1 for word in ENGLISH_ABBREVIATIONS)


def test_no_abbreviation_is_a_stopword():
    assert not ENGLISH_ABBREVIATIONS & ENGLISH


@pytest.mark.parametrize("title", TITLES)
def test_the_period_of_a_title_does_not_end_a_sentence(title):
    assert title in ENGLISH_ABBREVIATIONS
    assert count_sentences(f"We met {title.title()}. Brown at noon.") == 1


@pytest.mark.parametrize("word", ["story", "book", "york", "sun", "mar", "no", "may"])
def test_a_word_that_often_ends_a_sentence_is_not_on_the_list(word):
    assert word not in ENGLISH_ABBREVIATIONS
    assert count_sentences(f"We saw the {word}. Brown left at noon.") == 2


def test_the_splitter_knows_every_abbreviation_and_no_longer_word_besides():
    known = {word for word in load_splitter().abbreviations if word.isalpha() and len(word) > 1}
    assert known == ENGLISH_ABBREVIATIONS
