import json

from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.cli.methods import AXES


def test_all_methods_are_listed():
    shown = CliRunner().invoke(app, ["methods"])
    assert shown.exit_code == 0
    for title, registry in AXES.items():
        assert f"{title}\n" in shown.stdout
        for name in registry:
            assert f"\n  {name} " in shown.stdout


def test_as_json():
    listed = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)
    assert set(listed) == set(AXES)
    exponential = next(each for each in listed["mechanisms"] if each["name"] == "exponential")
    assert exponential["aliases"] == ["santext", "tem"]
    assert "cap" in exponential["options"]
    assert exponential["package"] == "textveil"


def test_an_option_of_no_chosen_method():
    command = ["obfuscate", "tea", "--epsilon", "5"]
    found = CliRunner().invoke(app, [*command, "--option", "color=red"])
    assert (found.exit_code, found.stderr) == (
        2, "Error: None of the chosen methods has the option 'color'. Remove --option.\n"
    )  # fmt: skip
    assert "must be NAME=VALUE" in CliRunner().invoke(app, [*command, "--option", "color"]).stderr
