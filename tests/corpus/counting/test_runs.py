import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.counting.conftest import KINDS, as_list, write_all
from textveil.errors import InputError, OutputError
from textveil.lab.corpus.counting import runs
from textveil.lab.corpus.counting.runs import (
    Index,
    Keys,
    WordKeys,
    find_rows,
    join_runs,
    make_ranges,
    read_run,
    to_arrow,
    to_numpy,
    to_words,
    write_run,
)
from textveil.lab.corpus.counting.words import NONE


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def test_sorted_words_are_memory_mapped(tmp_path, small_batches):
    words = sorted({"a", "é", "日本", "zz", "b_c", "𝔘"})
    pieces = [tmp_path / "0.keys", tmp_path / "1.keys", tmp_path / "2.keys"]
    for piece, part in zip(pieces, (words[:4], [], words[4:]), strict=True):
        write_run(piece, WordKeys.from_words(part), np.ones(len(part), np.int64))
    join_runs(pieces, tmp_path / "words.run")
    assert as_list(runs.map_words(tmp_path / "words.run", tmp_path)) == words
    join_runs([pieces[1]], tmp_path / "empty.run")
    assert len(runs.map_words(tmp_path / "empty.run", tmp_path)) == 0


@pytest.mark.parametrize("table_rows", [1, 4, 1000])
def test_rows_are_found_in_all_batches(tmp_path, kind, small_batches, monkeypatch, table_rows):
    monkeypatch.setattr(runs, "TABLE_ROWS", table_rows)
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
    join_runs(pieces, tmp_path / "table.run")
    rows = find_rows(make(wanted), tmp_path / "table.run")
    assert rows.tolist() == [numbers.index(key) if key in numbers else int(NONE) for key in wanted]


def test_no_keys_and_no_pieces(tmp_path, kind):
    _, make = kind
    path = tmp_path / "empty.keys"
    write_run(path, make([]), np.empty(0, np.int64))
    join_runs([path], tmp_path / "table.run")
    for table in (path, tmp_path / "table.run"):
        assert find_rows(make([]), table).tolist() == []
        assert list(read_run(table)) == []
    write_run(tmp_path / "words.keys", WordKeys.from_words(["a"]), np.ones(1, np.int64))
    assert find_rows(make([]), tmp_path / "words.keys").tolist() == []


@pytest.mark.parametrize("rows", [1, 7, 8, 1000])
def test_a_table_has_the_rows_of_its_runs_in_few_batches(tmp_path, kind, small_batches, monkeypatch, rows):
    monkeypatch.setattr(runs, "TABLE_ROWS", rows)
    _, make = kind
    keys = sorted(map(str, range(40))) if make == WordKeys.from_words else list(range(40))
    pieces = [tmp_path / f"{number}.keys" for number in range(4)]
    for piece, start in zip(pieces, (0, 11, 11, 30), strict=True):
        some = keys[start : {0: 11, 11: 30, 30: 40}[start]] if piece != pieces[1] else []
        write_run(piece, make(some), np.arange(len(some), dtype=np.int64))
    join_runs(pieces, tmp_path / "table.run")
    batches = list(read_run(tmp_path / "table.run"))
    assert [key for found, _ in batches for key in as_list(found)] == keys
    assert [count for _, counts in batches for count in counts.tolist()] == [*range(11), *range(19), *range(10)]
    assert all(len(found) >= min(rows, 3) for found, _ in batches[:-1])
    assert len(batches) <= 1 + 40 // rows


@pytest.mark.parametrize("missing", [1, 8, 9, 200])
def test_a_run_without_its_end_is_refused(tmp_path, small_batches, missing):
    (run,) = write_all(tmp_path, [Counter(dict.fromkeys(range(60), 2))], KINDS["pairs"][1])
    path = tmp_path / f"{run.name}.keys"
    path.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(InputError, match=r"0\.keys.*`overwrite=True`"):
        list(read_run(path))
    if missing > 8:  # the mark of the end belongs to no range
        with pytest.raises(InputError, match=r"0\.keys.*`overwrite=True`"):
            next(make_ranges(Index.gather(tmp_path, [run]), [])).read()


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
        write_run(tmp_path / "missing" / "x.keys", Keys(np.array([1], np.uint64)), np.array([1]))
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.int64, np.uint64, np.intp])
@pytest.mark.parametrize("values", [[], [3], [5, 0, 7, 1]])
def test_numbers_become_what_arrow_makes_of_them(kind, values):
    numbers = np.array(values, kind)
    assert to_arrow(numbers).equals(pa.array(numbers))
    assert to_arrow(numbers).type == pa.array(numbers).type
    assert to_numpy(to_arrow(numbers)).tolist() == values
    assert to_numpy(to_arrow(numbers)).dtype == kind


def test_every_second_number_is_copied():
    assert to_arrow(np.arange(9)[::2]).to_pylist() == [0, 2, 4, 6, 8]
    assert to_arrow(np.arange(6).reshape(3, 2)[:, 1]).to_pylist() == [1, 3, 5]


def test_a_slice_has_its_own_numbers():
    assert to_numpy(pa.array([1, 2, 3, 4])[1:3]).tolist() == [2, 3]


@pytest.mark.parametrize("values", [[], [True], [False, True, True] * 5])
def test_truth_values_are_unpacked(values):
    found = to_numpy(pa.array([False, *values], pa.bool_())[1:])
    assert found.tolist() == values
    assert found.dtype == bool


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_words_become_what_arrow_makes_of_them(words):
    found = to_words(words)
    assert found.equals(pa.array(words, pa.large_string()))
    found.validate(full=True)


def test_conversions_do_not_load_pandas():
    """Arrow's own conversions would, in every worker."""
    script = (
        "import sys; import numpy as np; import pyarrow.compute as pc\n"
        "from textveil.lab.corpus.counting.runs import *\n"
        "words = to_words(['a', 'b'])\n"
        "to_numpy(pc.sort_indices(words)); to_numpy(pc.not_equal(words, words)); words.take(to_arrow(np.arange(2)))\n"
        "print('pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert found.stdout == "False\n"
