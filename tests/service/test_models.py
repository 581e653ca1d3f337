import pytest
from pydantic import BaseModel, ValidationError

from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.profiles import PROFILES
from textveil.service import models
from textveil.service.catalog import BundlesAnswer, MethodsAnswer
from textveil.service.models import Budgeted, ObfuscateRequest
from textveil.settings import NAMES


def list_examples():
    for name, model in vars(models).items():
        if isinstance(model, type) and issubclass(model, BaseModel):
            for number, example in enumerate((model.model_config.get("json_schema_extra") or {}).get("examples", ())):
                yield pytest.param(model, example, id=f"{name}-{number}")


@pytest.mark.parametrize(("model", "example"), list(list_examples()))
def test_examples_are_valid(model, example):
    model.model_validate(example)


def test_every_post_route_has_an_example():
    with_examples = {parameters.values[0].__name__ for parameters in list_examples()}
    assert with_examples >= {
        f"{name}Request" for name in ("Obfuscate", "Decompose", "Distribute", "Calibrate", "Audit")
    }


def test_a_request_has_every_setting_but_the_ledger():
    fields = set(ObfuscateRequest.model_fields)
    assert set(NAMES) - fields == {"ledger"}
    assert all(field.description for field in Budgeted.model_fields.values())


@pytest.mark.parametrize("wrong", [{"unknown": 1}, {"alternatives": 21}, {"alternatives": -1}, {"texts": [1]}])
def test_wrong_forms(wrong):
    with pytest.raises(ValidationError):
        ObfuscateRequest(**wrong)


def test_a_largest_share_can_be_lifted_in_json():
    assert ObfuscateRequest.model_validate_json('{"largest_share": "inf"}').largest_share == float("inf")


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
