from pathlib import Path

import pytest

from tests.resources.conftest import CONTENT, write_files
from textveil.errors import ResourceError, UnknownNameError
from textveil.resources import RESOURCES, find, locate, own_folder


def fill(folder, name):
    """Put empty files where those of a resource should be."""
    return write_files(folder, dict.fromkeys(RESOURCES[name].files, b""))


def test_a_missing_resource_names_the_command_that_installs_it():
    assert locate("wordnet") is None
    with pytest.raises(ResourceError) as caught:
        find("wordnet")
    assert str(caught.value) == (
        "The resource 'wordnet' is not installed. Install it with: textveil resources install wordnet"
    )
    with pytest.raises(UnknownNameError):
        find("wordnett")


def test_the_variable_comes_first(tmp_path, monkeypatch):
    fill(own_folder() / "wordnet", "wordnet")
    mine = fill(tmp_path / "mine", "wordnet")
    monkeypatch.setenv("TEXTVEIL_RESOURCE_WORDNET", str(mine))
    assert find("wordnet") == mine


@pytest.mark.parametrize("exists", [False, True])
def test_a_wrong_variable_is_an_error(tmp_path, monkeypatch, exists):
    fill(own_folder() / "wordnet", "wordnet")
    if exists:
        (tmp_path / "mine").mkdir()
    monkeypatch.setenv("TEXTVEIL_RESOURCE_WORDNET", str(tmp_path / "mine"))
    with pytest.raises(ResourceError, match="TEXTVEIL_RESOURCE_WORDNET.*lacks 'adj.exc' and 14 more.*unset it"):
        find("wordnet")


def test_textveils_own_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("TEXTVEIL_RESOURCES")
    assert own_folder() == Path.home() / ".local/share/textveil/resources"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert own_folder() == tmp_path / "data/textveil/resources"
    fill(own_folder() / "wordnet", "wordnet")
    assert locate("wordnet").place == "textveil's folder"


def test_resources_beside_the_environment_are_found_but_not_installed_there_by_default(tmp_path, monkeypatch):
    users = fill(own_folder() / "wordnet", "wordnet")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "environment"))
    assert find("wordnet") == users
    beside = fill(tmp_path / "environment/resources/wordnet", "wordnet")
    assert find("wordnet") == users  # the variable comes first
    monkeypatch.delenv("TEXTVEIL_RESOURCES")
    fill(own_folder() / "wordnet", "wordnet")
    assert find("wordnet") == beside
    assert locate("wordnet").place == "beside the environment"
    assert own_folder() == Path.home() / ".local/share/textveil/resources"


def test_nltk_data(tmp_path, monkeypatch):
    home = fill(Path.home() / "nltk_data/corpora/wordnet", "wordnet")
    assert find("wordnet") == home
    named = fill(tmp_path / "nltk/corpora/wordnet", "wordnet")
    monkeypatch.setenv("NLTK_DATA", f"{tmp_path / 'nowhere'}:{tmp_path / 'nltk'}")
    assert find("wordnet") == named
    assert locate("wordnet").place == "NLTK data"


@pytest.mark.parametrize(
    ("variable", "below"),
    [(None, ".cache/huggingface/hub"), ("HF_HOME", "hub"), ("HF_HUB_CACHE", ""), ("XDG_CACHE_HOME", "huggingface/hub")],
)
def test_the_cache_of_hugging_face(tmp_path, monkeypatch, variable, below):
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    cache = (Path.home() if variable is None else tmp_path / "cache") / below
    model = cache / "models--openai-community--gpt2"
    older = fill(model / "snapshots" / "aaa", "gpt2")
    assert find("gpt2") == older
    newer = fill(model / "snapshots" / "bbb", "gpt2")
    write_files(model, {"refs/main": b"bbb"})
    assert find("gpt2") == newer
    assert locate("gpt2").place == "Hugging Face cache"


def test_a_snapshot_without_weights_is_skipped(monkeypatch):
    model = Path.home() / ".cache/huggingface/hub/models--gpt2"
    write_files(model, {"refs/main": b"bbb", "snapshots/bbb/config.json": b"{}"})
    with pytest.raises(ResourceError, match="Hugging Face cache. is broken: it lacks 'model.safetensors' and 1 more"):
        find("gpt2")
    whole = fill(model / "snapshots" / "aaa", "gpt2")
    assert find("gpt2") == whole


def test_an_installed_package_of_spacy(tmp_path, monkeypatch):
    package = tmp_path / "site" / "en_core_web_sm"
    write_files(package, {"__init__.py": b"raise RuntimeError('imported')"})
    model = fill(package / "en_core_web_sm-3.8.0", "spacy-en")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find("spacy-en") == model
    assert locate("spacy-en").place == "Python package en_core_web_sm"


def test_a_broken_wordnet_folder(tmp_path):
    folder = fill(own_folder() / "wordnet", "wordnet")
    (folder / "data.noun").unlink()
    assert locate("wordnet").missing == ("data.noun",)
    with pytest.raises(
        ResourceError, match="broken: it lacks 'data.noun'. Install .*: textveil resources install wordnet"
    ):
        find("wordnet")
    whole = fill(Path.home() / "nltk_data/corpora/wordnet", "wordnet")
    assert find("wordnet") == whole


def test_a_folder_where_a_file_should_be(tiny):
    folder = write_files(own_folder() / "tiny", {"tables/ic.dat": CONTENT["tables/ic.dat"]})
    (folder / "data.noun").mkdir()
    assert locate("tiny").missing == ("data.noun",)
