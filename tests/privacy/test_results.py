import json
from collections import Counter

import pytest

from tests.conftest import ENTRIES
from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.results import ObfuscatedChunk, Obfuscation
from textveil.text.documents import Chunk


@pytest.fixture
def result(tiny):
    chunks = (
        ObfuscatedChunk(Chunk(0, 1), "The", (1.0,), 0.0, Outcome.KEPT_STOPWORD, None),
        ObfuscatedChunk(Chunk(1, 3), "Top Secret", (0.5, None), 6.0, Outcome.PERTURBED, "green tea"),
    )
    tally = Tally(
        Counter({Outcome.PERTURBED: 2, Outcome.KEPT_STOPWORD: 1}),
        Counter([DocumentOutcome.OBFUSCATED]),
        largest_budget=6.0,
    )
    certificate = Certificate(Obfuscator(tiny).terms, Budget(6.0), tally)
    return Obfuscation("The green tea", DocumentOutcome.OBFUSCATED, chunks, certificate)


def test_a_logged_result_counts_words_and_shows_none(result):
    assert repr(result) == "Obfuscation(obfuscated, budget 6; words: 2 perturbed, 1 kept_stopword)"
    assert "Secret" not in repr(result.chunks)


def test_json_has_everything(result):
    values = json.loads(json.dumps(result.as_dict()))
    assert (values["text"], values["outcome"]) == ("The green tea", "obfuscated")
    assert values["chunks"][1] == {
        "chunk": "Top Secret",
        "scores": [0.5, None],
        "share": 6.0,
        "outcome": "perturbed",
        "replacement": "green tea",
    }
    assert values["certificate"] == json.loads(result.certificate.to_json())


def test_json_has_the_draft_if_there_is_one(tiny):
    result = Obfuscator(tiny, profile="proven", draft_share=0.5, seed=1).obfuscate("alpha", epsilon=2)
    (chunk,) = json.loads(json.dumps(result.as_dict()))["chunks"]
    assert chunk["draft"] in ENTRIES
    assert (chunk["draft_share"], chunk["share"]) == (1, 1)
