"""Jobs whose output has another format than their input."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.budget import Budget
from textveil.errors import ColumnError, ParameterError
from textveil.jobs import FileJob, JobOptions, StreamJob
from textveil.obfuscator import Obfuscator
from textveil.tables import Layout, StreamSource, read_records

from ..tables.test_contract import make

TEXTS = ["alpha beta", "the and of", "good film, bad plot!", "gamma " * 30] * 10


class Stop(Exception):
    pass


def stop_after(documents):
    def progress(stage, done, fraction):
        if done >= documents:
            raise Stop

    return progress


def job(source, output, *, layout=None, **options):
    chosen = JobOptions(Budget(30.0), layout or Layout(), batch_size=8)
    return FileJob(source, output, chosen, part_seconds=0, **options)


@pytest.mark.parametrize("target", ["csv", "jsonl", "parquet", "parquet.gz"])
@pytest.mark.parametrize("origin", ["txt", "csv", "jsonl", "parquet"])
def test_a_file_is_converted_and_an_interrupted_run_resumes(tmp_path, tiny, origin, target):
    source, output = tmp_path / f"in.{origin}", tmp_path / f"out.{target}"
    source.write_bytes(make(origin, TEXTS))
    with pytest.raises(Stop):
        job(source, output).run(Obfuscator(tiny, seed=5), stop_after(20))
    assert not output.exists()
    report = job(source, output, resume=True).run(Obfuscator(tiny, seed=5))
    rows = list(read_records(output))
    expected = [result.text for result in Obfuscator(tiny, seed=5).obfuscate_all(TEXTS, epsilon=30)]
    assert [row["text"] for row in rows] == expected
    assert report.documents == len(TEXTS)
    assert report.certificate.other_columns is (origin != "txt")
    if origin != "txt":
        assert [row["id"] for row in rows] == [f"r{number}" for number in range(len(TEXTS))]


def test_a_run_does_not_resume_with_another_format(tmp_path, tiny):
    source, output = tmp_path / "in.data", tmp_path / "out.csv"
    source.write_bytes(b"text\nalpha\n")
    with pytest.raises(Stop):
        job(source, output, layout=Layout(format_name="csv")).run(Obfuscator(tiny, seed=5), stop_after(1))
    with pytest.raises(ParameterError, match="format"):
        job(source, output, layout=Layout(format_name="txt"), resume=True).run(Obfuscator(tiny, seed=5))


def test_a_refused_conversion_leaves_nothing(tmp_path, tiny):
    source = tmp_path / "in.csv"
    source.write_bytes(make("csv", TEXTS))
    with pytest.raises(ColumnError, match="is plain text"):
        job(source, tmp_path / "out.txt").run(Obfuscator(tiny, seed=5))
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_stream_of_a_given_format_is_converted(tmp_path, tiny):
    source, output = StreamSource(io.BytesIO(b"alpha\nbeta\n")), tmp_path / "out.csv"
    options = JobOptions(Budget(30.0), Layout(format_name="txt"))
    StreamJob(source, output, options).run(Obfuscator(tiny, seed=5), io.BytesIO())
    assert output.read_text().splitlines()[0] == "text,textveil_outcome"
    assert len(output.read_text().splitlines()) == 3


def test_a_certificate_says_that_metadata_was_dropped_by_a_conversion(tiny, tmp_path):
    table = pa.table({"text": ["alpha", "beta"]}).replace_schema_metadata({"note": "private"})
    pq.write_table(table, tmp_path / "in.parquet")
    report = Obfuscator(tiny, seed=1).obfuscate_file(tmp_path / "in.parquet", tmp_path / "out.csv", epsilon=1)
    assert report.certificate.as_dict()["dropped_metadata"]
    assert b"private" not in (tmp_path / "out.csv").read_bytes()
