import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.text.test_words import plain_words
from textveil.lab.corpus.counting import words as pairs
from textveil.lab.corpus.counting.words import (
    END,
    NONE,
    WordNumbering,
    join_key,
    pair_neighbors,
    split_documents,
    split_key,
)

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


def plainly(numbers, frequent):
    """The pairs of neighbors that are both frequent, by position."""
    known = [None if place >= len(frequent) or frequent[place] == NONE else int(frequent[place]) for place in numbers]
    return [(left, right) for left, right in itertools.pairwise(known) if left is not None and right is not None]


places = st.lists(st.integers(0, 6), max_size=40)
dictionaries = st.lists(st.booleans(), min_size=6, max_size=6)


@pytest.mark.parametrize("wide", [False, True])
@given(places, dictionaries)
def test_pairs_are_counted_as_by_a_loop(wide, numbers, known):
    rows = np.cumsum(known) + 10
    frequent = np.where(known, rows, NONE).astype(np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as where pairs and positions do not fit into 64 bits together
            patch.setattr(pairs, "_bits", lambda count: 32)
        found, counts, indices = pair_neighbors(np.array(numbers, np.uint32), frequent)
    expected = plainly(numbers, frequent)
    left, right = split_key(found)
    keys = list(zip(left.tolist(), right.tolist(), strict=True))
    assert keys == sorted(set(expected))
    assert dict(zip(keys, counts.tolist(), strict=True)) == Counter(expected)
    # Positions that were dropped held no pair; the others are in order.
    assert [keys[place] for place in indices.tolist() if place < len(keys)] == expected


def test_a_gap_separates_neighbors():
    found, _, indices = pair_neighbors(np.array([0, 2, 2, 2, 1, 0], np.uint32), np.array([5, 9], np.uint32))
    assert [part.tolist() for part in split_key(found)] == [[9], [5]]
    assert indices.tolist() == [1, 1, 0]


def test_keys_hold_two_numbers():
    left, right = np.array([0, 7, 0xFFFFFFFE], np.uint32), np.array([3, 0, 0xFFFFFFFE], np.uint32)
    split = split_key(join_key(left, right))
    assert split[0].tolist() == left.tolist()
    assert split[1].tolist() == right.tolist()
    assert (np.diff(join_key(left, right).astype(np.float64)) > 0).all()
