import csv
import gzip
import io
import json
import lzma
import math
import multiprocessing
import os
import random
import resource
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from textveil.budget import Budget
from textveil.certificate import Certificate
from textveil.errors import (
    BudgetError,
    ColumnError,
    InputError,
    OutputError,
    OutputExistsError,
    ParameterError,
    TextveilWarning,
)
from textveil.jobs import FileJob, JobOptions
from textveil.obfuscator import Obfuscator
from textveil.tables import FORMATS, Layout

from ..tables.test_contract import make, read
from .resumed_runs import obfuscate

TEXTS = ["alpha beta", "", "the and of", "good film, bad plot!", "xyzzy", None, "gamma " * 30] * 20
NEVER = 1e9
ALWAYS = 0.0


@pytest.fixture
def seeded(tiny):
    return lambda: Obfuscator(tiny, seed=5, largest_share=math.inf, form="keep")


def job(folder: Path, name: str = "csv", *, resume=False, part_seconds=NEVER, **options) -> FileJob:
    chosen = JobOptions(**{"budget": Budget(30.0), "batch_size": 16, **options})
    return FileJob(folder / f"in.{name}", folder / f"out.{name}", chosen, resume=resume, part_seconds=part_seconds)


def source(folder: Path, name: str = "csv", texts=TEXTS) -> Path:
    path = folder / f"in.{name}"
    path.write_bytes(make(name, texts))
    return path


@pytest.mark.parametrize("name", list(FORMATS))
def test_rows_stay_aligned_and_have_their_outcome(tmp_path, seeded, name):
    source(tmp_path, name)
    report = job(tmp_path, name).run(seeded())
    content = (tmp_path / f"out.{name}").read_bytes()
    expected = [result.text for result in seeded().obfuscate_all(TEXTS, epsilon=30)]
    assert [text or "" for text in read(name, content)] == expected
    assert report.documents == len(TEXTS)
    if name != "txt":
        assert read(name, content, "id") == [f"r{number}" for number in range(len(TEXTS))]
        outcomes = read(name, content, "textveil_outcome")[:7]
        missing = "missing" if name in ("jsonl", "parquet") else "no_words"
        plain = [outcome.replace("returned", "obfuscated") for outcome in outcomes]
        assert plain == ["obfuscated", "no_words", "only_stopwords", "obfuscated", "obfuscated", missing, "obfuscated"]
        first = [text if missing == "missing" else text or "" for text in TEXTS[:7]]
        assert outcomes == [result.outcome.value for result in seeded().obfuscate_all(first, epsilon=30)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"in.{name}", f"out.{name}"]


@pytest.mark.parametrize("name", list(FORMATS))
def test_parts_make_no_difference(tmp_path, seeded, name):
    source(tmp_path, name)
    job(tmp_path, name).run(seeded())
    whole = (tmp_path / f"out.{name}").read_bytes()
    job(tmp_path, name, part_seconds=ALWAYS, batch_size=3, overwrite=True).run(seeded())
    parts = (tmp_path / f"out.{name}").read_bytes()
    assert read(name, parts) == read(name, whole)
    assert parts == whole


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("name", ["txt", "csv", "jsonl", "parquet"])
def test_compressed_files(tmp_path, seeded, name, suffix):
    compress, decompress = {
        ".gz": (gzip.compress, gzip.decompress),
        ".xz": (lzma.compress, lzma.decompress),
        ".zst": (zstandard.compress, lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()),
    }[suffix]
    path = tmp_path / f"in.{name}{suffix}"
    path.write_bytes(compress(make(name, ["alpha", "beta"])))
    FileJob(path, tmp_path / f"out.{name}{suffix}", JobOptions(Budget(1e6))).run(seeded())
    assert read(name, decompress((tmp_path / f"out.{name}{suffix}").read_bytes())) == ["alpha", "beta"]


def test_a_file_without_rows_gives_one_without_rows(tmp_path, seeded):
    source(tmp_path, texts=[])
    assert job(tmp_path).run(seeded()).documents == 0
    assert (tmp_path / "out.csv").read_bytes() == b"id,text,stars,textveil_outcome\n"


