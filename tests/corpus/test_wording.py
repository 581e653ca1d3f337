"""The entries that no bundle writes, with the real WordNet."""

import numpy as np
import pytest

from textveil.lab.corpus.entry_filters import (
    COMMON_ARCHAISM,
    COMMON_NUMBER,
    COMMON_SHORT,
    COMMON_UNKNOWN,
    list_unfit,
    read_words,
)
from textveil.resources import find

COMMON = 1_000


def judge(*rare, common=(), share=10, wordnet=True):
    """The unfit ones of rare entries, among common ones that surround them."""
    entries = [*rare, *common]
    documents = np.array([share] * len(rare) + [COMMON] * len(common))
    return list_unfit(entries, documents, 10_000, wordnet=find("wordnet") if wordnet else None)


@pytest.mark.parametrize("entry", "0 7 42 99 100 150 500 2500 1984 2004 1st 22nd 13th 80s 1950s 10pm 8am".split())
def test_common_values_are_written(entry):
    assert judge(entry) == []


@pytest.mark.parametrize("entry", "4837 0800 137 1812 00 007 30am 13pm 21th 35s mp3 b4 w00t 12_000".split())
def test_other_numbers_are_not_written(entry):
    assert judge(entry) == [entry]


def test_a_value_that_few_documents_have_is_not_written():
    assert judge("1931", share=COMMON_NUMBER) == []
    assert judge("1931", share=COMMON_NUMBER - 1) == ["1931"]


@pytest.mark.parametrize(
    "entry", "didn don ve ll s t x é urllink http www nbsp quot br th ing thats dont _ _the".split()
)
def test_parts_of_something_else_are_not_written(entry):
    assert judge(entry, share=COMMON) == [entry]


def test_wrongly_decoded_letters_are_not_written():
    assert judge("donâ", "cafã", "café", "naïve", "fiancée") == ["donâ", "cafã"]


@pytest.mark.parametrize("entry", "a i can won will its well shell lets ad ox don_t we_ll he_s_got vitamin_c".split())
def test_words_and_whole_contractions_are_written(entry):
    assert judge(entry, share=COMMON) == []


def test_archaic_forms_are_written_only_if_they_are_frequent():
    forms = ["thou", "hath", "shouldst", "knowest", "goeth", "deniest", "thou_art"]
    assert judge(*forms, share=COMMON_ARCHAISM - 1) == forms
    assert judge(*forms, share=COMMON_ARCHAISM) == []
    assert judge("forest", "honest", "interest", "greatest", "teeth", "twentieth", "slugfest", share=2) == []


def test_long_drawn_words_are_not_written():
    found = judge("sooo", "nooooo", "yess", "iii", "viii", "grass", common=["so", "no", "yes"])
    assert found == ["sooo", "nooooo", "yess"]


def test_misspelled_words_are_not_written():
    right = ["definitely", "receive", "yesterday", "looking", "because", "disappointed", "weird"]
    wrong = ["definately", "recieve", "yeasterday", "lookin", "becuase", "dissapointed", "wierd"]
    assert judge(*wrong, common=right) == wrong
    assert judge(*wrong, wordnet=False, common=right) == []


def test_a_frequent_unknown_word_is_no_misspelling():
    assert judge("comming", common=["coming"]) == ["comming"]
    assert judge(common=["comming", "coming"]) == []


def test_british_and_american_spellings_are_written():
    pairs = "colour color realise realize centre center travelled traveled grey gray ardour ardor".split()
    assert judge(*pairs[::2], common=pairs[1::2]) == []
    assert judge(*pairs[1::2], common=pairs[::2]) == []


def test_a_rare_unknown_word_is_written_only_if_it_is_formed_from_known_ones():
    words, bases = ["nerdy", "unfunny", "moviegoing", "kucing"], ["nerd", "funny", "movie", "going"]
    assert judge(*words, share=COMMON_UNKNOWN - 1, common=bases) == ["kucing"]
    assert judge(*words, share=COMMON_UNKNOWN, common=bases) == []
    assert judge("rofl", share=COMMON_SHORT - 1) == ["rofl"]
    assert judge("rofl", share=COMMON_SHORT) == []


def test_offensive_words_are_not_written():
    listed = sorted(read_words("unwritten"))
    assert len(listed) > 100
    assert judge(*listed, share=COMMON, wordnet=False) == listed
    by_wordnet = ["wetback", "wetbacks", "bullshit", "son_of_a_bitch"]
    assert judge(*by_wordnet, "boy", "queen", "spade", "suit", share=COMMON) == by_wordnet


def test_an_expression_is_unfit_if_one_of_its_words_is():
    assert judge("sooo_good", "thy_name", "room_4837", "good_name", share=COMMON_SHORT) == [
        "sooo_good",
        "thy_name",
        "room_4837",
    ]
    assert judge("hong_kong", "los_angeles", "kung_fu", share=1) == []  # WordNet has them, though not their words
