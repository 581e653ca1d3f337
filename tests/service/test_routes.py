import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from textveil.certificate import Certificate
from textveil.errors import ResourceError
from textveil.obfuscator import Obfuscator
from textveil.service import models, routes
from textveil.service.models import RefusedError
from textveil.service.obfuscators import Obfuscators
from textveil.service.routes import Desk
from textveil.service.settings import Settings
from textveil.text.identifiers import Finder
from textveil.version import __version__


def obfuscate(client, **request):
    answer = client.post("/obfuscate", json={"mechanism": "exponential", **request})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_health(client):
    assert client.get("/health").json() == {"status": "ok", "version": __version__}


def test_a_text(client):
    answer = obfuscate(client, text="The good film.", epsilon=9)
    models.ObfuscateAnswer.model_validate(answer)
    assert answer["outcome"] in ("obfuscated", "returned")
    assert answer["text"].startswith("The ")
    assert answer["chunks"] is None
    certificate = Certificate.from_dict(answer["certificate"])
    assert certificate.terms.randomness == {"source": "os", "predictable": False}
    assert certificate.budget.epsilon == 9
    assert any(line.startswith("not protected") for line in answer["summary"])


def test_texts_stay_aligned(client):
    answer = obfuscate(client, texts=["alpha", None, "", "the", "beta"], epsilon_per_word=1, chunks=True)
    models.ObfuscateAllAnswer.model_validate(answer)
    outcomes = [result["outcome"] for result in answer["results"]]
    assert outcomes[1:4] == ["missing", "no_words", "only_stopwords"]
    assert [result["text"] for result in answer["results"]][1:4] == [None, "", "The."]
    assert answer["results"][1]["chunks"] is None
    assert [chunk["chunk"] for chunk in answer["results"][4]["chunks"]] == ["beta"]
    assert sum(Certificate.from_dict(answer["certificate"]).tally.documents.values()) == 5


def test_no_texts_are_no_results(client):
    assert obfuscate(client, texts=[], epsilon=1)["results"] == []


def test_the_certificate_can_be_left_out(client):
    assert obfuscate(client, text="alpha", epsilon=1, certificate=False)["certificate"] is None


def test_warnings_name_parameters(client):
    (warning,) = obfuscate(client, text="alpha beta", epsilon=2, largest_share=0.5)["warnings"]
    assert "`largest_share=inf`" in warning
    assert "--" not in warning


@pytest.mark.parametrize("mechanism", ["exponential", "fluent"])
def test_alternatives_have_probabilities(client, mechanism):
    answer = obfuscate(client, text="the good plot", epsilon=2, alternatives=3, mechanism=mechanism)
    kept, good, plot = answer["chunks"]
    assert kept["alternatives"] is kept["stays"] is None
    for chunk in (good, plot):
        probabilities = [each["probability"] for each in chunk["alternatives"]]
        assert len(probabilities) == 3
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < chunk["probability"] <= probabilities[0]
        assert 0 < chunk["stays"] <= probabilities[0]


@pytest.fixture(scope="module")
def redacting(serving):
    """A service that redacts identifiers unless a request says otherwise."""
    try:
        Finder()
    except ResourceError as error:
        pytest.skip(str(error))
    with serving(identifiers="redact", mechanism="exponential") as client:
        yield client


def test_identifiers_are_redacted(redacting):
    assert redacting.get("/methods").json()["defaults"]["identifiers"] == "redact"
    answer = obfuscate(redacting, text="Maria Smith liked the good plot.", epsilon=9, form="keep", alternatives=2)
    models.ObfuscateAnswer.model_validate(answer)
    assert answer["text"].startswith("<PERSON> ")
    redacted, *others = answer["chunks"]
    assert (redacted["chunk"], redacted["outcome"], redacted["alternatives"]) == ("Maria Smith", "redacted", None)
    assert [len(chunk["alternatives"]) for chunk in others if chunk["outcome"] != "kept_stopword"] == [2, 2, 2]
    assert answer["certificate"]["identifiers"]["found"] == {"PERSON": 1}


def test_a_request_chooses_what_becomes_of_identifiers(redacting):
    answer = obfuscate(redacting, texts=["Maria Smith left.", None], epsilon=9, identifiers="perturb")
    assert "<" not in answer["results"][0]["text"]
    assert answer["certificate"]["identifiers"]["treatment"] == "perturb"


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"identifiers": "redct"}, "Did you mean 'redact'"), ({"identifiers": "redact", "profile": "proven"}, "proven")],
)
def test_identifiers_that_cannot_be_treated_so(client, settings, message):
    answer = client.post("/obfuscate", json={"text": "Maria Smith", "epsilon": 1, **settings})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert "Maria" not in answer.text


@pytest.mark.parametrize("settings", [{"mechanism": "madlib"}, {"profile": "proven", "draft_share": 0.2}])
def test_without_a_closed_form_or_after_a_draft_there_are_none(client, settings):
    (chunk,) = obfuscate(client, text="alpha", epsilon=2, alternatives=3, **settings)["chunks"]
    assert chunk["alternatives"] is None
    assert (chunk["draft"] is not None) is ("draft_share" in settings)


