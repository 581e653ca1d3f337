import pytest
from pydantic import BaseModel, ValidationError

from textveil.service import models
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
