"""Presets: study files to start from."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from textveil.budget import LEVELS
from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.study.study import list_presets, load_study, read_preset, write_preset
from textveil.models.encoders import PAPER_ENCODER


@pytest.mark.parametrize("name", list_presets())
def test_every_preset_is_a_study_with_comments(name, tmp_path):
    write_preset(name, tmp_path / "study.yaml")
    study = load_study(tmp_path / "study.yaml").study
    assert study.name == name
    assert {"identifiers", "attribute", "downstream", "similarity", "perplexity", "trade_off"} <= set(study.metrics)
    assert read_preset(name).count("#") > 5


@pytest.mark.parametrize("name", list_presets())
def test_a_level_of_a_preset_means_what_its_name_means_elsewhere(name):
    levels = yaml.safe_load(read_preset(name))["levels"]
    named = {level: found for level, found in levels.items() if level in LEVELS}
    assert named == {level: {"unchanged": LEVELS[level]} for level in named}


def test_the_paper_s_study(tmp_path):
    write_preset("paper", tmp_path / "study.yaml")
    study = load_study(tmp_path / "study.yaml").study
    assert study.size == 180
    assert (study.seed, study.seeds, study.profiles) == (42, (42, 43, 44), ("paper",))
    assert list(study.levels.values()) == [0.1, 1, 5]
    trustpilot, yelp = study.datasets["trustpilot"], study.datasets["yelp"]
    assert (trustpilot.where, trustpilot.attribute.column) == ({"language": "en-US"}, "gender")
    assert (yelp.attribute.column, yelp.attribute.most_frequent) == ("author", 10)
    for source in (trustpilot, yelp):
        stars = ["1", "2", "3", "4", "5"]
        assert source.label.classify(stars) == ["negative", "negative", None, "positive", "positive"]
        assert (source.sample.size, source.first_words) == (10_000, None)
    assert study.distributions["attention"]["model"] == study.distributions["gradients"]["model"] == PAPER_ENCODER
    assert study.metrics["similarity"]["models"] == ["all-minilm-l6-v2", "all-mpnet-base-v2", "gte-small"]
    assert study.metrics["similarity"]["truncate"] is True
    assert study.metrics["identifiers"] == {"kinds": "paper", "average": "pairs"}
    assert study.metrics["perplexity"] == {"model": "gpt2", "start_token": True}
    for metric in ("attribute", "downstream"):
        assert study.metrics[metric] == {
            "classifier": "transformer",
            "classifier_options": {"model": "deberta-v3-base"},
            "split": "fixed",
        }


def test_a_preset_in_miniature_and_with_fewer_texts(tmp_path):
    write_preset("paper", tmp_path / "study.yaml", scale=0.01, samples={"trustpilot": 4000, "yelp": 20_000})
    study = load_study(tmp_path / "study.yaml").study
    assert (study.datasets["trustpilot"].sample.size, study.datasets["yelp"].sample.size) == (40, 100)
    assert "# The study of the paper" in (tmp_path / "study.yaml").read_text()
    for wrong in (0, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="`scale` must be greater than 0 and at most 1"):
            write_preset("paper", tmp_path / "study.yaml", scale=wrong)


def test_all_models_of_the_paper_s_preset_are_in_one_place():
    values = yaml.safe_load(read_preset("paper"))
    assert set(values["models"]) == {"attention", "gradients", "keybert", "transformer", "similarity", "perplexity"}
    others = {key: value for key, value in values.items() if key != "models"}
    named = {name for names in values["models"].values() for name in ([names] if isinstance(names, str) else names)}
    assert not [name for name in named if name in yaml.safe_dump(others)]


def test_an_unknown_preset_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'paper'"):
        read_preset("papers")


def test_our_own_study_is_one():
    path = Path(__file__).parents[2] / "docs/study/study.yaml"
    assert load_study(path).study.size == 360
