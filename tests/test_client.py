import httpx
import pytest

from textveil.client import Client
from textveil.errors import ParameterError, ServiceError

SECRET = "0123456789abcdef"


@pytest.fixture
def calls(monkeypatch):
    """Answers in place of a service, and what the client sent."""
    sent, answers = [], []

    def answer(request):
        sent.append((request.method, str(request.url), request.headers.get("authorization"), request.read().decode()))
        return answers.pop(0)

    build = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **options: build(transport=httpx.MockTransport(answer), **options))
    return sent, answers


def test_methods_have_the_names_of_the_obfuscator(calls):
    sent, answers = calls
    answers += [httpx.Response(200, json={"text": "beta"}), httpx.Response(200, json={"results": []})]
    with Client("http://host:1", token=SECRET, mechanism="fluent") as client:
        assert client.obfuscate("alpha", epsilon=3) == {"text": "beta"}
        assert client.obfuscate_all(iter(["a", None]), epsilon_per_word=3, mechanism="madlib") == {"results": []}
    assert sent == [
        ("POST", "http://host:1/obfuscate", f"Bearer {SECRET}", '{"text":"alpha","mechanism":"fluent","epsilon":3}'),
        (
            *("POST", "http://host:1/obfuscate", f"Bearer {SECRET}"),
            '{"texts":["a",null],"mechanism":"madlib","epsilon_per_word":3}',
        ),
    ]


def test_without_a_token_none_is_sent(calls):
    sent, answers = calls
    answers += [httpx.Response(200, json={})]
    Client().find_methods()
    assert sent == [("GET", "http://127.0.0.1:8000/methods", None, "")]


def test_errors_are_those_of_the_service(calls):
    _, answers = calls
    answers += [
        httpx.Response(422, json={"error": "`epsilon` is wrong.", "kind": "BudgetError"}),
        httpx.Response(429, json={"error": "Busy.", "kind": "Busy"}),
        httpx.Response(502, text="<html>"),
        httpx.Response(200, text="[]"),
    ]
    client = Client()
    with pytest.raises(ParameterError, match="`epsilon` is wrong."):
        client.obfuscate("a")
    with pytest.raises(ServiceError, match="Busy.") as caught:
        client.obfuscate("a")
    assert (caught.value.status, caught.value.kind) == (429, "Busy")
    for _ in range(2):
        with pytest.raises(ServiceError, match="not that of a textveil service"):
            client.obfuscate("a")


def test_a_service_that_cannot_be_reached():
    with Client("http://127.0.0.1:1") as client, pytest.raises(ServiceError, match="cannot be reached"):
        client.find_methods()
