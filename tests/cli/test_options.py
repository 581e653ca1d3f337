"""Flags of commands: sizes and shares, executors, options of methods and metrics."""

from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from textveil.cli.evaluate import MetricFlags, add_samples, flag, split_list
from textveil.cli.main import app
from textveil.cli.options import choose_options, collect_options, command, flag_of, refuse_unused
from textveil.cli.prepare import MEMORY_SIZE, parse_size, parse_top
from textveil.errors import ParameterError
from textveil.execution import EXECUTORS
from textveil.lab.corpus import MEMORY
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS

AXES = {"--decomposition": DECOMPOSERS, "--distribution": DISTRIBUTORS, "--mechanism": MECHANISMS}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1000", 1000),
        ("1K", 1 << 10),
        ("512M", 512 << 20),
        ("16G", 16 << 30),
        ("2t", 2 << 40),
        ("1.5G", 3 << 29),
        ("16 GiB", 16 << 30),
        ("16GB", 16 << 30),
        (" 7 b ", 7),
        ("9" * 40 + "T", 1 << 62),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "1E", "1,5G", "G", "1G2", "1 0G", "nan", "inf"])
def test_texts_that_are_not_a_size_are_refused(text):
    with pytest.raises(ParameterError):
        parse_size(text)


@given(st.integers(0, 1 << 40), st.sampled_from(["", "K", "M", "G", "T"]))
def test_a_size_with_a_unit_is_never_smaller_than_its_number(number, unit):
    assert parse_size(f"{number}{unit}") >= min(number, 1 << 50)


def test_defaults_are_valid():
    assert parse_size(MEMORY_SIZE) == MEMORY


@given(st.floats(0, 100, exclude_min=True))
def test_a_percentage_is_a_share(percent):
    assert 0 <= parse_top(percent) <= 1
    assert parse_top(percent) == pytest.approx(percent / 100)


@pytest.mark.parametrize("percent", [0, -5, 100.01, float("nan"), float("inf")])
def test_numbers_that_are_not_a_percentage_are_refused(percent):
    with pytest.raises(ParameterError):
        parse_top(percent)


@pytest.mark.parametrize(
    "command", [["obfuscate"], ["prepare", "bundle"], ["prepare", "count"], ["prepare", "train"], ["experiment", "run"]]
)
def test_every_command_with_workers_has_all_flags(command):
    text = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    assert all(name in text for name in ("--executor", "--workers", "--address"))
    assert all(name in text for name in EXECUTORS)


def test_every_option_says_which_methods_take_it():
    found = collect_options(*AXES.values())
    assert found["steps"][1] == ["gradients"]
    assert found["model"][1] == ["attention", "gradients", "keybert"]
    assert found["tagger"][1] == ["pos", "ic"]
    assert "batch_size" not in found
    assert (flag_of(found["model"][0]), flag_of(found["steps"][0])) == ("--encoder", "--steps")


def make_app():
    made = typer.Typer()
    seen = []

    @command(made, "run", methods={"--decomposition": DECOMPOSERS, "--distribution": DISTRIBUTORS})
    def run(text: Annotated[str, typer.Argument()], *, method_options: dict[str, Any]) -> None:
        """A command."""
        seen.append((text, method_options))

    return made, seen


def test_a_command_gets_flags_and_hands_over_those_that_are_given():
    made, seen = make_app()
    assert CliRunner().invoke(made, ["hello", "--steps", "7", "--encoder", "x"]).exit_code == 0
    assert CliRunner().invoke(made, ["--tagger", "nltk", "hello"]).exit_code == 0
    assert CliRunner().invoke(made, ["hello"]).exit_code == 0
    assert seen == [("hello", {"steps": 7, "model": "x"}), ("hello", {"tagger": "nltk"}), ("hello", {})]


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


def test_a_flag_has_the_help_and_the_default_of_the_option():
    found = flag(METRICS, "attribute, downstream", "seeds")
    assert found.default == "--seeds"  # typer moves it to the declarations later
    assert found.help.startswith("For attribute, downstream: ")
    assert found.help.endswith("Default: 42,43,44.")
    assert flag(CLASSIFIERS, "transformer", "epochs").default == "--epochs"


def test_a_list_is_comma_separated():
    assert split_list(" a, b ,,c", "--metrics") == ["a", "b", "c"]
    with pytest.raises(ParameterError):
        split_list(" , ", "--metrics")


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ({}, {}),
        ({"truncate": True}, {"similarity": {"truncate": True}}),
        (
            {"attacker": "transformer", "epochs": 2, "seeds": "1,2", "metrics": "attribute,similarity"},
            {"attribute": {"classifier": "transformer", "classifier_options": {"epochs": 2}, "seeds": (1, 2)}},
        ),
        ({"seeds": "7", "metrics": "membership"}, {"membership": {"seeds": (7,)}}),
        (
            {"seeds": "7"},
            {metric: {"seeds": (7,)} for metric in ("attribute", "downstream", "stylometry", "membership")},
        ),
        (
            {"encoders": "a,b"},
            {"similarity": {"models": ["a", "b"]}, "token_similarity": {"model": "a"}, "linkage": {"model": "a"}},
        ),
        ({"encoders": "a", "metrics": "linkage,attribute"}, {"linkage": {"model": "a"}}),
        ({"encoders": "a", "metrics": "attribute"}, {"similarity": {"models": ["a"]}}),  # which is then refused
        (
            {"encoders": "a,b", "truncate": True, "metrics": "similarity"},
            {"similarity": {"models": ["a", "b"], "truncate": True}},
        ),
    ],
)
def test_options_of_metrics_go_to_the_wanted_metrics_that_take_them(flags, options):
    assert MetricFlags(**flags).choose_options(clear_text={"words": None}) == options


@pytest.mark.parametrize("flags", [{"seeds": "one"}, {"attacker": "linear", "epochs": 2}, {"attacker": "liner"}])
def test_options_that_no_metric_can_use_are_refused(flags):
    with pytest.raises(ParameterError):
        MetricFlags(**flags).choose_options()


def test_a_sample_is_added_to_the_options_of_its_metric():
    given = {"perplexity": {"model": "m"}}
    assert add_samples(given, ["perplexity=50", "cosine=9"]) == {
        "perplexity": {"model": "m", "sample": 50},
        "similarity": {"sample": 9},
    }
    assert add_samples(given, None) == given == {"perplexity": {"model": "m"}}


@pytest.mark.parametrize("sample", ["perplexity", "perplexity=", "perplexity=-1", "perplexity=many", "clear_text=5"])
def test_a_sample_is_a_metric_that_can_have_one_and_a_number(sample):
    with pytest.raises(ParameterError, match="--sample"):
        add_samples({}, [sample])
