"""The comparison with peers runs every tool once, reports what failed, and writes numbers without texts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import compare_peers
from benchmarks.compare_peers import RUNNERS, Peer, main, obfuscate
from benchmarks.peer_table import BEGIN, END
from textveil.cli.main import app

READ = "import sys; source, target = sys.argv[1:3]; lines = open(source, encoding='utf-8').read().splitlines(); "
WRITE = "open(target, 'w', encoding='utf-8').write(''.join(line + chr(10) for line in lines))"
SECRET = "grzybowski"
PEERS = Path(os.environ.get("TEXTVEIL_PEERS", Path(__file__).parents[1] / ".venv-peers")) / "bin" / "python"


def fake(name, script, *levels):
    return Peer(name, (sys.executable, "-c", READ + script, "{input}", "{output}", "{level}"), levels)


SHORT = fake("short", "lines = lines[1:]; " + WRITE)
BROKEN = fake("broken", f"raise ValueError('{SECRET}')")
UPPER = fake("upper", "lines = [line.replace('soup', sys.argv[3]) for line in lines]; " + WRITE, "thing", "object")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "originals.txt").write_text(f"{SECRET} ate soup\n\nsoup\n", encoding="utf-8")
    return tmp_path


def test_a_crash_and_changed_rows_are_outcomes(folder):
    [short], [broken] = obfuscate(SHORT, folder, 1), obfuscate(BROKEN, folder, 1)
    assert (short.outcome, short.rows, short.empty) == ("changed rows", 2, 1)
    assert (broken.outcome, broken.rows, broken.error) == ("crashed", 0, "ValueError")


def test_a_finished_run_is_reused_until_the_originals_change(folder):
    first = obfuscate(UPPER, folder, 1)
    assert [run.name for run in first] == ["upper@thing", "upper@object"]
    assert obfuscate(UPPER, folder, 1) == first  # with the same seconds
    (folder / "originals.txt").write_text("soup\n", encoding="utf-8")
    assert [run.rows for run in obfuscate(UPPER, folder, 1)] == [1, 1]


def test_a_failed_run_is_repeated(folder):
    obfuscate(BROKEN, folder, 1)
    [repaired] = obfuscate(fake("broken", WRITE), folder, 1)
    assert repaired.outcome == "done"


def test_a_missing_environment_is_no_crash(folder):
    with pytest.raises(SystemExit, match="make compare-peers"):
        obfuscate(Peer("absent", (str(folder / "python"),)), folder, 1)


def test_a_missing_data_set_is_named(tmp_path):
    with pytest.raises(SystemExit, match="There is no data set"):
        main([str(tmp_path / "reviews.jsonl")])


def test_results_have_all_runs_and_no_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(compare_peers, "METRICS", "attribute,downstream,clear_text,overlap")
    monkeypatch.setattr(compare_peers, "SAMPLES", {})
    monkeypatch.setattr(
        compare_peers, "run_textveil", lambda arguments: CliRunner().invoke(app, list(arguments)).exit_code
    )
    words = {0: "dreadful", 1: "middling", 2: "lovely"}
    rows = [
        {"text": f"{words[label]} soup,\n{SECRET} {author} {number}", "label3": label, "author": author}
        for number in range(15)
        for label in words
        for author in ("anna", "ben")
    ]
    dataset = tmp_path / "reviews.jsonl"
    dataset.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page = tmp_path / "comparison.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    arguments = [str(dataset), "--folder", str(tmp_path / "build"), "--docs", str(tmp_path), "--texts", "50"]
    main(arguments, [SHORT, BROKEN, UPPER])
    found = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert [run["outcome"] for run in found["runs"]] == ["changed rows", "crashed", "done", "done"]
    assert found["statistics"]["texts"] == 50
    assert set(found["statistics"]["labels"]) == {"negative", "positive"}
    assert found["runs"][2]["values"]["clear_text_unchanged"]["value"] == pytest.approx(0.8)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")
    assert "old" not in written
    assert "| short | changed rows (49 rows) |" in written
    assert "| broken | crashed (ValueError) |" in written
    assert "| upper@thing | 80.0% |" in written
    assert SECRET not in json.dumps(found) + written
    assert (tmp_path / "figures" / "peers" / "curves.svg").exists()


@pytest.mark.slow
@pytest.mark.skipif(not PEERS.exists(), reason="needs the peers' environment: make test-all makes it")
@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [("MultivariateCalibrated", 10), ("TEM", 2.1), ("Mahalanobis", 11), ("VickreyMechanism", 10)],
)
def test_hastened_peers_write_what_they_write_as_published(mechanism, epsilon, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text(f"The film was a delight, and {SECRET} lovely.\nsoup was cold\n", encoding="utf-8")
    written = []
    for flags in ([], ["--as-published"]):
        target = tmp_path / "out.txt"
        command = [PEERS, RUNNERS / "run_mldp.py", mechanism, epsilon, 1, source, target, *flags]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        written.append(target.read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert SECRET in written[0]  # the peer releases words without a vector
