import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.version import __version__

TEXTVEIL = str(Path(sys.executable).with_name("textveil"))


def test_help_teaches_by_example():
    for arguments in (["--help"], ["obfuscate", "--help"], ["evaluate", "--help"], ["prepare", "count", "--help"]):
        shown = CliRunner().invoke(app, arguments).stdout
        assert f"  textveil {' '.join(arguments[:-1])}" in shown


def test_without_arguments_help_is_shown():
    assert "Usage: " in CliRunner().invoke(app, []).output


def test_the_version():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"textveil {__version__}\n"


@pytest.mark.parametrize(
    ("command", "hint"), [("obfuscat", "Did you mean 'obfuscate'"), ("My secret", "textveil obfuscate")]
)
def test_an_unknown_command_is_a_wrong_call_and_is_not_quoted(command, hint):
    result = CliRunner().invoke(app, [command, "--epsilon", "1"])
    assert result.exit_code == 2
    assert hint in result.output
    assert "secret" not in result.output


def test_a_text_that_begins_with_a_dash_is_not_taken_for_an_option():
    wrong = subprocess.run([TEXTVEIL, "obfuscate", "--my secret", "--epsilon", "1"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "at the end, after --" in wrong.stderr
    assert "secret" not in wrong.stderr
    right = subprocess.run(
        [TEXTVEIL, "obfuscate", "--epsilon", "9000", "--largest-share", "inf", "--form", "keep", "--", "--my music"],
        capture_output=True,
        text=True,
    )
    assert right.stdout == "--my music\n"


def test_an_argument_that_is_not_utf8_is_refused_and_not_quoted():
    wrong = subprocess.run([TEXTVEIL, "obfuscate", b"SECRET \xe9", "--epsilon", "60"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "Error: argument 2 is not valid utf-8. Convert it, or use --input.\n"


@pytest.mark.parametrize("redirection", ["<&-", ">&-", ">/dev/full"])
def test_streams_that_are_closed_or_full(redirection):
    command = f"{TEXTVEIL} obfuscate - --epsilon 1 {redirection}"
    result = subprocess.run(["bash", "-c", f"echo music | {command}"], capture_output=True, text=True)
    assert result.returncode in (1, 2)
    assert "Error: " in result.stderr
    assert "bug" not in result.stderr
