"""The soak works, notices what it is meant to notice, and what it has found stays repaired."""

from __future__ import annotations

import json
import logging
import math
import sys
import time
import warnings
from pathlib import Path
from random import Random

import pytest

from soak.base import DRAWN, run_part
from soak.kills import NAMES, Kills, Loop
from soak.mutation import make_marker
from soak.process import PARTS, load_part
from soak.readers import Readers
from soak.report import Report
from soak.service import check_answer
from soak.text import Text
from soak.watching import BrokenPromiseError
from textveil import Bundle, Certificate, Obfuscator
from textveil.errors import BundleError, InputError, StudyError
from textveil.jobs.file import Partial
from textveil.lab.study.study import load_study
from textveil.storage.atomic import hash_file
from textveil.text.codes import find_codes
from textveil.text.documents import Document


@pytest.mark.parametrize(
    "text",
    [
        "@ " + "a" * 40_000,
        "@ " + "a." * 10_000,
        "@1" + " -" * 40 + " x",
        "@ " + "(" * 40_000,
        "@1" + ")" * 20_000 + "x",
    ],
    ids=["a word", "labels", "dashes", "open", "closed"],
)
def test_a_long_run_of_characters_is_searched_for_codes_in_little_time(text):
    document = Document.parse(text)
    started = time.process_time()
    find_codes(document)
    assert time.process_time() - started < 2  # it took seconds, and days for the dashes


@pytest.mark.parametrize("content", [b"PK\x03\x04 no archive", b"PK\x05\x06" + b"\0" * 18])
def test_an_archive_in_place_of_an_array_is_refused(copied_bundle, content):
    check_array(copied_bundle, content)


def test_an_array_with_a_broken_header_is_refused(copied_bundle):
    intact = (copied_bundle / "words/matrix.npy").read_bytes()
    check_array(copied_bundle, intact.replace(b"}", b"(", 1))
    check_array(copied_bundle, intact.replace(b"(38, 12)", b"(-1, '')"))


def check_array(folder, content):
    """Refused, although its hash is right."""
    (folder / "words/matrix.npy").write_bytes(content)
    manifest = json.loads((folder / "bundle.json").read_text())
    manifest["files"]["words/matrix.npy"] = hash_file(folder / "words/matrix.npy")
    (folder / "bundle.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="matrix"):
        Bundle(folder).vectors("words")


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!bool x", "!!timestamp x", "!!map [a]", "!!map [[a, b]]", "{? !!set {a}: b}", "[[[[" * 2000]
)
def test_a_study_with_a_value_that_does_not_fit_its_tag_is_refused(tmp_path, value):
    (tmp_path / "study.yaml").write_text(f"name: {value}\n")
    with pytest.raises(StudyError, match="study.yaml"):
        load_study(tmp_path / "study.yaml")


def test_a_huge_integer_lifts_the_largest_share(tiny):
    assert Obfuscator(tiny, largest_share=10**400).largest_share == math.inf


def test_a_certificate_with_words_at_a_limit_that_it_does_not_state_is_refused(tiny):
    values = json.loads(Obfuscator(tiny, largest_share=2.0).obfuscate("good film", epsilon=9).certificate.to_json())
    assert Certificate.from_dict(values).tally.capped > 0
    values["budget"]["largest_share"] = None
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict(values)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("words", "perturbed"), "5"),
        (("words", "perturbed"), True),
        (("documents", "obfuscated"), -1),
        (("returned", "words"), 10**400),
        (("returned", "documents", "100%"), None),
        (("words_with_largest_share",), 1.5),
        (("budget", "largest_spent"), "x"),
        (("budget", "largest_share"), "x"),
        (("budget", "largest_share"), 10**400),
        (("budget", "largest_budget"), 10**400),
        (("budget", "average_length"), []),
        (("not_protected",), None),
        (("not_protected",), [5]),
        (("claim",), 5),
    ],
)
def test_a_certificate_with_a_value_of_another_kind_is_refused(tiny, place, value):
    values = json.loads(Obfuscator(tiny, largest_share=5.0).obfuscate("good film", epsilon=9).certificate.to_json())
    assert Certificate.from_dict(values).tally.words.total() == 2
    inner = values
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict(values)


class QuotingReaders(Readers):
    """A reader that quotes its input in an error, logs it, or never ends."""

    seconds = 0.2

    def __init__(self, folder, fault):
        super().__init__(folder)
        self.fault = fault
        if fault == "wait":
            self.seconds = 0.05

    def use(self, given, marker):
        text = f"the text {given.content!r} with {marker}"
        match self.fault:
            case "message":
                raise InputError(f"This is wrong: {text}")
            case "cause":
                raise InputError("This is wrong.") from ValueError(text)
            case "log":
                logging.getLogger("textveil").debug(text)
            case "warning":
                warnings.warn(text, stacklevel=1)
            case "print":
                sys.stderr.write(text)
            case "crash":
                raise KeyError(text)
            case "hang":
                while True:
                    pass
            case "wait":
                time.sleep(60)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("message", "marker"),
        ("cause", "marker"),
        ("log", "marker"),
        ("warning", "marker"),
        ("print", "marker"),
        ("crash", "crash"),
        ("hang", "hang"),
        ("wait", "hang"),
    ],
)
def test_a_broken_reader_is_caught_without_writing_down_its_input(tmp_path, fault, kind):
    report = Report(tmp_path / "out")
    run_part(QuotingReaders(tmp_path, fault), report, seed=1, seconds=60, inputs=3)
    assert [(finding.kind, finding.number) for finding in report.findings] == [(kind, 0), (kind, 1), (kind, 2)]
    marker = make_marker(Random(1))
    written = [path.read_text() for path in report.folder.iterdir()]
    assert "python -m soak --only readers --seed 1 --inputs 100" in "".join(written)
    assert not any(marker in content for content in (*written, *report.summarize()))


