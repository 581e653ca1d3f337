import math
from collections import Counter
from dataclasses import replace

import pytest

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.summary import list_warnings, summarize


@pytest.fixture
def certificate(tiny):
    tally = Tally(
        Counter({Outcome.PERTURBED: 60, Outcome.KEPT_STOPWORD: 30, Outcome.KEPT_UNKNOWN: 10}),
        Counter({DocumentOutcome.OBFUSCATED: 8, DocumentOutcome.NO_WORDS: 2}),
        returned=15,
        return_bands=Counter({"0%": 5, "80% or more": 2, "100%": 1}),
    )
    return Certificate(Obfuscator(tiny, profile="paper").terms, Budget(12.0), tally)


def test_the_summary_says_what_was_done_and_what_is_open(certificate):
    lines = summarize(certificate, 2.0)
    assert lines[0] == "10 documents, 100 words in 2.0 s (5 documents/s)"
    assert "perturbed 60.0%, stopwords kept 30.0%, IN CLEAR because unknown 10.0%" in lines[1]
    assert "no_words 2" in lines[2]
    assert (
        "returned       25.0% of the replaced words of these documents; verbatim: 1 documents; 80% or more: 2" in lines
    )
    assert "budget         12 per document" in lines
    assert any(line.startswith("profile        paper: ") for line in lines)
    assert any("stopwords" in line for line in lines if line.startswith("not protected"))


@pytest.mark.parametrize(
    ("budget", "line"),
    [
        (Budget(epsilon_per_word=2.0, length="own"), "2 per word that is perturbed"),
        (
            Budget(epsilon_per_word=2.0, length="average", average_length=3.25),
            "2 per word of the average length, 3.2 words",
        ),
    ],
)
def test_the_summary_says_what_a_budget_per_word_means(certificate, budget, line):
    lines = summarize(replace(certificate, budget=budget), 0.0)
    assert f"budget         {line}" in lines
    assert "(0 documents/s)" in lines[0]


def test_the_summary_names_the_largest_share(tiny):
    certificate = Certificate(Obfuscator(tiny, largest_share=2.5).terms, Budget(12.0), Tally())
    assert "budget         12 per document, at most 2.5 per chunk" in summarize(certificate, 1.0)


def test_the_summary_names_the_part_of_the_draft(tiny):
    terms = Obfuscator(tiny, profile="proven", draft_share=0.3, largest_share=2.5).terms
    lines = summarize(Certificate(terms, Budget(12.0), Tally()), 1.0)
    assert "budget         12 per document, at most 2.5 per chunk; 30% for the draft" in lines
    assert any("over both rounds" in line for line in lines if line.startswith("profile"))


def test_the_summary_states_deniability_if_the_certificate_does(tiny):
    obfuscator = Obfuscator(tiny, mechanism="exponential", largest_share=2.5)
    assert not any(
        "deniability" in line for line in summarize(Certificate(obfuscator.terms, Budget(12.0), Tally()), 1.0)
    )
    obfuscator.add_deniability(Budget(epsilon_per_word=1.0, length="own"))
    lines = summarize(Certificate(obfuscator.terms, Budget(12.0), Tally()), 1.0)
    one, two = [line for line in lines if line.startswith("deniability")]
    assert one.startswith("deniability    at the share 1 (per word), the median word stays with ")
    assert two.startswith("deniability    at the share 2.5 (largest), ")


@pytest.mark.parametrize(
    ("tally", "budget", "warnings"),
    [
        (Tally(Counter({Outcome.PERTURBED: 1})), Budget(1.0), []),
        (Tally(Counter({Outcome.KEPT_UNKNOWN: 10})), Budget(1.0), ["words released in clear"]),
        (Tally(capped=3), Budget(1.0), ["too large for 3 words. Their shares were limited to 2.5"]),
        (Tally(capped=3), Budget(epsilon_per_word=2.6, length="own"), ["too large for 3 words"]),
        (Tally(capped=3), Budget(epsilon_per_word=2.4, length="own"), []),  # expressions reach the limit
        (Tally(documents=Counter({DocumentOutcome.RETURNED: 4})), Budget(1.0), ["came back unchanged"]),
        (
            Tally(Counter({Outcome.PERTURBED: 18, Outcome.DRAWN: 2}), returned=15, return_bands=Counter(["under 80%"])),
            Budget(1.0),
            ["75% of the perturbed words came back unchanged, so the texts have hardly any protection"],
        ),
        (
            Tally(Counter({Outcome.PERTURBED: 4}), returned=3, return_bands=Counter(["under 80%"])),
            Budget(1.0),
            [],
        ),
        (
            Tally(documents=Counter({DocumentOutcome.REFUSED: 4}), largest_refused=99.2),
            Budget(1.0),
            ["refused 4 of 4 documents (outcome 'refused'). Their texts are empty. To release each, set `budget_per"],
        ),
        (
            Tally(hardly_english=1200),
            Budget(1.0),
            ["hardly English, because too many of their words are unknown: 1,200"],
        ),
        (Tally(), Budget(epsilon_per_word=1.0, length="average", average_length=2.0), ["Use `length='own'`"]),
    ],
)
def test_what_a_user_must_know_is_a_warning(tiny, tally, budget, warnings):
    found = list_warnings(Certificate(Obfuscator(tiny, largest_share=2.5).terms, budget, tally))
    assert len(found) == len(warnings)
    for warning, part in zip(found, warnings, strict=True):
        assert warning.startswith("Warning: ")
        assert part in warning


def test_texts_that_hardly_change_are_a_warning_where_nothing_limits_a_share(tiny):
    words = Counter({Outcome.PERTURBED: 4})
    tally = Tally(words, returned=3, return_bands=Counter(["under 80%"]))
    (warning,) = list_warnings(Certificate(Obfuscator(tiny, largest_share=math.inf).terms, Budget(1e308), tally))
    assert "75% of the perturbed words came back unchanged" in warning
    words.update([Outcome.PERTURBED, Outcome.DRAWN])
    assert not list_warnings(Certificate(Obfuscator(tiny, largest_share=math.inf).terms, Budget(1e308), tally))
