import json

import pytest

from textveil.errors import InputError, ParameterError
from textveil.evaluation.replay import load_certificate, replay
from textveil.obfuscation import Obfuscator
from textveil.privacy.certificate import Certificate, Tally

TEXTS = ["The soup was cold, dear Grzybowski.", None, "It was a box office hit, of course."]
EPSILON = 70.0


def obfuscate(**options):
    obfuscator = Obfuscator(seed=9, **options)
    results = list(obfuscator.obfuscate_all(TEXTS, epsilon=EPSILON))
    tally = Tally.over(result.certificate.tally for result in results)
    return results, json.loads(Certificate(obfuscator.terms, EPSILON, tally).to_json())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"profile": "paper", "decomposition": "pos"},
        {"profile": "proven"},
        {"decomposition": "pmi", "distribution": "yake", "stopwords": "perturb"},
        {"distribution": "attention"},
        {"distribution": "gradients", "distribution_options": {"steps": 3}},
        {"distribution": "ic"},
    ],
    ids=str,
)
def test_chunks_shares_and_outcomes_are_as_they_were(options, minilm):
    results, certificate = obfuscate(**options)
    again = replay(certificate, TEXTS, bundle="en")
    for first, second in zip(results, again, strict=True):
        assert [(chunk.chunk, chunk.outcome) for chunk in first.chunks] == [
            (chunk.chunk, chunk.outcome) for chunk in second.chunks
        ]
        assert [chunk.share for chunk in first.chunks] == pytest.approx([chunk.share for chunk in second.chunks])
    assert [result.text for result in again] != [result.text for result in results]  # by other noise


def test_settings_that_are_not_to_be_had(tiny):
    _, certificate = obfuscate()
    with pytest.raises(ParameterError, match="the bundle was .*--bundle"):
        replay(certificate, TEXTS, bundle=tiny)
    certificate["allocation"]["distribution"] = "yake 9.9"
    with pytest.raises(ParameterError, match="the distribution was yake 9.9, and here it is yake"):
        replay(certificate, TEXTS, bundle="en")


def test_a_certificate_of_other_texts():
    _, certificate = obfuscate()
    with pytest.raises(InputError, match="not that of these texts"):
        replay(certificate, ["Other words."], bundle="en")


@pytest.mark.parametrize("lacking", ["budget", "allocation", "words", "bundle", "mechanism", "profile"])
def test_an_incomplete_certificate(lacking):
    _, certificate = obfuscate()
    del certificate[lacking]
    with pytest.raises(InputError, match="not complete"):
        replay(certificate, TEXTS, bundle="en")


def test_reading_a_certificate(tmp_path):
    _, certificate = obfuscate()
    path = tmp_path / "c.json"
    path.write_text(json.dumps(certificate))
    assert load_certificate(path) == certificate
    for content, message in (("{", "not JSON"), ("[]", "no certificate"), ('{"a": 1}', "no certificate")):
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            load_certificate(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_certificate(tmp_path / "none.json")
