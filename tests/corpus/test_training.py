"""Training word2vec on small files of tokens."""

import random

import numpy as np
import pytest

from tests.conftest import random_matrix
from textveil.bundles.vectors import find_unit
from textveil.execution import Executor
from textveil.lab.corpus.settings import Training
from textveil.lab.corpus.training import (
    TrainTask,
    Vocabulary,
    do_train,
    embed_entries,
    estimate_memory,
    join_vectors,
    load_vectors,
    train,
    train_beside,
)
from textveil.models.files import ModelFiles

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


def make_task(folder, tokens, name, **options):
    counts = np.array([9, 8, 7, 6])
    Vocabulary(ENTRIES, counts, counts, 60).save(folder / name / "vocabulary")
    return TrainTask(name, tokens, folder / name, TINY, **options)


def test_a_task_writes_the_vectors_once(tokens, tmp_path):
    task = make_task(tmp_path, tokens, "words")
    assert do_train(task) == "words"
    np.testing.assert_array_equal(load_vectors(task.output), train(tokens, ENTRIES, TINY, workers=1))
    before = {path.stat().st_mtime_ns for path in task.output.iterdir()}
    do_train(task)
    assert {path.stat().st_mtime_ns for path in task.output.iterdir()} == before


class Recording(Executor):
    """Runs tasks here, and records which ones it gets at a time."""

    name = "recording"

    def __init__(self, workers):
        super().__init__(workers)
        self.groups = []

    def map(self, function, tasks, lost=None):
        self.groups.append([(task.decomposition, task.threads) for task in tasks])
        return (task.decomposition for task in tasks)


@pytest.mark.parametrize(
    ("workers", "share", "groups"),
    [
        (2, 9, [["a", "b"], ["c", "d"]]),  # "e" is alone, and left for all cores
        (8, 9, [["a", "b", "c", "d", "e"]]),
        (8, 3, [["a", "b", "c"], ["d", "e"]]),  # memory for three
        (8, 1, []),
        (1, 9, []),
    ],
)
def test_trainings_run_side_by_side_as_far_as_workers_and_memory_allow(tokens, tmp_path, workers, share, groups):
    tasks = [make_task(tmp_path, tokens, name) for name in "abcde"]
    executor, told = Recording(workers), []
    memory = share * estimate_memory(len(ENTRIES), TINY)
    train_beside(tasks, executor, memory, lambda *progress: told.append(progress))
    assert [[name for name, _ in group] for group in executor.groups] == groups
    for group in executor.groups:
        assert {threads for _, threads in group} == {max(1, workers // len(group))}
    finished = [stage for stage, epochs, _ in told if epochs]
    assert finished == [f"training {name}" for group in groups for name in group]


def test_memory_grows_with_entries_and_dimensions():
    small = estimate_memory(1000, TINY)
    assert estimate_memory(100_000, TINY) > small
    assert estimate_memory(1000, Training(dimensions=300)) - small == 1000 * 8 * (300 - TINY.dimensions)


def test_an_encoder_reads_entries_as_they_are_spoken(minilm):
    told = []
    entries = ["new_york", "boston", "teapot"]
    matrix = embed_entries(ModelFiles.find(minilm), entries, lambda *values: told.append(values))
    assert matrix.shape == (3, 384)
    distances = np.linalg.norm(matrix - matrix[0], axis=1)
    assert distances[1] < distances[2]
    alone = embed_entries(ModelFiles.find(minilm), ["new york"])
    np.testing.assert_allclose(matrix[0], alone[0], atol=1e-6)
    assert told == [("encoding", 3, 1.0)]


def test_a_projection_keeps_what_varies_most():
    matrix = random_matrix(200, 5) * np.array([9, 5, 0.1, 0.1, 0.1], dtype=np.float32)
    projected = join_vectors([matrix], 2)
    assert projected.shape == (200, 2)
    exact = np.linalg.norm(matrix[:50] - matrix[50:100], axis=1) / find_unit(matrix)
    np.testing.assert_allclose(np.linalg.norm(projected[:50] - projected[50:100], axis=1), exact, atol=0.05)


@pytest.mark.parametrize("factor", [1, 1000])
def test_joined_vectors_count_the_same_whatever_their_scale(factor):
    one, two = random_matrix(100, 3), random_matrix(100, 4, seed=5)
    joined = join_vectors([one, factor * two], 7)
    exact = np.concatenate([one / find_unit(one), two / find_unit(two)], axis=1)
    np.testing.assert_allclose(
        np.linalg.norm(joined[:50] - joined[50:], axis=1), np.linalg.norm(exact[:50] - exact[50:], axis=1), rtol=1e-4
    )


def test_there_are_no_more_dimensions_than_before():
    assert join_vectors([random_matrix(20, 3)], 64).shape == (20, 3)
