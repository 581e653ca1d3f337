"""The real library, and a hub on this machine that answers as the real one does."""

import http.server
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from tests.resources.conftest import digest, names_in
from textveil.errors import ResourceError
from textveil.resources import find, install, own_folder, verify
from textveil.resources.catalog import HubModel

REVISION = "0123456789abcdef0123456789abcdef01234567"
MODEL = HubModel("someone/model", REVISION)
FILES = {"config.json": b"{}", "model.safetensors": b"\x01" * 40_000, "1_Pooling/config.json": b"[]", "big.bin": b"!"}


class _Hub(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        path = self.path.partition("?")[0]
        if path == f"/api/models/someone/model/revision/{REVISION}":
            siblings = [{"rfilename": name} for name in self.server.files]
            self.answer(json.dumps({"id": "someone/model", "sha": REVISION, "siblings": siblings}).encode())
        elif path == f"/api/models/someone/model/tree/{REVISION}":
            entries = [
                {"type": "file", "path": name, "size": len(content), "oid": digest(content)[:40]}
                for name, content in self.server.files.items()
            ]
            self.answer(json.dumps(entries).encode())
        elif (name := path.removeprefix(f"/someone/model/resolve/{REVISION}/")) in self.server.files:
            self.answer(self.server.files[name], digest(self.server.files[name])[:40])
        else:
            self.send_error(404)

    def do_GET(self):
        self.do_HEAD()

    def answer(self, content, etag=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Repo-Commit", REVISION)
        if etag is not None:
            self.send_header("ETag", f'"{etag}"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hub():
    pytest.importorskip("huggingface_hub")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as running:
        running.files = dict(FILES)
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


CODE = textwrap.dedent("""
    from textveil.resources import RESOURCES, Resource, install
    from textveil.resources.catalog import HubModel
    RESOURCES["tiny"] = Resource(
        name="tiny", purpose="tests", license="MIT", size=40_000,
        files={"config.json": None, "model.safetensors": None}, companions={"1_Pooling/config.json": None, "no": None},
        sources=(HubModel("someone/model", "REVISION"),),
    )
    install("tiny", progress=lambda *report: print(*report))
""").replace("REVISION", REVISION)


def install_from(hub):
    """Runs in another process, since the library reads its variables at import."""
    environment = {**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "NO_PROXY": "127.0.0.1"}
    return subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=100)


def test_the_files_of_a_model_are_downloaded_and_their_hashes_recorded(hub, add_resource):
    result = install_from(hub)
    assert result.stderr == ""
    assert "checking tiny 3 1.0" in result.stdout
    add_resource(
        MODEL, files={"config.json": None, "model.safetensors": None}, companions={"1_Pooling/config.json": None}
    )
    assert (find("tiny") / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert names_in(own_folder() / "tiny") == ["1_Pooling", "config.json", "model.safetensors", "resource.json"]
    assert names_in(own_folder()) == ["tiny"]
    assert {file.basis for file in verify("tiny")} == {"recorded"}


def test_a_model_without_a_file(hub):
    del hub.files["model.safetensors"]
    result = install_from(hub)
    assert "has no file 'model.safetensors'" in result.stderr
    assert names_in(own_folder()) == []


def test_a_model_that_is_not_there(hub, monkeypatch):
    monkeypatch.setattr("tests.resources.test_hub.CODE", CODE.replace("someone/model", "someone/else"))
    result = install_from(hub)
    assert "ResourceError" in result.stderr
    assert "someone/else on Hugging Face, revision 0123456 cannot be downloaded" in result.stderr


def test_without_the_library_the_extra_is_named(add_resource, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    add_resource(MODEL)
    with pytest.raises(ResourceError, match=r"pip install 'textveil\[neural\]'"):
        install("tiny")
