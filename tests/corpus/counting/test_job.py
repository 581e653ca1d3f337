import errno
import json
import lzma
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.conftest import (
    DOCUMENTS,
    SHARED,
    count,
    count_plainly,
    frequent,
    make_dataset,
    rows_of,
    write_lines,
    zipf_documents,
)
from textveil.errors import ColumnError, InputError, OutputError, OutputExistsError, ParameterError
from textveil.execution import EXECUTORS
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus import inputs, resumption
from textveil.lab.corpus.counting import job, runs
from textveil.lab.corpus.counting.job import CountJob, Limits
from textveil.lab.corpus.counting.ngrams import MANIFEST, NgramCounts, table_name
from textveil.lab.corpus.inputs import Corpus

SMALLEST = 200 << 20


def assert_equal_to_plain(counts, documents, min_count):
    for length, counter in enumerate(count_plainly(documents), start=1):
        assert rows_of(counts, length) == frequent(counter, min_count), length


def assert_links_hold(counts):
    for length in range(2, 5):
        table, shorter = counts.tables[length], counts.tables[length - 1]
        for name, rows in (("prefix", table.prefixes), ("suffix", table.suffixes)):
            ngrams = [ngram.split(" ") for ngram in table.ngrams.to_pylist()]
            cut = [" ".join(words[:-1] if name == "prefix" else words[1:]) for words in ngrams]
            assert shorter.ngrams.take(rows).to_pylist() == cut


@pytest.fixture
def tiny_pieces(monkeypatch):
    """Everything in many pieces: blocks, parts, batches and ranges."""
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 20_000)
    monkeypatch.setattr(runs, "BATCH_ROWS", 64)
    monkeypatch.setattr(Limits, "within", lambda memory, executor, size: Limits(3000, 500, executor.workers))


SYNTHETIC = {
    "one word repeated": ["spam " * 5000],
    "one word repeated in short documents": ["spam spam"] * 100 + ["spam"] * 50,
    "all words distinct": [
        " ".join(f"w{number}" for number in range(start, start + 50)) for start in range(0, 5000, 50)
    ],
    "exactly at the threshold": ["a b c d"] * 5 + ["b c d e"] * 4 + ["x y"] * 5 + ["p q r"] * 4 + ["q r s"],
    "frequent words, rare pairs": [
        f"a{number % 7} b{number % 11} c{number % 13} d{number % 5}" for number in range(400)
    ],
    "longer than four of the same": ["the end of the end of the end of the end"] * 3,
    "many alphabets": ["Ça va, ÇA VA! ça va; ΣΑΣ σας Σας", "日本語 の 日本語 の", "e_e _ __ e_e _ __", "İ i̇ I ı"] * 5,
    "empty lines": ["", "a b c d", "", "", "a b c d", "!!", ""],
}


@pytest.mark.parametrize("min_count", [1, 2, 5, 6])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_corpora(tmp_path, tiny_pieces, name, min_count):
    documents = SYNTHETIC[name]
    counts = count(write_lines(tmp_path / "a.txt", documents), tmp_path / "counts", min_count=min_count)
    assert_equal_to_plain(counts, documents, min_count)
    assert_links_hold(counts)
    assert counts.tokens == sum(count_plainly(documents)[0].values())
    assert counts.manifest["documents"] == len(documents)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from("a b c dé É".split()), max_size=12).map(" ".join), min_size=1, max_size=8))
def test_any_small_corpus(tmp_path_factory, documents):
    if sum(count_plainly(documents)[0].values()) < 4:
        return
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "DISTINCT_WEIGHT", 0)
        patch.setattr(Limits, "within", lambda memory, executor, size: Limits(5, 4, 1))
        patch.setattr(inputs, "BATCH_DOCUMENTS", 1)
        counts = count(write_lines(folder / "a.txt", documents), folder / "counts", min_count=2)
    assert_equal_to_plain(counts, documents, 2)
    assert_links_hold(counts)


