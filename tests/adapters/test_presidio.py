import math

import pytest

pytest.importorskip("presidio_anonymizer")

from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from textveil import Obfuscator
from textveil.adapters.presidio import TextveilOperator, build_screen
from textveil.errors import InputError, ParameterError, ResourceError
from textveil.lab.metrics.replay import rebuild_obfuscator
from textveil.text.identifiers import Finder

TEXT = "the alpha of beta was good"
FOUND = [RecognizerResult("PERSON", 4, 17, 0.9)]


@pytest.fixture(scope="module")
def engine():
    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    return engine


def anonymize(engine, **parameters):
    return engine.anonymize(TEXT, FOUND, {"DEFAULT": OperatorConfig("textveil", parameters)})


def test_every_word_of_an_entity_is_perturbed(engine, tiny):
    found = anonymize(engine, bundle=tiny, epsilon=3e6, largest_share=math.inf, mechanism="madlib")
    assert found.text.startswith("the ")
    assert found.text.endswith(" was good")
    first, of, last = found.items[0].text.split()
    assert (first, last) == ("alpha", "beta")  # with this budget, known words return
    assert of in tiny.vectors("words")
    assert found.items[0].operator == "textveil"


def test_with_an_obfuscator(engine, tiny):
    obfuscator = Obfuscator(tiny, stopwords="perturb")
    assert anonymize(engine, obfuscator=obfuscator, epsilon=3).text.endswith(" was good")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stopwords": "keep"}, "would be kept"),
        ({"profile": "paper"}, "would be kept"),
        ({"obfuscator": "fluent"}, "must be an Obfuscator"),
    ],
)
def test_parameters_that_would_keep_words_are_refused(engine, parameters, message):
    with pytest.raises(ParameterError, match=message):
        anonymize(engine, epsilon=3, **parameters)


def test_a_seed_is_refused_since_entities_would_have_the_same_noise(engine, tiny):
    for parameters in ({"bundle": tiny, "seed": 1}, {"obfuscator": Obfuscator(tiny, stopwords="perturb", seed=1)}):
        with pytest.raises(ParameterError, match="the noise of entities would repeat"):
            anonymize(engine, epsilon=3, **parameters)


def test_an_obfuscator_that_keeps_stopwords_is_refused(engine, tiny):
    with pytest.raises(ParameterError, match="would be kept"):
        anonymize(engine, epsilon=3, obfuscator=Obfuscator(tiny))
    with pytest.raises(ParameterError, match="`seed`"):
        anonymize(engine, epsilon=3, obfuscator=Obfuscator(tiny, stopwords="perturb"), seed=1)


def test_another_analyzer_finds_and_the_rest_is_obfuscated(tiny):
    from presidio_analyzer import Pattern, PatternRecognizer

    try:
        analyzer = Finder().analyzer
    except ResourceError as error:
        pytest.skip(str(error))
    ticket = PatternRecognizer("TICKET NUMBER", patterns=[Pattern("ticket", r"\bT-\d+\b", 1.0)])
    analyzer.registry.add_recognizer(ticket)
    try:
        screen = build_screen(analyzer, kinds=["TICKET NUMBER"])
        result = Obfuscator(tiny, identifiers=screen, form="keep", seed=1).obfuscate("good film T-1234, Ann", epsilon=9)
    finally:
        analyzer.registry.recognizers.remove(ticket)
    assert " <TICKET_NUMBER>, " in result.text
    assert dict(result.certificate.tally.identifiers) == {"TICKET NUMBER": 1}
    assert result.chunks[-2].original == "T-1234"
    with pytest.raises(InputError, match="an analyzer of the caller"):
        rebuild_obfuscator(result.certificate.terms, tiny)
