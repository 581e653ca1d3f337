"""Jobs of both kinds share one lock on their output."""

import io

import pytest

from textveil.budget import Budget
from textveil.errors import OutputExistsError
from textveil.jobs import FileJob, JobOptions, StreamJob
from textveil.obfuscator import Obfuscator
from textveil.tables import StreamSource

OPTIONS = JobOptions(Budget(30.0), batch_size=1)


def run_stream(tiny, output, progress=lambda *_: None):
    source = StreamSource(io.BytesIO(b"alpha\nbeta\n"))
    return StreamJob(source, output, OPTIONS).run(Obfuscator(tiny, seed=1), io.BytesIO(), progress)


def run_file(tiny, output, progress=lambda *_: None):
    source = output.with_name("in.txt")
    source.write_bytes(b"alpha\nbeta\n")
    return FileJob(source, output, OPTIONS).run(Obfuscator(tiny, seed=1), progress)


@pytest.mark.parametrize("first", [run_stream, run_file])
@pytest.mark.parametrize("second", [run_stream, run_file])
def test_two_runs_to_one_output_do_not_replace_each_other(tmp_path, tiny, first, second):
    output = tmp_path / "out.txt"
    refused = []

    def start_another_run(*_):
        with pytest.raises(OutputExistsError, match=r"Another run is writing '.*out.txt' now") as caught:
            second(tiny, output)
        refused.append(caught.value)

    assert first(tiny, output, start_another_run).documents == 2
    assert len(refused) == 2
    assert output.read_bytes().count(b"\n") == 2
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "in.txt") == ["out.txt"]


def test_a_run_to_standard_output_takes_no_lock(tmp_path, tiny, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_stream(tiny, None).documents == 2
    assert list(tmp_path.iterdir()) == []
