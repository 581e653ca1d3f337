import io
import random
import tarfile

import pytest

from tests.resources.conftest import COMPANION, CONTENT, PREFIX, prefixed, write_zip
from textveil.errors import ResourceError
from textveil.resources.archives import join_part, take


def write_tar(path, members, links=()):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    return path


WRITERS = pytest.mark.parametrize("write", [write_zip, write_tar], ids=["zip", "tar"])


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@WRITERS
def test_only_the_files_of_the_resource_are_extracted(tmp_path, tiny, write):
    others = {
        "../../evil": b"!",
        "/evil": b"!",
        PREFIX + "../evil": b"!",
        PREFIX + "setup.py": b"!",
        "data.noun": b"!",
    }
    archive = write(tmp_path / "archive", {**prefixed({**CONTENT, **COMPANION}), **others})
    into = tmp_path / "a/b/into"
    into.mkdir(parents=True)
    take(archive, PREFIX, tiny, into)
    assert files_below(tmp_path / "a") == {
        f"b/into/{path}": content for path, content in {**CONTENT, **COMPANION}.items()
    }


@WRITERS
def test_a_companion_may_be_missing_but_a_file_may_not(tmp_path, tiny, write):
    archive = write(tmp_path / "whole", prefixed(CONTENT))
    take(archive, PREFIX, tiny, tmp_path / "into")
    assert files_below(tmp_path / "into") == CONTENT
    archive = write(tmp_path / "archive", prefixed({"data.noun": b""}))
    with pytest.raises(ResourceError, match="archive has no file 'tiny_data/files/tables/ic.dat'"):
        take(archive, PREFIX, tiny, tmp_path / "other")


def test_a_link_is_not_followed(tmp_path, tiny):
    archive = write_tar(tmp_path / "archive", prefixed({"data.noun": b""}), links=[PREFIX + "tables/ic.dat"])
    with pytest.raises(ResourceError, match="has no file 'tiny_data/files/tables/ic.dat'"):
        take(archive, PREFIX, tiny, tmp_path / "into")


@WRITERS
@pytest.mark.parametrize("keep", [0, 0.3, 0.7])
def test_a_truncated_or_invalid_archive(tmp_path, tiny, write, keep):
    content = random.Random(1).randbytes(50_000)
    archive = write(tmp_path / "archive", prefixed({"data.noun": content, "tables/ic.dat": content}))
    archive.write_bytes(archive.read_bytes()[: int(keep * archive.stat().st_size)] or b"<html>not found</html>")
    with pytest.raises(ResourceError, match="archive"):
        take(archive, PREFIX, tiny, tmp_path / "into")


def test_parts_are_joined(tmp_path, tiny):
    whole = write_zip(tmp_path / "whole.zip", prefixed(CONTENT)).read_bytes()
    for number, part in enumerate((whole[:100], whole[100:])):
        archive = write_zip(tmp_path / f"part{number}.whl", {f"part/{number}": part})
        join_part(archive, f"part/{number}", tmp_path / "joined.zip")
    take(tmp_path / "joined.zip", PREFIX, tiny, tmp_path / "into")
    assert files_below(tmp_path / "into") == CONTENT
    with pytest.raises(ResourceError, match="part0.whl has no file 'part/7'"):
        join_part(tmp_path / "part0.whl", "part/7", tmp_path / "joined.zip")
