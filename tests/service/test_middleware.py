import asyncio
import json
import logging
import re
import threading

import pytest

from textveil.service.middleware import Frame, Gate
from textveil.service.settings import Settings

TOKEN = "0123456789abcdef-XYZ"
TEXT = {"text": "alpha", "epsilon": 1.0}


@pytest.fixture(scope="module")
def guarded(serving, tmp_path_factory):
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text(TOKEN)
    with serving(token_file=path, host="192.0.2.1", origins=("https://example.org",)) as client:
        yield client


@pytest.mark.parametrize(
    "header",
    [None, "", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xff"],
)
def test_without_the_token_nothing_is_done(guarded, header):
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    for answer in (guarded.post("/obfuscate", json=TEXT, headers=headers), guarded.get("/methods", headers=headers)):
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert TOKEN not in answer.text


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_with_the_token_everything_is_allowed(guarded, scheme):
    headers = {"Authorization": f"{scheme} {TOKEN}", "Host": "textveil.example.org"}
    assert guarded.post("/obfuscate", json=TEXT, headers=headers).status_code == 200


def test_health_and_page_need_no_token(guarded):
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/page/none.css").status_code == 404
    assert guarded.get("/page/../methods").status_code == 401
    assert guarded.get("/openapi.json").status_code == 401


def test_pages_of_an_allowed_origin_may_call(guarded):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    answer = guarded.options("/obfuscate", headers={"Origin": "https://example.org", **asked})
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "https://example.org"
    answer = guarded.options("/obfuscate", headers={"Origin": "https://evil.example", **asked})
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8000", 200), ("127.0.0.1", 200), ("[::1]:8000", 200), ("evil.example", 400), ("[evil]:1", 400)],
)
def test_a_page_cannot_rename_this_machine(client, host, status):
    assert client.get("/health", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),  # another port of this machine
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),  # typed into a browser
        ({"Origin": "http://127.0.0.1:8000"}, 200),
    ],
)
def test_pages_of_other_sites_cause_no_work(client, headers, status):
    assert client.get("/meaning", headers=headers).status_code == status
    assert client.get("/", headers=headers).status_code == 200  # a link leads here


def test_a_page_of_an_allowed_origin_causes_work(guarded):
    headers = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/methods", headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_read(client, kind):
    answer = client.post("/obfuscate", content=json.dumps(TEXT), headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["kind"]) == (415, "TypeError")


def test_a_body_that_is_too_large(client):
    answer = client.post("/obfuscate", json={"text": "a " * 60_000, "epsilon": 1})
    assert (answer.status_code, answer.headers["Connection"]) == (413, "close")
    assert "at most 100,000 bytes" in answer.json()["error"]
    fits = client.post("/obfuscate", json={"text": "." * 99_000, "epsilon": 1, "certificate": False})
    assert fits.status_code == 200


class Line:
    """A connection without a network: what the client sends, and what it gets."""

    def __init__(self, *parts, complete=True, length=None):
        self.parts = [
            {"type": "http.request", "body": part, "more_body": number < len(parts) or not complete}
            for number, part in enumerate(parts, start=1)
        ]
        self.sent = []
        self.gone = asyncio.Event()
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers += [] if length is None else [(b"content-length", str(length).encode())]
        self.scope = {"type": "http", "method": "POST", "path": "/obfuscate", "headers": headers}

    async def receive(self):
        if self.parts:
            return self.parts.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"] if self.sent else None

    @property
    def problem(self):
        return json.loads(self.sent[1]["body"])


async def read_all(scope, receive, send):
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def enter(line, app=read_all, **settings):
    return Frame(Gate(app, Settings(**settings), None))(line.scope, line.receive, line.send)


def test_the_parts_of_a_body_are_joined():
    async def run():
        line = Line(b"one ", b"two")
        await enter(line)
        return line

    assert asyncio.run(run()).sent[1]["body"] == b"one two"


@pytest.mark.parametrize("parts", [[b"x" * 11], [b"x" * 6] * 2, [b"x" * 6] * 1000])
def test_a_body_may_not_grow_beyond_the_limit(parts):
    async def run():
        line = Line(*parts)
        await enter(line, bytes=10)
        return line

    assert asyncio.run(run()).status == 413


def test_a_declared_size_is_believed():
    async def run():
        line = Line(length=10**30)
        await enter(line, bytes=10)
        return line

    assert asyncio.run(run()).status == 413


def test_a_slow_sender_is_stopped():
    async def run():
        line = Line(b"{", complete=False)
        await enter(line, seconds=0.05)
        return line

    line = asyncio.run(run())
    assert (line.status, line.problem["kind"]) == (408, "SlowError")


