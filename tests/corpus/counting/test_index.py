import pickle
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.counting.conftest import KINDS, as_list, write_all
from textveil.lab.corpus.counting import runs
from textveil.lab.corpus.counting import runs as index
from textveil.lab.corpus.counting.runs import Index, Run, make_ranges, merge_range, plan_cuts


def write_index(folder, counters, make=KINDS["pairs"][1]):
    return Index.gather(folder, write_all(folder, counters, make))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), rows=st.integers(1, 20), min_count=st.integers(1, 6))
def test_merged_ranges_are_the_sum_of_all_runs(tmp_path_factory, data, rows, min_count):
    strategy, make = KINDS[data.draw(st.sampled_from(sorted(KINDS)))]
    counters = data.draw(st.lists(st.dictionaries(strategy, st.integers(1, 4)), min_size=1, max_size=5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "BATCH_ROWS", 3)
        patch.setattr(index, "_CHUNK", 2)
        written = write_index(tmp_path_factory.mktemp("runs"), counters, make)
        merged = [merge_range(wanted, min_count) for wanted in make_ranges(written, plan_cuts(written, rows))]
    total = sum(map(Counter, counters), Counter())
    keys = [key for found, _, _ in merged for key in as_list(found)]
    assert keys == sorted(key for key, count in total.items() if count >= min_count)
    assert [count for _, counts, _ in merged for count in counts.tolist()] == [total[key] for key in keys]
    assert sum(distinct for _, _, distinct in merged) == len(total)


@pytest.mark.parametrize(("parts", "size"), [(300, 40), (40, 300), (3, 4000), (300, 500)])
def test_ranges_have_about_the_requested_size_for_any_number_of_parts(tmp_path, monkeypatch, parts, size):
    """Parts that are alike, each with batches of 32 rows: a range must not have a batch of every part."""
    monkeypatch.setattr(runs, "BATCH_ROWS", 32)
    counters = [Counter({number * 1000 + part: 1 for number in range(size)}) for part in range(parts)]
    written = write_index(tmp_path, counters)
    ranges = list(make_ranges(written, plan_cuts(written, 1000)))
    sizes = [len(wanted.read()[1]) for wanted in ranges]
    assert sum(sizes) == parts * size
    assert max(sizes) <= 1500
    assert len(sizes) <= 2 * sum(sizes) / 1000


def test_a_range_has_only_its_own_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "BATCH_ROWS", 1000)
    (whole,) = make_ranges(write_index(tmp_path, [Counter(range(5000))]), [])
    keys, _ = whole._replace(low=700, high=710).read()
    assert [part.values.base is None for part in keys] == [True] * len(keys)


def test_a_range_reads_only_its_batches(tmp_path, small_batches):
    """Damage elsewhere in the file is not seen, so nothing else was read."""
    written = write_index(tmp_path, [Counter(dict.fromkeys(range(60), 2))])
    wanted = list(make_ranges(written, [20, 40]))[1]
    (name,), ((head, start, stop),) = wanted.names, wanted.places.tolist()
    content = (wanted.folder / name).read_bytes()
    assert start > head
    damaged = content[:head] + b"x" * (start - head) + content[start:stop]
    (wanted.folder / name).write_bytes(damaged + b"x" * (len(content) - stop))
    keys, counts, _ = merge_range(wanted, 1)
    assert as_list(keys) == list(range(20, 40))
    assert counts.tolist() == [2] * 20


def test_a_small_table_has_one_range(tmp_path, small_batches):
    assert plan_cuts(write_index(tmp_path, [Counter(range(50))]), 50) == []


@pytest.mark.parametrize("names", [[], ["0", "1"]])
def test_runs_without_batches_have_one_empty_range(tmp_path, names):
    empty = Index.gather(tmp_path, (Run(name, 0, [], [], [200]) for name in names))
    assert plan_cuts(empty, 5) == []
    (wanted,) = make_ranges(empty, [])
    assert wanted.names == []
    assert merge_range(wanted, 1)[2] == 0


def test_cuts_are_where_the_next_batch_would_be_too_much(tmp_path):
    """Batches of 4 rows at 0, 10, 20 ... of two runs; equal keys are never divided."""
    firsts = [0, 10, 20, 30]
    pair = [Run(name, 0, firsts, [4] * 4, [200, 300, 400, 500, 600]) for name in ("a", "b")]
    one = Index.gather(tmp_path, pair[:1])
    assert [plan_cuts(one, rows) for rows in (3, 4, 8, 15, 16)] == [[10, 20, 30], [10, 20, 30], [20], [30], []]
    assert [plan_cuts(Index.gather(tmp_path, pair), rows) for rows in (4, 8, 16, 24)] == [
        [10, 20, 30],
        [10, 20, 30],
        [20],
        [30],
    ]


def imagine_runs(count, batches, make_first):
    """The indexes of runs that are on no disk."""
    for number in range(count):
        firsts = sorted(make_first(number, batch) for batch in range(batches))
        yield Run(
            f"{number:06}-000000", 0, firsts, [4096] * batches, [200 + 50_000 * batch for batch in range(batches + 1)]
        )


@pytest.mark.parametrize(
    ("make_first", "most"),
    [(lambda number, batch: (batch << 40) + number, 21), (lambda number, batch: f"{batch:04}{number:05}", 30)],
)
def test_the_index_takes_few_bytes_per_batch(make_first, most):
    """As Python objects, a batch would take more than a hundred bytes."""
    gathered = Index.gather(Path("/a"), imagine_runs(300, 70, make_first))
    arrays = (gathered.starts, gathered.sizes, gathered.places, gathered.firsts.to_arrow())
    assert sum(array.nbytes for array in arrays) < most * 300 * 70
    assert len(gathered.sizes) == 300 * 70


def test_a_range_of_many_runs_is_small_to_send():
    """A path for every run would take twice as much."""
    gathered = Index.gather(Path("/a/folder"), imagine_runs(1000, 20, lambda number, batch: (batch << 40) + number))
    ranges = list(make_ranges(gathered, plan_cuts(gathered, 500_000)))
    assert len(ranges) > 100
    assert max(len(wanted.names) for wanted in ranges) == 1000
    assert max(len(pickle.dumps(wanted)) for wanted in ranges) < 50 * 1000


def test_ranges_have_the_batches_of_a_plain_search():
    """Beside a search in the index of every run, batch by batch."""
    generator = np.random.default_rng(3)
    imagined = list(imagine_runs(20, 15, lambda number, batch: int(generator.integers(2000)) * 2))
    gathered = Index.gather(Path("/a"), imagined)
    cuts = plan_cuts(gathered, 100_000)
    assert len(cuts) > 5
    for (low, high), wanted in zip(pairwise([-1, *cuts, 9999]), make_ranges(gathered, cuts), strict=True):
        expected = {}
        for run in imagined:
            start = max(0, sum(first < low for first in run.firsts) - 1)
            stop = sum(first < high for first in run.firsts)
            if start < stop:
                expected[f"{run.name}.keys"] = [200, run.places[start], run.places[stop]]
        assert dict(zip(wanted.names, wanted.places.tolist(), strict=True)) == expected
