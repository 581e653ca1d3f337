import json
import shutil

import pytest

from textveil.errors import ParameterError, ResourceError
from textveil.models.files import ModelFiles, choose_device, count_threads, reading_model


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_a_resource_can_have_its_hugging_face_name(name, minilm):
    found = ModelFiles.find(name)
    assert (found.name, found.folder) == ("all-minilm-l6-v2", minilm)


def test_the_hash_distinguishes_models(minilm, tmp_path):
    copy = shutil.copytree(minilm, tmp_path / "copy")
    same = ModelFiles.find(copy)
    sha256 = ModelFiles.find("all-minilm-l6-v2").sha256
    assert len(sha256) == 64
    assert same.as_dict() == {"name": "copy", "sha256": sha256}
    assert same.description == f"copy {sha256[:12]}"
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-5}))
    assert ModelFiles.find(copy).sha256 != same.sha256


def test_a_model_in_the_cache_of_hugging_face(minilm, tmp_path, monkeypatch):
    model = tmp_path / "models--some--encoder"
    shutil.copytree(minilm, model / "snapshots" / "abc")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    found = ModelFiles.find("some/encoder")
    assert (found.name, found.folder) == ("some/encoder", model / "snapshots" / "abc")
    with pytest.raises(ResourceError, match="hf download some/other"):
        ModelFiles.find("some/other")


def test_a_resource_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("textveil.resources.lookup._candidates", lambda resource: iter(()))
    with pytest.raises(ResourceError, match="textveil resources install bert-base-uncased"):
        ModelFiles.find("bert-base-uncased")


@pytest.mark.parametrize("name", ["no-such-encoder", "a/b/c", "../nowhere"])
def test_an_unknown_model(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ResourceError, match="There is no model|is not on this machine"):
        ModelFiles.find(name)


def test_an_error_names_the_kind_of_model(tmp_path):
    with (
        pytest.raises(ResourceError, match="no readable language model .ValueError: first line"),
        reading_model(ModelFiles.find(tmp_path), "language model"),
    ):
        raise ValueError("first line\nsecond line")


def test_an_unknown_device():
    with pytest.raises(ParameterError, match="no device 'nowhere'"):
        choose_device("nowhere")


def test_a_device_with_threads():
    assert (choose_device("cpu:2"), count_threads("cpu:2")) == ("cpu", 2)
    assert count_threads(None) == count_threads("cpu") >= 1
