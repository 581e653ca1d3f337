"""Training word2vec on small files of tokens."""

import random

import numpy as np
import pytest

from textveil.corpus.settings import Training
from textveil.corpus.training import train

TINY = Training(dimensions=6, epochs=3)
ENTRIES = ["the", "tea", "cup", "new_york"]


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


def test_vectors_are_in_the_order_of_the_entries(tokens):
    matrix = train(tokens, ENTRIES, TINY, workers=1)
    assert matrix.shape == (4, 6)
    assert np.isfinite(matrix).all()
    np.testing.assert_array_equal(train(tokens, ENTRIES, TINY, workers=1)[::-1], matrix[::-1])


def test_other_tokens_are_dropped_before_training(tokens, tmp_path):
    alone = tmp_path / "tokens.txt"
    lines = tokens.read_text(encoding="utf-8").splitlines()
    kept = [" ".join(word for word in line.split() if word in {"the", "tea"}) for line in lines]
    alone.write_text("\n".join(kept) + "\n", encoding="utf-8")
    np.testing.assert_array_equal(
        train(tokens, ["the", "tea"], TINY, workers=1), train(alone, ["the", "tea"], TINY, workers=1)
    )


def test_one_worker_gives_the_same_vectors_every_time(tokens):
    first, again = (train(tokens, ENTRIES, TINY, workers=1) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = train(tokens, ENTRIES, Training(dimensions=6, epochs=3, seed=2), workers=1)
    assert not np.allclose(first, other)


def test_cbow_differs_from_skip_gram(tokens):
    cbow = Training(dimensions=6, epochs=3, architecture="cbow")
    assert not np.allclose(train(tokens, ENTRIES, TINY, workers=1), train(tokens, ENTRIES, cbow, workers=1))


def test_progress_counts_epochs(tokens):
    told = []
    train(tokens, ENTRIES, TINY, workers=1, progress=lambda *values: told.append(values))
    assert told == [("training", 1, pytest.approx(1 / 3)), ("training", 2, pytest.approx(2 / 3)), ("training", 3, 1.0)]
