import json
from importlib.metadata import PackageNotFoundError

import pytest

from textveil.errors import InputError, MissingExtraError, ParameterError, ResourceError, UnknownNameError
from textveil.evaluation import METRICS, Dataset, Evaluator, Metric
from textveil.evaluation.base import Need

CHEAP = ["attribute", "downstream", "clear_text", "inversion"]


class Counting(Metric):
    """Counts the words of obfuscated texts."""

    name = "counting"
    needs = (Need.LABEL,)

    def measure(self, case):
        count = sum(len(text.split()) for text in case.obfuscated)
        return self.say(f"{count} words.", {"words": float(count)})


def test_what_is_asked_for_is_measured(dataset, obfuscations, certificate):
    evaluator = Evaluator(dataset, [*CHEAP, Counting()])
    texts = [result.text for result in obfuscations]
    found = evaluator.measure(texts, certificate=certificate, obfuscations=obfuscations)
    assert list(found.measurements) == [*CHEAP, "counting"]
    assert found.not_measured == {}
    assert (found.texts, found.left_out, found.empty) == (60, 0, 0)
    assert found.value("counting", "words") == sum(len(text.split()) for text in texts)
    assert found.value("similarity", "cosine") is None
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["metrics"]["counting"]["line"].endswith("words.")


def test_by_default_all_that_can_be_measured_is_and_the_rest_is_said(rows, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SMOLLM2", str(tmp_path))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_ALL_MINILM_L6_V2", str(tmp_path))
    found = Evaluator(Dataset(rows[0], label=rows[1])).measure(rows[0])
    assert list(found.measurements) == ["downstream"]
    assert {*found.measurements, *found.not_measured} == set(METRICS)
    assert "TEXTVEIL_RESOURCE_SPACY_EN" in found.not_measured["identifiers"]
    assert "--attribute COLUMN" in found.not_measured["attribute"]
    assert "--certificate FILE" in found.not_measured["inversion"]
    assert "identifiers and attribute and similarity" in found.not_measured["trade_off"]


def test_what_is_asked_for_and_cannot_be_measured_is_an_error(rows, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path))
    dataset = Dataset(rows[0])
    with pytest.raises(ResourceError, match="SPACY_EN"):
        Evaluator(dataset, ["identifiers"])
    with pytest.raises(ParameterError, match="'attribute' cannot be measured. It needs .*--attribute"):
        Evaluator(dataset, ["attribute"]).measure(rows[0])
    with pytest.raises(ResourceError, match="no model 'nowhere'"):  # an option asks for it, too
        Evaluator(dataset, options={"similarity": {"models": ["nowhere"]}})
    with pytest.raises(UnknownNameError, match="Did you mean 'identifiers'"):
        Evaluator(dataset, ["identifier"])
    with pytest.raises(ParameterError, match="options for similarity"):
        Evaluator(dataset, ["downstream"], {"similarity": {}})


def test_a_package_that_is_not_installed(rows, monkeypatch):
    def version(package):
        if package == "presidio-analyzer":
            raise PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr("textveil.extras.metadata.version", version)
    with pytest.raises(MissingExtraError, match=r"'presidio-analyzer'.*textveil\[evaluate\]"):
        Evaluator(Dataset(rows[0]), ["identifiers"])
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SMOLLM2", "/nowhere")
    monkeypatch.setenv("TEXTVEIL_RESOURCE_ALL_MINILM_L6_V2", "/nowhere")
    assert "textveil[evaluate]" in Evaluator(Dataset(rows[0])).measure(rows[0]).not_measured["identifiers"]


def test_rows_without_words_are_left_out_of_chunks_too(obfuscations, rows):
    texts, labels, authors = rows
    dataset = Dataset(["", *texts, None], label=["x", *labels, None], attribute=["x", *authors, None])
    results = [obfuscations[0], *obfuscations, obfuscations[0]]
    evaluator = Evaluator(dataset, ["inversion"])
    found = evaluator.measure(["a", *[""] * 59, "word", "b"], obfuscations=results)
    assert (found.texts, found.left_out, found.empty) == (60, 2, 59)
    alone = Evaluator(Dataset(texts), ["inversion"]).measure(texts, obfuscations=obfuscations)
    assert found.measurements["inversion"].values == alone.measurements["inversion"].values


def test_other_numbers_of_texts(dataset, obfuscations):
    with pytest.raises(InputError, match="60 originals and 59 obfuscated"):
        Evaluator(dataset, [Counting()]).measure([""] * 59)
    with pytest.raises(ParameterError, match="60 texts, and 59 obfuscations"):
        Evaluator(dataset, [Counting()]).measure([""] * 60, obfuscations=obfuscations[1:])