def test_alternatives_of_too_many_chunks_are_refused(client, monkeypatch):
    monkeypatch.setattr("textveil.service.answers.MOST_EXPLAINED", 3)
    request = {"mechanism": "exponential", "epsilon": 1, "alternatives": 1}
    assert client.post("/obfuscate", json={"texts": ["alpha beta", "gamma"], **request}).status_code == 200
    answer = client.post("/obfuscate", json={"texts": ["alpha beta", "gamma eta"], **request})
    assert (answer.status_code, answer.json()["kind"]) == (413, "SizeError")


def test_levels(client):
    high, low = (
        obfuscate(client, text="alpha", level=level)["certificate"]["budget"]["epsilon_per_word"]
        for level in ("high", "low")
    )
    assert high < low


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"epsilon": 1}, "Set `text` or `texts`, and not both."),
        ({"epsilon": 1, "text": "a", "texts": []}, "Set `text` or `texts`, and not both."),
        ({"text": "a", "epsilon": -1}, "`epsilon` must be positive and finite. Got -1.0 instead. With this bundle, "),
        ({"text": "a", "level": "high", "epsilon": 1}, "Set `level`, `epsilon` or `epsilon_per_word`"),
        ({"text": "a", "level": "hihg"}, "There is no level 'hihg'. Did you mean 'high'?"),
        ({"text": "a", "epsilon": 1, "mechanism": "madlip"}, "There is no mechanism 'madlip'. Did you mean 'madlib'?"),
        ({"text": "a", "epsilon": 1, "mechanism": "vickrey"}, "The mechanism 'vickrey' has no guarantee."),
        ({"text": "a", "epsilon": 1, "profile": "stric"}, "There is no profile 'stric'. Did you mean 'strict'?"),
        ({"text": "a", "epsilon": 1, "bundle": "en"}, "There is no loaded bundle 'en'."),
        ({"text": "a", "epsilon": 1, "decomposition": "pmi"}, "The bundle 'tiny' has no "),
        ({"text": "a", "epsilon": 1, "mechanism_options": {"cup": 1}}, "There is no option of the mechanism"),
        ({"text": "a", "epsilon": 1, "largest_share": -1}, "`largest_share` must be a positive number."),
        ({"text": "a", "epsilon": 1, "seed": 1}, "A `seed` makes noise predictable, so this server refuses it."),
        ({"texts": ["?"], "epsilon_per_word": 1, "profile": "paper"}, "No text has a word"),
    ],
)
def test_a_wrong_parameter_has_the_message_of_the_library(client, request_, message):
    answer = client.post("/obfuscate", json=request_)
    assert (answer.status_code, answer.json()["error"][: len(message)]) == (422, message)


def test_too_many_texts(client):
    answer = client.post("/obfuscate", json={"texts": ["a"] * 51, "epsilon": 1})
    assert (answer.status_code, answer.json()["kind"]) == (413, "SizeError")
    assert "at most 50 in a request. Got 51." in answer.json()["error"]


def test_the_average_length_is_that_of_the_request(client):
    """No other request changes a budget, although texts are obfuscated together."""
    answer = obfuscate(client, texts=["alpha beta gamma", "delta"], epsilon_per_word=1, profile="paper")
    assert answer["certificate"]["budget"]["average_length"] == 2


def test_seeds_if_the_server_allows_them(serving, tiny_with_prior):
    with serving(allow_seeds=True) as client:
        answers = [client.post("/obfuscate", json={"text": "alpha beta", "epsilon": 4, "seed": 7}) for _ in range(2)]
        assert client.get("/methods").json()["seeds_allowed"] is True
        assert client.post("/obfuscate", json={"text": "a", "epsilon": 1, "seed": "x"}).status_code == 422
    expected = Obfuscator(tiny_with_prior, seed=7).obfuscate("alpha beta", epsilon=4)
    for answer in answers:
        assert answer.json()["text"] == expected.text
        assert answer.json()["certificate"]["randomness"] == {"source": "seeded", "predictable": True}


def test_decompose_and_distribute(client):
    answer = client.post("/decompose", json={"text": "good film", "decompositions": ["words"]}).json()
    assert [chunk["text"] for chunk in answer["decompositions"]["words"]] == ["good", "film"]
    answer = client.post("/distribute", json={"text": "the good film", "epsilon": 4}).json()
    assert [word["share"] for word in answer["distributions"]["uniform"]["words"]] == [0, 2, 2]
    wrong = client.post("/decompose", json={"text": "a", "decompositions": ["word"]})
    assert (wrong.status_code, wrong.json()["kind"]) == (422, "UnknownNameError")


