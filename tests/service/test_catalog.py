from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.profiles import PROFILES
from textveil.service.catalog import BundlesAnswer, MethodsAnswer


def test_methods_have_their_options_and_the_server_its_defaults(client):
    answer = client.get("/methods").json()
    MethodsAnswer.model_validate(answer)
    for axis, registry in (
        ("decompositions", DECOMPOSERS),
        ("distributions", DISTRIBUTORS),
        ("mechanisms", MECHANISMS),
    ):
        assert [method["name"] for method in answer[axis]] == list(registry)
        assert all(method["description"] for method in answer[axis])
    (exponential,) = [method for method in answer["mechanisms"] if method["name"] == "exponential"]
    assert exponential["closed_form"] is True
    assert [option["name"] for option in exponential["options"]] == ["dimensions", "cap"]
    assert exponential["options"][1] | {"help": ""} == {
        "name": "cap",
        "type": "float",
        "default": None,
        "help": "",
        "choices": [],
        "least": 0.0,
        "most": 1e12,
    }
    assert answer["defaults"]["mechanism"] is None  # the library chooses
    assert [profile["forms"][0] for profile in answer["profiles"]] == [each.forms[0] for each in PROFILES.values()]
    assert answer["limits"]["texts"] == 50
    assert answer["seeds_allowed"] is False
    assert [level["name"] for level in answer["levels"]] == ["high", "medium", "low"]
    assert all(level["description"].endswith(".") for level in answer["levels"])
    assert answer["defaults"]["level"] == "medium"


def test_what_a_request_may_not_choose_is_not_listed(client):
    (attention,) = [each for each in client.get("/methods").json()["distributions"] if each["name"] == "attention"]
    assert attention["options"] == []
    assert attention["loaded"] is False


def test_bundles(client, tiny_with_prior):
    answer = client.get("/bundles").json()
    BundlesAnswer.model_validate(answer)
    (bundle,) = answer["bundles"]
    assert (bundle["name"], bundle["sha256"]) == ("tiny", tiny_with_prior.hash)
    assert bundle["priors"] == bundle["decompositions"] == ["words"]
