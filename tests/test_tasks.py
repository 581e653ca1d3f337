"""The lab from the root of the package: what each of its six functions returns, and what it refuses."""

import json
import math
import random

import pytest
import yaml

import textveil
from textveil.errors import InputError, OutputExistsError, ParameterError, UnknownNameError
from textveil.lab.corpus.settings import Selection, Thresholds, Training, VectorOptions

TEXTS = [f"the {word} film was good, beta {word} and {number}" for number, word in enumerate(["alpha", "gamma"] * 12)]
LABELS = [("alpha", "gamma")[number % 2] for number in range(len(TEXTS))]


@pytest.fixture(scope="module")
def results(tiny):
    return textveil.Obfuscator(tiny, seed=1)(TEXTS, epsilon=6)


@pytest.fixture(scope="module")
def obfuscated(results):
    return [result.text for result in results]


def test_evaluate_measures_obfuscated_texts(obfuscated):
    stages = []
    found = textveil.evaluate(TEXTS, obfuscated, metrics=["overlap"], progress=lambda stage, *_: stages.append(stage))
    assert 0 < found.value("overlap", "unchanged") < 1
    assert stages
    same = textveil.evaluate(TEXTS, TEXTS, metrics=["overlap"])
    assert same.value("overlap", "unchanged") == 1
    json.dumps(found.as_dict(), allow_nan=False)


def test_evaluate_uses_labels_attributes_and_a_certificate(results, obfuscated, tmp_path):
    results[0].certificate.write(tmp_path / "certificate.json")
    given = {"label": LABELS, "attribute": LABELS, "metrics": ["overlap", "attribute"]}
    found = textveil.evaluate(TEXTS, obfuscated, **given, certificate=tmp_path / "certificate.json")
    assert set(found.measurements) == {"overlap", "attribute"}
    with pytest.raises(ParameterError, match="label"):
        textveil.evaluate(TEXTS, obfuscated, label=LABELS[1:], metrics=["downstream"])
    with pytest.raises(UnknownNameError, match="Did you mean 'overlap'"):
        textveil.evaluate(TEXTS, obfuscated, metrics=["overlaps"])


def test_compare_measures_several_obfuscations_as_evaluate_does(obfuscated):
    other = [text.replace("alpha", "omega") for text in TEXTS]
    found = textveil.compare(TEXTS, {"textveil": obfuscated, "other": other}, metrics=["overlap"])
    assert [contender.name for contender in found.contenders] == ["textveil", "other"]
    alone = textveil.evaluate(TEXTS, obfuscated, metrics=["overlap"])
    assert found.contenders[0].evaluation.as_dict() == alone.as_dict()
    with pytest.raises(InputError, match="without any change"):
        textveil.compare(TEXTS, {"nothing": TEXTS}, metrics=["overlap"])


def test_calibrate_finds_an_epsilon_whose_calibration_survives_its_file(tiny, tmp_path):
    capped = {"mechanism": "exponential", "mechanism_options": {"cap": 2.0}, "largest_share": 3.0}
    found = textveil.calibrate({"log-ratio": 6.0}, bundle=tiny, **capped)
    assert found.largest_share == 3.0  # a word has at most share * cap
    found.write(tmp_path / "calibration.json")
    assert type(found).load(tmp_path / "calibration.json") == found
    with pytest.raises(UnknownNameError, match="safety"):
        textveil.calibrate({"safety": 0.5}, bundle=tiny)
    with pytest.raises(ParameterError, match="largest_share"):
        textveil.calibrate({"log-ratio": 6.0}, bundle=tiny, **{**capped, "largest_share": math.inf})


def test_calibrate_measures_the_given_texts(tiny):
    found = textveil.calibrate({"unchanged": 0.7}, TEXTS, bundle=tiny, seed=1, largest_share=math.inf)
    assert found.sample.data_dependent
    assert found.point.readings["unchanged"].bound <= 0.7


def test_audit_does_not_refute_what_certificates_claim(tiny):
    found = textveil.audit(draws=400, bundle=tiny, mechanism="exponential", mechanism_options={"cap": 1.0}, epsilon=2)
    assert found.findings
    assert found.violations == []
    assert found.draws == 400
    with pytest.raises(ParameterError, match="draws"):
        textveil.audit(draws=0, bundle=tiny, epsilon=2)


def test_prepare_builds_a_bundle_that_obfuscates(tmp_path):
    phrases = ["new york", "green tea", "good film", "the plot", "was bad"]
    generator = random.Random(2)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(generator.choices(phrases, k=8)) + "." for _ in range(200)), encoding="utf-8")
    options = {
        "thresholds": Thresholds(min_count=3, top_share=0.5),
        "selection": Selection(min_entry_count=2),
        "vectors": VectorOptions(training=Training(dimensions=8, epochs=1)),
        "decompositions": ("words",),
    }
    bundle = textveil.prepare(corpus, tmp_path / "mine", executor="local", **options)
    assert (bundle.manifest.name, bundle.decompositions) == ("mine", ("words",))
    assert textveil.Bundle.load(tmp_path / "mine").hash == bundle.hash
    assert textveil.obfuscate("Green tea!", bundle=tmp_path / "mine", epsilon=5, seed=1).text
    with pytest.raises(OutputExistsError):
        textveil.prepare(corpus, tmp_path / "mine", executor="local", **options)


def test_run_study_runs_what_is_left(tiny, tmp_path):
    rows = [json.dumps({"text": text, "word": label}) for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    study = {
        "name": "tiny",
        "seed": 5,
        "draws": 1,
        "bundle": str(tiny.folder),
        "datasets": {"films": {"path": "rows.jsonl", "label": "word"}},
        "levels": {"high": 1, "low": 20},
        "decompositions": ["words"],
        "distributions": ["uniform"],
        "metrics": {"overlap": {}},
        "seeds": [42],
    }
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    states = textveil.run_study(path, executor="local")
    assert len(states) == 2
    results = tmp_path / "study-results" / "results.csv"
    written = results.read_bytes()
    assert b"uniform" in written
    assert len(textveil.run_study(path, executor="local")) == 2
    assert results.read_bytes() == written
