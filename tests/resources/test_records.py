import json

import pytest

from textveil.errors import ResourceError
from textveil.resources.verification import RECORD, recorded_hashes, write_record
from textveil.version import __version__


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


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"files": []}', b'{"other": {}}', b"\xff"])
def test_a_damaged_record_names_the_command_that_repairs_it(tmp_path, content):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / RECORD).write_bytes(content)
    with pytest.raises(ResourceError, match="again with: textveil resources install tiny --force$"):
        recorded_hashes(folder)


def test_a_record_that_cannot_be_opened(tmp_path):
    (tmp_path / RECORD).mkdir()
    with pytest.raises(ResourceError, match="Cannot read"):
        recorded_hashes(tmp_path)
