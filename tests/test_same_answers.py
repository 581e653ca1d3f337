"""The answers for a seed are those of the version in which they were recorded: faster code must not change them."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from textveil import Obfuscator

REVIEWS = Path(__file__).parents[1] / "examples" / "reviews.csv"
FURTHER = [
    "",
    "the",
    "Call 555-1234 or mail a.b@c.org, NOW!!! \u00e9t\u00e9 na\u00efve \U0001f600 x_y",
    "don't can't I'm O'Neil's. Dr. Smith went to the U.S.A. in 1984.",
    "New York City hall. new york. City hall",
]
RECORDED = [
    ({"form": "keep"}, "4305ffa49b031af1e3373b87564ac38f"),
    ({"decomposition": "words", "mechanism": "madlib", "form": "keep"}, "376c207c87cd1dcc137510972379698b"),
    (
        {"decomposition": "llr", "mechanism": "madlib", "form": "keep", "stopwords": "perturb"},
        "32255b146ac781980a845e7e1fcba6b8",
    ),
    ({"profile": "paper"}, "3697df11ccf7e1606a89a881551d25ac"),
    ({"profile": "proven", "decomposition": "pmi", "mechanism": "madlib"}, "cd149a12a05e50bf5184422a33780cf7"),
]


@pytest.mark.parametrize(("settings", "recorded"), RECORDED, ids=lambda value: value if isinstance(value, str) else "")
def test_the_same_seed_gives_the_recorded_answers(settings, recorded):
    with REVIEWS.open(encoding="utf-8", newline="") as lines:
        texts = [row["text"] for row in csv.DictReader(lines)]
    results = Obfuscator(seed=5, **settings).obfuscate_all([*texts, None, *FURTHER], epsilon_per_word=12.0)
    digest = hashlib.sha256()
    for result in results:
        tally = result.certificate.tally.as_dict()
        del tally["words"]["redacted"]  # it was not counted when the answers were recorded
        chunks = [(*chunk.chunk, chunk.original, chunk.outcome.value, chunk.replacement) for chunk in result.chunks]
        counts = [tally[name] for name in ("words", "documents", "return_bands", "symbols", "capped", "returned")]
        digest.update(json.dumps([result.text, chunks, counts]).encode())
    assert digest.hexdigest()[:32] == recorded
