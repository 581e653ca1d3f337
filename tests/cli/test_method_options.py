from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from textveil.cli.options import choose_options, collect_options, command, flag_of, refuse_unused
from textveil.errors import ParameterError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS

AXES = {"--decomposition": DECOMPOSERS, "--distribution": DISTRIBUTORS, "--mechanism": MECHANISMS}


def test_every_option_says_which_methods_take_it():
    found = collect_options(*AXES.values())
    assert found["steps"][1] == ["gradients"]
    assert found["model"][1] == ["attention", "gradients", "keybert"]
    assert found["tagger"][1] == ["pos", "ic"]
    assert "batch_size" not in found
    assert (flag_of(found["model"][0]), flag_of(found["steps"][0])) == ("--encoder", "--steps")


def make_app():
    app = typer.Typer()
    seen = []

    @command(app, "run", methods={"--decomposition": DECOMPOSERS, "--distribution": DISTRIBUTORS})
    def run(text: Annotated[str, typer.Argument()], *, method_options: dict[str, Any]) -> None:
        """A command."""
        seen.append((text, method_options))

    return app, seen


def test_a_command_gets_flags_and_hands_over_those_that_are_given():
    app, seen = make_app()
    assert CliRunner().invoke(app, ["hello", "--steps", "7", "--encoder", "x"]).exit_code == 0
    assert CliRunner().invoke(app, ["--tagger", "nltk", "hello"]).exit_code == 0
    assert CliRunner().invoke(app, ["hello"]).exit_code == 0
    assert seen == [("hello", {"steps": 7, "model": "x"}), ("hello", {"tagger": "nltk"}), ("hello", {})]


def test_help_shows_flags_methods_sentences_and_defaults():
    shown = " ".join(CliRunner().invoke(make_app()[0], ["--help"], env={"COLUMNS": "300"}).stdout.split())
    assert "--steps" in shown
    assert "For gradients: Number of integration steps. The paper's: 50. Default: 5." in shown
    assert "method-options" not in shown


def test_a_method_gets_the_options_that_it_takes():
    given = {"steps": 7, "model": "x", "tagger": "nltk"}
    assert choose_options(DISTRIBUTORS.load("gradients"), given) == {"steps": 7, "model": "x"}
    assert choose_options(DISTRIBUTORS.load("uniform"), given) == {}


def test_an_option_that_no_chosen_method_takes_is_refused():
    uniform, words, pos = DISTRIBUTORS.load("uniform"), DECOMPOSERS.load("words"), DECOMPOSERS.load("pos")
    refuse_unused({"tagger": "nltk"}, [uniform, pos], AXES)
    with pytest.raises(ParameterError, match="--steps goes with --distribution gradients."):
        refuse_unused({"steps": 7}, [uniform, words], AXES)
    with pytest.raises(ParameterError, match="--tagger goes with --decomposition pos, or --distribution ic."):
        refuse_unused({"tagger": "nltk"}, [uniform, words], AXES)
