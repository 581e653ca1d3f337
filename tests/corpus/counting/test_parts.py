"""The tasks of counting, one by one."""

import hashlib
import json
import lzma
from functools import partial

import numpy as np
import pytest

from tests.corpus.conftest import count_plainly, frequent, write_lines
from textveil.errors import InputError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.counting import job, runs
from textveil.lab.corpus.counting.job import Mark, merge_keys, number_block, pair_part
from textveil.lab.corpus.counting.runs import Index, Run, make_ranges, read_run
from textveil.lab.corpus.inputs import Corpus, DatasetShard, FileBlock, HubDataset, InputFile
from textveil.lab.corpus.resumption import Reading, Task, do_task, load_json, save_json, write_hash
from textveil.tables import FileSource, Layout

DOCUMENTS = ["the cat, the dog", "the cat", "", "a cat and the dog"]


@pytest.fixture
def block(tmp_path):
    path = write_lines(tmp_path / "a.txt", DOCUMENTS)
    return FileBlock((FileSource(path),), Layout("text", None), path.stat().st_size)


@pytest.fixture
def folders(tmp_path):
    """The folders of levels 1 and 2, with those of their tables."""
    for level in "12":
        (tmp_path / level / "table").mkdir(parents=True)
    return tmp_path / "1", tmp_path / "2"


def read_counts(path):
    return [
        (key, number)
        for keys, counts in read_run(path)
        for key, number in zip(keys.to_arrow().to_pylist(), counts.tolist(), strict=True)
    ]


def number_words(block, folder, positions=1000):
    output = folder / "000000.json"
    assert number_block(block, output, positions=positions) == Mark.load(output).tokens
    return Mark.load(output)


def merge(mark, folder, min_count):
    (wanted,) = make_ranges(Index.gather(folder, mark.parts), [])
    output = folder / "table" / "000000.json"
    assert merge_keys(output, keys=wanted, min_count=min_count) == Mark.load(output).rows
    return Mark.load(output)


def join(folder):
    runs.join_runs([folder / "table" / "000000.keys"], folder / "table.run")
    return folder / "table.run"


def test_the_words_of_a_block_are_counted(block, folders):
    mark = number_words(block, folders[0])
    assert (mark.documents, mark.tokens, mark.digest) == (4, 11, "")
    (part,) = mark.parts
    assert read_counts(folders[0] / f"{part.name}.keys") == frequent(count_plainly(DOCUMENTS)[0], 1)
    numbers = np.load(folders[0] / f"{part.name}.npy")
    words = ["a", "and", "cat", "dog", "the", "|"]  # the number after the last word is the end of a document
    assert " ".join(words[number] for number in numbers) == "the cat the dog | the cat | | a cat and the dog |"
    assert Mark.load(folders[0] / "000000.json") == mark


def test_a_block_has_as_many_parts_as_memory_requires(block, folders, monkeypatch):
    monkeypatch.setattr("textveil.lab.corpus.inputs.BATCH_DOCUMENTS", 1)
    mark = number_words(block, folders[0], positions=5)
    assert [part.name for part in mark.parts] == ["000000-000000", "000000-000001", "000000-000002"]
    assert mark.tokens == 11
    merged = merge(mark, folders[0], 1)
    assert merged.distinct == 5
    assert read_counts(folders[0] / "table" / "000000.keys") == frequent(count_plainly(DOCUMENTS)[0], 1)


def test_documents_are_hashed_where_there_is_no_file_to_hash(folders, monkeypatch):
    content = b"".join(document.encode() + b"\0" for document in DOCUMENTS)
    monkeypatch.setattr(DatasetShard, "read", lambda block: iter([DOCUMENTS]))
    shard = DatasetShard(HubDataset("owner/name"), "text", 1, 0)
    assert number_words(shard, folders[0]).digest == hashlib.sha256(content).hexdigest()


def test_a_range_is_merged_into_its_frequent_keys(block, folders):
    merged = merge(number_words(block, folders[0]), folders[0], 2)
    assert (merged.rows, merged.distinct) == (3, 5)
    assert read_counts(folders[0] / "table" / "000000.keys") == [("cat", 3), ("dog", 2), ("the", 4)]


