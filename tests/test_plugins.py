"""A real package with plugins is installed into a folder, and used from there in processes of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from textveil.methods.mechanisms import MECHANISMS
from textveil.registry import Plugin, find_packages, find_plugins

PACKAGE = Path(__file__).parent / "plugin_package"


def install(source: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(target), str(source)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    source = Path(shutil.copytree(PACKAGE, folder / "source"))
    install(source, folder / "target")
    return folder / "target"


def run(installed: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
    paths = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(installed)])
    environment = {**os.environ, "PYTHONPATH": paths.strip(os.pathsep)}
    return subprocess.run([sys.executable, *arguments], env=environment, check=check, capture_output=True, text=True)


def test_our_own_classes_have_no_package():
    assert find_packages(MECHANISMS.load("madlib"), "textveil.mechanisms") == {}


def test_a_class_that_is_no_plugin_has_no_package():
    class Mine:
        pass

    assert find_packages(Mine, "textveil.mechanisms") == {}
    assert find_plugins("textveil.no_such_group") == ()


def test_a_plugin_says_where_it_is_from():
    assert str(Plugin("textveil.mechanisms", "mine", "a:B", "my-package", "1.2")) == "'mine' of my-package 1.2"


@pytest.mark.slow
def test_the_contracts_of_an_installed_package(installed):
    code = """
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.lab.metrics import METRICS
from textveil.methods.mechanisms import MECHANISMS
from textveil.testing import check_decomposer, check_distributor, check_mechanism, check_metric

check_decomposer(DECOMPOSERS.load("hyphens"))
check_distributor(DISTRIBUTORS.load("length"))
check_mechanism(MECHANISMS.load("gumbel_max"))
check_metric(METRICS.load("shortening"))
"""
    run(installed, "-c", code)


@pytest.mark.slow
def test_a_mechanism_that_spends_more_than_it_says_is_found_out(installed):
    code = "from textveil_example.broken import Leaking; from textveil.testing import check_mechanism as c; c(Leaking)"
    done = run(installed, "-c", code, check=False)
    assert "draws refute exp(share * distance)" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_the_command_uses_and_lists_plugins(installed):
    listed = json.loads(run(installed, "-m", "textveil.cli.main", "methods", "--json").stdout)
    found = {each["name"]: each for each in listed["mechanisms"] if each["package"] == "textveil-example"}
    assert found["gumbel_max"]["problem"] is None
    assert found["gumbel_max"]["version"] == "0.3"
    for name, reason in {
        "madlib": "takes the name of a mechanism of textveil",
        "unfinished": "it lacks perturb",
        "gone": "cannot be imported: ModuleNotFoundError",
        "misnamed": "its name is 'something_else'",
        "silent": "its guarantee must say what is proven",
    }.items():
        assert reason in found[name]["problem"]
    assert "must be a subclass of textveil.lab.metrics.Metric" in listed["metrics"][-1]["problem"]
    help_text = run(installed, "-m", "textveil.cli.main", "obfuscate", "--help").stdout
    assert "gumbel_max" in help_text
    assert "textveil-example 0.3" in help_text
    certificate = installed / "certificate.json"
    done = run(
        installed, "-m", "textveil.cli.main", "obfuscate", "The tea was lovely.", "--mechanism", "gumbel_max",
        "--distribution", "length", "--option", "shortest=5", "--epsilon", "20", "--certificate", str(certificate),
    )  # fmt: skip
    assert done.stdout.strip()
    stated = json.loads(certificate.read_text())
    assert stated["mechanism"]["name"] == "gumbel_max"
    assert stated["distribution"]["options"] == {"shortest": 5}
    assert stated["versions"]["textveil-example"] == "0.3"


@pytest.mark.slow
def test_plugins_in_python(installed, tmp_path):
    code = f"""
import textveil
from pathlib import Path
from textveil.methods.mechanisms import MECHANISMS
from textveil.testing import build_small_bundle

assert "gumbel_max" in textveil.list_mechanisms() and textveil.list_mechanisms().count("madlib") == 1
assert "gumbel_max" in MECHANISMS and "gumbel_max" not in list(MECHANISMS)
assert MECHANISMS.load("madlib").__module__ == "textveil.methods.mechanisms.madlib"
for name, part in (("gone", "Update or uninstall"), ("gumbelmax", "Did you mean 'gumbel_max'")):
    try:
        MECHANISMS.load(name)
    except textveil.errors.TextveilError as error:
        assert part in str(error), error
    else:
        raise SystemExit(name)
bundle = build_small_bundle(Path({str(tmp_path)!r}) / "bundle", decomposition="hyphens")
result = textveil.obfuscate("alpha-gamma beta", bundle=bundle, decomposition="hyphens", epsilon=9)
assert result.certificate.terms.versions["textveil-example"] == "0.3"
"""
    run(installed, "-c", code)
    several = Path(shutil.copytree(PACKAGE, tmp_path / "other"))
    project = several / "pyproject.toml"
    project.write_text(project.read_text().replace('"textveil-example"', '"textveil-rival"'))
    install(several, tmp_path / "rival")
    rival = os.pathsep.join([str(installed), str(tmp_path / "rival")])
    done = run(
        rival, "-c", "from textveil.methods.mechanisms import MECHANISMS; MECHANISMS.load('gumbel_max')", check=False
    )
    assert "offered by several packages: textveil-example and textveil-rival" in done.stderr
