import pytest

from textveil.service.app import build_app, explain_invalid, log_loose_error
from textveil.service.models import ObfuscateRequest
from textveil.service.settings import Settings

JSON = {"Content-Type": "application/json"}
SECRET = "Grzybowski"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"text": "Grzybowski', 400, "The body is not valid JSON."),
        (b"", 422, "The request must be a JSON object"),
        (b"[" * 50_000, 400, "The body is not JSON."),
        (b'{"epsilon": ' + b"9" * 5_000 + b"}", 400, "The body is not JSON."),
        (b'{"text": "\xff Grzybowski"}', 400, "The body is not JSON."),
        (b'["Grzybowski"]', 422, "The request must be a JSON object"),
        (b'"Grzybowski"', 422, "The request must be a JSON object"),
        (b'{"Grzybowski": 1}', 422, "The request has an unknown parameter. Choose from: bundle, "),
        (b'{"text": "a", "epsilom": 1}', 422, "The request has an unknown parameter. Did you mean 'epsilon'?"),
        (b'{"text": ["Grzybowski"]}', 422, "`text` must be a valid string."),
        (b'{"texts": ["a", {"Grzybowski": 1}]}', 422, "`texts`, item 1, must be a valid string."),
        (b'{"texts": "Grzybowski"}', 422, "`texts` must be a valid list."),
        (b'{"text": "a", "epsilon": "Grzybowski"}', 422, "`epsilon` must be a valid number"),
        (b'{"text": "a", "epsilon": 1, "alternatives": 99}', 422, "`alternatives` must be less than or equal to 20."),
        (b'{"text": "a", "epsilon": NaN}', 422, "`epsilon` must be positive and finite. Got nan instead."),
        (b'{"text": "a", "epsilon": 1e999}', 422, "`epsilon` must be positive and finite."),
        (b'{"text": "Grzybowski", "epsilon": 1, "level": "low"}', 422, "Set `level`, `epsilon` or `epsilon_per_word`"),
    ],
)
def test_a_wrong_body_is_explained_and_never_quoted(client, body, status, message):
    answer = client.post("/obfuscate", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"][: len(message)]) == (status, message)
    assert SECRET not in answer.text
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"profile": "`" + "x" * 90_000 + "`"},
        {"bundle": "x" * 90_000},
        {"identifiers": "x" * 90_000},
        {"mechanism_options": {"x" * 90_000: 1}},
        {"mechanism": "exponential", "mechanism_options": {"cap": "x" * 90_000}},
        {"epsilon": "x" * 90_000},
    ],
)
def test_an_error_quotes_little_and_still_names_the_next_step(client, wrong):
    answer = client.post("/obfuscate", json={"text": "a", **wrong})
    assert answer.status_code == 422
    assert len(answer.content) < 5_000
    assert "x" * 2_000 not in answer.text


def test_a_key_is_not_a_position(client):
    answer = client.post("/calibrate", json={"targets": {"9" * 90_000: "x"}})
    assert (answer.status_code, answer.json()["error"][:12]) == (422, "`targets` mu")


def test_an_error_names_its_parameters(client):
    answer = client.post("/obfuscate", json={"text": "a", "epsilon": 1, "epsilon_per_word": 1})
    assert answer.json()["kind"] == "BudgetError"
    assert answer.json()["parameters"] == ["epsilon", "epsilon_per_word"]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/none", 404), ("GET", "/obfuscate", 405), ("PUT", "/health", 405)]
)
def test_routes_that_do_not_exist(client, method, path, status):
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["kind"]) == (status, "RouteError")


def test_no_page_loads_scripts_of_other_hosts(client):
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_every_route_has_a_description_and_an_example(client):
    schema = client.get("/openapi.json").json()
    assert set(schema["paths"]) == {
        *("/health", "/methods", "/bundles", "/meaning"),
        *("/obfuscate", "/decompose", "/distribute", "/calibrate", "/audit"),
    }
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], path
            assert operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
            if method == "post":
                name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                assert schema["components"]["schemas"][name]["examples"], path


def test_files_of_the_page(tmp_path, monkeypatch, serving):
    (tmp_path / "index.html").write_text("<p>page</p>")
    (tmp_path / "page.css").write_text("p {}")
    (tmp_path.parent / "secret.txt").write_text("secret")
    monkeypatch.setattr("textveil.service.app.PAGE", tmp_path)
    with serving() as client:
        assert client.get("/").text == "<p>page</p>"
        assert client.get("/page/page.css").headers["Content-Type"].startswith("text/css")
        assert client.get("/page/none.css").status_code == 404
        assert client.get("/page/..%2Fsecret.txt").status_code == 404


def test_a_bad_token_is_found_before_the_start(tmp_path):
    with pytest.raises(Exception, match="cannot be read"):
        build_app(Settings(token_file=tmp_path / "none"))


def test_an_error_that_nobody_waits_for_is_logged_without_its_message(caplog):
    log_loose_error(None, {"exception": ValueError(SECRET), "message": SECRET})
    assert "ValueError in the event loop" in caplog.text
    assert SECRET not in caplog.text


def test_a_message_without_a_place():
    refused = explain_invalid({"type": "model_type", "loc": ["body"], "msg": "x"}, ObfuscateRequest)
    assert str(refused).startswith("The request must be a JSON object")
    assert refused.parameters == []
