import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES

TEXTVEIL = str(Path(sys.executable).with_name("textveil"))
SECRET = "Zyxwvut Qwertzu"
SEEDED = ["--seed", "1", "--epsilon", "150"]


def run(*arguments, **options):
    return CliRunner().invoke(app, ["obfuscate", *map(str, arguments)], **options)


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(
        'id,text,stars\n1,"The soup was cold, and the waiter rude.",1\n2,,3\n3,the of and,2\n4,Lovely music!,5\n',
        encoding="utf-8",
    )
    return path


# A text.


def test_a_text_is_printed_and_nothing_else():
    result = run("The soup was cold.", "--epsilon-per-word", "2", "--seed", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(r"The \w[\w' ]* was \w[\w' ]*\.\n", result.stdout)


def test_without_options_the_defaults_give_a_readable_text_at_the_medium_level():
    answer = json.loads(run("The soup was cold and the waiter rude.", "--json").stdout)
    certificate = answer["certificate"]
    assert [certificate[axis]["name"] for axis in ("decomposition", "distribution", "mechanism")] == [
        "pmi",
        "uniform",
        "fluent",
    ]
    assert certificate["budget"]["epsilon_per_word"] == Obfuscator().find_share(0.2)


def test_a_level_is_an_epsilon_per_word():
    spent = []
    for level in ("high", "medium", "low"):
        budget = json.loads(run("The soup was cold", "--level", level, "--json").stdout)["certificate"]["budget"]
        spent.append(budget["epsilon_per_word"])
    assert spent == sorted(spent)
    assert len(set(spent)) == 3


def test_a_budget_that_is_too_large_is_limited_and_says_how_to_lift_the_limit():
    result = run("The soup was cold.", "--epsilon", "1e308", "--seed", "1")
    assert "shares were limited to 20.5; the rest is not spent" in result.stderr
    assert "--largest-share inf" in result.stderr
    lifted = run("The soup was cold.", "--epsilon", "5000", "--largest-share", "inf")
    assert (lifted.stdout, lifted.exit_code) == ("The soup was cold.\n", 0)
    assert lifted.stderr == "Warning: documents that came back unchanged (outcome 'returned'): 1\n"


def test_emoji_are_dropped_unless_they_are_kept():
    assert run("the 🙂", "--epsilon", "1", "--form", "keep").stdout == "the \n"
    assert run("the 🙂", "--epsilon", "1", "--form", "keep", "--keep-emoji").stdout == "the 🙂\n"
    refused = run("the 🙂", "--epsilon", "1", "--keep-emoji")
    assert (refused.exit_code, "--keep-emoji needs --form keep" in refused.stderr) == (2, True)


def test_the_average_length_is_an_explicit_choice_and_warns(tmp_path, reviews):
    out = tmp_path / "out.csv"
    result = run("-i", reviews, "-o", out, "--epsilon-per-word", "2", "--length", "average", "--quiet")
    assert "Use --length own" in result.stderr
    refused = run("-i", reviews, "-o", out, "--epsilon-per-word", "2", "--length", "average", "--profile", "proven")
    assert refused.exit_code == 2
    assert "does not allow --length average" in refused.stderr


def test_the_command_does_what_the_library_does():
    result = run("The soup was cold and the waiter rude.", *SEEDED)
    expected = Obfuscator(seed=1).obfuscate("The soup was cold and the waiter rude.", epsilon=150)
    assert result.stdout == expected.text + "\n"


def test_json_holds_text_chunks_and_certificate():
    answer = json.loads(run("The soup \ud800!", "--json", *SEEDED).stdout)
    assert answer["outcome"] in ("obfuscated", "returned")
    assert [chunk["outcome"] for chunk in answer["chunks"]] == ["kept_stopword", "perturbed"]
    assert answer["chunks"][1]["chunk"] == "soup"
    assert answer["chunks"][1]["share"] == pytest.approx(Obfuscator().largest_share)
    assert answer["certificate"]["profile"] == "strict"
    assert "\ud800" not in answer["text"]


def test_a_draft_is_explained_and_certified(tmp_path):
    arguments = ["--profile", "proven", "--distribution", "yake", "--draft-share", "0.4", "--explain"]
    result = run("soup waiter", *arguments, "--certificate", tmp_path / "c.json", *SEEDED, env={"COLUMNS": "140"})
    expected = Obfuscator(profile="proven", distribution="yake", draft_share=0.4, seed=1).obfuscate(
        "soup waiter", epsilon=150
    )
    assert result.stdout.startswith(expected.text + "\n")
    header = next(line for line in result.stdout.splitlines() if "chunk" in line)
    assert all(name in header for name in ("draft share", "draft", "scores of the draft", "share", "replacement"))
    for chunk in expected.chunks:
        row = next(line for line in result.stdout.splitlines() if line.startswith(f"│ {chunk.original}"))
        assert f" {chunk.draft} " in row
        assert f" {chunk.draft_share:.4g} " in row
    rounds = json.loads((tmp_path / "c.json").read_text())["rounds"]
    assert [each["budget_share"] for each in rounds] == [0.4, 0.6]


def test_explain_shows_a_table():
    result = run("The soup of Grzybowski", "--explain", *SEEDED)
    for word in ("chunk", "share", "outcome", "replacement", "kept_stopword", "soup", "drawn", "20.5"):
        assert word in result.stdout


def test_a_budget_per_word_is_that_of_the_texts_own_length():
    answer = json.loads(run("The soup was cold", "--json", "--epsilon-per-word", "3").stdout)
    budget = answer["certificate"]["budget"]
    assert (budget["epsilon_per_word"], budget["length"], budget["largest_budget"]) == (3, "own", 6)
    assert [chunk["share"] for chunk in answer["chunks"]] == [0, 3, 0, 3]


@pytest.mark.parametrize("profile", list(PROFILES))
def test_every_profile_works(profile):
    answer = json.loads(run("The soup was Grzybowski", "--json", "--profile", profile, *SEEDED).stdout)
    assert answer["certificate"]["profile"] == profile


def test_paper_warns_of_what_it_lets_through():
    result = run(f"the soup of {SECRET}", "--profile", "paper", *SEEDED)
    assert SECRET in result.stdout
    assert result.stderr == "Warning: words released in clear that are not stopwords (profile paper): 2\n"


def test_stopwords_are_perturbed_on_request():
    answer = json.loads(run("the", "--json", "--stopwords", "perturb", *SEEDED).stdout)
    assert answer["chunks"][0]["outcome"] == "perturbed"


@pytest.mark.parametrize("text", ["🙂 café", "مرحبا بالعالم", "a\x00b\x1b[31m", "snake_case_word", "\udcff", ""])
def test_odd_texts_are_answered(text):
    result = run(text, *SEEDED)
    assert result.exit_code == 0, result.stderr


def test_a_certificate_is_written(tmp_path):
    path = tmp_path / "certificate.json"
    assert run("The soup", "--certificate", path, *SEEDED).exit_code == 0
    assert json.loads(path.read_bytes())["words"]["perturbed"] == 1
    again = run("The soup", "--certificate", path, *SEEDED)
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    assert run("The soup", "--certificate", path, "--overwrite", *SEEDED).exit_code == 0


def test_deniability_is_stated_on_request(tiny):
    options = ("alpha beta", "--bundle", tiny.folder, "--epsilon-per-word", 1, "--mechanism", "exponential", "--json")
    asked, unasked = (json.loads(run(*options, *more).stdout) for more in (("--deniability",), ()))
    assert unasked["certificate"]["deniability"] is None
    assert asked["certificate"]["deniability"]["shares"][0]["share"] == 1


def test_a_certificate_without_a_folder_is_refused_before_the_budget_is_spent(tmp_path):
    result = run("The soup", "--certificate", tmp_path / "no" / "c.json", *SEEDED)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Make it first" in result.stderr


# A file.


def test_quiet_does_not_hide_that_words_are_in_clear(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(f"the soup of {SECRET}\n", encoding="utf-8")
    result = run("-i", path, "-o", tmp_path / "out.txt", "--profile", "paper", "--quiet", *SEEDED)
    assert result.stderr == "Warning: words released in clear that are not stopwords (profile paper): 2\n"


def test_a_file_is_obfuscated_row_by_row(tmp_path, reviews):
    out = tmp_path / "out.csv"
    result = run("--input", reviews, "--output", out, "--epsilon", "52", "--certificate", tmp_path / "c.json")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["stars"] for row in rows] == ["1", "3", "2", "5"]
    outcomes = [row["textveil_outcome"].replace("returned", "obfuscated") for row in rows]
    assert outcomes == ["obfuscated", "no_words", "only_stopwords", "obfuscated"]
    assert rows[2]["text"] == "The of and."
    assert "4 documents" in result.stderr
    assert "not protected" in result.stderr
    certificate = json.loads((tmp_path / "c.json").read_bytes())
    counts = certificate["documents"]
    assert counts.pop("obfuscated") + counts.pop("returned") == 2
    assert counts == {"partly_in_clear": 0, "only_stopwords": 1, "no_words": 1, "missing": 0, "refused": 0}


def test_json_with_a_file_prints_the_certificate(tmp_path, reviews):
    result = run("-i", reviews, "-o", tmp_path / "out.csv", "--epsilon-per-word", "2", "--json", "--quiet")
    assert result.stderr == ""
    assert json.loads(result.stdout)["budget"]["epsilon_per_word"] == 2


def test_without_an_output_rows_go_to_standard_output(reviews):
    result = run("--input", reviews, "--epsilon-per-word", "2", "--quiet", "--outcome-column", "")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert list(rows[0]) == ["id", "text", "stars"]


def test_an_output_is_replaced_on_request_only(tmp_path, reviews):
    out = tmp_path / "out.csv"
    assert run("-i", reviews, "-o", out, *SEEDED).exit_code == 0
    expected = out.read_bytes()
    assert run("-i", reviews, "-o", out, *SEEDED).exit_code == 2
    assert run("-i", reviews, "-o", out, "--overwrite", *SEEDED).exit_code == 0
    assert out.read_bytes() == expected


def test_resume_goes_on_with_a_run_that_a_broken_line_stopped(tmp_path, many_reviews):
    out = tmp_path / "out.csv"
    command = ["-i", many_reviews, "-o", out, *SEEDED, *BATCHES]
    assert run(*command).exit_code == 0
    expected = out.read_bytes()
    out.unlink()
    good = many_reviews.read_bytes()
    many_reviews.write_bytes(good[:-30] + b"\xff\n")
    stopped = run(*command)
    assert (stopped.exit_code, out.exists()) == (1, False)
    many_reviews.write_bytes(good)
    refused = run(*command)
    assert refused.exit_code == 2
    assert "--resume" in refused.stderr
    assert run(*command, "--resume").exit_code == 0
    assert out.read_bytes() == expected


# Standard input.


@pytest.mark.parametrize("arguments", [["-"], ["--input", "-"]])
def test_standard_input_has_a_document_per_line(arguments):
    options = ("--epsilon", "9000", "--largest-share", "inf", "--quiet")
    result = run(*arguments, *options, input="lovely music\n\nthe\n")
    assert result.stdout == "Lovely music.\n\nThe.\n"


def test_standard_input_in_another_format_and_into_a_file(tmp_path):
    huge = ("--epsilon", "9000", "--largest-share", "inf", "--quiet")
    result = run("-", "--format", "jsonl", *huge, input='{"text": "music"}\n{"text": null}\n')
    assert [json.loads(line)["textveil_outcome"] for line in result.stdout.splitlines()] == ["returned", "missing"]
    out = tmp_path / "out.csv.gz"
    assert run("-", "-o", out, *huge, input="text\nmusic\n").exit_code == 0
    import gzip

    assert gzip.decompress(out.read_bytes()) == b"text,textveil_outcome\nMusic.,returned\n"
    assert run("-", "-o", out, "--epsilon", "9000", input="text\nmusic\n").exit_code == 2


# Bad input. Exit codes: 1 is a failure, 2 is a wrong call. No message quotes a document.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([SECRET, "--level", "hihg"], "There is no level 'hihg'. Did you mean 'high'"),
        ([SECRET, "--level", "high", "--epsilon", "3"], "Set --level, --epsilon or --epsilon-per-word"),
        ([SECRET, "--epsilon", "0"], "must be positive and finite. Got 0.0"),
        ([SECRET, "--epsilon", "-3"], "must be positive and finite. Got -3.0"),
        ([SECRET, "--epsilon", "nan"], "Got nan"),
        ([SECRET, "--epsilon", "inf"], "Got inf"),
        ([SECRET, "--epsilon", "many"], "--epsilon"),
        ([SECRET, "--epsilon-per-word", "0"], "must be positive"),
        ([SECRET, "--epsilon", "1", "--epsilon-per-word", "1"], "not both"),
        (["--epsilon", "1"], "There is no text"),
        ([*SECRET.split(), "--epsilon", "1"], "Put the text in quotes"),
        ([SECRET, "--input", "x.csv", "--epsilon", "1"], "not both"),
        ([SECRET, "--output", "x.txt", "--epsilon", "1"], "go with --input"),
        ([SECRET, "--epsilon", "1", "--decomposition", "word"], "Did you mean 'words'"),
        ([SECRET, "--epsilon", "1", "--distribution", "unifrm"], "Did you mean 'uniform'"),
        ([SECRET, "--epsilon", "1", "--mechanism", "madlab"], "Did you mean 'madlib'"),
        ([SECRET, "--epsilon", "1", "--profile", "papers"], "Did you mean 'paper'"),
        ([SECRET, "--epsilon", "1", "--profile", "proven", "--stopwords", "keep"], "needs --stopwords to be 'perturb'"),
        ([SECRET, "--epsilon", "1", "--profile", "proven", "--form", "keep"], "needs --form to be 'plain' or 'bare'"),
        ([SECRET, "--epsilon", "1", "--form", "plain", "--keep-emoji"], "--keep-emoji needs --form keep"),
        ([SECRET, "--epsilon", "1", "--draft-share", "0.2"], "--draft-share goes with --profile proven"),
        (
            [SECRET, "--epsilon", "1", "--profile", "proven", "--draft-share", "1"],
            "--draft-share of the profile 'proven' must be a number from 0.01 to 0.99",
        ),
        ([SECRET, "--epsilon", "1", "--stopwords", "drop"], "needs --stopwords to be 'keep' or 'perturb'"),
        ([SECRET, "--epsilon", "1", "--bundle", "nowhere"], "no bundle or folder 'nowhere'"),
        (["--input", "x.csv", "--epsilon", "1", "--explain"], "single text"),
        (["--input", "x.csv", "--epsilon", "1", "--json"], "--json goes with"),
        (["-", "--epsilon", "1", "--resume"], "--resume needs"),
        (["-", "--epsilon-per-word", "1", "--length", "average"], "read twice"),
        (["--input", "x.doc", "--output", "y.doc", "--epsilon", "1"], "does not tell its format"),
        (["--input", "x.csv", "--format", "cvs", "--epsilon", "1"], "Did you mean 'csv'"),
        (
            ["--input", "x.csv", "--output", "y.csv", "--epsilon", "1", "--batch-size", "0"],
            "--batch-size must be",
        ),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not any(word in result.stderr for word in SECRET.split())
    assert result.stdout == ""


def test_a_column_that_is_not_there(tmp_path, reviews):
    result = run("-i", reviews, "-o", tmp_path / "out.csv", "--column", "review", "--epsilon", "1")
    assert result.exit_code == 2
    assert "has no column 'review'. It has: 'id', 'text', 'stars'" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.txt", b"fine\n" + SECRET.encode() + b"\xff\n", "line 2, byte 16: this is not UTF-8"),
        ("in.csv", b'id,text\n1,"' + SECRET.encode() + b"\n", "line 2: the record that begins here is broken"),
        ("in.jsonl", b'{"text": "' + SECRET.encode() + b"\n", "line 1: this is not a JSON object"),
        ("in.parquet", b"PAR1" + SECRET.encode(), "not a complete Parquet file"),
        ("in.txt.gz", SECRET.encode(), "not what its name says"),
    ],
)
def test_a_broken_file_exits_with_1_and_is_never_quoted(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    result = run("-i", tmp_path / name, "-o", tmp_path / f"out.{name[3:]}", "--epsilon", "1")
    assert result.exit_code == 1
    assert message in result.stderr
    assert not any(word in result.stderr for word in SECRET.split())
    assert not (tmp_path / f"out.{name[3:]}").exists()


def test_a_file_that_is_not_there(tmp_path):
    result = run("-i", tmp_path / "no.csv", "-o", tmp_path / "out.csv", "--epsilon", "1")
    assert result.exit_code == 1
    assert "is not there" in result.stderr


def test_a_damaged_bundle(copied_bundle):
    (copied_bundle / "words" / "matrix.npy").write_bytes(b"something else")
    result = run(SECRET, "--epsilon", "1", "--bundle", copied_bundle)
    assert result.exit_code == 1
    assert "is not an array of numbers. Get the bundle again" in result.stderr


def test_a_bug_is_reported_without_its_message(monkeypatch):
    def broken(*_, **__):
        raise KeyError(SECRET)

    monkeypatch.setattr(Obfuscator, "obfuscate_all", broken)
    result = run(SECRET, "--epsilon", "1")
    assert result.exit_code == 1
    assert "a KeyError in test_obfuscate.py, line" in result.stderr
    assert not any(word in result.stderr for word in SECRET.split())
    monkeypatch.setenv("TEXTVEIL_DEBUG", "1")
    assert isinstance(run(SECRET, "--epsilon", "1").exception, KeyError)


def test_an_interrupt_says_how_to_go_on(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Obfuscator, "obfuscate_all", interrupted)
    result = run(SECRET, "--epsilon", "1")
    assert result.exit_code == 130
    assert result.stderr.startswith("Interrupted.")


# In a terminal, and in a pipe.


def run_in_terminal(*arguments: str) -> str:
    """What a person sees on a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(
        [TEXTVEIL, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, close_fds=True
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert process.wait() == 0, seen
    return seen.decode()


BATCHES = ["--batch-size", "64"]


@pytest.fixture
def many_reviews(tmp_path):
    """A file of several batches."""
    path = tmp_path / "many.csv"
    path.write_text("text\n" + "the film was a delight and the music lovely\n" * 700, encoding="utf-8")
    return path


def test_a_terminal_shows_progress_and_time_left(tmp_path, many_reviews):
    out = tmp_path / "out.csv"
    seen = run_in_terminal("obfuscate", "-i", str(many_reviews), "-o", str(out), "--epsilon-per-word", "5", *BATCHES)
    for piece in ("obfuscating", "documents", "%", "left", "700 documents"):
        assert piece in seen


def test_a_pipe_shows_no_bar(tmp_path, many_reviews):
    command = [TEXTVEIL, "obfuscate", "-i", str(many_reviews), "-o", str(tmp_path / "out.csv"), "--epsilon", "5"]
    result = subprocess.run([*command, *BATCHES], capture_output=True, text=True, check=True)
    assert "\x1b" not in result.stderr
    assert "counting" not in result.stderr
    assert result.stderr.startswith("700 documents")


def test_a_reader_that_has_enough_is_no_error_to_see(many_reviews):
    many_reviews.write_text(many_reviews.read_text() * 4)  # more than a pipe holds
    command = f"{TEXTVEIL} obfuscate -i {many_reviews} --epsilon 5 --batch-size 8 | head -n 2"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert len(result.stdout.splitlines()) == 2
    assert "Traceback" not in result.stderr
    assert "Error" not in result.stderr
