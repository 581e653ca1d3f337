import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.text.test_words import plain_words
from textveil.lab.corpus.counting.words import END, WordNumbering, split_documents

UNUSUAL = [
    "Don't PANIC, it's 4_2!",
    "İstanbul'da ΟΔΥΣΣΕΥΣ, ΣΑΣ.",
    "naïve café — “Übermaß” ﬁne Ǆ",
    "१२३ ٤٥ ² ½ Ⅷ ㊀ हिन्दी",
    "a\x00b\x1cc\x85d\u2028e\tf\rg",
    "emoji 🙂 e\u0301 zero\u200bwidth \ud800 lone",
    "",
    "...",
    " . a . b . ",
    "x" * 1000,
]


@pytest.mark.parametrize("document", UNUSUAL)
def test_words_are_those_of_the_definition(document):
    assert split_documents([document]) == [*plain_words(document), END]


@given(st.lists(st.text(alphabet=st.characters(), max_size=40), max_size=6))
@example(["\uff9e"])  # a letter whose compatibility form is a combining mark
def test_words_of_any_text_are_those_of_the_definition(documents):
    words = split_documents(documents)
    expected = [[*plain_words(document), END] for document in sorted(documents, key=lambda text: not text.isascii())]
    assert words == [word for document in expected for word in document]


@pytest.mark.parametrize("start", range(0, 0x110000, 0x8000))
def test_every_character_is_classified_as_by_the_definition(start):
    text = " ".join(f"a{chr(code)}B" for code in range(start, start + 0x8000))
    assert split_documents([text])[:-1] == plain_words(text)


def test_numbers_are_indices_of_sorted_words():
    numbering = WordNumbering()
    numbering.add(["the cat, the dog", "Éclair"])
    numbering.add(["a cat"])
    assert (numbering.documents, numbering.tokens, numbering.distinct) == (3, 7, 5)
    words, counts, numbers = numbering.finish()
    assert words == ["a", "cat", "dog", "the", "éclair"]
    assert counts.tolist() == [1, 2, 1, 2, 1]
    assert numbers.tolist() == [3, 1, 3, 2, 5, 4, 5, 0, 1, 5]


def test_without_documents_there_are_no_words():
    words, counts, numbers = WordNumbering().finish()
    assert (words, len(counts), len(numbers)) == ([], 0, 0)
    assert numbers.dtype == np.uint32