@pytest.fixture(scope="module")
def million_words(tmp_path_factory):
    """Real text where it is at hand, otherwise text with the same distribution; and the plain counts of it."""
    path = tmp_path_factory.mktemp("million") / "corpus.txt"
    if SHARED.exists():
        with lzma.open(SHARED, "rb") as stream:
            path.write_bytes(b"".join(stream.readlines(6_500_000)))
    else:
        write_lines(path, zipf_documents(1_200_000, vocabulary=60_000))
    with path.open(encoding="utf-8") as documents:
        counters = count_plainly(documents)
    assert counters[0].total() >= 1_000_000
    assert max(counters[0].values()) > 1 << 16
    assert min(map(len, counters[1:])) > 1 << 16
    return path, counters


@pytest.mark.parametrize("min_count", [2, 20, 150])
def test_a_million_words(tmp_path, million_words, monkeypatch, min_count):
    """Counts and rows need more than 16 bits; there are two blocks and several parts and ranges."""
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 4 << 20)
    path, counters = million_words
    with EXECUTORS.load("processes")(2) as executor:
        counts = count(path, tmp_path / "counts", executor=executor, min_count=min_count, memory=320 << 20)
    assert counts.tokens == counters[0].total()
    assert counts.manifest["distinct_words"] == len(counters[0])
    for length in range(1, 5):
        assert rows_of(counts, length) == frequent(counters[length - 1], min_count)


@pytest.fixture(scope="module")
def zipf(tmp_path_factory):
    """A corpus of three files, one of them compressed."""
    folder = tmp_path_factory.mktemp("zipf")
    documents = zipf_documents(60_000)
    write_lines(folder / "a.txt", documents[:400])
    write_lines(folder / "b.txt", documents[400:500])
    (folder / "c.txt.xz").write_bytes(lzma.compress("\n".join(documents[500:]).encode()))
    return folder, documents


def tables_of(folder):
    return {name: (folder / name).read_bytes() for name in (MANIFEST, *map(table_name, range(1, 5)))}


@pytest.fixture(scope="module")
def expected(zipf, tmp_path_factory):
    """The tables of a run at one go, with large pieces."""
    output = tmp_path_factory.mktemp("expected") / "counts"
    assert_equal_to_plain(count(zipf[0], output, min_count=3), zipf[1], 3)
    return tables_of(output)


def test_pieces_make_no_difference(tmp_path, zipf, expected, tiny_pieces):
    count(zipf[0], tmp_path / "counts", min_count=3)
    assert tables_of(tmp_path / "counts") == expected


@pytest.mark.parametrize("name", list(EXECUTORS))
def test_executors_agree_to_the_byte(tmp_path, zipf, expected, tiny_pieces, open_executor, name):
    with open_executor(name, 1 if name == "local" else 2) as executor:
        count(zipf[0], tmp_path / "counts", executor=executor, min_count=3)
    assert tables_of(tmp_path / "counts") == expected


def kill_a_worker(command):
    """Kill one process below this one whose command line says so; whether there was one."""
    below = [os.getpid()]
    for pid in below:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                below += map(int, (task / "children").read_text().split())
            if command in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                return True
    return False


def test_two_nodes_and_a_killed_worker(tmp_path, zipf, expected, tiny_pieces, open_executor):
    killed = []

    def progress(stage, amount, fraction):
        if stage == "counting 2-grams" and not killed and kill_a_worker(b"ray::_Actor.do"):
            killed.append(stage)

    with open_executor("ray") as executor:
        assert executor.workers == 4
        count(zipf[0], tmp_path / "counts", executor=executor, progress=progress, min_count=3)
    assert killed
    assert tables_of(tmp_path / "counts") == expected


class Stopped(BaseException):
    """What a kill is to the code: no handler sees it."""


class StoppingExecutor(LocalExecutor):
    """Stops the run after so many tasks."""

    def __init__(self, tasks):
        super().__init__()
        self.left = tasks

    def map(self, function, tasks, lost=None):
        for task in tasks:
            if self.left == 0:
                raise Stopped
            self.left -= 1
            yield function(task)


def test_a_run_that_is_stopped_repeatedly_resumes(tmp_path, zipf, expected, tiny_pieces, monkeypatch):
    done = []

    do_task = resumption.do_task

    def note_task(task):
        done.append(task)
        return do_task(task)

    monkeypatch.setattr(resumption, "do_task", note_task)
    stops = 0
    while True:
        try:
            count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(7), min_count=3)
            break
        except Stopped:
            stops += 1
            assert not (tmp_path / "counts").exists()
    assert stops > 10
    assert tables_of(tmp_path / "counts") == expected
    assert len(done) == len({repr(task) for task in done}), "a finished task was done again"
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


