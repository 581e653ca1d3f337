import io

import pytest
from rich.console import Console

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.cli.display import explain, list_warnings, showing_progress
from textveil.obfuscator import Obfuscator
from textveil.progress import ignore_progress


def test_warnings_have_flags_for_parameters(tiny):
    terms = Obfuscator(tiny, largest_share=2.5).terms
    average = Budget(epsilon_per_word=1.0, length="average", average_length=2.0)
    capped, averaged = list_warnings(Certificate(terms, average, Tally(capped=3)))
    assert capped.endswith("To lift the limit: --largest-share inf")
    assert "Use --length own, unless" in averaged


def test_the_table_shows_every_chunk(tiny, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda: Console(file=shown, width=100))
    explain(Obfuscator(tiny, seed=1, largest_share=9).obfuscate("the alpha [bold]", epsilon=5))
    rows = [line.split("│") for line in shown.getvalue().splitlines() if line.startswith("│")]
    assert [row[1].strip() for row in rows] == ["the", "alpha", "bold"]
    assert [row[4].strip() for row in rows] == ["kept_stopword", "perturbed", "drawn"]
    assert [row[3].strip() for row in rows] == ["", "2.5", "2.5"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr("textveil.cli.display.time.monotonic", lambda: Clock.now)
    return Clock


def test_in_a_pipe_a_long_run_writes_a_line_a_minute(clock, capsys):
    with showing_progress(quiet=False) as progress:
        for second in range(1, 151):
            clock.now = 1000.0 + second
            progress("counting words", second * 100, second / 200)
        clock.now = 1185.0
        progress("obfuscating", 7, None)
    assert capsys.readouterr().err.splitlines() == [
        "counting words: 6,000 documents (30%)",
        "counting words: 12,000 documents (60%)",
        "obfuscating: 7 documents",
    ]


def test_a_short_run_and_a_quiet_one_write_nothing(clock, capsys):
    with showing_progress(quiet=False) as progress:
        clock.now = 1059.0
        progress("obfuscating", 7, 0.5)
    with showing_progress(quiet=True) as progress:
        assert progress is ignore_progress
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_progress_is_shown(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=shown, force_terminal=True, width=120))
    with showing_progress(quiet=False, unit_of=lambda stage: "rows") as progress:
        progress("obfuscating", 50, 0.5)
        progress("obfuscating", 70, 0.7)
    assert "obfuscating" in shown.getvalue()
    assert "70 rows" in shown.getvalue()
