"""The records of ``make bench`` and their page."""

import argparse

import pytest

from benchmarks import run
from benchmarks.growth import draw
from benchmarks.records import BEGIN, END, Record, merge_records, read_records, write_records, write_table
from benchmarks.start import compare_start

OLD = Record("start", "a text", 300.0, "ms", "import numpy", 3.0)
NEW = Record("start", "a text", 250.0, "ms", "import numpy", 2.5)
OTHER = Record("speed", "words", 7000.0, "words/s")


def test_records_survive_a_file_and_replace_only_their_own_part(tmp_path):
    path = tmp_path / "performance.json"
    assert read_records(path) == []
    write_records(path, [OLD, OTHER])
    merged = merge_records(read_records(path), [NEW], ["speed", "start"])
    assert merged == [OTHER, NEW]


def test_the_table_stands_between_the_marks(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_table(page, [OTHER, NEW])
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| start | a text | 250 ms | import numpy | 2.5 |" in text
    page.write_text("no marks")
    with pytest.raises(SystemExit):
        write_table(page, [NEW])


def test_a_part_writes_its_records_and_one_without_records_changes_nothing(tmp_path, monkeypatch):
    page, records = tmp_path / "performance.md", tmp_path / "performance.json"
    page.write_text(f"{BEGIN}{END}")
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "RECORDS", records)
    monkeypatch.setattr(run, "PARTS", {"speed": lambda _: [OTHER], "start": lambda _: None})
    for part in run.PARTS:
        run.run_part(part, argparse.Namespace(no_write=False))
    assert read_records(records) == [OTHER]
    assert "| speed | words |" in page.read_text()


def test_the_start_is_compared_with_numpy():
    records = compare_start(rounds=1)
    assert {record.baseline for record in records} == {"import numpy"}
    assert [record.ratio for record in records if record.name.startswith("python")] == [1.0, 1.0]


def test_a_figure_of_growth_is_the_same_each_time(tmp_path):
    for name in ("first.svg", "second.svg"):
        draw("documents", {10: 1.0, 20: 2.1}, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