@pytest.mark.parametrize("stage", ["writing tables", "renaming", "removing"])
def test_a_run_that_is_stopped_at_the_end_resumes(tmp_path, zipf, expected, monkeypatch, stage):
    def stop(*arguments):
        raise Stopped

    with monkeypatch.context() as patch:
        if stage == "renaming":
            patch.setattr(job._CountingRun, "complete", stop)
        elif stage == "removing":
            patch.setattr("textveil.storage.resumable._remove", stop)
        else:
            patch.setattr(job, "hash_file", stop)
        with pytest.raises(Stopped):
            count(zipf[0], tmp_path / "counts", min_count=3)
    count(zipf[0], tmp_path / "counts", min_count=3)
    assert tables_of(tmp_path / "counts") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


SCRIPT = """
import sys
from pathlib import Path
from textveil.lab.corpus import inputs
from textveil.lab.corpus.counting.job import CountJob, Limits
from textveil.execution import EXECUTORS
inputs.BLOCK_BYTES = 20_000
Limits.within = staticmethod(lambda memory, executor, size: Limits(3000, 500, executor.workers))
with EXECUTORS.load("processes")(2) as executor:
    CountJob(inputs.Corpus.find([sys.argv[1]]), Path(sys.argv[2]), min_count=3).run(executor)
"""


def test_a_killed_run_resumes(tmp_path, zipf, expected):
    output = tmp_path / "counts"
    partial = tmp_path / "counts.partial"
    command = [sys.executable, "-c", SCRIPT, str(zipf[0]), str(output)]
    for level in ("1", "2", "3"):
        process = subprocess.Popen(command, start_new_session=True)
        while process.poll() is None and len(list(partial.glob(f"{level}/*.json"))) < 4:
            time.sleep(0.001)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not output.exists()
    subprocess.run(command, check=True)
    assert tables_of(output) == expected
    assert not partial.exists()


def test_a_run_resumes_with_fewer_workers(tmp_path, zipf, expected):
    stopping = StoppingExecutor(5)
    stopping.workers = 3
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=stopping, min_count=3)
    with EXECUTORS.load("processes")(2) as executor:
        count(zipf[0], tmp_path / "counts", executor=executor, min_count=3)
    assert tables_of(tmp_path / "counts") == expected


def test_a_run_does_not_resume_with_other_settings(tmp_path, zipf, expected):
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(5), min_count=4)
    with pytest.raises(ParameterError, match=r"min_count \(was 4, now 3\).*`overwrite=True`"):
        count(zipf[0], tmp_path / "counts", min_count=3)
    count(zipf[0], tmp_path / "counts", min_count=3, overwrite=True)
    assert tables_of(tmp_path / "counts") == expected


def test_a_copied_corpus_resumes(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a b c d"] * 9)
    with pytest.raises(Stopped):
        count(path, tmp_path / "counts", executor=StoppingExecutor(2), min_count=3)
    (tmp_path / "mount").mkdir()
    copy = tmp_path / "mount" / "b.txt"
    shutil.move(path, copy)
    os.utime(copy, (10**9, 10**9))
    counts = count(copy, tmp_path / "counts", executor=StoppingExecutor(12), min_count=3)
    assert_equal_to_plain(counts, ["a b c d"] * 9, 3)
    assert counts.manifest["corpus"]["files"][0]["name"] == str(copy)


def test_a_foreign_folder_survives_the_run_that_it_was_put_into(tmp_path, zipf):
    partial = tmp_path / "counts.partial"
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(5), min_count=3)
    (partial / "photos").mkdir()
    (partial / "5").mkdir()
    count(zipf[0], tmp_path / "counts", min_count=4, overwrite=True)
    assert sorted(path.name for path in partial.iterdir()) == ["5", "photos"]


def test_a_finished_run_is_not_repeated(tmp_path, zipf):
    count(zipf[0], tmp_path / "counts", min_count=3)
    with pytest.raises(OutputExistsError, match="`overwrite=True`"):
        count(zipf[0], tmp_path / "counts", min_count=3)
    count(zipf[0], tmp_path / "counts", min_count=5, overwrite=True)
    assert NgramCounts.load(tmp_path / "counts").min_count == 5


