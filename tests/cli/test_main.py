from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.version import __version__


def test_help_teaches_by_example():
    for arguments in (["--help"], ["obfuscate", "--help"]):
        shown = CliRunner().invoke(app, arguments).stdout
        assert '  textveil obfuscate "The soup was cold." --epsilon 60 --explain\n' in shown
    assert "bundle" in CliRunner().invoke(app, ["--help"]).stdout


def test_without_arguments_help_is_shown():
    assert "Usage: " in CliRunner().invoke(app, []).output


def test_the_version():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"textveil {__version__}\n"


def test_an_unknown_command_is_a_wrong_call():
    assert CliRunner().invoke(app, ["obfuscat"]).exit_code == 2
