"""The models of a study, and those that are missing."""

from __future__ import annotations

import pytest

from textveil.errors import ResourceError
from textveil.lab.study.experiment import describe_missing, find_missing, list_models
from textveil.lab.study.study import load_study, write_preset


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """The study of the paper on a machine without any resource."""
    for variable in ("TEXTVEIL_RESOURCES", "HF_HUB_CACHE", "NLTK_DATA"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "none"))
    monkeypatch.setattr("textveil.resources.lookup.importlib.util.find_spec", lambda _: None)
    write_preset("paper", tmp_path / "paper.yaml")
    return load_study(tmp_path / "paper.yaml").study


def test_all_models_of_the_paper(paper):
    assert set(list_models(paper)) == {
        ("attention", "bert-base-uncased"), ("gradients", "bert-base-uncased"), ("keybert", "all-minilm-l6-v2"),
        ("ic", "wordnet"), ("ic", "wordnet-ic"), ("identifiers", "spacy-en"), ("perplexity", "gpt2"),
        ("similarity", "all-minilm-l6-v2"), ("similarity", "all-mpnet-base-v2"), ("similarity", "gte-small"),
        ("attribute", "deberta-v3-base"), ("downstream", "deberta-v3-base"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "models"),
    [
        ({"attackers": ["words", "shape"]}, set()),
        ({"attackers": ["encoder"]}, {("linkage", "all-minilm-l6-v2")}),
        ({"attackers": ["encoder"], "model": "gte-small"}, {("linkage", "gte-small")}),
        ({}, {("linkage", "all-minilm-l6-v2")}),
    ],
)
def test_linkage_needs_an_encoder_only_for_the_attacker_that_uses_it(make_study, options, models):
    study = make_study(metrics={"linkage": options, "stylometry": {}}).study
    assert {(name, model) for name, model in list_models(study) if name in ("linkage", "stylometry")} == models


def test_everything_that_is_missing_is_named_at_once(paper):
    missing = find_missing(paper)
    assert missing["bert-base-uncased"] == ["attention", "gradients"]
    assert missing["deberta-v3-base"] == ["attribute", "downstream"]
    said = describe_missing(missing)
    assert "bert-base-uncased (attention, gradients), " in said
    command = said.partition("Get them with: textveil resources install ")[2].split()
    assert set(command) == set(missing)


def test_models_of_hugging_face_and_wrong_names():
    said = describe_missing(
        {"microsoft/deberta-v3-small": ["attribute"], "gpt2": ["perplexity"], "gpt3": ["perplexity"]}
    )
    assert said.endswith("Get them with: textveil resources install gpt2; hf download microsoft/deberta-v3-small")
    assert "There is no model 'gpt3'. A model is a resource, a folder, or OWNER/NAME" in said


def test_a_run_names_all_of_them_before_anything_is_written(make_study, local):
    metrics = {"perplexity": {"model": "owner/one"}, "similarity": {"models": ["owner/two", "owner/three"]}}
    experiment = make_study(metrics=metrics)
    with pytest.raises(ResourceError, match="hf download owner/one; hf download owner/two; hf download owner/three"):
        experiment.run(local)
    assert not experiment.store.folder.exists()
    assert find_missing(make_study().study) == {}
