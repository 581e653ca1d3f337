"""Runs for tests: of pairs of numbers, and of words."""

import numpy as np
import pytest
from hypothesis import strategies as st

from textveil.lab.corpus.counting import runs
from textveil.lab.corpus.counting.runs import Keys, WordKeys, write_run

KINDS = {
    "pairs": (st.integers(0, 2**64 - 1) | st.integers(0, 9), lambda keys: Keys(np.array(keys, np.uint64))),
    "words": (st.text("abé𝔘zß", min_size=1, max_size=3), WordKeys.from_words),
}


def as_list(keys):
    return keys.to_arrow().to_pylist()


def write_all(folder, counters, make):
    return [
        write_run(folder / f"{number}.keys", make(sorted(counter)), np.array([counter[key] for key in sorted(counter)]))
        for number, counter in enumerate(counters)
    ]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(runs, "BATCH_ROWS", 3)
