import json

import pytest

from tests.resources.conftest import COMPANION, CONTENT, write_files
from textveil.errors import ResourceError
from textveil.resources import install, own_folder, verify
from textveil.resources.catalog import LocalCopy
from textveil.resources.installation import RECORD, CheckedFile, recorded_hashes, write_record
from textveil.version import __version__


def test_pinned_and_recorded_hashes_are_distinguished(tiny):
    install("tiny")
    assert set(verify("tiny")) == {
        CheckedFile("data.noun", "pinned"),
        CheckedFile("tables/ic.dat", "pinned"),
        CheckedFile("LICENSE", "recorded"),
    }


@pytest.mark.parametrize("path", [*CONTENT, *COMPANION])
def test_a_changed_file_is_found(tiny, path):
    folder = install("tiny").location.folder
    write_files(folder, {path: b"changed"})
    with pytest.raises(
        ResourceError, match=f"'{path}' of the resource 'tiny'.*textveil resources install tiny --force"
    ):
        verify("tiny")


def test_a_companion_that_was_removed_is_reported(tiny):
    folder = install("tiny").location.folder
    (folder / "LICENSE").unlink()
    with pytest.raises(ResourceError, match="LICENSE'.*install tiny --force"):
        verify("tiny")


def test_without_pinned_hashes_recorded_ones_are_checked(add_resource, tmp_path):
    folder = write_files(tmp_path / "source", CONTENT)
    add_resource(LocalCopy(folder), files=dict.fromkeys(CONTENT), companions={})
    installed = install("tiny").location.folder
    assert {file.basis for file in verify("tiny")} == {"recorded"}
    write_files(installed, {"data.noun": b"changed"})
    with pytest.raises(ResourceError, match=r"differs from its recorded hash"):
        verify("tiny")


def test_a_folder_of_the_user_has_no_hash_to_check(add_resource, tmp_path, monkeypatch):
    add_resource(files=dict.fromkeys(CONTENT), companions={})
    monkeypatch.setenv("TEXTVEIL_RESOURCE_TINY", str(write_files(tmp_path / "mine", CONTENT)))
    assert verify("tiny") == []


def test_a_record_cannot_name_files_elsewhere(tiny, tmp_path):
    folder = install("tiny").location.folder
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    record["files"]["../../secret"] = "0" * 64
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    assert len(verify("tiny")) == 3


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"files": 3}', "\udc80"])
def test_a_damaged_record(tiny, text):
    folder = install("tiny").location.folder
    (folder / RECORD).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ResourceError, match=r"resource.json.*install tiny --force"):
        verify("tiny")
    assert own_folder() in folder.parents


def test_a_record_has_the_source_and_sorted_hashes(tmp_path):
    write_record(tmp_path, name="tiny", source="somewhere", hashes={"b": "2" * 64, "a": "1" * 64})
    written = json.loads((tmp_path / RECORD).read_text(encoding="utf-8"))
    assert written == {
        "resource": "tiny",
        "source": "somewhere",
        "textveil": __version__,
        "files": {"a": "1" * 64, "b": "2" * 64},
    }
    assert list(written["files"]) == ["a", "b"]
    assert recorded_hashes(tmp_path) == {"a": "1" * 64, "b": "2" * 64}


def test_a_folder_without_a_record_has_no_hashes(tmp_path):
    assert recorded_hashes(tmp_path) == {}
    assert recorded_hashes(tmp_path / "nowhere") == {}


def test_a_record_that_cannot_be_opened(tmp_path):
    (tmp_path / RECORD).mkdir()
    with pytest.raises(ResourceError, match="Cannot read"):
        recorded_hashes(tmp_path)
