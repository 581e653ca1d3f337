"""Training word2vec on small files of tokens."""

import json
import random

import numpy as np
import pytest

from textveil.corpus.settings import Training
from textveil.corpus.training import TrainedVectors, train
from textveil.errors import InputError, OutputError, SmallCorpusError

TINY = Training(dimensions=6, epochs=3, min_entry_count=2)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """Lines of tokens; "the" is the most frequent, and "once" occurs once."""
    generator = random.Random(4)
    lines = [" ".join(["the", *generator.choices(["tea", "cup", "new_york", "the"], k=9)]) for _ in range(60)]
    path = tmp_path_factory.mktemp("training") / "tokens.txt"
    path.write_text("\n".join([*lines, "once"]) + "\n", encoding="utf-8")
    return path


def count_tokens(path):
    words = path.read_text(encoding="utf-8").split()
    return {word: words.count(word) for word in set(words)}


def test_entries_are_sorted_by_frequency_with_their_counts(tokens):
    trained = train(tokens, TINY, workers=1)
    expected = count_tokens(tokens)
    assert set(trained.entries) == {"the", "tea", "cup", "new_york"}
    assert dict(zip(trained.entries, trained.counts.tolist(), strict=True)) == {
        entry: expected[entry] for entry in trained.entries
    }
    assert trained.counts.tolist() == sorted(trained.counts.tolist(), reverse=True)
    assert trained.entries[0] == "the"
    assert trained.matrix.shape == (4, 6)
    assert np.isfinite(trained.matrix).all()


def test_one_worker_gives_the_same_vectors_every_time(tokens):
    first, again = (train(tokens, TINY, workers=1) for _ in range(2))
    np.testing.assert_array_equal(first.matrix, again.matrix)
    other = train(tokens, Training(dimensions=6, epochs=3, min_entry_count=2, seed=2), workers=1)
    assert not np.allclose(first.matrix, other.matrix)


def test_cbow_differs_from_skip_gram(tokens):
    cbow = Training(dimensions=6, epochs=3, min_entry_count=2, skip_gram=False)
    assert not np.allclose(train(tokens, TINY, workers=1).matrix, train(tokens, cbow, workers=1).matrix)


def test_the_rarest_entries_are_left_out(tokens):
    limited = train(tokens, Training(dimensions=6, epochs=1, min_entry_count=1, most_entries=2), workers=1)
    expected = sorted(count_tokens(tokens).values(), reverse=True)
    assert len(limited.entries) <= 2
    assert limited.counts[0] == expected[0]


def test_progress_counts_epochs(tokens):
    told = []
    train(tokens, TINY, workers=1, progress=lambda *values: told.append(values))
    assert told == [("training", 1, pytest.approx(1 / 3)), ("training", 2, pytest.approx(2 / 3)), ("training", 3, 1.0)]


def test_a_corpus_that_is_too_small_is_refused_with_a_count_that_works(tokens):
    most = max(count_tokens(tokens).values())
    with pytest.raises(SmallCorpusError, match=rf"`min_entry_count=9999`: .* occurs {most} times"):
        train(tokens, Training(dimensions=6, min_entry_count=9999), workers=1)
    assert train(tokens, Training(dimensions=6, min_entry_count=most), workers=1).entries == ["the"]


def test_an_empty_corpus_is_refused(tmp_path):
    (tmp_path / "tokens.txt").touch()
    with pytest.raises(SmallCorpusError, match="occurs 0 times"):
        train(tmp_path / "tokens.txt", TINY, workers=1)


def test_vectors_are_loaded_as_they_were_saved(tmp_path):
    saved = TrainedVectors(["a", "é_b"], np.array([3, 2]), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    saved.save(tmp_path / "vectors")
    loaded = TrainedVectors.load(tmp_path / "vectors")
    assert loaded.entries == ["a", "é_b"]
    np.testing.assert_array_equal(loaded.counts, saved.counts)
    np.testing.assert_array_equal(loaded.matrix, saved.matrix)
    assert loaded.matrix.dtype == np.float32
    with pytest.raises(OutputError):  # saved vectors are never replaced
        saved.save(tmp_path / "vectors")


@pytest.mark.parametrize("name", ["entries.json", "counts.npy", "matrix.npy"])
@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_damaged_vectors_are_refused(tmp_path, name, content):
    TrainedVectors(["a"], np.array([1]), np.ones((1, 2), np.float32)).save(tmp_path / "vectors")
    path = tmp_path / "vectors" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        TrainedVectors.load(tmp_path / "vectors")


def test_saved_entries_are_json(tmp_path):
    TrainedVectors(["a"], np.array([1]), np.ones((1, 2), np.float32)).save(tmp_path / "vectors")
    assert json.loads((tmp_path / "vectors" / "entries.json").read_bytes()) == ["a"]