def test_a_folder_that_is_not_of_counts_is_never_replaced(tmp_path, zipf):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_text("")
    with pytest.raises(OutputExistsError, match=r"has no counts\.json"):
        count(zipf[0], tmp_path / "photos", min_count=3, overwrite=True)
    assert (tmp_path / "photos" / "me.jpg").exists()


def test_a_folder_with_other_files_is_never_replaced(tmp_path, zipf):
    folder = count(zipf[0], tmp_path / "counts", min_count=3).folder
    write_lines(folder / "corpus.txt", ["a b c d"] * 9)
    with pytest.raises(OutputExistsError, match=r"has other files besides counts\.json"):
        count(folder / "corpus.txt", folder, min_count=3, overwrite=True)
    assert (folder / "corpus.txt").exists()


def test_an_output_inside_the_corpus_is_not_part_of_it(tmp_path):
    write_lines(tmp_path / "a.txt", ["a b c d"] * 9)

    def run(executor=None, **options):
        corpus = Corpus.find([tmp_path], output=tmp_path / "counts")
        return CountJob(corpus, tmp_path / "counts", min_count=3, **options).run(executor or LocalExecutor())

    with pytest.raises(Stopped):
        run(StoppingExecutor(6))
    before = run().tokens
    assert run(overwrite=True).tokens == before == 36


def test_an_error_before_anything_is_finished_leaves_nothing(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "a b c d e"}\n')
    with pytest.raises(ColumnError, match="no column 'text'"):
        count(tmp_path / "a.jsonl", tmp_path / "counts", min_count=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_workers_end_when_their_parent_is_killed(tmp_path, zipf):
    command = [sys.executable, "-c", SCRIPT, str(zipf[0]), str(tmp_path / "counts")]
    process = subprocess.Popen(command, start_new_session=True)
    while process.poll() is None and len(list((tmp_path / "counts.partial").glob("1/*.json"))) < 3:
        time.sleep(0.001)
    process.kill()
    process.wait()
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("workers are left")


def test_a_folder_that_appears_during_the_run_is_kept(tmp_path, zipf, expected):
    def progress(stage, amount, fraction):
        if stage == "writing tables":
            (tmp_path / "counts").mkdir(exist_ok=True)

    with pytest.raises(OutputExistsError, match="appeared during the run"):
        count(zipf[0], tmp_path / "counts", progress=progress, min_count=3)
    (tmp_path / "counts").rmdir()
    count(zipf[0], tmp_path / "counts", min_count=3)
    assert tables_of(tmp_path / "counts") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "has 0 words.*column 'text'"), ("... !\n\n", "has 0 words"), ("one two\nthree\n", "has 3 words, too few")],
)
def test_a_corpus_with_too_few_words_is_refused(tmp_path, content, message):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        count(tmp_path / "a.txt", tmp_path / "counts", min_count=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_bad_line_does_not_lose_finished_blocks(tmp_path, tiny_pieces):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in zipf_documents(20_000))
    (tmp_path / "a.jsonl").write_text(lines + "broken\n")
    with pytest.raises(InputError, match="not a JSON object"):
        count(tmp_path / "a.jsonl", tmp_path / "counts", min_count=3)
    assert not (tmp_path / "counts").exists()
    assert list((tmp_path / "counts.partial" / "1").glob("*.json"))


@pytest.mark.parametrize(
    ("name", "content"),
    [("job.json", "[]"), ("1/*.json", "null"), ("1/*.npy", ""), ("1/*.keys", ""), ("hashes/*.json", "{")],
)
def test_a_damaged_unfinished_run_is_refused(tmp_path, zipf, name, content):
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(5), min_count=3)
    (path, *_) = (tmp_path / "counts.partial").glob(name)
    path.write_text(content)
    with pytest.raises((InputError, ParameterError), match="`overwrite=True`"):
        count(zipf[0], tmp_path / "counts", min_count=3)


@pytest.mark.parametrize("min_count", [0, -1])
def test_an_invalid_min_count_is_refused(tmp_path, zipf, min_count):
    with pytest.raises(ParameterError, match="at least 1"):
        count(zipf[0], tmp_path / "counts", min_count=min_count)
    assert not list(tmp_path.iterdir())


