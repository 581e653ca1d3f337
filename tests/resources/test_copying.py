import os

import pytest

from tests.resources.conftest import COMPANION, CONTENT, names_in, write_files, write_zip
from textveil.errors import ResourceError
from textveil.progress import ignore_progress
from textveil.resources.catalog import LocalCopy
from textveil.resources.copying import fetch


def copy(source, resource, into, progress=ignore_progress):
    into.mkdir()
    fetch(LocalCopy(source), resource, into, into, progress)
    return {str(path.relative_to(into)): path.read_bytes() for path in into.rglob("*") if path.is_file()}


def test_only_the_files_of_the_resource_are_copied(tiny, tmp_path):
    reports = []
    copied = copy(tmp_path / "source", tiny, tmp_path / "into", lambda *report: reports.append(report))
    assert copied == {**CONTENT, **COMPANION}
    assert "other.txt" in names_in(tmp_path / "source")
    assert reports == [("copying tiny", number, number / 3) for number in (1, 2, 3)]


def test_companions_are_optional(tiny, tmp_path):
    folder = write_files(tmp_path / "bare", CONTENT)
    assert copy(folder, tiny, tmp_path / "into") == CONTENT


def test_an_archive_of_nltk_is_unpacked(add_resource, tmp_path):
    resource = add_resource(nltk_path="corpora/tiny")
    archive = write_zip(tmp_path / "tiny.zip", {f"tiny/{path}": content for path, content in CONTENT.items()})
    assert copy(archive, resource, tmp_path / "into") == CONTENT


def test_a_missing_folder_or_file(tiny, tmp_path):
    with pytest.raises(ResourceError, match="nowhere' is not a folder"):
        copy(tmp_path / "nowhere", tiny, tmp_path / "one")
    (tmp_path / "source" / "tables" / "ic.dat").unlink()
    with pytest.raises(ResourceError, match="source' lacks 'tables/ic.dat'"):
        copy(tmp_path / "source", tiny, tmp_path / "two")
    assert names_in(tmp_path / "two") == []


def test_an_archive_for_a_resource_outside_nltk(tiny, tmp_path):
    archive = write_zip(tmp_path / "tiny.zip", CONTENT)
    with pytest.raises(ResourceError, match="tiny.zip' is not a folder"):
        copy(archive, tiny, tmp_path / "into")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root can read every file")
def test_a_file_without_permission(tiny, tmp_path):
    (tmp_path / "source" / "data.noun").chmod(0)
    with pytest.raises(ResourceError, match="data.noun' cannot be read .Permission denied"):
        copy(tmp_path / "source", tiny, tmp_path / "into")
