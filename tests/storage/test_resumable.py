import json
import os
import re
from pathlib import Path

import pytest

from tests.deadline import deadline
from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.storage import resumable
from textveil.storage.resumable import ResumableRun

SETTINGS = {"min_count": 3, "files": ("a", "b")}


class Run(ResumableRun):
    our_names = re.compile(r"part|table\d")


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "out")


def start(run, *, settings=SETTINGS, derive=dict, resume=False, overwrite=False):
    return run.start(settings, derive, resume=resume, overwrite=overwrite)


def begin_with_parts(run):
    """A run that has written a file and a folder."""
    start(run)
    (run.folder / "part").write_text("rows")
    (run.folder / "table1").mkdir()
    (run.folder / "table1" / "rows").write_text("rows")


def list_names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_resumes_with_its_settings_and_derived_values(run):
    assert start(run, derive=lambda: {"workers": 4}) == {**SETTINGS, "workers": 4}
    assert run.exists()
    assert start(run, resume=True)["workers"] == 4  # derived values are not computed again
    assert run.matches(SETTINGS)
    assert not run.matches({**SETTINGS, "min_count": 4})


def test_a_resumption_with_other_settings_is_refused(run):
    start(run)
    with pytest.raises(ParameterError, match=r"min_count \(was 3, now 4\)\. .*`overwrite=True` to start over"):
        start(run, settings={**SETTINGS, "min_count": 4}, resume=True)


def test_an_output_is_replaced_only_on_request(run):
    run.output.touch()
    for resume, message in [(False, "exists. Choose another name"), (True, "exists. There is nothing to resume")]:
        with pytest.raises(OutputExistsError, match=message):
            start(run, resume=resume)
    assert start(run, overwrite=True)
    assert run.output.exists()  # until the new one is complete


def test_an_unfinished_run_is_replaced_only_on_request(run):
    begin_with_parts(run)
    with pytest.raises(OutputExistsError, match="unfinished. Set `resume=True` to resume it, or `overwrite=True`"):
        start(run)
    start(run, settings={"min_count": 4}, overwrite=True)
    assert list_names(run.folder) == ["job.json"]
    assert run.matches({"min_count": 4})


def test_the_check_refuses_what_the_start_refuses_and_writes_nothing(run):
    run.check(resume=False, overwrite=False)
    assert not run.folder.exists()
    begin_with_parts(run)
    with pytest.raises(OutputExistsError, match="is unfinished"):
        run.check(resume=False, overwrite=False)
    run.check(resume=True, overwrite=False)
    run.check(resume=False, overwrite=True)
    assert list_names(run.folder) == ["job.json", "part", "table1"]


def test_a_removed_run_leaves_no_trace(run):
    begin_with_parts(run)
    (run.folder / ".part.0a1b2c3d.unfinished").touch()
    run.remove()
    assert list_names(run.output.parent) == []
    run.remove()  # and removing nothing is no error


def test_foreign_files_survive_the_removal_of_a_run(run):
    begin_with_parts(run)
    (run.folder / "photos").mkdir()
    (run.folder / "photos" / "me.jpg").touch()
    (run.folder / "tables").touch()
    (run.folder / ".notes.unfinished").touch()
    run.remove()
    assert list_names(run.folder) == [".notes.unfinished", "photos", "tables"]
    assert (run.folder / "photos" / "me.jpg").exists()
    assert not run.exists()


def test_foreign_files_survive_a_new_start(run):
    begin_with_parts(run)
    (run.folder / "thesis.txt").touch()
    start(run, overwrite=True)
    assert list_names(run.folder) == ["job.json", "thesis.txt"]


@pytest.mark.parametrize("name", ["thesis.txt", "table", "part.txt", ".my.unfinished", "job.json.bak"])
def test_a_folder_with_a_foreign_file_and_no_settings_is_refused(run, name):
    run.folder.mkdir()
    (run.folder / "part").touch()
    (run.folder / name).touch()
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="not from an unfinished run. Move it away first"):
            start(run, overwrite=overwrite)
    assert list_names(run.folder) == sorted(["part", name])


