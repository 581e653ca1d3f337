import zlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import random_matrix
from textveil.bundles import spelling as spelling_fit
from textveil.bundles.spelling import (
    LONGEST_WORD,
    Examples,
    Spelling,
    SpellingTable,
    find_examples,
    fit_spelling,
    fit_table,
    hash_ngrams,
    rank_entries,
)
from textveil.bundles.vectors import Vectors
from textveil.errors import ParameterError


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


STEMS = [first + middle + last for first, middle, last in product("bdklmprt", "aeiou", ("nd", "rk", "st"))]
ENDINGS = ["", "s", "ed", "ing", "ly", "er"]


@pytest.fixture(scope="module")
def inflected() -> Vectors:
    """Words whose vectors are that of their stem and a short one of their ending; a few are left out."""
    stems, endings = random_matrix(len(STEMS), 16), random_matrix(len(ENDINGS), 16, seed=4) / 4
    pairs = [(stem, ending) for stem in range(len(STEMS)) for ending in range(len(ENDINGS)) if (stem + ending) % 11]
    matrix = np.array([stems[stem] + endings[ending] for stem, ending in pairs])
    return Vectors([STEMS[stem] + ENDINGS[ending] for stem, ending in pairs], matrix)


@pytest.fixture(scope="module")
def fitted(inflected):
    return fit_spelling(inflected)


def test_a_word_that_was_left_out_is_near_words_of_the_same_stem(inflected, fitted):
    spelling = Spelling(fitted[0], inflected)
    left_out = [(stem, stem + end) for stem, end in product(STEMS, ENDINGS) if stem + end not in inflected]
    assert len(left_out) > 50
    positions = spelling.place([word for _, word in left_out])
    nearest = [inflected.entries[row] for row in inflected.nearest(positions, np.ones(len(positions)))]
    same = [entry.startswith(stem) for (stem, _), entry in zip(left_out, nearest, strict=True)]
    assert np.mean(same) > 0.8  # one stem in 120 by chance


def test_the_quality_is_measured_on_words_that_were_left_out(inflected, fitted):
    description = fitted[1]
    assert description["entries"] == len(inflected)
    assert description["quality"]["left_out"] == len(inflected) // 10
    assert description["quality"]["cosine"] > 0.9
    assert description["quality"]["nearest_10"] > 0.9
    shuffled = Vectors(inflected.entries, inflected.matrix[np.argsort(random_matrix(len(inflected), 1)[:, 0])])
    assert fit_spelling(shuffled)[1]["quality"]["nearest_10"] < 0.15  # 10 of 650 by chance


def test_positions_are_as_long_as_vectors(inflected, fitted):
    words = [stem + end for stem, end in product(STEMS, ENDINGS) if stem + end not in inflected]
    lengths = np.linalg.norm(Spelling(fitted[0], inflected).place(words) - inflected.center, axis=1)
    known = np.linalg.norm(inflected.matrix - inflected.center, axis=1)
    assert np.median(lengths) == pytest.approx(np.median(known), rel=0.15)


def test_a_fit_is_repeatable(inflected, fitted):
    table, description = fit_spelling(inflected)
    assert description == fitted[1]
    for name in ("keys", "rows", "scales"):
        np.testing.assert_array_equal(getattr(table, name), getattr(fitted[0], name))


def test_the_fit_solves_the_normal_equations():
    words = ["tea", "teas", "team", "steam", "seam", "seams"]
    examples = Examples([hash_ngrams(word) for word in words], random_matrix(6, 3), np.array([1, 2, 1, 0.5, 1, 3.0]))
    table = fit_table(examples)
    matrix = np.array([np.isin(table.keys, keys) for keys in examples.keys], dtype=np.float64)
    assert (matrix.sum(axis=0) >= 2).all()  # an n-gram of one word is not used
    weighted = matrix.T * examples.weights
    exact = np.linalg.solve(weighted @ matrix + 5 * np.eye(len(table.keys)), weighted @ examples.targets)
    np.testing.assert_allclose(table.rows * table.scales[:, None], exact, atol=np.abs(exact).max() / 200)


def test_the_table_has_at_most_so_many_ngrams(inflected, monkeypatch):
    monkeypatch.setattr(spelling_fit, "MOST_NGRAMS", 50)
    monkeypatch.setattr(spelling_fit, "DIMENSIONS", 5)
    table, description = fit_spelling(inflected)
    assert (table.rows.shape, description["ngrams"], description["dimensions"]) == ((50, 5), 50, 5)


def test_the_largest_table_of_a_bundle_has_less_than_2_megabytes():
    assert spelling_fit.MOST_NGRAMS * (spelling_fit.DIMENSIONS + 4 + 4) < 2e6


def test_single_words_in_lowercase_are_learned_from_and_frequent_ones_first(monkeypatch):
    vectors = Vectors(["tea", "green_tea", "Tea", "...", "cup", "mug"], random_matrix(6, 2))
    assert find_examples(vectors).tolist() == [0, 4, 5]
    monkeypatch.setattr(spelling_fit, "MOST_ENTRIES", 2)
    assert find_examples(vectors).tolist() == [0, 4]
    assert find_examples(vectors, np.array([1, 9, 9, 9, 3, 2])).tolist() == [4, 5]


def test_frequent_words_weigh_more(inflected, fitted):
    counts = np.ones(len(inflected), dtype=np.int64)
    row = inflected.find(STEMS[1])
    counts[row] = 10**9
    errors = []
    for table in (fitted[0], fit_spelling(inflected, counts)[0]):
        moved = Spelling(table, inflected).move(STEMS[1]) + inflected.center
        errors.append(np.linalg.norm(moved / np.linalg.norm(moved) - _direction(inflected.matrix[row])))
    assert errors[1] < errors[0]


def _direction(vector):
    return vector / np.linalg.norm(vector)


def test_the_nearest_entry_has_rank_one(inflected):
    rows = np.array([3, 200])
    positions = inflected.matrix[rows].astype(np.float64)
    assert rank_entries(inflected, positions, rows).tolist() == [1, 1]
    distances = np.linalg.norm(inflected.matrix - positions[0], axis=1)
    assert rank_entries(inflected, positions[:1], rows[1:]).tolist() == [1 + (distances < distances[200]).sum()]


@pytest.mark.parametrize("words", [["tea", "cup"], [letter * 3 for letter in "abcdefghijklmnopqrstuvwxyz"]])
def test_too_few_words_are_refused(words):
    with pytest.raises(ParameterError, match=r"from \d+ words.*`spelling=False`"):
        fit_spelling(Vectors(words, random_matrix(len(words), 3)))
