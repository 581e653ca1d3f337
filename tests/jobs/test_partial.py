import pytest

from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.jobs.file import Partial

SETTINGS = {"epsilon": 1.0}


def nothing() -> dict[str, float]:
    return {}


@pytest.fixture
def partial(tmp_path):
    return Partial(tmp_path / "out.txt")


def start(partial, *, settings=SETTINGS, derive=nothing, resume=False, overwrite=False):
    return partial.start(settings, derive, resume=resume, overwrite=overwrite)


def write_part(partial, number, content=b"rows\n"):
    with partial.writing_part(number) as stream:
        stream.write(content)
    partial.mark(number, {"rows": number + 1})


def join(parts, target):
    for part in parts:
        target.write(part.read())


def test_parts_become_the_output(partial):
    start(partial)
    write_part(partial, 0, b"one\n")
    write_part(partial, 1, b"two\n")
    assert partial.load_marks() == [{"rows": 1}, {"rows": 2}]
    partial.finish(2, join, {}, overwrite=False)
    assert partial.output.read_bytes() == b"one\ntwo\n"
    partial.remove()
    assert list(partial.output.parent.iterdir()) == [partial.output]


def test_a_part_without_a_mark_does_not_count(partial):
    start(partial)
    write_part(partial, 0)
    with partial.writing_part(1) as stream:
        stream.write(b"killed before the mark")
    assert len(partial.load_marks()) == 1


def test_what_was_derived_is_kept(partial):
    assert start(partial, derive=lambda: {"average": 7.0}) == {"epsilon": 1.0, "average": 7.0}

    def never() -> dict[str, float]:
        raise AssertionError("derived a second time")

    assert start(partial, derive=never, resume=True)["average"] == 7.0


def test_settings_may_not_change(partial):
    start(partial)
    with pytest.raises(ParameterError, match=r"epsilon \(was 1.0, now 2.0\)"):
        start(partial, settings={"epsilon": 2.0}, resume=True)


def test_resume_without_anything_to_resume_begins(partial):
    assert start(partial, resume=True) == SETTINGS


def test_an_output_or_an_unfinished_run_is_not_lost(partial):
    start(partial)
    with pytest.raises(OutputExistsError, match="unfinished"):
        start(partial)
    partial.remove()
    partial.output.touch()
    with pytest.raises(OutputExistsError, match="exists. Choose another name"):
        start(partial)
    with pytest.raises(OutputExistsError, match="nothing to resume"):
        start(partial, resume=True)
    start(partial, overwrite=True)


def test_a_damaged_record_is_said_to_be_one(partial):
    start(partial)
    (partial.folder / "job.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="Set `overwrite=True` to start over"):
        start(partial, resume=True)


def test_a_folder_that_was_begun_and_never_recorded_is_swept_away(partial):
    partial.folder.mkdir()
    (partial.folder / "000000.part").touch()
    start(partial)
    assert not (partial.folder / "000000.part").exists()


def test_a_folder_that_is_somebody_elses_is_left_alone(partial):
    partial.folder.mkdir()
    (partial.folder / "thesis.txt").touch()
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="not from an unfinished run"):
            start(partial, overwrite=overwrite)
    assert (partial.folder / "thesis.txt").exists()


def test_one_run_at_a_time(partial):
    with partial.locked(), pytest.raises(OutputExistsError, match="Another run"), Partial(partial.output).locked():
        pass
    with partial.locked():
        pass
    assert list(partial.output.parent.iterdir()) == []


def test_totals_are_there_once_the_output_has_its_name(partial):
    start(partial)
    write_part(partial, 0)
    assert partial.load_totals() is None
    partial.finish(1, join, {"documents": 1}, overwrite=False)
    assert partial.load_totals() == {"documents": 1}


@pytest.mark.parametrize("resume", [True, False])
def test_a_folder_of_the_user_is_never_removed(partial, resume):
    start(partial)
    (partial.folder / "final").mkdir()
    (partial.folder / "final" / "thesis.txt").touch()
    with pytest.raises(OutputExistsError, match="final' is not from an unfinished run. Move it away first"):
        start(partial, resume=resume, overwrite=True)
    partial.remove()
    assert (partial.folder / "final" / "thesis.txt").exists()
