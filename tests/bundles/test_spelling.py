import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import random_matrix
from textveil.bundles.spelling import LONGEST_WORD, Spelling, SpellingTable, hash_ngrams
from textveil.bundles.vectors import Vectors


def test_ngrams_have_three_to_five_characters_with_the_boundaries_of_the_word():
    ngrams = ["<te", "tea", "ea>", "<tea", "tea>", "<tea>"]
    np.testing.assert_array_equal(hash_ngrams("tea"), sorted(zlib.crc32(ngram.encode()) for ngram in ngrams))


def test_the_hash_is_the_same_in_every_process_and_version():
    assert hash_ngrams("a").tolist() == [0x6FB782AB]  # "<a>"


def test_digits_count_by_their_class():
    np.testing.assert_array_equal(hash_ngrams("1984"), hash_ngrams("2026"))
    np.testing.assert_array_equal(hash_ngrams("mp3s"), hash_ngrams("mp4s"))
    assert not np.array_equal(hash_ngrams("198"), hash_ngrams("1984"))  # their number counts


def test_a_repeated_ngram_counts_once():
    assert len(hash_ngrams("a" * 40)) == len(hash_ngrams("a" * 20))


def test_the_end_of_a_very_long_word_does_not_count():
    word = "".join(chr(ord("a") + number % 23) for number in range(LONGEST_WORD))
    np.testing.assert_array_equal(hash_ngrams(word + "x" * 10**6), hash_ngrams(word))


@pytest.fixture
def spelling() -> Spelling:
    """Rows for the n-grams of two words, on two of three axes."""
    matrix = np.array([[4, 0, 0], [-4, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=np.float32)
    vectors = Vectors(["east", "west", "north", "south"], matrix, axes=np.eye(3))
    keys = hash_ngrams("tea")
    rows = np.tile(np.array([[1, 2]], dtype=np.int8), (len(keys), 1))
    return Spelling(SpellingTable(keys, rows, np.full(len(keys), 0.5, dtype=np.float32)), vectors)


def test_a_word_is_at_the_sum_of_the_rows_of_its_known_ngrams(spelling):
    np.testing.assert_allclose(spelling.place(["teas"]), [[1.5, 3, 0]])  # <te, tea and <tea, each (0.5, 1)


def test_a_word_without_known_ngrams_and_a_code_are_at_the_center(spelling):
    np.testing.assert_array_equal(spelling.place(["qux", None, "_"]), np.zeros((3, 3)))


def test_no_position_is_farther_from_the_center_than_every_entry(spelling):
    (position,) = spelling.place(["tea"])  # six n-grams: (3, 6)
    assert np.linalg.norm(position) == pytest.approx(4)
    np.testing.assert_allclose(position / 4, np.array([1, 2, 0]) / np.sqrt(5))


def test_a_chunk_of_several_words_is_at_their_mean(spelling):
    expected = (np.array([-4, 0, 0]) + np.array([1.5, 3, 0])) / 2  # a known word is at its vector
    np.testing.assert_allclose(spelling.place(["west_teas"]), [expected])


def test_no_chunk_gives_no_positions(spelling):
    assert spelling.place([]).shape == (0, 3)


@pytest.fixture(scope="module")
def long_rows() -> Spelling:
    vectors = Vectors([f"w{number}" for number in range(30)], random_matrix(30, 4))
    keys = np.unique(np.concatenate([hash_ngrams(word) for word in ("abc", "the", "000", "a")]))
    rows = np.full((len(keys), 4), 99, dtype=np.int8)
    return Spelling(SpellingTable(keys, rows, np.ones(len(keys), dtype=np.float32)), vectors)


@given(st.lists(st.text("abc0_\ud800é") | st.none(), max_size=4))
def test_a_position_depends_on_the_word_alone_and_stays_in_the_ball(long_rows, words):
    positions = long_rows.place(words)
    assert np.isfinite(positions).all()
    assert (np.linalg.norm(positions - long_rows.center, axis=1) <= long_rows.radius * (1 + 1e-6)).all()
    for word, position in zip(words, positions, strict=True):
        np.testing.assert_array_equal(long_rows.place(["abc", word])[1], position)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"keys": np.array([2, 1], dtype=np.uint32)}, "not in order"),
        ({"keys": np.array([1, 1], dtype=np.uint32)}, "not in order"),
        ({"keys": np.array([1, 2], dtype=np.int64)}, "another type"),
        ({"rows": np.zeros((2, 3), dtype=np.float32)}, "another type"),
        ({"scales": np.array([1, np.nan], dtype=np.float32)}, "not finite"),
        ({"scales": np.array([1, -1], dtype=np.float32)}, "negative"),
        ({"rows": np.zeros((2, 2), dtype=np.int8)}, "dimensions should be 2"),
    ],
)
def test_a_wrong_table_has_a_fault(change, fault):
    sound = {
        "keys": np.array([1, 2], dtype=np.uint32),
        "rows": np.zeros((2, 3), dtype=np.int8),
        "scales": np.ones(2, dtype=np.float32),
    }
    description = SpellingTable(**sound).describe()
    assert SpellingTable(**sound).find_fault(description) is None
    assert fault in SpellingTable(**{**sound, **change}).find_fault(description)


@pytest.mark.parametrize("change", [{"hash": "md5"}, {"ngram_sizes": [2, 3]}, {"ngrams": 3}])
def test_a_table_of_another_kind_has_a_fault(change):
    table = SpellingTable(hash_ngrams("a"), np.zeros((1, 3), dtype=np.int8), np.ones(1, dtype=np.float32))
    assert table.find_fault({**table.describe(), **change}) is not None
    assert table.find_fault("crc32") is not None
