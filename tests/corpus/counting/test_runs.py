from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.corpus.counting import runs
from textveil.corpus.counting.pairs import NONE
from textveil.corpus.counting.runs import (
    PairKeys,
    WordKeys,
    find_rows,
    make_ranges,
    merge_range,
    plan_cuts,
    read_run,
    write_run,
)
from textveil.errors import InputError, OutputError

KINDS = {
    "pairs": (st.integers(0, 2**64 - 1) | st.integers(0, 9), lambda keys: PairKeys(np.array(keys, np.uint64))),
    "words": (st.text("abé𝔘zß", min_size=1, max_size=3), WordKeys.from_words),
}


def as_list(keys):
    return keys.to_arrow().to_pylist()


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(runs, "BATCH_ROWS", 3)


def write_all(folder, counters, make):
    return [
        write_run(folder / f"{number}.keys", make(sorted(counter)), np.array([counter[key] for key in sorted(counter)]))
        for number, counter in enumerate(counters)
    ]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), rows=st.integers(1, 20), min_count=st.integers(1, 6))
def test_merged_ranges_are_the_sum_of_all_runs(tmp_path_factory, data, rows, min_count):
    strategy, make = KINDS[data.draw(st.sampled_from(sorted(KINDS)))]
    counters = data.draw(st.lists(st.dictionaries(strategy, st.integers(1, 4), min_size=1), min_size=1, max_size=5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "BATCH_ROWS", 3)
        written = write_all(tmp_path_factory.mktemp("runs"), counters, make)
        merged = [merge_range(wanted, min_count) for wanted in make_ranges(written, plan_cuts(written, rows))]
    total = sum(map(Counter, counters), Counter())
    keys = [key for found, _, _ in merged for key in as_list(found)]
    assert keys == sorted(key for key, count in total.items() if count >= min_count)
    assert [count for _, counts, _ in merged for count in counts.tolist()] == [total[key] for key in keys]
    assert sum(distinct for _, _, distinct in merged) == len(total)


@pytest.mark.parametrize(("parts", "size"), [(300, 40), (40, 300), (3, 4000)])
def test_ranges_have_about_the_requested_size_for_any_number_of_parts(tmp_path, monkeypatch, parts, size):
    """Parts that are alike, each with batches of 32 rows: a range must not have a batch of every part."""
    monkeypatch.setattr(runs, "BATCH_ROWS", 32)
    counters = [Counter({number * 1000 + part: 1 for number in range(size)}) for part in range(parts)]
    written = write_all(tmp_path, counters, KINDS["pairs"][1])
    ranges = list(make_ranges(written, plan_cuts(written, 1000)))
    sizes = [len(wanted.read()[1]) for wanted in ranges]
    assert sum(sizes) == parts * size
    assert max(sizes) <= 1500
    assert len(sizes) <= 2 * sum(sizes) / 1000


def test_a_range_has_only_its_own_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "BATCH_ROWS", 1000)
    written = write_all(tmp_path, [Counter(range(5000))], KINDS["pairs"][1])
    keys, _ = runs.KeyRange(700, 710, next(make_ranges(written, [])).stretches).read()
    assert [part.values.base is None for part in keys] == [True] * len(keys)


def test_a_small_table_has_one_range(tmp_path, small_batches):
    written = write_all(tmp_path, [Counter(range(50))], KINDS["pairs"][1])
    assert plan_cuts(written, 50) == []


def test_sorted_words_are_memory_mapped(tmp_path, small_batches):
    words = sorted({"a", "é", "日本", "zz", "b_c", "𝔘"})
    pieces = [tmp_path / "0.keys", tmp_path / "1.keys", tmp_path / "2.keys"]
    for piece, part in zip(pieces, (words[:4], [], words[4:]), strict=True):
        write_run(piece, WordKeys.from_words(part), np.ones(len(part), np.int64))
    mapped = runs.map_words(pieces, tmp_path)
    assert as_list(mapped) == words
    assert len(runs.map_words([], tmp_path)) == 0


def test_rows_are_found_in_all_pieces(tmp_path, kind, small_batches):
    _, make = kind
    numbers = sorted(map(str, range(40))) if make == WordKeys.from_words else list(range(0, 80, 2))
    pieces = []
    for start in range(0, 40, 11):
        path = tmp_path / f"{start}.keys"
        piece = numbers[start : start + 11]
        write_run(path, make(piece), np.ones(len(piece), np.int64))
        pieces.append(path)
    strangers = ["0x", "4x", "zzz"] if make == WordKeys.from_words else [1, 33, 200]
    wanted = sorted([*numbers[::3], *strangers])
    rows = find_rows(make(wanted), pieces)
    assert rows.tolist() == [numbers.index(key) if key in numbers else int(NONE) for key in wanted]


def test_no_keys_and_no_pieces(tmp_path, kind):
    _, make = kind
    path = tmp_path / "empty.keys"
    write_run(path, make([]), np.empty(0, np.int64))
    assert find_rows(make([]), [path]).tolist() == []
    assert list(read_run(path)) == []
    write_run(tmp_path / "words.keys", WordKeys.from_words(["a"]), np.ones(1, np.int64))
    assert find_rows(make([]), [tmp_path / "words.keys"]).tolist() == []


def test_a_damaged_run_is_refused(tmp_path):
    path = tmp_path / "x.keys"
    path.write_bytes(b"not arrow")
    with pytest.raises(InputError, match=r"x\.keys.*`overwrite=True`"):
        list(read_run(path))


def test_the_error_for_a_missing_run_mentions_other_machines(tmp_path):
    with pytest.raises(InputError, match="must see this folder"):
        list(read_run(tmp_path / "x.keys"))


def test_a_run_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OutputError):
        write_run(tmp_path / "missing" / "x.keys", PairKeys(np.array([1], np.uint64)), np.array([1]))
    assert not (tmp_path / "missing").exists()