def test_a_slow_answer_is_stopped():
    stopped = threading.Event()

    async def sleep(scope, receive, send):
        try:
            await asyncio.sleep(10)
        finally:
            stopped.set()

    async def run():
        line = Line(b"{}")
        await enter(line, sleep, seconds=0.05)
        return line

    line = asyncio.run(run())
    assert (line.status, line.problem["kind"]) == (503, "TimeError")
    assert stopped.is_set()


@pytest.mark.parametrize("complete", [True, False])
def test_work_ends_if_the_client_hangs_up(complete):
    async def sleep(scope, receive, send):
        await asyncio.sleep(10)

    async def run():
        line = Line(b"{}", complete=complete)
        work = asyncio.ensure_future(enter(line, sleep))
        await asyncio.sleep(0.02)
        line.gone.set()
        await asyncio.wait_for(work, 2)
        return line

    assert asyncio.run(run()).sent == []


def test_a_client_that_does_not_read_takes_no_place():
    async def run():
        async def never_read(message):
            await asyncio.sleep(10)

        gate = Frame(Gate(read_all, Settings(requests=1), None))
        unread, line = Line(b"{}"), Line(b"{}")
        writing = asyncio.ensure_future(gate(unread.scope, unread.receive, never_read))
        await asyncio.sleep(0.02)
        await gate(line.scope, line.receive, line.send)
        writing.cancel()
        await asyncio.wait({writing})
        return line.status

    assert asyncio.run(run()) == 200


def test_more_requests_than_allowed_are_told_to_try_again():
    async def run():
        release = asyncio.Event()

        async def wait(scope, receive, send):
            await release.wait()
            await read_all(scope, receive, send)

        gate = Frame(Gate(wait, Settings(requests=2), None))
        lines = [Line(b"{}") for _ in range(3)]
        working = [asyncio.ensure_future(gate(line.scope, line.receive, line.send)) for line in lines]
        await asyncio.wait({working[2]})
        busy, health = lines[2], Line(b"{}")
        health.scope |= {"path": "/health", "method": "GET"}
        entered = asyncio.ensure_future(gate(health.scope, health.receive, health.send))
        await asyncio.sleep(0.01)
        release.set()
        await asyncio.gather(*working, entered)
        again = Line(b"{}")
        await gate(again.scope, again.receive, again.send)
        return busy, [line.status for line in (*lines, health, again)]

    busy, statuses = asyncio.run(run())
    assert statuses == [200, 200, 429, 200, 200]
    assert (b"retry-after", b"1") in busy.sent[0]["headers"]


SECRET = "Grzybowski"


@pytest.fixture
def log(caplog):
    with caplog.at_level(logging.DEBUG):
        yield caplog


def test_every_answer_has_an_id_and_security_headers(client):
    for answer in (client.get("/health"), client.get("/none"), client.post("/obfuscate", json={})):
        assert re.fullmatch("[0-9a-f]{16}", answer.headers["X-Request-ID"])
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert "access-control-allow-origin" not in answer.headers
    assert client.get("/none").json()["request_id"] != client.get("/none").json()["request_id"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("0123abcd-4567-89EF", True),
        ("0123abc", False),
        ("a" * 65, False),
        (SECRET, False),
        ("0123abcd\t4567", False),
    ],
)
def test_a_client_may_bring_an_id_that_spells_no_word(client, given, kept):
    answer = client.get("/health", headers={"X-Request-ID": given})
    assert (answer.headers["X-Request-ID"] == given) is kept


def test_a_line_in_the_log_has_the_route_and_no_more(client, log):
    client.post(
        f"/obfuscate?{SECRET}", json={"text": SECRET, "epsilon": 1, SECRET: 1}, headers={"X-Request-ID": SECRET}
    )
    client.get(f"/{SECRET}")
    client.request(SECRET.upper(), "/health")
    lines = [record.getMessage() for record in log.records if record.name == "textveil.service"]
    assert [re.sub(r"^\w{16} | \d+ ms$", "", line) for line in lines] == [
        "POST /obfuscate 422",
        "GET - 404",
        "- /health 405",
    ]
    ours = [record.getMessage() for record in log.records if not record.name.startswith("httpx")]
    assert SECRET.lower() not in "\n".join(ours).lower()


def test_a_bug_is_answered_and_logged_without_its_message(client, log, monkeypatch):
    def fail(*_):
        raise ValueError(f"cannot parse {SECRET}")

    monkeypatch.setattr("textveil.service.answers.Answer.__call__", fail)
    answer = client.post("/obfuscate", json={"text": SECRET, "epsilon": 1})
    assert answer.status_code == 500
    assert answer.json()["error"] == "This is a bug in textveil. The log has its place."
    assert "a ValueError in test_middleware.py, line " in log.text
    assert SECRET not in log.text + answer.text
