import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.cli.start import FLAGS, read_arguments

TEXT = "The soup was cold, and the waiter rude."


def run(module, *arguments, **settings):
    command = [sys.executable, "-m", f"textveil.cli.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["obfuscate", TEXT, "--seed", "1"],
        ["obfuscate", "--seed", "3", "--epsilon-per-word", "12", "Tea! Dr. Grzybowski \U0001f600 called 555-1234."],
        ["obfuscate", TEXT, "--level", "wrong"],
        ["obfuscate", TEXT, "--level", "low", "--epsilon", "3"],
        ["obfuscate", TEXT, "--epsilon", "-3"],
    ],
)
def test_the_short_way_answers_as_the_full_command_line(arguments):
    full = CliRunner().invoke(app, arguments)
    assert run("start", *arguments) == (full.exit_code, full.stdout, full.stderr)


def test_the_full_command_line_answers_alike_in_a_process_of_its_own():
    arguments = ["obfuscate", TEXT, "--seed", "1", "-e", "1e6"]  # warns
    assert run("start", *arguments) == run("main", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["decompose", TEXT],
        ["obfuscate"],
        ["obfuscate", "-"],
        ["obfuscate", ""],
        ["obfuscate", TEXT, TEXT],
        ["obfuscate", "two\nlines"],
        ["obfuscate", "\udc80"],
        ["obfuscate", TEXT, "--explain"],
        ["obfuscate", TEXT, "--seed"],
        ["obfuscate", TEXT, "--seed", "one"],
        ["obfuscate", TEXT, "--seed", "1", "--seed", "2"],
        ["obfuscate", TEXT, "--epsilon=3"],
        ["obfuscate", "--", TEXT],
    ],
)
def test_what_is_unusual_is_left_to_the_full_command_line(arguments):
    assert read_arguments(arguments, {}) is None


def test_environment_variables_that_stand_for_flags_are_left_to_the_full_command_line():
    assert read_arguments(["obfuscate", TEXT], {"HOME": "/"}) is not None
    assert read_arguments(["obfuscate", TEXT], {"TEXTVEIL_OBFUSCATE_LEVEL": "high"}) is None


def test_its_flags_are_flags_of_the_full_command_line():
    help_text = CliRunner().invoke(app, ["obfuscate", "--help"]).stdout
    assert all(flag in help_text for flag in FLAGS)


def test_a_full_device_is_reported():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "textveil.cli.start", "obfuscate", TEXT],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the system says:")


def test_the_short_way_imports_neither_the_parser_nor_what_files_need():
    code = (
        "import sys; from textveil.cli.start import main; sys.argv = ['textveil', 'obfuscate', 'lovely tea']; main(); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[1].split())
    assert not loaded & {
        "typer", "rich", "pydantic", "click", "sqlite3", "logging", "nupunkt", "importlib.metadata", "csv", "email",
        "textveil.jobs", "textveil.resources", "textveil.ledger", "textveil.cli.main",
    }  # fmt: skip


@pytest.mark.parametrize("module", ["typer", "textveil.cli.main", "textveil.cli.obfuscate"])
def test_an_interruption_during_the_imports_ends_quietly(module):
    program = f"""
import sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["textveil", "obfuscate", "tea", "--explain"]
from textveil.cli.start import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr
