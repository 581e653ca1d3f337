"""Downloads from a server on this machine."""

import http.server
import threading

import pytest

from tests.resources.conftest import CONTENT, PREFIX, digest, names_in, prefixed, write_zip
from textveil.errors import ResourceError
from textveil.resources import find, install, own_folder
from textveil.resources.catalog import WebArchive
from textveil.resources.web import check_reachable


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
    assert reports[0] == ("downloading tiny", len(archive) // 1000, 1.0)


def test_an_archive_with_another_hash(server, archive, add_resource):
    add_resource(WebArchive(f"{server.url}/tiny.zip", PREFIX, "0" * 64))
    with pytest.raises(ResourceError, match="hash of tiny.zip differs from the pinned one"):
        install("tiny")


def test_a_page_that_is_not_there(server, add_resource):
    add_resource(WebArchive(f"{server.url}/none.zip", PREFIX))
    with pytest.raises(ResourceError, match=r"none.zip cannot be downloaded \(Not Found\)"):
        install("tiny")
    check_reachable(f"{server.url}/none.zip")  # it answers


def test_a_connection_that_breaks(server, archive, add_resource):
    server.withheld = 100
    add_resource(WebArchive(f"{server.url}/tiny.zip", PREFIX))
    with pytest.raises(ResourceError, match="tiny.zip cannot be downloaded .the connection broke"):
        install("tiny")
    assert names_in(own_folder()) == []


def test_no_server_at_all(add_resource):
    add_resource(WebArchive("http://127.0.0.1:9/tiny.zip", PREFIX))
    with pytest.raises(ResourceError, match="cannot be downloaded.*refused"):
        install("tiny")
    with pytest.raises(ResourceError, match="cannot be downloaded"):
        check_reachable("http://127.0.0.1:9")
