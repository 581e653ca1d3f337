"""Levels of protection: one definition, and figures that are the same wherever they are shown."""

from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil import Obfuscator
from textveil.budget import FIGURES, LEVELS, MEASURED, describe_level, find_rate
from textveil.cli.main import app
from textveil.errors import UnknownNameError

ROOT = Path(__file__).parents[2]


def test_more_protection_returns_fewer_words_and_links_fewer_texts():
    assert list(LEVELS) == list(FIGURES) == ["high", "medium", "low"]
    assert find_rate("high") < find_rate("medium") < find_rate("low")
    for stronger, weaker in pairwise(FIGURES.values()):
        assert all(one < other for one, other in zip(stronger, weaker, strict=True))


def test_the_figures_belong_to_the_epsilon_that_the_default_settings_find():
    obfuscator = Obfuscator()
    for level, figures in FIGURES.items():
        assert round(obfuscator.find_share(LEVELS[level]), 1) == figures.epsilon_per_word


def test_the_readme_has_the_same_figures():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for level, found in FIGURES.items():
        linked, returned = 100 * found.linked, 100 * found.returned
        row = (
            f"| `{level}` | {linked:.0f} % | {returned:.0f} % | {found.similarity:.2f} | {found.epsilon_per_word:.1f} |"
        )
        assert row in readme
    assert "500 public product reviews with the default settings" in MEASURED
    assert "500 public product reviews with the default settings" in " ".join(readme.split())


@pytest.mark.parametrize("command", ["obfuscate", "audit", "deniability"])
def test_the_help_has_the_same_words(command):
    shown = " ".join(CliRunner().invoke(app, [command, "--help"]).output.split())
    for level in LEVELS:
        assert f"{level}: {describe_level(level)}" in shown


def test_an_unknown_level():
    for use in (find_rate, describe_level):
        with pytest.raises(UnknownNameError, match="There is no level 'hihg'. Did you mean 'high'"):
            use("hihg")
