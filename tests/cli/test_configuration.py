import json

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.cli.settings import check_keys, read_section
from textveil.errors import InputError, ParameterError, UnknownNameError

SECRET = "Grzybowski"


@pytest.fixture
def run(tiny, tmp_path):
    """Obfuscates a text with a configuration file, environment variables and flags."""

    def run(content, *flags, **environment):
        path = tmp_path / "textveil.toml"
        path.write_text(content)
        arguments = ["obfuscate", f"alpha {SECRET}", "--bundle", str(tiny.folder), "--config", str(path), *flags]
        return CliRunner().invoke(app, arguments, env=environment)

    return run


def read(result):
    assert result.exit_code == 0, result.output
    certificate = json.loads(result.stdout)["certificate"]
    return certificate["mechanism"]["name"], certificate["budget"]["epsilon"]


FILE = '[obfuscate]\nmechanism = "exponential"\nepsilon = 7\nform = "keep"\nkeep-emoji = true\njson = true\ncap = 2.5\n'


def test_flags_come_before_variables_and_those_before_the_file(run):
    assert read(run(FILE)) == ("exponential", 7)
    assert read(run(FILE, TEXTVEIL_OBFUSCATE_EPSILON="8")) == ("exponential", 8)
    assert read(run(FILE, "--epsilon", "9", TEXTVEIL_OBFUSCATE_EPSILON="8")) == ("exponential", 9)


def test_variables_need_no_file(tiny):
    variables = {"TEXTVEIL_OBFUSCATE_EPSILON": "8", "TEXTVEIL_OBFUSCATE_JSON": "true"}
    variables |= {"TEXTVEIL_OBFUSCATE_BUNDLE": str(tiny.folder), "TEXTVEIL_OBFUSCATE_LARGEST_SHARE": "2"}
    result = CliRunner().invoke(app, ["obfuscate", "alpha"], env=variables)
    assert read(result) == ("madlib", 8)
    assert json.loads(result.stdout)["chunks"][0]["share"] == 2


def test_keys_with_underscores_and_the_values_of_options(run):
    result = run(FILE.replace("keep-emoji", "keep_emoji"))
    certificate = json.loads(result.stdout)["certificate"]
    assert certificate["emoji"] == "keep"
    assert certificate["mechanism"]["options"]["cap"] == 2.5


@pytest.mark.parametrize(
    ("content", "environment", "message"),
    [
        (
            "[obfuscate]\nepsilom = 1",
            {},
            "[obfuscate] of textveil.toml: There is no setting 'epsilom'. Did you mean 'epsilon'?",
        ),
        ("[obfuscat]", {}, "There is no table of textveil.toml 'obfuscat'. Did you mean 'obfuscate'?"),
        ("obfuscate = 3", {}, "'obfuscate' in textveil.toml must be a table"),
        ("[obfuscate.epsilon]\na = 1", {}, "'epsilon' in [obfuscate] of textveil.toml must not be a table."),
        ("[obfuscate]\nseed = 1", {}, "A seed there would make all noise predictable."),
        ("[obfuscate]\nepsilon = ", {}, "is not TOML"),
        ("[obfuscate]\nepsilon = -1", {}, "--epsilon must be positive and finite. Got -1.0"),
        ("[obfuscate]\nepsilon = 'x'", {}, "Invalid value for '--epsilon'"),
        ("", {"TEXTVEIL_OBFUSCATE_EPSILOM": "1"}, "Did you mean 'epsilon'?"),
        ("", {"TEXTVEIL_OBFUSCATE_SEED": "1"}, "A seed there would make all noise predictable."),
    ],
)
def test_what_is_wrong_is_explained(run, content, environment, message):
    result = run(content, **environment)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert SECRET not in result.output


def test_other_variables_are_left_alone(run):
    assert read(run(FILE, TEXTVEIL_DEBUG="1", TEXTVEIL_SERVE_PORT="x")) == ("exponential", 7)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_section(tmp_path / "none.toml", "serve")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_section(tmp_path / "bytes.toml", "serve")


def test_the_table_of_another_command_is_not_read(tmp_path):
    (tmp_path / "textveil.toml").write_text("[serve]\nport = 1\n")
    assert read_section(tmp_path / "textveil.toml", "obfuscate") == {}


def test_keys():
    assert check_keys({"epsilon_per_word": 1}, {"epsilon-per-word": "each"}, "x") == {"each": 1}
    with pytest.raises(UnknownNameError):
        check_keys({"epsilon": 1}, {}, "x")
    with pytest.raises(ParameterError):
        check_keys({"seed": 1}, {"seed": "seed"}, "x")


def test_a_budget_on_the_command_line_replaces_that_of_the_file(tmp_path):
    path = tmp_path / "textveil.toml"
    path.write_text("[obfuscate]\nepsilon-per-word = 15\n", encoding="utf-8")
    for flags in (("--level", "high"), ("--epsilon", "3")):
        result = CliRunner().invoke(app, ["obfuscate", "tea", "--config", str(path), "--json", *flags])
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["certificate"]["budget"]["epsilon_per_word"] != 15


def test_a_variable_for_the_file_is_refused(monkeypatch):
    monkeypatch.setenv("TEXTVEIL_OBFUSCATE_CONFIG", "textveil.toml")
    result = CliRunner().invoke(app, ["obfuscate", "tea"])
    assert (result.exit_code, "'config'" in result.stderr) == (2, True)
