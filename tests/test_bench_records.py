"""The records of ``make bench`` and their page."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import distribution, engines, growth, run, serve
from benchmarks.counting import Measured
from benchmarks.growth import draw
from benchmarks.records import BEGIN, END, Record, merge_records, read_records, write_records, write_table
from benchmarks.start import compare_start

ROOT = Path(__file__).parents[1]
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


@pytest.fixture
def page(tmp_path, monkeypatch):
    page = tmp_path / "performance.md"
    page.write_text(f"{BEGIN}{END}")
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "RECORDS", tmp_path / "performance.json")
    return page


@pytest.mark.parametrize("error", [RuntimeError("no peer"), SystemExit("no disk")])
def test_a_part_that_fails_does_not_stop_the_others(page, monkeypatch, capsys, error):
    def fail(_):
        raise error

    monkeypatch.setattr(run, "PARTS", {"start": fail, "speed": lambda _: [OTHER]})
    monkeypatch.setattr(sys, "argv", ["run", "--peers", "python"])
    assert run.main() == 1
    assert read_records(run.RECORDS) == [OTHER]
    assert "| speed | words |" in page.read_text()
    said = capsys.readouterr()
    assert "start: failed after" in said.out
    assert "Total: 0.0 minutes" in said.out
    assert "Failed: start." in said.err
    assert str(error) in said.err


def test_only_the_named_parts_run_with_their_options(page, monkeypatch):
    given = []
    parts = {
        "start": lambda options: given.append(options.words) or [NEW],
        "speed": lambda _: [OTHER],
        "memory": lambda _: pytest.fail("not named"),
    }
    monkeypatch.setattr(run, "PARTS", parts)
    before = page.read_text()
    arguments = ["run", "--peers", "python", "--only", "start", "--only", "speed", "--words", "10,60", "--no-write"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert run.main() == 0
    assert given == [(10.0, 60.0)]
    assert page.read_text() == before
    assert not run.RECORDS.exists()


@pytest.mark.parametrize("words", ["", "10,x", "0", "10,-1", "nan", "inf"])
def test_sizes_to_count_are_checked(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["run", "--peers", "python", "--words", words])
    with pytest.raises(SystemExit) as stopped:
        run.main()
    assert stopped.value.code == 2
    assert "such as 10,60" in capsys.readouterr().err


def test_make_passes_the_parts_on():
    command = ["make", "--dry-run", "bench", "ONLY=start throughput", "WORDS=10,60"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--only start --only throughput" in said
    assert "--words 10,60" in said


def test_the_start_is_compared_with_numpy():
    records = compare_start(rounds=1)
    assert {record.baseline for record in records} == {"import numpy"}
    assert [record.ratio for record in records if record.name.startswith("python")] == [1.0, 1.0]


def test_a_figure_of_growth_is_the_same_each_time(tmp_path):
    for name in ("first.svg", "second.svg"):
        draw("documents", {10: 1.0, 20: 2.1}, tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_a_figure_within_one_decade_has_numbers_on_its_axes(tmp_path):
    draw("workers", {1: 0.93, 2: 0.71}, tmp_path / "figure.svg")
    figure = (tmp_path / "figure.svg").read_text()
    sizes, seconds = (re.findall(rf'id="{axis}tick_.*?>([\d.]+)</text>', figure, re.DOTALL) for axis in "xy")
    assert sizes == ["1", "2"]
    assert len(seconds) >= 2


def test_worker_processes_obfuscate_a_file():
    seconds = growth._time_workers(["The soup was cold.", "The film was lovely."], rounds=1)
    assert list(seconds) == [1, 2]
    (one, two) = growth._describe("workers", seconds)
    assert (one.name, two.name, two.baseline) == ("1 worker process", "2 worker processes", "1 worker process")
    assert two.ratio == seconds[2] / seconds[1]


def test_the_operations_of_an_encoder_are_counted_whole_or_up_to_its_last_attention():
    config = SimpleNamespace(hidden_size=2, intermediate_size=5, num_hidden_layers=3)
    query = key = value = out = 2 * 7 * 2 * 2
    widen = narrow = 2 * 7 * 2 * 5
    attend = mix = 2 * 7 * 7 * 2
    layer = query + key + value + out + widen + narrow + attend + mix
    assert distribution.count_operations(config, 7, whole=False) == 2 * layer + query + key + attend
    assert distribution.count_operations(config, 7, whole=True) == 3 * layer


def test_a_distribution_has_a_record_for_every_way():
    records = list(distribution.list_records("ic", {"": 2.0, "plain libraries": 8.0, "old way": 3.0}, 4))
    assert [record.value for record in records] == [2.0, 2.0]
    assert [record.baseline for record in records] == ["plain libraries: 0.5", "old way: 1.33"]
    assert [record.ratio for record in records] == [4.0, 1.5]


def test_engines_are_compared_by_time_and_memory():
    measured = {"arrow": Measured(2.0, 300.0), "duckdb": Measured(3.0, 600.0), "polars": Measured(1.0, 1200.0)}
    records = engines.describe(6, measured)
    assert [record.unit for record in records] == ["rows/s", "MiB"] * 2
    assert [record.ratio for record in records] == [1.5, 0.5, 0.5, 0.25]
    assert [record.value for record in records] == [3.0, 300.0] * 2


def test_the_service_is_compared_with_the_library_and_with_one_client():
    timings = {1: serve.Timing(50.0, 0.02, 0.03, 0.01), 8: serve.Timing(150.0, 0.05, 0.09, 0.005)}
    records = {(record.name, record.baseline): record for record in serve.describe("madlib", 100.0, timings)}
    assert records["madlib, 1 client", "library in a loop: 100.0"].ratio == 0.5
    assert records["madlib, 8 clients", "library in a loop: 100.0"].ratio == 1.5
    assert records["madlib, 8 clients", "1 client: 50.0"].ratio == 3.0
    assert records["madlib, 8 clients, median latency", "1 client"].ratio == pytest.approx(2.5)
    assert records["madlib, 8 clients, processor per request", "1 client"].value == 5.0
    assert {record.part for record in records.values()} == {"serve"}


def test_a_system_that_tells_no_processor_time_has_no_such_record():
    timings = {1: serve.Timing(50.0, 0.02, 0.03, float("nan"))}
    assert not [record for record in serve.describe("madlib", 100.0, timings) if "processor" in record.name]