def test_the_outcome_column_can_be_left_out_or_renamed(tmp_path, seeded):
    source(tmp_path, texts=["alpha"])
    job(tmp_path, layout=Layout(outcome_column=None)).run(seeded())
    assert (tmp_path / "out.csv").read_bytes().startswith(b"id,text,stars\n")
    job(tmp_path, layout=Layout(outcome_column="fate"), overwrite=True).run(seeded())
    assert (tmp_path / "out.csv").read_bytes().startswith(b"id,text,stars,fate\n")


# Budgets.


def test_a_budget_per_word_is_a_documents_own(tmp_path, seeded):
    source(tmp_path, "jsonl", ["one two three", None, "four", "", "five six"])
    report = job(tmp_path, "jsonl", budget=Budget(epsilon_per_word=2.0)).run(seeded())
    assert (report.certificate.budget.length, report.certificate.tally.largest_budget) == ("own", 6.0)
    assert not any("average length" in point for point in report.certificate.not_protected)


def test_a_budget_per_word_may_be_scaled_by_the_average_length(tmp_path, seeded):
    source(tmp_path, "jsonl", ["one two three", None, "four", "", "five six"])
    report = job(tmp_path, "jsonl", budget=Budget(epsilon_per_word=2.0, length="average")).run(seeded())
    assert report.certificate.tally.largest_budget == 3.0  # 2 times 6 words over 4 texts
    assert report.certificate.budget.average_length == 1.5
    assert any("average length" in point for point in report.certificate.not_protected)


def test_a_budget_per_word_without_any_word(tmp_path, seeded):
    source(tmp_path, texts=["", "..."])
    with pytest.raises(InputError, match="No text has a word"):
        job(tmp_path, budget=Budget(epsilon_per_word=2.0, length="average")).run(seeded())
    assert not (tmp_path / "out.csv.partial").exists()


# Stopping and going on.


class Stop(Exception):
    pass


def stop_after(documents: int):
    def progress(stage, done, fraction):
        if done >= documents:
            raise Stop

    return progress


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("batch_size", [16, 11])
def test_a_stopped_run_goes_on_without_a_lost_or_repeated_row(tmp_path, seeded, name, batch_size):
    source(tmp_path, name)
    job(tmp_path, name).run(seeded())
    expected = (tmp_path / f"out.{name}").read_bytes()
    (tmp_path / f"out.{name}").unlink()
    for stop in (40, 90):
        with pytest.raises(Stop):
            job(tmp_path, name, part_seconds=ALWAYS, resume=True).run(seeded(), stop_after(stop))
        assert not (tmp_path / f"out.{name}").exists()
    # With another batch size: rows that are done may end inside a batch.
    report = job(tmp_path, name, resume=True, batch_size=batch_size).run(seeded())
    resumed = (tmp_path / f"out.{name}").read_bytes()
    assert read(name, resumed) == read(name, expected)
    assert report.documents == len(TEXTS)
    assert report.certificate.as_dict() == job(tmp_path, name, overwrite=True).run(seeded()).certificate.as_dict()


def stopped(folder: Path, obfuscator: Obfuscator, **options) -> None:
    with pytest.raises(Stop):
        job(folder, part_seconds=ALWAYS, **options).run(obfuscator, stop_after(40))


def test_an_unfinished_run_is_not_forgotten_by_accident(tmp_path, seeded):
    source(tmp_path)
    stopped(tmp_path, seeded())
    with pytest.raises(OutputExistsError, match="unfinished. Set `resume=True` to resume it, or `overwrite=True`"):
        job(tmp_path).run(seeded())
    job(tmp_path, overwrite=True).run(seeded())
    assert not (tmp_path / "out.csv.partial").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"budget": Budget(31.0)}, "budget"),
        ({"layout": Layout(column="id")}, "column"),
        ({"layout": Layout(outcome_column=None)}, "outcome column"),
    ],
)
def test_a_run_goes_on_only_with_the_same_settings(tmp_path, seeded, change, named):
    source(tmp_path)
    stopped(tmp_path, seeded())
    with pytest.raises(ParameterError, match=f"other settings: {named}"):
        job(tmp_path, resume=True, **change).run(seeded())