def test_too_little_memory_is_refused(tmp_path, zipf):
    with (
        EXECUTORS.load("processes")(2) as executor,
        pytest.raises(ParameterError, match=r"2 workers need at least \d+M.*`memory`.*`workers`"),
    ):
        count(zipf[0], tmp_path / "counts", executor=executor, memory=100 << 20)


def test_the_least_memory_for_a_corpus_is_enough(monkeypatch):
    """The amount in the message is rounded up, not down."""
    size = job.INDEX_SHARE * 1_000_001
    with pytest.raises(ParameterError) as refused:
        Limits.within(0, LocalExecutor(), size)
    least = int(re.search(r"at least (\d+)M", str(refused.value))[1]) << 20
    Limits.within(least, LocalExecutor(), size)
    with pytest.raises(ParameterError):
        Limits.within(least - (1 << 20), LocalExecutor(), size)


MEMORY_SCRIPT = """
import re, sys
from pathlib import Path
from textveil.lab.corpus.counting.job import CountJob
from textveil.lab.corpus.inputs import Corpus
from textveil.execution import EXECUTORS

def measure(_):
    import sys
    memory = Path("/proc/self/smaps_rollup").read_text()
    return "pandas" in sys.modules, int(re.search(r"^Pss:\\s+(\\d+)", memory, re.MULTILINE)[1]) << 10

if __name__ == "__main__":
    with EXECUTORS.load("processes")(1) as executor:
        CountJob(Corpus.find([sys.argv[1]]), Path(sys.argv[2]), min_count=3).run(executor)
        print(*measure(0), *next(executor.map(measure, [0])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured with /proc")
def test_idle_processes_need_no_more_memory_than_planned(tmp_path, million_words):
    """After all tasks. Arrow must not have loaded pandas, which would take half of a worker's share."""
    script = tmp_path / "measure.py"
    script.write_text(MEMORY_SCRIPT)
    command = [sys.executable, str(script), str(million_words[0]), str(tmp_path / "counts")]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert found[::2] == ["False", "False"]
    parent, worker = map(int, found[1::2])
    assert parent < job.PARENT_BYTES
    assert worker < job.WORKER_BYTES


def test_a_run_does_not_resume_with_other_ranges(tmp_path, zipf, monkeypatch):
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(5), min_count=3)
    monkeypatch.setattr(job, "DIVISION", job.DIVISION + 1)
    with pytest.raises(ParameterError, match=r"other settings: division.*`overwrite=True`"):
        count(zipf[0], tmp_path / "counts", min_count=3)


def test_tasks_and_their_index_stay_small(tmp_path, zipf, tiny_pieces, monkeypatch):
    """A task names what it needs: neither the batches of a part nor the folder of every run."""
    sent, parts_of = {}, []

    class NotingExecutor(LocalExecutor):
        def map(self, function, tasks, lost=None):
            for task in tasks:
                kind = getattr(getattr(task.work, "func", task.work), "__name__", "")
                sent[kind] = max(sent.get(kind, 0), len(pickle.dumps(task)))
                if kind == "merge_keys":
                    parts_of.append(len(task.work.keywords["keys"].names))
                yield function(task)

    count(zipf[0], tmp_path / "counts", executor=NotingExecutor(), min_count=3)
    assert sent["pair_part"] < 1000
    assert sent["merge_keys"] < 1500 + 60 * max(parts_of)


def test_a_run_resumes_after_the_disk_was_full(tmp_path, zipf, expected, tiny_pieces, monkeypatch):
    real, calls = job.write_array_header_1_0, []

    def write(stream, header):
        calls.append(stream)
        if len(calls) == 9:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(stream, header)

    monkeypatch.setattr(job, "write_array_header_1_0", write)
    with pytest.raises(OutputError, match=r"No space left on device.*run again"):
        count(zipf[0], tmp_path / "counts", min_count=3)
    assert not (tmp_path / "counts").exists()
    count(zipf[0], tmp_path / "counts", min_count=3)
    assert tables_of(tmp_path / "counts") == expected


def test_blocks_without_words_are_counted(tmp_path, tiny_pieces):
    """A block of nothing but punctuation, between blocks of words."""
    documents = [*zipf_documents(9000), *["!!! ---"] * 9000, *zipf_documents(9000, seed=6)]
    counts = count(write_lines(tmp_path / "a.txt", documents), tmp_path / "counts", min_count=3)
    assert_equal_to_plain(counts, documents, 3)


