"""The flags that say where work runs are the same in all commands."""

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.execution import EXECUTORS
from textveil.execution.base import DEFAULT_EXECUTOR


@pytest.mark.parametrize(
    "command", [["obfuscate"], ["prepare", "bundle"], ["prepare", "count"], ["prepare", "train"], ["experiment", "run"]]
)
def test_every_command_with_workers_has_all_flags(command):
    text = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for flag in ("--executor", "--workers", "--address"):
        assert flag in text
    assert all(name in text for name in EXECUTORS)


def test_the_default_is_an_executor():
    assert DEFAULT_EXECUTOR in EXECUTORS
