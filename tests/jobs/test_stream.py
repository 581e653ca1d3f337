import io
import math

import pytest

from textveil.budget import Budget
from textveil.errors import BudgetError, OutputExistsError
from textveil.jobs import JobOptions, StreamJob
from textveil.obfuscator import Obfuscator
from textveil.tables import FileSource, Layout, StreamSource


@pytest.fixture
def seeded(tiny):
    return lambda: Obfuscator(tiny, seed=5, largest_share=math.inf, form="keep")


def test_a_stream_is_obfuscated_as_it_comes(seeded):
    target = io.BytesIO()
    stream = StreamSource(io.BytesIO(b"alpha\n\nthe\n"))
    report = StreamJob(stream, None, JobOptions(Budget(1e6), batch_size=1)).run(seeded(), target)
    assert target.getvalue() == b"alpha\n\nthe\n"
    assert report.documents == 3


def test_a_file_goes_to_a_stream(tmp_path, seeded):
    path = tmp_path / "in.csv"
    path.write_bytes(b"text,id\nalpha,1\nbeta,2\n")
    target = io.BytesIO()
    options = JobOptions(Budget(epsilon_per_word=1e6), Layout(outcome_column=None), certificate=tmp_path / "c.json")
    report = StreamJob(FileSource(path), None, options).run(seeded(), target)
    assert target.getvalue() == b"text,id\nalpha,1\nbeta,2\n"
    assert report.certificate.budget.length == "own"
    assert (tmp_path / "c.json").exists()


def test_a_stream_goes_to_a_file_whose_name_tells_the_format(tmp_path, seeded):
    source = StreamSource(io.BytesIO(b'{"text": "alpha"}\n'))
    out = tmp_path / "out.jsonl"
    StreamJob(source, out, JobOptions(Budget(1e6))).run(seeded(), io.BytesIO())
    assert out.read_bytes() == b'{"text": "alpha", "textveil_outcome": "returned"}\n'
    with pytest.raises(OutputExistsError):
        StreamJob(source, out, JobOptions(Budget(1e6))).run(seeded(), io.BytesIO())


def test_a_stream_cannot_be_read_twice(seeded):
    source = StreamSource(io.BytesIO(b"alpha\n"))
    with pytest.raises(BudgetError, match="read twice"):
        StreamJob(source, None, JobOptions(Budget(epsilon_per_word=1.0, length="average"))).run(seeded(), io.BytesIO())


def test_a_failure_leaves_no_file(tmp_path, seeded):
    source = StreamSource(io.BytesIO(b"alpha\n\xff\n"))
    with pytest.raises(Exception, match="not UTF-8"):
        StreamJob(source, tmp_path / "out.txt", JobOptions(Budget(1.0), batch_size=1)).run(seeded(), io.BytesIO())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_output_of_a_file_is_as_readable_as_the_file(tmp_path, seeded, mode):
    path, out = tmp_path / "in.txt", tmp_path / "out.txt"
    path.write_bytes(b"alpha\n")
    path.chmod(mode)
    options = JobOptions(Budget(1e6), certificate=tmp_path / "c.json")
    StreamJob(FileSource(path), out, options).run(seeded(), io.BytesIO())
    assert out.stat().st_mode & 0o777 == mode
    assert (tmp_path / "c.json").stat().st_mode & 0o777 == mode