def test_meaning(client):
    answer = client.get("/meaning", params={"mechanism": "exponential", "decomposition": "words"}).json()
    meaning = models.Meaning.model_validate(answer)
    assert (meaning.bundle, meaning.mechanism, meaning.method) == ("tiny", "exponential", "exact")
    assert len(meaning.points) == 12
    assert client.get("/meaning", params={"mechanism": "none"}).status_code == 422


def test_audit_and_calibrate(client):
    answer = client.post("/audit", json={"mechanism": "exponential", "epsilon_per_word": 1, "draws": 100}).json()
    assert (answer["violations"], answer["draws"]) == (0, 100)
    request = {"mechanism": "exponential", "mechanism_options": {"cap": 2}, "targets": {"log-ratio": 4}}
    assert client.post("/calibrate", json={**request, "largest_share": 2}).json()["epsilon_per_word"] == 2
    wrong = client.post("/calibrate", json={"targets": {"unchanged": 0.1}, "texts": ["a"] * 51})
    assert wrong.status_code == 413


def test_long_work_is_done_one_at_a_time_and_ends_with_its_request(tiny, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def audit(obfuscator, *, progress, **_):
        begun.set()
        try:
            while True:
                progress("auditing", 1, None)
        finally:
            ended.set()

    monkeypatch.setattr(routes, "audit_obfuscator", audit)

    async def run():
        desk = Desk(Settings(bundles=(str(tiny.folder),)))
        request = models.AuditRequest(epsilon=1.0)
        first = asyncio.ensure_future(desk.audit(request))
        await asyncio.to_thread(begun.wait, 10)
        with pytest.raises(RefusedError) as caught:
            await desk.audit(request)
        assert caught.value.status == 429
        first.cancel()
        await asyncio.to_thread(ended.wait, 10)

    asyncio.run(run())
    assert ended.is_set()


@pytest.fixture
def building(monkeypatch):
    """Settings with a cap are being built until the event is set."""
    built, build = threading.Event(), Obfuscators._build

    def build_late(pool, settings):
        if settings.mechanism_options:
            assert built.wait(30)
        return build(pool, settings)

    monkeypatch.setattr(Obfuscators, "_build", build_late)
    yield built
    built.set()


def test_loaded_models_answer_whatever_is_being_built(serving, building):
    """Forty requests with new options: some wait, the others are told to try again, and nobody else notices."""
    with serving(mechanism="exponential", requests=16) as client, ThreadPoolExecutor(40) as pool:

        def ask(cap):
            body = {"text": "alpha", "epsilon": 1, "mechanism_options": {"cap": cap}, "largest_share": 1}
            return client.post("/obfuscate", json=body)

        asked = [pool.submit(ask, 1 + number) for number in range(40)]
        deadline = time.monotonic() + 30
        while sum(each.done() for each in asked) < 36 and time.monotonic() < deadline:
            time.sleep(0.02)
        refused = [each.result() for each in asked if each.done()]
        assert [answer.status_code for answer in refused] == [429] * 36
        assert refused[0].json()["error"] == "The server is busy loading other settings. Try again later."
        for body in ({"text": "alpha"}, {"text": "alpha", "epsilon": 1}):
            assert client.post("/obfuscate", json=body).status_code == 200
        assert client.post("/decompose", json={"text": "a", "decompositions": ["words"]}).status_code == 200
        assert client.get("/methods").status_code == 200
        building.set()
        assert sorted(each.result().status_code for each in asked) == [200] * 4 + [429] * 36


def test_requests_for_the_same_meaning_wait_for_the_same_work(serving, monkeypatch):
    begun, calls = threading.Event(), []

    def describe(_):
        calls.append(1)
        begun.wait(30)
        return {"points": []}

    arrived, find = [], Desk.find

    async def count(desk, wanted):
        found = await find(desk, wanted)
        arrived.append(wanted)
        return found

    monkeypatch.setattr("textveil.service.routes.describe_meaning", describe)
    monkeypatch.setattr(Desk, "find", count)
    with serving() as client, ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(client.get, "/meaning", params={"mechanism": "exponential"}) for _ in range(3)]
        deadline = time.monotonic() + 20
        while len(arrived) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        begun.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert len(calls) == 1


def test_a_text_with_too_many_words_is_refused(serving):
    with serving(words=3) as client:
        refused = client.post("/obfuscate", json={"texts": ["alpha beta", "one two three four"], "epsilon": 1})
        assert (refused.status_code, refused.json()["error"]) == (413, "A text is too long: at most 3 words. Split it.")
        assert client.post("/obfuscate", json={"text": "alpha beta gamma", "epsilon": 1}).status_code == 200
        assert client.post("/decompose", json={"text": "one two three four"}).status_code == 413


def test_the_meaning_is_that_of_the_profile(client):
    answers = {name: client.get("/meaning", params={"profile": name}).json() for name in ("strict", "paper", "proven")}
    assert [answer["mechanism"] for answer in answers.values()] == ["fluent", "madlib", "fluent"]
    assert answers["strict"]["points"] != answers["proven"]["points"]  # stopwords are replaced, too