def test_a_run_goes_on_only_with_the_same_part_for_the_draft(tmp_path, tiny):
    source(tmp_path)
    drafting = [Obfuscator(tiny, profile="proven", draft_share=share, seed=1) for share in (0.2, 0.3)]
    stopped(tmp_path, drafting[0])
    with pytest.raises(ParameterError, match="other settings: draft_share"):
        job(tmp_path, resume=True).run(drafting[1])


def test_a_run_goes_on_only_with_the_same_obfuscator(tmp_path, tiny, seeded):
    source(tmp_path)
    stopped(tmp_path, seeded())
    with pytest.raises(ParameterError, match="profile .was 'strict', now 'paper'"):
        job(tmp_path, resume=True).run(Obfuscator(tiny, seed=5, profile="paper"))
    with pytest.raises(ParameterError, match="randomness"):
        job(tmp_path, resume=True).run(Obfuscator(tiny, seed=6))
    with pytest.raises(ParameterError, match="form .was 'keep', now 'plain'"):
        job(tmp_path, resume=True).run(Obfuscator(tiny, seed=5))


def test_a_run_goes_on_only_over_the_same_rows(tmp_path, seeded):
    source(tmp_path)
    stopped(tmp_path, seeded())
    source(tmp_path, texts=["another text", *TEXTS[1:]])
    with pytest.raises(InputError, match="has changed in rows that are done"):
        job(tmp_path, resume=True).run(seeded())
    path = source(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"r3", b"x3"))
    with (
        pytest.warns(TextveilWarning, match="'id'"),  # it counts the rows no more
        pytest.raises(InputError, match="has changed in rows that are done"),
    ):
        job(tmp_path, resume=True).run(seeded())
    path.write_bytes(make("csv", TEXTS).replace(b"stars", b"moons"))
    with pytest.raises(InputError, match="has changed in rows that are done"):
        job(tmp_path, resume=True).run(seeded())
    source(tmp_path, texts=TEXTS[:10])
    with pytest.raises(InputError, match="is shorter than when the run began"):
        job(tmp_path, resume=True).run(seeded())
    source(tmp_path)
    assert job(tmp_path, resume=True).run(seeded()).documents == len(TEXTS)


def test_a_broken_line_loses_nothing_and_can_be_mended(tmp_path, seeded):
    path = source(tmp_path)
    good = path.read_bytes()
    lines = good.split(b"\r\n")
    lines[100] += b",SECRET"
    path.write_bytes(b"\r\n".join(lines))
    with pytest.raises(InputError, match="line 101: 4 fields, where the header has 3") as caught:
        job(tmp_path, budget=Budget(epsilon=30.0)).run(seeded())
    assert "SECRET" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()
    path.write_bytes(good)
    done = []
    job(tmp_path, resume=True).run(seeded(), lambda stage, documents, fraction: done.append(documents))
    assert min(done) > 90  # went on, did not start over
    job(tmp_path, overwrite=True).run(seeded())


def test_the_budget_of_a_resumed_run_is_the_one_it_began_with(tmp_path, seeded):
    path = source(tmp_path)
    budget = Budget(epsilon_per_word=1.0, length="average")
    with pytest.raises(Stop):
        job(tmp_path, budget=budget, part_seconds=ALWAYS).run(
            seeded(), lambda s, d, f: stop_after(40)(s, d * (s == "obfuscating"), f)
        )
    with path.open("ab") as out:
        out.write(b"r999,one more row with many words,1\r\n")
    resumed = job(tmp_path, budget=budget, resume=True).run(seeded())
    assert resumed.documents == len(TEXTS) + 1
    # The row that was added has no part in the average.
    words = sum(len((text or "").split()) for text in TEXTS)
    assert resumed.certificate.budget.average_length == pytest.approx(words / len(TEXTS))


def test_a_first_error_leaves_nothing_behind(tmp_path, seeded):
    source(tmp_path)
    with pytest.raises(ColumnError):
        job(tmp_path, layout=Layout(column="review")).run(seeded())
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("flags", [{}, {"resume": True}, {"overwrite": True}], ids=str)
@pytest.mark.parametrize("stage", ["counting words", "obfuscating"])
def test_two_runs_do_not_write_one_output(tmp_path, seeded, flags, stage):
    source(tmp_path)
    budget = Budget(epsilon_per_word=1.0)

    def second(current, documents, fraction):
        if current == stage:
            with pytest.raises(OutputExistsError, match="Another run is writing"):
                job(tmp_path, budget=budget, **flags).run(seeded())

    assert job(tmp_path, budget=budget).run(seeded(), second).documents == len(TEXTS)


