import pytest

from textveil.text.documents import spoken
from textveil.text.stopwords import CONTRACTIONS
from textveil.text.words import find_words

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
