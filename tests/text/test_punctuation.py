import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.text.punctuation import FIRST_WORD, LONGEST, PAIRS, WORDS, Punctuation, load_punctuation
from textveil.text.words import find_words


@pytest.fixture
def table():
    """A full stop before "so", a comma before "but", none between "so" and "but", and sentences of any length."""
    words = ("but", "so")
    word_weights = np.zeros((WORDS, FIRST_WORD + len(words), 2))
    word_weights[2, FIRST_WORD, 0] = word_weights[2, FIRST_WORD + 1, 1] = 9.0
    pairs = np.array([(FIRST_WORD + 1) * (FIRST_WORD + len(words)) + FIRST_WORD])
    pair_weights = np.zeros((PAIRS, 2, 2))
    pair_weights[1, 1, 0] = -20.0
    lengths = np.full(LONGEST, -np.log(LONGEST))
    return Punctuation(words, pairs, word_weights, pair_weights, np.full(2, -4.0), lengths, 0.1, 0.5)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([], ""),
        ([""], ""),
        (["tea"], "Tea."),
        (["tea", "but", "no", "milk", "so", "i", "left"], "Tea, but no milk. So I left."),
        (["tea", "so", "but", "no"], "Tea. So but no."),
        (["new york", "but", "i'm here"], "New york, but I'm here."),
        (["no", "but so", "it"], "No, but so it."),
        (["they", "don", "t", "see", "it", "s"], "They don't see it's."),
        (["ßa", "ﬁ"], "ßa ﬁ."),
        (["1984", "so", "i"], "1984. So I."),
        (["old mr", "so", "met", "dr", "but"], "Old mr so met dr but."),
    ],
)
def test_a_text_by_hand(table, pieces, text):
    assert table.write_all([pieces]) == [text]


def test_probabilities_of_marks(table):
    found = table.predict([["tea", "but", "so"]])
    assert found.shape == (2, 3)
    assert found.sum(axis=1) == pytest.approx([1, 1])
    odds = np.array([1, np.exp(5), np.exp(-4)])
    assert found[0] == pytest.approx(odds / odds.sum())
    assert table.predict([["tea"]]).shape == (0, 3)


def test_no_sentence_is_longer_than_allowed(table):
    many, long = table.write_all([["tea"] * 100, ["tea " * 60 + "tea", "tea"]])
    assert max(len(sentence.split()) for sentence in many.split(". ")) <= LONGEST
    assert len(long.split(". ")) == 2  # a piece is never divided


def test_the_best_division_is_found(table):
    """Compared with all divisions of a few words."""
    generator = np.random.default_rng(1)
    lengths = np.log(generator.dirichlet(np.ones(LONGEST)))
    table = Punctuation(table.words, table.pairs, table.word_weights, table.pair_weights, table.bias, lengths, 0.1, 0.5)
    likely, ends = generator.uniform(0.05, 0.5, 6), np.arange(1, 8)
    odds = np.log(likely / (1 - likely)) - np.log(0.1 / 0.9)

    def judge(stops):
        edges = np.array([0, *(stop + 1 for stop in stops), 7])
        return odds[list(stops)].sum() + lengths[np.diff(edges) - 1].sum()

    every = [[place for place in range(6) if number >> place & 1] for number in range(64)]
    assert sorted(table._find_stops(table._weigh_stops(likely).tolist(), ends.tolist())) == max(every, key=judge)


PIECES = st.lists(st.sampled_from(["i", "don", "t", "so", "film", "zzxq", "new york", "", "?", "it", "s", "é", "but"]))


@given(st.lists(PIECES))
def test_texts_do_not_depend_on_those_beside_them(texts):
    table = load_punctuation()
    assert table.write_all(texts) == [table.write_all([pieces])[0] for pieces in texts]


@given(st.lists(st.sampled_from(["i", "don", "t", "the", "film", "zzxq", "new york", "it", "s", "é", "12", "but"])))
def test_the_words_stay_as_they_are(pieces):
    (written,) = load_punctuation().write_all([pieces])
    assert find_words(written) == [word for piece in pieces for word in find_words(piece)]
    assert written == "" or written.endswith(".")


def test_the_shipped_table_is_small_and_knows_frequent_words():
    table = load_punctuation()
    assert {"the", "i", "but", "film"} <= set(table.words)
    stop, none = (
        table.predict([words])[1, 2] for words in (["like", "it", "i", "think"], ["one", "of", "the", "film"])
    )
    assert stop > 0.3
    assert none < 0.01
