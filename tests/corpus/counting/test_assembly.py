"""From keys, which are rows of shorter n-grams, to words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.corpus.counting.job import Assembly
from textveil.lab.corpus.counting.runs import Keys, WordKeys, join_runs, write_run
from textveil.lab.corpus.counting.words import join_key


def number_ngrams(documents):
    """For each length, the sorted n-grams of documents with their counts; and the rows of prefixes and suffixes."""
    levels = []
    for length in range(1, 5):
        found = {}
        for words in documents:
            for start in range(len(words) - length + 1):
                ngram = tuple(words[start : start + length])
                found[ngram] = found.get(ngram, 0) + 1
        levels.append(dict(sorted(found.items())))
    return levels


def write_levels(levels, folder, pieces):
    """The tables of all levels, each joined from several runs."""
    paths = []
    for number, level in enumerate(levels):
        counts = np.array(list(level.values()), np.int64)
        if number == 0:
            keys = WordKeys.from_words([word for (word,) in level])
        else:
            rows = {ngram: row for row, ngram in enumerate(levels[number - 1])}
            prefixes, suffixes = (
                np.array([rows[cut(ngram)] for ngram in level], np.uint32)
                for cut in (lambda ngram: ngram[:-1], lambda ngram: ngram[1:])
            )
            keys = Keys(join_key(prefixes, suffixes))
        limits = np.linspace(0, len(level), pieces + 1).astype(int)
        here = [folder / f"{number}-{piece}.keys" for piece in range(pieces)]
        for path, start, stop in zip(here, limits, limits[1:], strict=False):
            write_run(path, keys.cut(int(start), int(stop)), counts[start:stop])
        paths.append(folder / f"{number}.run")
        join_runs(here, paths[-1])
    return paths


def read_level(assembly, length):
    columns = list(assembly.read(length))
    return (
        [
            [value for block in columns for value in np.asarray(block[number]).tolist()]
            for number in range(len(columns[0]))
        ]
        if columns
        else []
    )


def check(documents, folder, pieces):
    levels = number_ngrams(documents)
    assembly = Assembly(write_levels(levels, folder, pieces), folder)
    for length, level in enumerate(levels, start=1):
        found = read_level(assembly, length)
        if not level:
            assert not any(found)
            continue
        assert found[0] == [" ".join(ngram) for ngram in level]
        assert found[1] == list(level.values())
        if length > 1:
            shorter = list(levels[length - 2])
            assert [shorter[row] for row in found[2]] == [ngram[:-1] for ngram in level]
            assert [shorter[row] for row in found[3]] == [ngram[1:] for ngram in level]
        else:
            assert len(found) == 2


words = st.lists(st.sampled_from(["a", "b", "cé", "日本", "z_z"]), max_size=9)


@given(st.lists(words, min_size=1, max_size=4).filter(any), st.integers(1, 3))
def test_ngrams_are_spelled_with_their_words(tmp_path_factory, documents, pieces):
    check(documents, tmp_path_factory.mktemp("assembly"), pieces)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_documents_of_every_length(tmp_path, length):
    check([["new", "york", "city", "hall"][:length]], tmp_path, 1)


def test_the_longest_ngrams_leave_no_rows_behind(tmp_path):
    levels = number_ngrams([["a", "b", "c", "d", "e"]])
    assembly = Assembly(write_levels(levels, tmp_path, 1), tmp_path)
    for length in range(1, 5):
        read_level(assembly, length)
    sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.rows")}
    assert sizes == {"2-grams.rows": 4 * 2 * 4, "3-grams.rows": 3 * 3 * 4, "4-grams.rows": 0}


def test_the_order_of_words_is_that_of_code_points(tmp_path):
    assembly = Assembly(write_levels(number_ngrams([["é", "z", "a", "Z"]]), tmp_path, 2), tmp_path)
    assert read_level(assembly, 1)[0] == ["Z", "a", "z", "é"]
