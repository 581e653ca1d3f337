import logging
import re

import pytest

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
    assert "a ValueError in test_frame.py, line " in log.text
    assert SECRET not in log.text + answer.text
