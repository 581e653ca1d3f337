from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from tests.adapters.conftest import TEXTS
from textveil import Certificate, Obfuscator
from textveil.adapters import spacy as _  # noqa: F401 # it registers the component
from textveil.errors import BudgetError, ParameterError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def make_pipeline(settings):
    def make(**config) -> spacy.Language:
        nlp = spacy.blank("en")
        own = {**settings, **config.pop("settings", {})}
        nlp.add_pipe("textveil", config={"epsilon": 20, **config, "settings": own})
        return nlp

    return make


def test_a_doc_gets_the_result_and_keeps_its_text(make_pipeline, settings):
    doc = make_pipeline(settings={"seed": 7})("good story, bad plot")
    expected = Obfuscator(**settings, seed=7).obfuscate("good story, bad plot", epsilon=20)
    assert doc.text == "good story, bad plot"
    assert doc._.textveil == expected.as_dict()
    assert Certificate.from_dict(doc._.textveil["certificate"]).budget.epsilon == 20


def test_a_stream_gets_the_same_results_as_single_docs(make_pipeline):
    alone = make_pipeline(settings={"seed": 7})
    together = make_pipeline(settings={"seed": 7}).pipe(iter(TEXTS), batch_size=2)
    assert [doc._.textveil for doc in together] == [alone(text)._.textveil for text in TEXTS]


def test_results_are_saved_with_the_docs(make_pipeline):
    nlp = make_pipeline()
    docs = list(nlp.pipe(TEXTS))
    saved = DocBin(store_user_data=True, docs=docs).to_bytes()
    loaded = list(DocBin().from_bytes(saved).get_docs(nlp.vocab))
    assert json.dumps([doc._.textveil for doc in loaded]) == json.dumps([doc._.textveil for doc in docs])


def test_several_processes_draw_noise_of_their_own(make_pipeline):
    docs = list(make_pipeline().pipe(TEXTS, n_process=2, batch_size=2))
    assert [doc._.textveil["outcome"] for doc in docs][-2:] == ["only_stopwords", "no_words"]


def test_a_pipeline_is_saved_with_its_settings(make_pipeline, tmp_path):
    make_pipeline(level=None, epsilon=3.0).to_disk(tmp_path / "pipeline")
    doc = spacy.load(tmp_path / "pipeline")("good plot")
    assert doc._.textveil["certificate"]["budget"]["epsilon"] == 3


def test_the_default_is_that_of_an_obfuscator(make_pipeline):
    nlp = make_pipeline(epsilon=None)
    given = nlp("good plot")._.textveil["certificate"]["budget"]
    assert given["epsilon"] is None
    assert given["epsilon_per_word"] > 0


def test_wrong_settings_are_found_when_the_component_is_added(make_pipeline):
    with pytest.raises(ParameterError, match="no argument 'sed'"):
        make_pipeline(settings={"sed": 1})
    with pytest.raises(BudgetError, match="needs all texts at once"):
        make_pipeline(epsilon=None, epsilon_per_word=1, length="average")


def test_spacy_finds_the_factory_of_an_installed_package(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (named,) = project["entry-points"]["spacy_factories"].items()
    information = tmp_path / "installed-1.dist-info"  # what pip would write
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: installed\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[spacy_factories]\n{named[0]} = {named[1]}\n")
    code = (
        "import sys; sys.modules['torch'] = None;"  # spaCy would load it for models, and there is none here
        "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('textveil'); print(nlp('of the')._.textveil['outcome'])"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "only_stopwords\n"
