"""Copies of folders, archives of both kinds, and downloads from a server on this machine."""

import http.server
import io
import os
import random
import tarfile
import threading
import time

import pytest

from tests.resources.conftest import (
    COMPANION,
    CONTENT,
    PREFIX,
    digest,
    names_in,
    prefixed,
    write_files,
    write_zip,
)
from textveil.errors import ResourceError
from textveil.progress import ignore_progress
from textveil.resources import find, install, own_folder
from textveil.resources.catalog import LocalCopy, WebArchive
from textveil.resources.sources import extract, fetch, join_part, watching


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
    extract(archive, PREFIX, tiny, into)
    assert files_below(tmp_path / "a") == {
        f"b/into/{path}": content for path, content in {**CONTENT, **COMPANION}.items()
    }


@WRITERS
def test_a_companion_may_be_missing_but_a_file_may_not(tmp_path, add_resource, write):
    resource = add_resource(nltk_path="corpora/tiny")
    archive = write(tmp_path / "whole", prefixed(CONTENT, "tiny/"))
    assert copy(archive, resource, tmp_path / "into") == CONTENT
    archive = write(tmp_path / "archive", prefixed({"data.noun": b""}, "tiny/"))
    with pytest.raises(ResourceError, match="archive has no file 'tables/ic.dat'"):
        copy(archive, resource, tmp_path / "other")


def test_a_link_is_not_followed(tmp_path, add_resource):
    resource = add_resource(nltk_path="corpora/tiny")
    archive = write_tar(tmp_path / "archive", prefixed({"data.noun": b""}, "tiny/"), links=["tiny/tables/ic.dat"])
    with pytest.raises(ResourceError, match="has no file 'tables/ic.dat'"):
        copy(archive, resource, tmp_path / "into")


@WRITERS
@pytest.mark.parametrize("keep", [0, 0.3, 0.7])
def test_a_truncated_or_invalid_archive(tmp_path, tiny, write, keep):
    content = random.Random(1).randbytes(50_000)
    archive = write(tmp_path / "archive", prefixed({"data.noun": content, "tables/ic.dat": content}))
    archive.write_bytes(archive.read_bytes()[: int(keep * archive.stat().st_size)] or b"<html>not found</html>")
    with pytest.raises(ResourceError, match="archive"):
        extract(archive, PREFIX, tiny, tmp_path / "into")


def test_parts_are_joined(tmp_path, tiny):
    whole = write_zip(tmp_path / "whole.zip", prefixed(CONTENT)).read_bytes()
    for number, part in enumerate((whole[:100], whole[100:])):
        archive = write_zip(tmp_path / f"part{number}.whl", {f"part/{number}": part})
        join_part(archive, f"part/{number}", tmp_path / "joined.zip")
    extract(tmp_path / "joined.zip", PREFIX, tiny, tmp_path / "into")
    assert files_below(tmp_path / "into") == CONTENT
    with pytest.raises(ResourceError, match="part0.whl has no file 'part/7'"):
        join_part(tmp_path / "part0.whl", "part/7", tmp_path / "joined.zip")


def test_the_size_of_a_growing_folder_is_reported(tmp_path):
    reports = []
    with watching(tmp_path, "tiny", 4000, lambda *report: reports.append(report)):
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "part").write_bytes(b"x" * 3000)
        deadline = time.monotonic() + 10
        while ("downloading tiny", 3, 0.75) not in reports and time.monotonic() < deadline:
            time.sleep(0.05)
    assert ("downloading tiny", 3, 0.75) in reports


def test_without_a_receiver_nothing_is_reported(tmp_path):
    with watching(tmp_path, "tiny", 1, ignore_progress):
        pass


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.content.get(self.path)
        self.send_response(200 if content is not None else 404)
        self.send_header("Content-Length", str(len(content or b"") + self.server.withheld))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as running:
        running.content, running.withheld = {}, 0
        running.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def archive(tmp_path, server):
    content = write_zip(tmp_path / "tiny.zip", prefixed(CONTENT)).read_bytes()
    server.content["/tiny.zip"] = content
    return content


@pytest.mark.parametrize("pinned", [False, True])
def test_an_archive_is_downloaded_and_its_files_are_extracted(server, archive, add_resource, pinned):
    add_resource(WebArchive(f"{server.url}/tiny.zip", PREFIX, digest(archive) if pinned else None))
    reports = []
    done = install("tiny", progress=lambda *report: reports.append(report))
    assert done.source == f"{server.url}/tiny.zip"
    assert (find("tiny") / "data.noun").read_bytes() == CONTENT["data.noun"]
    assert ("downloading tiny", len(archive) // 1000, len(archive) / 15_000) in reports


def test_an_archive_with_another_hash(server, archive, add_resource):
    add_resource(WebArchive(f"{server.url}/tiny.zip", PREFIX, "0" * 64))
    with pytest.raises(ResourceError, match="tiny.zip cannot be downloaded .SHA256 hash"):
        install("tiny")


def test_a_page_that_is_not_there(server, add_resource):
    add_resource(WebArchive(f"{server.url}/none.zip", PREFIX))
    with pytest.raises(ResourceError, match="none.zip cannot be downloaded .404"):
        install("tiny")


def test_a_connection_that_breaks(server, archive, add_resource):
    server.withheld = 100
    add_resource(WebArchive(f"{server.url}/tiny.zip", PREFIX))
    with pytest.raises(ResourceError, match="tiny.zip cannot be downloaded"):
        install("tiny")
    assert names_in(own_folder()) == []


def test_no_server_at_all(add_resource):
    add_resource(WebArchive("http://127.0.0.1:9/tiny.zip", PREFIX))
    with pytest.raises(ResourceError, match="cannot be downloaded.*refused"):
        install("tiny")