def test_a_folder_without_settings_that_holds_folders_is_refused(run):
    (run.folder / "table1").mkdir(parents=True)
    (run.folder / "table1" / "me.jpg").touch()
    with pytest.raises(OutputExistsError, match="Move it away first"):
        start(run, overwrite=True)
    assert (run.folder / "table1" / "me.jpg").exists()


def test_a_file_in_place_of_the_folder_is_refused(run):
    run.folder.touch()
    with pytest.raises(OutputExistsError, match="Move it away first"):
        start(run, overwrite=True)
    run.remove()
    assert run.folder.is_file()


def test_a_run_that_was_interrupted_before_it_wrote_its_settings_starts_again(run):
    run.folder.mkdir()
    (run.folder / ".job.json.0a1b2c3d.unfinished").touch()
    start(run)
    assert list_names(run.folder) == ["job.json"]


def test_an_interrupted_removal_is_completed_by_the_next_start(run, monkeypatch):
    begin_with_parts(run)
    (run.folder / "thesis.txt").touch()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("shutil.rmtree", interrupt)
        run.remove()
    assert not run.exists()  # half a run cannot be resumed
    assert (run.folder / "table1").exists()
    start(run)
    assert list_names(run.folder) == ["job.json", "thesis.txt"]


def interrupt(*_, **__):
    raise KeyboardInterrupt


def complete_and_stop(run, monkeypatch, removals):
    """Complete the output of a run, and stop while its folder is removed."""
    begin_with_parts(run)
    run.output.touch()
    remove, numbers = resumable._remove, iter(range(removals))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(resumable, "_remove", lambda path: interrupt() if next(numbers, -1) < 0 else remove(path))
        run.complete({"rows": 7})


@pytest.mark.parametrize("removals", [0, 1, 2])
def test_an_interrupted_removal_of_a_complete_run_is_resumed(run, monkeypatch, removals):
    complete_and_stop(run, monkeypatch, removals)
    assert run.is_complete()
    assert run.matches(SETTINGS)
    run.check(resume=True, overwrite=False)
    assert start(run, resume=True) == {**SETTINGS, "files": ["a", "b"]}
    assert run.read_outcome() == {"rows": 7}
    run.complete()
    assert list_names(run.output.parent) == ["out"]
    assert run.read_outcome() is None


def test_a_complete_run_is_resumed_only_with_its_settings(run, monkeypatch):
    complete_and_stop(run, monkeypatch, 1)
    with pytest.raises(ParameterError, match=r"min_count \(was 3, now 4\)"):
        start(run, settings={**SETTINGS, "min_count": 4}, resume=True)
    with pytest.raises(OutputExistsError, match="exists. Choose another name"):
        start(run)
    start(run, settings={"min_count": 4}, overwrite=True)
    assert list_names(run.folder) == ["job.json"]
    assert not run.is_complete()


@pytest.mark.parametrize("removals", [0, 1, 2])
def test_a_complete_run_whose_output_was_moved_away_starts_again(run, monkeypatch, removals):
    complete_and_stop(run, monkeypatch, removals)
    run.output.unlink()
    assert not run.exists()
    assert run.read_outcome() is None
    assert start(run, resume=True, derive=lambda: {"new": True})["new"]
    assert list_names(run.folder) == ["job.json"]


@pytest.mark.parametrize("content", ["{", "{}", '{"settings": 5}'])
def test_a_damaged_record_of_a_complete_run_is_refused(run, monkeypatch, content):
    complete_and_stop(run, monkeypatch, 0)
    (run.folder / "complete.json").write_text(content)
    with pytest.raises(InputError, match="cannot be read. Set `overwrite=True`"):
        start(run, resume=True)
    start(run, overwrite=True)


