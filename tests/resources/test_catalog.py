import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.errors import UnknownNameError
from textveil.resources import RESOURCES, Resource, install_command
from textveil.resources.catalog import HubModel, PyPIPackages, WebArchive, resource_named
from textveil.resources.installation import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "resources.md").read_text(encoding="utf-8")


def test_the_names_are_these():
    encoders = ["all-minilm-l6-v2", "all-mpnet-base-v2", "gte-small", "bert-base-uncased"]
    models = ["gpt2", "smollm2", "deberta-v3-base", "spacy-en", "nltk-tagger"]
    assert list(RESOURCES) == ["wordnet", "wordnet-ic", *encoders, *models]


@pytest.mark.parametrize("name", RESOURCES)
def test_every_entry_is_complete(name):
    resource = RESOURCES[name]
    assert resource.name == name
    assert resource.purpose
    assert resource.license
    assert 1e6 < resource.size < 1e9
    assert resource.files
    assert not set(resource.files) & set(resource.companions)
    assert resource.nltk_path or resource.hub_names or resource.python_packages
    assert {source.kind for source in resource.sources} <= set(KINDS)
    assert resource.sources[0].kind == "official"


@pytest.mark.parametrize("name", RESOURCES)
def test_pinned_hashes_are_complete(name):
    resource = RESOURCES[name]
    hashes = [digest for digest in resource.hashes.values() if digest is not None]
    for source in resource.sources:
        if isinstance(source, PyPIPackages):
            hashes += [package.sha256 for package in source.packages]
            assert resource.pinned, "what strangers uploaded is not taken on trust"
        elif isinstance(source, HubModel):
            assert re.fullmatch("[0-9a-f]{40}", source.revision)
        elif isinstance(source, WebArchive):
            assert source.url.startswith("https://")
            assert resource.pinned
    for digest in hashes:
        assert re.fullmatch("[0-9a-f]{64}", digest)


@pytest.mark.parametrize("name", RESOURCES)
def test_no_path_leaves_the_folder_and_none_is_a_pickle(name):
    for path in RESOURCES[name].hashes:
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        is_msgpack = path.endswith("lookups.bin")  # spaCy's
        assert is_msgpack or not path.endswith((".bin", ".pkl", ".pickle", ".pt"))


@pytest.mark.parametrize("name", RESOURCES)
def test_the_documentation_has_it(name):
    resource = RESOURCES[name]
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    assert f"| {resource.size / 1e6:.0f} | {resource.license} |" in row
    assert ("PyPI" in row) == any(source.kind == "pypi" for source in resource.sources)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'wordnet'"):
        resource_named("wordnt")


def test_hashes_are_those_of_files_and_companions():
    resource = Resource(
        name="a-b.c", purpose="", license="MIT", size=1, files={"x": None}, sources=(), companions={"y": "1" * 64}
    )
    assert resource.hashes == {"x": None, "y": "1" * 64}
    assert resource.variable == "TEXTVEIL_RESOURCE_A_B.C"
    assert not resource.pinned  # the hash of an optional file alone pins nothing
    assert RESOURCES["wordnet"].pinned


def test_the_command_exists(tmp_path):
    """Its flags are those of the command line: the only error is the missing folder."""
    command = shlex.split(install_command("wordnet", force=True, source=str(tmp_path / "nowhere")))
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 1
    assert "nowhere' is not a folder" in result.stderr
