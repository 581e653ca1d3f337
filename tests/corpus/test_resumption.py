"""Runs that resume with a corpus that was copied, and refuse one that was changed."""

import os
import shutil

import pytest

from tests.corpus.conftest import write_lines
from textveil.errors import ParameterError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.resumption import CorpusRun, Reading
from textveil.storage.atomic import hash_file


@pytest.fixture
def folder(tmp_path):
    """A corpus of two files."""
    (tmp_path / "corpus").mkdir()
    write_lines(tmp_path / "corpus" / "a.txt", ["one two"] * 9)
    write_lines(tmp_path / "corpus" / "b.txt", ["three four"] * 9)
    return tmp_path / "corpus"


@pytest.fixture
def hashed(monkeypatch):
    """The names of the files that were hashed."""
    names = []

    def note(path):
        names.append(path.name)
        return hash_file(path)

    monkeypatch.setattr("textveil.lab.corpus.inputs.hash_file", note)
    return names


def begin(folder, *, overwrite=False, progress=lambda *_: None, **settings):
    """Start or resume a run next to the corpus that the folder was first."""
    run = CorpusRun(folder.parent / "out")
    reading = Reading(Corpus.find([folder]), LocalExecutor(), progress)
    job = run.begin(reading, settings, dict, overwrite=overwrite)
    return run, reading, job


def begin_and_hash(folder, **options):
    run, reading, _ = begin(folder, **options)
    return run.hash_files(reading)


def touch(path, seconds=1_000_000_000):
    os.utime(path, (seconds, seconds))


def test_files_are_hashed_once_with_progress(folder, hashed):
    told = []
    corpus = begin_and_hash(folder, progress=lambda *values: told.append(values))
    assert [file.sha256 for file in corpus.files] == [hash_file(folder / name) for name in ("a.txt", "b.txt")]
    assert told[0] == ("hashing files", 0, 0.0)
    assert told[-1] == ("hashing files", 2, 1.0)
    assert [fraction for _, _, fraction in told] == sorted(fraction for _, _, fraction in told)
    assert begin_and_hash(folder) == corpus  # from the marks
    corpus.manifest([])
    corpus.cite()
    assert hashed == ["a.txt", "b.txt"]


def test_a_corpus_with_known_hashes_is_not_hashed(folder, hashed):
    corpus = Corpus.find([folder]).add_hashes(["1" * 64, "2" * 64])
    run = CorpusRun(folder.parent / "out")
    assert run.hash_files(Reading(corpus, LocalExecutor())) is corpus
    assert hashed == []


def test_an_unchanged_corpus_resumes_without_hashing(folder, hashed):
    begin_and_hash(folder)
    hashed.clear()
    begin(folder)
    assert hashed == []


def test_a_corpus_with_another_time_is_compared_by_its_hash(folder, hashed):
    begin_and_hash(folder)
    hashed.clear()
    touch(folder / "b.txt")
    begin(folder)
    assert hashed == ["b.txt"]
    begin(folder)  # the new time is recorded
    assert hashed == ["b.txt"]


def test_a_copied_corpus_resumes(folder, hashed):
    begin_and_hash(folder)
    copy = shutil.copytree(folder, folder.parent / "copy")
    shutil.rmtree(folder)
    for path in copy.iterdir():
        touch(path)
    _, _, job = begin(copy)
    assert [file[0] for file in job["files"]] == [str(copy / "a.txt"), str(copy / "b.txt")]
    assert not (folder.parent / "out.partial" / "hashes" / "again").exists()


@pytest.mark.parametrize("seconds", [1_000_000_000, 4_000_000_000])
def test_a_changed_corpus_of_the_same_size_is_refused(folder, seconds):
    """Whether its time is earlier or later."""
    begin_and_hash(folder)
    write_lines(folder / "b.txt", ["three Four"] * 9)
    touch(folder / "b.txt", seconds)
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)
    with pytest.raises(ParameterError, match=r"other settings: files"):  # a refusal changes nothing
        begin(folder)


def test_a_swap_of_two_files_of_the_same_size_is_refused(folder):
    write_lines(folder / "b.txt", ["two one"] * 9)
    begin_and_hash(folder)
    (folder / "a.txt").rename(folder / "c.txt")
    (folder / "b.txt").rename(folder / "a.txt")
    (folder / "c.txt").rename(folder / "b.txt")
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)


def test_a_corpus_of_another_size_is_refused_without_hashing(folder, hashed):
    begin_and_hash(folder)
    hashed.clear()
    write_lines(folder / "b.txt", ["three four"] * 10)
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)
    write_lines(folder / "b.txt", ["three four"] * 9)
    write_lines(folder / "c.txt", ["five"])
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)
    assert hashed == []


def test_a_file_of_another_format_is_another_file(folder):
    begin_and_hash(folder)
    (folder / "b.txt").rename(folder / "b.csv")
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)


def test_a_changed_corpus_starts_over_on_request(folder):
    begin_and_hash(folder)
    write_lines(folder / "b.txt", ["three Four"] * 9)
    touch(folder / "b.txt")
    corpus = begin_and_hash(folder, overwrite=True)
    assert corpus.files[1].sha256 == hash_file(folder / "b.txt")


def test_overwriting_resumes_a_run_with_the_same_corpus(folder, hashed):
    begin_and_hash(folder, overwrite=True)
    touch(folder / "a.txt")
    hashed.clear()
    begin_and_hash(folder, overwrite=True)
    assert hashed == ["a.txt"]  # b.txt has its mark


def test_a_run_that_has_not_hashed_its_files_takes_them_as_they_are(folder):
    begin(folder)
    write_lines(folder / "b.txt", ["three Four"] * 9)
    touch(folder / "b.txt")
    assert begin_and_hash(folder).files[1].sha256 == hash_file(folder / "b.txt")


def test_hashes_in_the_settings_are_compared_where_the_run_has_no_marks(folder, hashed):
    def begin_with(sha256):
        corpus = Corpus.find([folder / "a.txt"]).add_hashes([sha256])
        CorpusRun(folder.parent / "out").begin(Reading(corpus, LocalExecutor()), {}, dict, overwrite=False)

    begin_with("1" * 64)
    touch(folder / "a.txt")
    begin_with("1" * 64)
    touch(folder / "a.txt", 1_500_000_000)
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin_with("2" * 64)
    assert hashed == []


def test_files_recorded_in_another_form_are_refused(folder):
    run, _, job = begin(folder)
    run.write_json("job.json", {**job, "files": [file[:3] for file in job["files"]]})
    with pytest.raises(ParameterError, match=r"other settings: files"):
        begin(folder)