def test_a_clean_up_that_was_cut_short_is_finished(tmp_path, seeded, monkeypatch):
    from textveil.jobs.file import Partial

    source(tmp_path)
    with monkeypatch.context() as patch, pytest.raises(Stop):

        def killed(self, outcome):
            raise Stop

        patch.setattr(Partial, "complete", killed)
        job(tmp_path).run(seeded())
    expected = (tmp_path / "out.csv").read_bytes()
    report = job(tmp_path, resume=True).run(seeded())
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert report.documents == len(TEXTS)
    assert not (tmp_path / "out.csv.partial").exists()


@pytest.mark.parametrize("removals", [0, 1, 3])
def test_a_run_that_was_killed_while_it_removed_its_folder_succeeds_when_resumed(
    tmp_path, seeded, monkeypatch, removals
):
    source(tmp_path)
    options = {"certificate": tmp_path / "c.json"}
    with monkeypatch.context() as patch, pytest.raises(Stop):
        stop_removal(patch, removals)
        job(tmp_path, **options).run(seeded())
    written = [(tmp_path / name).read_bytes() for name in ("out.csv", "c.json")]
    assert (tmp_path / "out.csv.partial").exists()
    report = job(tmp_path, resume=True, **options).run(seeded())
    assert report.documents == len(TEXTS)
    assert [(tmp_path / name).read_bytes() for name in ("out.csv", "c.json")] == written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "in.csv", "out.csv"]


def stop_removal(patch, removals):
    """Stop a run when it has removed some files of its folder."""
    from textveil.storage import resumable

    remove = resumable._remove
    numbers = iter(range(removals))

    def stop_or_remove(path):
        if next(numbers, None) is None:
            raise Stop
        remove(path)

    patch.setattr(resumable, "_remove", stop_or_remove)


def test_an_output_that_appears_during_the_run_is_not_lost(tmp_path, seeded):
    source(tmp_path)

    def appear(stage, documents, fraction):
        (tmp_path / "out.csv").write_text("somebody's work", encoding="utf-8")

    with pytest.raises(OutputExistsError, match="appeared during the run"):
        job(tmp_path).run(seeded(), appear)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "somebody's work"


@pytest.mark.parametrize(
    "name", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("jsonl.gz", "parquet")), "csv"]
)
def test_killed_at_random_moments_it_ends_with_the_same_rows(tmp_path, name):
    """A real process, really killed, until it is done."""
    plain = name.removesuffix(".gz")
    generator = random.Random(1)
    words = "film music story actor scene house water night friend river lovely awful".split()
    texts = [" ".join(generator.choices(words, k=generator.randint(0, 30))) for _ in range(160)]
    content = make(plain, texts)
    (tmp_path / f"in.{name}").write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    # Forked from a server that has imported the library once.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([obfuscate.__module__])

    def start(stem):
        process = server.Process(target=obfuscate, args=(tmp_path / f"in.{name}", tmp_path / f"{stem}.{name}"))
        process.start()
        return process

    def finish(process):
        process.join()
        assert process.exitcode == 0

    finish(start("whole"))
    output, partial = tmp_path / f"out.{name}", tmp_path / f"out.{name}.partial"
    killed = 0
    while killed < 8:
        process = start("out")
        # Killed a moment after a new part is finished, or in the first seconds of a run that finishes none.
        finished = len(list(partial.glob("*.json")))
        while process.is_alive() and len(list(partial.glob("*.json"))) <= finished:
            time.sleep(0.002)
        time.sleep(generator.random() / 20)
        if not process.is_alive():
            finish(process)
            break
        process.kill()
        process.join()
        killed += 1
        if output.exists() and not partial.exists():  # killed when all was done
            break
    else:  # often enough
        finish(start("out"))
    assert killed > 0
    results = [(tmp_path / f"{stem}.{name}").read_bytes() for stem in ("whole", "out")]
    if name.endswith(".gz"):
        results = [gzip.decompress(result) for result in results]
    if plain == "parquet":
        results = [pq.read_table(io.BytesIO(result)).to_pydict() for result in results]
    assert results[0] == results[1]
    assert not partial.exists()