@pytest.mark.parametrize("longest", [False, True])
def test_frequent_neighbors_are_paired(block, folders, longest):
    first = number_words(block, folders[0])
    merge(first, folders[0], 2)
    output = folders[1] / f"{first.parts[0].name}.json"
    pair_part(output, tokens=first.tokens, shorter=folders[0], table=join(folders[0]), longest=longest)
    (part,) = Mark.load(output).parts
    words = ["cat", "dog", "the"]  # by their rows in the table
    pairs = read_counts(folders[1] / f"{part.name}.keys")
    spelled = [(f"{words[key >> 32]} {words[key & 0xFFFFFFFF]}", number) for key, number in pairs]
    assert spelled == [("cat the", 1), ("the cat", 2), ("the dog", 2)]
    assert part.tokens == first.tokens
    assert (folders[1] / f"{part.name}.npy").exists() != longest  # the longest n-grams are not paired again


def test_a_part_without_keys_has_no_pairs(folders):
    (folders[0] / "empty.txt").touch()
    job._write_numbers(folders[0] / "empty.npy", np.empty(0, np.uint32))
    runs.write_run(folders[0] / "empty.keys", runs.WordKeys.from_words([]), np.empty(0, np.uint32))
    output = folders[1] / "empty.json"
    pair_part(output, tokens=0, shorter=folders[0], table=folders[0] / "empty.keys", longest=False)
    assert Mark.load(output).parts[0].sizes == []


def test_a_file_is_hashed_and_its_hash_is_written(tmp_path):
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"words"))
    assert do_task(Task(tmp_path / "mark.json", 5, partial(write_hash, InputFile.look_at(path)))) == (5, 1)
    assert load_json(tmp_path / "mark.json") == hashlib.sha256(path.read_bytes()).hexdigest()


def test_only_unfinished_tasks_are_done_and_progress_counts_all(tmp_path):
    tasks, told = [], []
    for number in range(4):
        path = write_lines(tmp_path / f"{number}.txt", ["x" * number])
        tasks.append(Task(tmp_path / f"{number}.json", 10, partial(write_hash, InputFile.look_at(path))))
    save_json(tasks[2].output, "finished")
    reading = Reading(Corpus(()), LocalExecutor(), lambda *values: told.append(values))
    outputs = reading.run("hashing", tasks, 40, lambda _: 1)
    assert outputs == [task.output for task in tasks]
    expected = ["finished" if n == 2 else hashlib.sha256(b"x" * n + b"\n").hexdigest() for n in range(4)]
    assert list(map(load_json, outputs)) == expected
    assert told == [("hashing", 1, 0.25), ("hashing", 2, 0.5), ("hashing", 4, 1.0)]


def test_a_mark_is_loaded_as_it_was_written(tmp_path):
    mark = Mark(2, 3, 4, "digest", [Run("a", 5, ["x", "y"], [1, 2], [3, 4, 9]), Run("b", 6, [7], [8], [1, 2])])
    assert mark.write(tmp_path / "mark.json") == mark
    assert Mark.load(tmp_path / "mark.json") == mark
    assert mark.tokens == 11


@pytest.mark.parametrize("content", [None, "", "[]", "null", "{}", '{"parts": [{}]}', '{"parts": [], "x": 1}'])
def test_a_damaged_mark_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "mark.json").write_text(content)
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        Mark.load(tmp_path / "mark.json")


def test_a_task_that_runs_twice_writes_the_same_files(block, folders):
    number_words(block, folders[0])
    before = {path.name: path.read_bytes() for path in folders[0].iterdir() if path.is_file()}
    number_words(block, folders[0])
    assert {path.name: path.read_bytes() for path in folders[0].iterdir() if path.is_file()} == before
    assert json.loads(before["000000.json"])["documents"] == 4


def test_a_worker_that_cannot_see_the_folder_says_so(tmp_path):
    with pytest.raises(InputError, match="where all machines see it"):
        do_task(Task(tmp_path / "elsewhere" / "0.json", 1, lambda output: 1))
