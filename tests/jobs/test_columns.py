"""Several columns of texts in one run: each text is a document of its own."""

import json
from pathlib import Path

import pytest

from textveil.budget import Budget
from textveil.errors import ColumnError, ParameterError
from textveil.jobs import FileJob, JobOptions
from textveil.obfuscator import Obfuscator
from textveil.tables import Layout, read_records

from ..tables.test_contract import make

TEXTS = ["alpha beta", "gamma film, bad plot!", "the and of", "delta " * 20] * 10
FORMATS_WITH_COLUMNS = ["csv", "tsv", "jsonl", "parquet"]


class Stop(Exception):
    pass


def write_source(folder: Path, name: str, texts=TEXTS) -> Path:
    """A file whose columns id, text and stars all hold strings; id and text are used as texts."""
    path = folder / f"in.{name}"
    path.write_bytes(make(name, texts))
    return path


def run(tiny, source: Path, column, progress=lambda *_: None, *, outcome_column="textveil_outcome", **options):
    target = source.with_name(f"out{source.suffix}")
    layout = Layout(column, outcome_column)
    job = FileJob(source, target, JobOptions(Budget(30.0), layout, batch_size=8), part_seconds=0, **options)
    report = job.run(Obfuscator(tiny, seed=5), progress)
    return report, list(read_records(target))


@pytest.mark.parametrize("name", FORMATS_WITH_COLUMNS)
def test_every_text_of_every_column_is_a_document_with_its_own_noise_and_budget(tmp_path, tiny, name):
    report, rows = run(tiny, write_source(tmp_path, name), ["text", "id"])
    texts = [text for number, text in enumerate(TEXTS) for text in (text, f"r{number}")]
    expected = list(Obfuscator(tiny, seed=5).obfuscate_all(texts, epsilon=30))
    assert [row[column] for row in rows for column in ("text", "id")] == [result.text for result in expected]
    outcomes = [row[f"textveil_outcome_{column}"] for row in rows for column in ("text", "id")]
    assert outcomes == [result.outcome.value for result in expected]
    assert list(rows[0]) == ["id", "text", "stars", "textveil_outcome_text", "textveil_outcome_id"]
    assert [row["stars"] for row in rows] == [str(number % 5) for number in range(len(TEXTS))]
    assert report.documents == 2 * len(TEXTS)
    assert report.certificate.tally.largest_budget == 30.0


@pytest.mark.parametrize("name", FORMATS_WITH_COLUMNS)
def test_an_interrupted_run_with_several_columns_resumes(tmp_path, tiny, name):
    source = write_source(tmp_path, name)
    _, expected = run(tiny, source, ["text", "id"])
    (tmp_path / f"out.{name}").unlink()

    def stop(stage, done, fraction):
        if done >= 40:
            raise Stop

    with pytest.raises(Stop):
        run(tiny, source, ["text", "id"], stop)
    with pytest.raises(ParameterError, match="column"):
        run(tiny, source, ["id", "text"], resume=True)
    assert run(tiny, source, ["text", "id"], resume=True)[1] == expected


def test_a_list_of_one_name_is_the_same_as_the_name(tmp_path, tiny):
    source = write_source(tmp_path, "csv")
    _, expected = run(tiny, source, "text")
    (tmp_path / "out.csv").unlink()
    assert run(tiny, source, ["text"])[1] == expected
    assert list(expected[0]) == ["id", "text", "stars", "textveil_outcome"]


def test_outcome_columns_can_be_renamed_or_left_out(tmp_path, tiny):
    source = write_source(tmp_path, "jsonl")
    assert list(run(tiny, source, ["text", "id"], outcome_column=None)[1][0]) == ["id", "text", "stars"]
    (tmp_path / "out.jsonl").unlink()
    row = run(tiny, source, ["text", "id"], outcome_column="fate")[1][0]
    assert {"fate_text", "fate_id"} < set(row)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (["text", "title"], ColumnError, "has no column 'title'"),
        (["text", "text"], ParameterError, "'text' more than once"),
        ([], ParameterError, "names no column"),
        (["text", "textveil_outcome_text"], ParameterError, "cannot both be in the column 'textveil_outcome_text'"),
    ],
)
def test_wrong_columns_are_refused(tmp_path, tiny, columns, error, message):
    with pytest.raises(error, match=message):
        run(tiny, write_source(tmp_path, "csv"), columns)


def test_plain_text_has_no_several_columns(tmp_path, tiny):
    with pytest.raises(ParameterError, match="is plain text, which has no columns"):
        run(tiny, write_source(tmp_path, "txt"), ["a", "b"])


def test_a_column_may_be_missing_in_some_rows_of_jsonl(tmp_path, tiny):
    source = tmp_path / "in.jsonl"
    source.write_text('{"a": "alpha", "b": "beta"}\n{"a": "gamma"}\n{"a": null, "b": "delta"}\n')
    run(tiny, source, ["a", "b"])
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows[1]["b"] is None
    assert rows[1]["textveil_outcome_b"] == rows[2]["textveil_outcome_a"] == "missing"


def test_the_library_takes_several_columns(tmp_path, tiny):
    source = write_source(tmp_path, "csv")
    Obfuscator(tiny, seed=5).obfuscate_file(source, tmp_path / "out.csv", epsilon=30, column=("id", "text"))
    assert "textveil_outcome_id" in next(read_records(tmp_path / "out.csv"))


def test_a_run_resumes_with_the_same_choice_of_columns_only(tmp_path, tiny):
    source, target = write_source(tmp_path, "csv"), tmp_path / "out.jsonl"

    def job(drop=(), keep=None, **options):
        chosen = JobOptions(Budget(30.0), Layout(drop_columns=drop, keep_columns=keep), batch_size=8)
        return FileJob(source, target, chosen, part_seconds=0, **options)

    def stop(stage, done, fraction):
        raise Stop

    with pytest.raises(Stop):
        job("id").run(Obfuscator(tiny, seed=5), stop)
    for other in ((), "stars"):
        with pytest.raises(ParameterError, match="drop columns"):
            job(other, resume=True).run(Obfuscator(tiny, seed=5))
    report = job("id", resume=True).run(Obfuscator(tiny, seed=5))
    rows = list(read_records(target))
    assert [list(row) for row in rows] == [["text", "stars", "textveil_outcome"]] * len(TEXTS)
    assert report.certificate.other_columns


def test_without_other_columns_the_certificate_names_none(tmp_path, tiny):
    source = write_source(tmp_path, "csv")
    report = Obfuscator(tiny, seed=5).obfuscate_file(source, tmp_path / "out.csv", epsilon=9, keep_columns="text")
    assert not report.certificate.other_columns
    assert list(next(read_records(tmp_path / "out.csv"))) == ["text", "textveil_outcome"]