# Bad paths, full disks.


def test_an_output_that_exists_is_refused(tmp_path, seeded):
    source(tmp_path)
    (tmp_path / "out.csv").write_text("precious", encoding="utf-8")
    for resume in (False, True):
        with pytest.raises(OutputExistsError, match="`overwrite=True`"):
            job(tmp_path, resume=resume).run(seeded())
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "precious"


def test_input_and_output_must_differ(tmp_path, seeded):
    path = source(tmp_path)
    with pytest.raises(ParameterError, match="different files"):
        FileJob(path, path, JobOptions(Budget(1.0), overwrite=True)).run(seeded())


def test_a_folder_that_is_not_there(tmp_path, seeded):
    path = source(tmp_path)
    with pytest.raises(ParameterError, match="Make it first"):
        FileJob(path, tmp_path / "no" / "out.csv", JobOptions(Budget(1.0))).run(seeded())


def test_a_file_that_vanishes_between_counting_and_obfuscating(tmp_path, seeded):
    path = source(tmp_path)

    def vanish(stage, documents, fraction):
        path.unlink(missing_ok=True)

    with pytest.raises(InputError, match="is not there"):
        job(tmp_path, budget=Budget(epsilon_per_word=1.0, length="average")).run(seeded(), vanish)


def test_a_full_disk_keeps_what_is_finished(tmp_path, seeded):
    source(tmp_path)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(stage, documents, fraction):
        if documents >= 64:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, old[1]))

    try:
        with pytest.raises(OutputError, match="Cannot write.*Check the free space"):
            job(tmp_path, part_seconds=ALWAYS).run(seeded(), fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert not (tmp_path / "out.csv").exists()
    assert job(tmp_path, resume=True).run(seeded()).documents == len(TEXTS)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["id"] for row in rows] == [f"r{number}" for number in range(len(TEXTS))]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small disk")
def test_a_disk_that_is_really_full(tmp_path, seeded):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip("cannot mount here")
    try:
        path = source(tmp_path, texts=["gamma " * 200] * 400)
        work = FileJob(path, small / "out.csv", JobOptions(Budget(1.0), batch_size=16), part_seconds=ALWAYS)
        with pytest.raises(OutputError, match="No space left on device"):
            work.run(seeded())
        assert not (small / "out.csv").exists()
        assert (small / "out.csv.partial" / "000000.json").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_where_no_ordinary_file_can_be(tmp_path, seeded):
    path = source(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "fifo.csv")
    for name in ("folder.csv", "fifo.csv"):
        with pytest.raises(ParameterError, match="not an ordinary file"):
            FileJob(path, tmp_path / name, JobOptions(Budget(1.0), overwrite=True)).run(seeded())
        with pytest.raises(ParameterError, match="not an ordinary file"):
            job(tmp_path, certificate=tmp_path / name).run(seeded())


def test_a_link_stays_one(tmp_path, seeded):
    source(tmp_path)
    (tmp_path / "real.csv").write_text("old", encoding="utf-8")
    (tmp_path / "out.csv").symlink_to("real.csv")
    job(tmp_path, overwrite=True).run(seeded())
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes().startswith(b"id,text")


def test_a_budget_per_word_needs_a_file_that_can_be_read_twice(tmp_path, seeded):
    os.mkfifo(tmp_path / "in.csv")
    with pytest.raises(BudgetError, match="read twice"):
        job(tmp_path, budget=Budget(epsilon_per_word=1.0, length="average")).run(seeded())


# Certificates.


def test_a_certificate_is_written_with_the_output(tmp_path, seeded):
    source(tmp_path)
    report = job(tmp_path, certificate=tmp_path / "c.json").run(seeded())
    assert json.loads((tmp_path / "c.json").read_bytes()) == report.certificate.as_dict()
    assert any("other columns" in point for point in report.certificate.not_protected)


