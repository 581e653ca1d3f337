import io
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

from textveil.cli.display import explain, list_warnings, showing_progress, summarize
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Budget
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.progress import ignore_progress


@pytest.fixture
def certificate(tiny):
    tally = Tally(
        Counter({Outcome.PERTURBED: 60, Outcome.KEPT_STOPWORD: 30, Outcome.KEPT_UNKNOWN: 10}),
        Counter({DocumentOutcome.OBFUSCATED: 8, DocumentOutcome.NO_WORDS: 2}),
    )
    return Certificate(Obfuscator(tiny, profile="paper").terms, Budget(12.0), tally)


def test_the_summary_says_what_was_done_and_what_is_open(certificate):
    lines = summarize(certificate, 2.0)
    assert lines[0] == "10 documents, 100 words in 2.0 s (5 documents/s)"
    assert "perturbed 60.0%, stopwords kept 30.0%, IN CLEAR because unknown 10.0%" in lines[1]
    assert "no_words 2" in lines[2]
    assert "budget         12 per document" in lines
    assert any(line.startswith("profile        paper: ") for line in lines)
    assert any("stopwords" in line for line in lines if line.startswith("not protected"))


def test_the_summary_of_a_budget_per_word_names_the_average_length(certificate):
    budget = Budget(epsilon_per_word=2.0, length="average", average_length=3.25)
    lines = summarize(replace(certificate, budget=budget), 0.0)
    assert "budget         2 per word of the average length, 3.2 words" in lines
    assert "(0 documents/s)" in lines[0]


def test_words_in_clear_are_a_warning(certificate):
    (warning,) = list_warnings(certificate)
    assert warning == "Warning: words released in clear that are not stopwords (profile paper): 10"
    without = replace(certificate, tally=Tally(Counter({Outcome.PERTURBED: 1})))
    assert list_warnings(without) == []


def test_the_table_shows_every_chunk(tiny, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda: Console(file=shown, width=100))
    explain(Obfuscator(tiny, seed=1).obfuscate("the alpha [bold]", epsilon=4))
    rows = [line.split("│") for line in shown.getvalue().splitlines() if line.startswith("│")]
    assert [row[1].strip() for row in rows] == ["the", "alpha", "bold"]
    assert [row[4].strip() for row in rows] == ["kept_stopword", "perturbed", "drawn"]
    assert [row[3].strip() for row in rows] == ["", "2", "2"]


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