def test_the_empty_folder_of_a_finished_run_is_removed(run):
    run.output.touch()
    run.folder.mkdir()
    with pytest.raises(OutputExistsError, match="it may be finished"):
        run.check(resume=True, overwrite=False)
    assert list_names(run.output.parent) == ["out"]


def test_a_folder_that_cannot_be_removed_is_removed_by_the_next_start(run, monkeypatch):
    begin_with_parts(run)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda *_, **__: None)
        run.remove()
    assert (run.folder / "table1").exists()
    start(run)
    assert list_names(run.folder) == ["job.json"]


def test_folders_with_similar_names_survive(run):
    mine = run.output.parent / f".{run.folder.name}.mine.removed"
    mine.mkdir()
    start(run)
    run.remove()
    assert mine.exists()


def test_a_link_is_removed_and_its_target_is_not(run, tmp_path):
    start(run)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "me.jpg").touch()
    (run.folder / "table1").symlink_to(tmp_path / "elsewhere")
    run.remove()
    assert not run.folder.exists()
    assert (tmp_path / "elsewhere" / "me.jpg").exists()


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_damaged_settings_can_only_be_started_over(run, content):
    start(run)
    (run.folder / "job.json").write_text(content)
    assert not run.matches(SETTINGS)
    with pytest.raises(InputError, match="cannot be read. Set `overwrite=True` to start over"):
        start(run, resume=True)
    start(run, overwrite=True)
    assert json.loads((run.folder / "job.json").read_bytes())["min_count"] == 3


def test_one_run_at_a_time(run):
    with run.locked(), pytest.raises(OutputExistsError, match="Another run is writing"), Run(run.output).locked():
        pass
    with run.locked():  # the lock was released
        pass
    assert list_names(run.output.parent) == []


def test_a_file_of_the_user_with_the_name_of_the_lock_survives(run):
    path = run.output.with_name(".out.lock")
    path.write_text("mine")
    with run.locked():
        pass
    assert path.read_text() == "mine"


def link_to_file(path):
    path.with_name("mine").write_text("")
    path.symlink_to("mine")


def link_to_fifo(path):
    os.mkfifo(path.with_name("fifo"))
    path.symlink_to("fifo")


def link_to_device(path):
    path.symlink_to("/dev/zero")


def link_to_nothing(path):
    path.symlink_to("nothing")


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, os.mkdir, link_to_file, link_to_fifo, link_to_device, link_to_nothing],
    ids=lambda make: make.__name__,
)
def test_only_a_regular_file_is_a_lock(run, make):
    make(run.output.with_name(".out.lock"))
    before = list_names(run.output.parent)
    with deadline(), pytest.raises(OutputExistsError, match=r"\.out\.lock' cannot be used as a lock"), run.locked():
        pass
    assert list_names(run.output.parent) == before


def test_a_fifo_that_replaces_the_lock_is_not_awaited(run, monkeypatch):
    path = run.output.with_name(".out.lock")
    os.mkfifo(path)
    monkeypatch.setattr(type(path), "lstat", lambda _: Path(__file__).stat())  # as it was before the replacement
    with deadline(), pytest.raises(OutputExistsError, match="cannot be used as a lock"), run.locked():
        pass
    assert path.is_fifo()


def test_a_link_that_replaces_the_lock_during_a_run_is_left_alone(run, tmp_path):
    path = run.output.with_name(".out.lock")
    (tmp_path / "mine").touch()
    with run.locked():
        path.unlink()
        path.symlink_to(tmp_path / "mine")
    assert path.is_symlink()
    assert (tmp_path / "mine").exists()


def test_the_folder_of_a_run_is_for_the_user_only(run):
    start(run)
    assert run.folder.stat().st_mode & 0o777 == 0o700
    assert (run.folder / "job.json").stat().st_mode & 0o777 == 0o600