def test_a_certificate_replaces_nothing(tmp_path, seeded):
    source(tmp_path)
    for name in ("in.csv", "out.csv"):
        with pytest.raises(ParameterError, match="different files"):
            job(tmp_path, certificate=tmp_path / name, overwrite=True).run(seeded())
    (tmp_path / "c.json").touch()
    with pytest.raises(OutputExistsError):
        job(tmp_path, certificate=tmp_path / "c.json", resume=True).run(seeded())
    with pytest.raises(ParameterError, match="Make it first"):
        job(tmp_path, certificate=tmp_path / "no" / "c.json").run(seeded())


def test_a_certificate_that_could_not_be_written_is_written_by_resume(tmp_path, seeded, monkeypatch):
    from textveil.certificate import Certificate

    source(tmp_path)
    with monkeypatch.context() as patch, pytest.raises(Stop):

        def killed(self, path, like=None):
            raise Stop

        patch.setattr(Certificate, "write", killed)
        job(tmp_path, certificate=tmp_path / "c.json").run(seeded())
    report = job(tmp_path, certificate=tmp_path / "c.json", resume=True).run(seeded())
    assert json.loads((tmp_path / "c.json").read_bytes()) == report.certificate.as_dict()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "in.csv", "out.csv"]


# Odd rows.


def test_lone_surrogates_pass_through_jsonl(tmp_path, seeded):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "alpha \\ud83d beta"}\n', encoding="utf-8")
    FileJob(path, tmp_path / "out.jsonl", JobOptions(Budget(1e6))).run(seeded())
    assert json.loads((tmp_path / "out.jsonl").read_bytes())["text"] == "alpha  beta"  # half a character is dropped


def test_long_columns_of_parquet(tmp_path, seeded):
    table = pa.table({"text": ["alpha beta"] * 5000, "n": list(range(5000))})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=700)
    job(tmp_path, "parquet", part_seconds=ALWAYS, batch_size=900).run(seeded())
    result = pq.read_table(tmp_path / "out.parquet")
    assert result.column("n").to_pylist() == list(range(5000))


# Permissions.


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_output_and_certificate_are_as_readable_as_the_source(tmp_path, seeded, mode):
    source(tmp_path).chmod(mode)
    job(tmp_path, certificate=tmp_path / "c.json").run(seeded())
    for name in ("out.csv", "c.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode


def test_an_unfinished_run_is_for_the_user_only(tmp_path, seeded):
    source(tmp_path).chmod(0o644)
    modes = {}

    def look(*_):
        folder = tmp_path / "out.csv.partial"
        modes.update({path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())})

    job(tmp_path, part_seconds=ALWAYS).run(seeded(), look)
    assert modes.pop("out.csv.partial") == 0o700
    assert {"job.json", "000000.part", "000000.json"} < set(modes)
    assert set(modes.values()) == {0o600}


# Metadata and digests.


@pytest.mark.parametrize("metadata", [None, {"note": "HIV positive"}])
def test_the_certificate_says_whether_metadata_was_dropped(tmp_path, seeded, metadata):
    pq.write_table(pa.table({"text": ["alpha"]}).replace_schema_metadata(metadata), tmp_path / "in.parquet")
    report = job(tmp_path, "parquet", certificate=tmp_path / "c.json").run(seeded())
    assert report.dropped_metadata == (metadata is not None)
    assert json.loads((tmp_path / "c.json").read_text())["dropped_metadata"] == (metadata is not None)
    assert Certificate.load(tmp_path / "c.json").dropped_metadata == (metadata is not None)
    assert b"HIV" not in (tmp_path / "out.parquet").read_bytes()


def test_dropped_metadata_is_known_when_only_the_clean_up_was_interrupted(tmp_path, seeded, monkeypatch):
    pq.write_table(pa.table({"text": ["alpha"]}).replace_schema_metadata({"a": "b"}), tmp_path / "in.parquet")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(JobOptions, "report", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        job(tmp_path, "parquet").run(seeded())
    assert job(tmp_path, "parquet", resume=True).run(seeded()).dropped_metadata


def test_equal_runs_have_different_digests(tmp_path, seeded):
    source(tmp_path)
    digests = set()

    def look(*_):
        mark = tmp_path / "out.csv.partial" / "000000.json"
        if mark.exists():
            digests.add(json.loads(mark.read_text())["digest"])

    for _ in range(2):
        job(tmp_path, part_seconds=ALWAYS, overwrite=True).run(seeded(), look)
    assert len(digests) == 2