def test_a_run_does_not_resume_with_a_changed_data_set(tmp_path):
    folder = make_dataset(tmp_path / "data")
    with pytest.raises(Stopped):
        count(f"hf:{folder}", tmp_path / "counts", executor=StoppingExecutor(1), min_count=2)
    shutil.rmtree(folder)
    make_dataset(folder, ["other words in it"] * 90, files=4)
    with pytest.raises(ParameterError, match="other settings: data_sets"):
        count(f"hf:{folder}", tmp_path / "counts", min_count=2)


def test_a_run_with_overwrite_resumes(tmp_path, zipf, expected, tiny_pieces):
    count(zipf[0], tmp_path / "counts", min_count=5)
    before = tables_of(tmp_path / "counts")
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(9), min_count=3, overwrite=True)
    assert tables_of(tmp_path / "counts") == before
    finished = sorted((tmp_path / "counts.partial").rglob("*.json"))
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(1), min_count=3, overwrite=True)
    assert set(finished) < set((tmp_path / "counts.partial").rglob("*.json"))
    count(zipf[0], tmp_path / "counts", min_count=3, overwrite=True)
    assert tables_of(tmp_path / "counts") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


def test_a_run_does_not_resume_with_too_many_workers_for_its_memory(tmp_path, zipf):
    with pytest.raises(Stopped):
        count(zipf[0], tmp_path / "counts", executor=StoppingExecutor(5), min_count=3)
    with (
        EXECUTORS.load("processes")(2) as executor,
        pytest.raises(ParameterError, match="started with 1 workers"),
    ):
        count(zipf[0], tmp_path / "counts", executor=executor, min_count=3)


def test_relative_names_are_found_from_anywhere(tmp_path, monkeypatch):
    write_lines(tmp_path / "a.txt", ["a b c d"] * 3)
    monkeypatch.chdir(tmp_path)
    corpus = Corpus.find(["a.txt"])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    counts = CountJob(corpus, tmp_path / "counts", min_count=2).run(LocalExecutor())
    assert counts.manifest["corpus"]["files"][0]["name"] == "a.txt"


def test_too_many_ngrams_are_refused(tmp_path, zipf, monkeypatch):
    monkeypatch.setattr(job, "NONE", 100)
    with pytest.raises(ParameterError, match=r"too many frequent 1-grams: .*Raise `min_count`"):
        count(zipf[0], tmp_path / "counts", min_count=3)


def test_the_manifest_describes_the_corpus_and_the_tables(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a b c d"] * 3)
    manifest = count(path, tmp_path / "counts", min_count=2).manifest
    assert manifest["tokens"] == 12
    assert manifest["documents"] == 3
    assert manifest["min_count"] == 2
    assert {length: table["rows"] for length, table in manifest["tables"].items()} == {"1": 4, "2": 3, "3": 2, "4": 1}
    (file,) = manifest["corpus"]["files"]
    assert file == {"name": str(path), "bytes": 24, "sha256": inputs.InputFile.look_at(path).hash()}
    assert set(manifest["versions"]) == {"textveil", "numpy", "pyarrow"}


def test_a_data_set_is_counted_and_its_documents_are_hashed(tmp_path):
    counts = count(f"hf:{make_dataset(tmp_path / 'data')}", tmp_path / "counts", min_count=2)
    assert_equal_to_plain(counts, DOCUMENTS, 2)
    assert [len(digest) for digest in counts.manifest["corpus"]["shards_sha256"]] == [64, 64, 64]
    again = count(f"hf:{tmp_path / 'data'}", tmp_path / "again", min_count=2)
    assert again.manifest == counts.manifest


def test_progress_is_reported_by_stage(tmp_path, zipf):
    told = []
    job = CountJob(Corpus.find([zipf[0]]), tmp_path / "counts", min_count=3)
    job.run(LocalExecutor(), lambda *values: told.append(values))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == [
        "hashing files",
        "reading",
        "merging 1-grams",
        "counting 2-grams",
        "merging 2-grams",
        "counting 3-grams",
        "merging 3-grams",
        "counting 4-grams",
        "merging 4-grams",
        "writing tables",
    ]
    last = {stage: fraction for stage, _, fraction in told}
    assert all(fraction == pytest.approx(1.0, abs=1e-3) for fraction in last.values())