def test_inputs_are_written_down_on_request(tmp_path):
    report = Report(tmp_path / "out", keep=True)
    run_part(QuotingReaders(tmp_path, "message"), report, seed=1, seconds=60, inputs=1)
    assert (report.folder / "readers-1-0.txt").read_text().startswith("File(name='in.")


@pytest.mark.parametrize("name", [name for name in PARTS if name not in ("kills", "service")])
@pytest.mark.parametrize("seed", [DRAWN, 3], ids=["drawn", "random"])
def test_fifty_inputs_of_a_part_have_no_findings(tmp_path, monkeypatch, name, seed):
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "files").mkdir()
    report = Report(tmp_path / "out")
    run_part(load_part(name)(tmp_path / "files"), report, seed=seed, seconds=120, inputs=50)
    assert report.findings == []
    assert report.inputs[name] == 50


@pytest.mark.slow
def test_fifty_calls_of_the_service_have_no_findings(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path / "cache"))
    report, part = Report(tmp_path / "out"), load_part("service")(tmp_path)
    try:
        run_part(part, report, seed=3, seconds=240, inputs=50)
    finally:
        part.close()
    assert report.findings == []
    assert report.count("service") == 50


@pytest.mark.parametrize(
    ("answer", "promise"),
    [
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", "the status 500"),
        (b"HTTP/1.1 422 X\r\n\r\nGot 'ZZmarker'", "repeats a text"),
        (b"nonsense", "not HTTP"),
    ],
)
def test_a_wrong_answer_of_the_service_is_noticed(answer, promise):
    check_answer(b"HTTP/1.1 200 OK\r\n\r\nzzmarker", "zzmarker")  # an answer may have it
    with pytest.raises(BrokenPromiseError, match=promise):
        check_answer(answer, "zzmarker")


def test_the_same_seed_gives_the_same_inputs(tmp_path):
    class Recording(Text):
        def use(self, given, marker):
            seen.append(given)

    runs = []
    for _ in range(2):
        seen: list[str] = []
        run_part(Recording(tmp_path), Report(tmp_path), seed=DRAWN - 1, seconds=60, inputs=150)  # both ways of drawing
        runs.append(seen)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 100


def test_a_killed_run_ends_like_an_undisturbed_one(tmp_path, monkeypatch):
    monkeypatch.setattr(Kills, "rows", 100)
    monkeypatch.setattr("soak.kills.LEAST_KILLS", 1)
    part = Kills(tmp_path)
    part.use(Loop("in.csv.gz", 3), "zzabcd7efghqx")
    assert part.uses >= 1


def test_every_kind_of_a_part_is_counted():
    report = Report(Path())
    report.inputs.update({"text": 5, "kills csv": 2, "kills csv.gz": 3})
    report.seconds.update({"text": 4, "kills": 1})
    report.processor.update({"text": 3})
    assert (report.count("text"), report.count("kills")) == (5, 5)
    lines = [line.split() for line in report.summarize()]
    assert ["text", "5", "4", "3", "0"] in lines
    assert ["kills", "5", "1", "0", "0"] in lines
    assert ["csv.gz", "3"] in lines
    assert ["all", "10", "5", "3", "0"] in lines


def test_a_batch_of_kills_has_every_kind_of_run_once(tmp_path):
    part, random = Kills(tmp_path), Random(1)
    names = [part.draw(random, "").name for _ in range(part.batch)]
    assert sorted(names) == sorted(NAMES)
    assert {"in.txt", "in.tsv", "in.parquet", "in.jsonl.gz", "prepare", "study"} < set(names)


def test_a_killed_run_that_leaves_its_folder_is_caught(tmp_path, monkeypatch):
    def run_and_leave(self, source, output, marker, moment):
        output.touch()
        if output.name.startswith("killed"):
            folder = output.with_name(f"{output.name}.partial")
            folder.mkdir(exist_ok=True)
            (folder / "job.json").touch()
        return moment is None

    monkeypatch.setattr(Kills, "_run", run_and_leave)
    with pytest.raises(BrokenPromiseError, match="leaves something behind"):
        Kills(tmp_path).use(Loop("in.txt", 3), "zzabcd7efghqx")


def test_a_run_that_differs_after_a_kill_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(Kills, "rows", 20)
    monkeypatch.setattr(Kills, "_read", staticmethod(lambda output: output.name))
    with pytest.raises(BrokenPromiseError, match="differs"):
        Kills(tmp_path).use(Loop("in.txt", 3), "zzabcd7efghqx")


def test_a_run_that_was_killed_after_it_wrote_its_certificate_resumes(tiny, tmp_path, monkeypatch):
    class KilledError(BaseException):
        pass

    def kill(self, outcome):
        raise KilledError

    source, output, certificate = tmp_path / "in.txt", tmp_path / "out.txt", tmp_path / "certificate.json"
    source.write_text("good film\n")
    obfuscator = Obfuscator(tiny, seed=7, largest_share=5.0)
    with monkeypatch.context() as patched:
        patched.setattr(Partial, "complete", kill)
        with pytest.raises(KilledError):
            obfuscator.obfuscate_file(source, output, epsilon=9, certificate=certificate)
    written = certificate.read_bytes()  # before the clean-up
    obfuscator.obfuscate_file(source, output, epsilon=9, certificate=certificate, resume=True)
    assert certificate.read_bytes() == written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["certificate.json", "in.txt", "out.txt"]
