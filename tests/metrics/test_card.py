import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.metrics.making import around, make_evaluation, make_measurement
from tests.report.test_report import Outline
from textveil.budget import MEASURED, Budget, describe_level
from textveil.certificate import Certificate, Tally
from textveil.lab.metrics.leaks import list_leaks
from textveil.lab.metrics.quantities import ADAPTIVE, STATIC
from textveil.lab.metrics.verification import Check
from textveil.lab.report.card import build_card, judge_attack
from textveil.lab.report.pages import load_texts
from textveil.profiles import PROFILES

GUARANTEES = Path(__file__).parents[2] / "docs" / "guarantees.md"
CLAIMS, OPEN_POINTS = load_texts()["claims"], load_texts()["open_points"]
STATED = {"Seeds", "Other columns"}
"""The open points that a certificate states itself, where they apply."""
GOOD = (Check("documents", True, "As many."), Check("words", None, "Not compared."))


def measure(*, adaptive=0.5, caveats=(), **identifiers):
    attribute = make_measurement(
        "attribute", caveats, static=around(0.26), adaptive=around(adaptive), baseline=around(0.93), chance=around(0.25)
    )
    found = make_measurement("identifiers", remaining=0.52, **identifiers)
    kinds = {
        "PERSON": {"harm": "direct", "found": 1200, "remaining": 0.21},
        "NRP": {"harm": "indirect", "found": 3, "remaining": 0.5},
    }
    clear = make_measurement(
        "clear_text", unchanged=around(0.72), kept_stopword=0.4, returned=0.3, documents_verbatim=0.01
    )
    secret = {"words": {"returned": ["dreadful"]}, "worst_rows": [17, 4], "of_file": {}}
    return make_evaluation(
        attribute,
        replace(found, details={"kinds": kinds}),
        replace(clear, details=secret),
        make_measurement("downstream", f1=around(0.6), original=around(0.8)),
        not_measured={"inversion": "It needs a certificate (`certificate`)."},
    )


@pytest.fixture(scope="module")
def issued(obfuscations):
    tally = Tally.over(result.certificate.tally for result in obfuscations)
    return Certificate(obfuscations[0].certificate.terms, Budget(epsilon=120), tally)


def section(card, title):
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", card.to_markdown(), flags=re.DOTALL | re.MULTILINE)
    return found


def read_tables(card, title):
    """The rows of all tables of a section, each with its head."""
    tables = re.findall(r"(?:^\|.*\n)+", section(card, title), flags=re.MULTILINE)
    rows = [[line.strip("| ").split(" | ") for line in table.splitlines() if "---" not in line] for table in tables]
    return [(head[0].strip(" |"), rest) for head, *rest in rows]


def read_rows(card, title, first):
    """The table of a section whose first column has this name."""
    (table,) = [rows for name, rows in read_tables(card, title) if name == first]
    return table


def read_facts(card, title):
    return {name: value for first, rows in read_tables(card, title) if not first for name, value in rows}


def read_worst(card):
    return re.findall(r"^- (.*)$", section(card, "The worst that still stands"), flags=re.MULTILINE)


def test_linkage_comes_first_and_then_the_worst(issued):
    linkage = make_measurement("linkage", top_1=around(0.31))
    found = measure()
    lines = read_worst(build_card(make_evaluation(*found.measurements.values(), linkage), issued, GOOD))
    assert lines[0] == (
        "31.0% (28.0–34.0%) of the texts are linked to their original by an attacker who has all originals."
    )
    assert lines[1] == "72.0% (69.0–75.0%) of the words are unchanged."
    assert lines[2] == "52.0% of all identifiers survive."
    assert lines[3] == "The adaptive attacker F1 is 50.0% (47.0–53.0%), originals 93.0%, chance 25.0%."
    strong = build_card(measure(adaptive=0.9), issued, GOOD)
    assert read_worst(strong)[1].startswith("The adaptive attacker")


def test_linkage_that_was_not_measured_is_stated_with_the_figures_of_a_level(issued):
    line = read_worst(build_card(measure(), issued, GOOD))[0]
    assert line == f"Linkage was not measured here. The level medium: {describe_level('medium')} ({MEASURED})."


def test_the_card_and_the_trade_off_have_one_list_of_what_still_stands(issued):
    found = measure()
    lines = read_worst(build_card(found, issued, GOOD))[1:]
    assert [line.lower() for line in lines] == [f"{each.sentence}.".lower() for each in list_leaks(found.measurements)]


def test_an_inversion_that_reads_whole_texts_reaches_the_card(issued):
    inversion = make_measurement("inversion", top_1=0.2, decoded=around(0.4), repeated=0.3, prior_top_1=0.05)
    card = build_card(make_evaluation(inversion), issued)
    (_, line) = read_worst(card)
    assert line.startswith("40.0% (37.0–43.0%) of the replaced chunks are recovered")
    assert read_rows(card, "Attackers", "attacker")[0][2] == "40.0% (37.0–43.0%)"


def test_direct_identifiers_are_named_where_they_are_known(issued):
    lines = read_worst(build_card(measure(direct=0.31), issued, GOOD))
    assert "31.0% of the direct identifiers survive." in lines


def test_caveats_and_a_certificate_that_does_not_fit_are_among_the_worst(issued):
    checks = [Check("words", False, "The certificate counts 3 words.")]
    card = build_card(measure(caveats=("Only 5 test texts.",)), issued, checks)
    lines = read_worst(card)
    assert "NOT VERIFIED: the certificate does not fit these texts (words)." in lines
    assert "No conclusion: Only 5 test texts." in lines


def test_what_was_done_comes_from_the_certificate(issued):
    card = build_card(measure(), issued, GOOD)
    facts = read_facts(card, "What was done")
    assert facts["texts"] == "600"
    assert facts["profile"] == "strict"
    assert facts["budget"] == "120 per document"
    assert facts["mechanism"] == "madlib"
    assert facts["noise"] == "predictable: from a seed"
    assert CLAIMS["strict"] in section(card, "What was done")
    own = replace(issued, budget=Budget(epsilon_per_word=5, length="own"))
    assert read_facts(build_card(measure(), own), "What was done")["budget"] == (
        "5 per word, times the number of replaced words"
    )
    average = replace(issued, budget=Budget(epsilon_per_word=5, length="average", average_length=9.5))
    assert "average length of 9.5 words" in read_facts(build_card(measure(), average), "What was done")["budget"]


def test_options_and_models_of_methods_are_named(issued):
    method = {"name": "gradients", "options": {"steps": 50, "other": None}, "model": {"name": "m", "sha256": "ab" * 32}}
    card = build_card(measure(), replace(issued, terms=replace(issued.terms, distribution=method)))
    assert read_facts(card, "What was done")["distribution"] == "gradients (steps 50, model m abababababab)"


@pytest.mark.parametrize(
    ("adaptive", "caveats", "expected"),
    [
        (0.26, (), "cannot be told from chance"),
        (0.5, (), "above chance, below the originals"),
        (0.9, (), "no protection shown: cannot be told from the originals"),
        (0.5, ("Only 5 test texts.",), "no conclusion: Only 5 test texts."),
    ],
)
def test_an_attacker_is_judged_against_chance_and_originals(adaptive, caveats, expected):
    assert judge_attack(ADAPTIVE, measure(adaptive=adaptive, caveats=caveats)) == expected


def test_without_an_interval_only_chance_is_concluded():
    bare = make_evaluation(make_measurement("attribute", static=0.5, chance=around(0.25), baseline=around(0.9)))
    assert judge_attack(STATIC, bare) == "no conclusion: it has no interval"
    certain = make_evaluation(make_measurement("attribute", static=0.0, chance=around(0.25), baseline=around(0.9)))
    assert judge_attack(STATIC, certain) == "cannot be told from chance"
    alone = make_evaluation(make_measurement("attribute", static=around(0.1)))
    assert judge_attack(STATIC, alone).startswith("no conclusion")
    assert judge_attack(STATIC, make_evaluation()).startswith("no conclusion")


def test_attackers_that_were_not_tried_are_listed(issued):
    card = build_card(measure(), issued, GOOD)
    assert [row[0] for row in read_rows(card, "Attackers", "attacker")] == [
        "adaptive attacker F1",
        "static attacker F1",
    ]
    assert "- inversion: It needs a certificate (certificate)." in card.to_markdown()
    assert "No attacker was tried." in build_card(make_evaluation(), issued).to_markdown()


def test_what_remains_has_words_rows_and_kinds_of_identifiers(issued):
    card = build_card(measure(), issued, GOOD)
    assert read_rows(card, "What remains", "unchanged words") == [
        ["all unchanged words", "72.0% (69.0–75.0%)"],
        ["stopwords, kept", "40.0%"],
        ["chosen again", "30.0%"],
    ]
    assert read_rows(card, "What remains", "identifiers") == [
        ["person", "direct", "1,200", "21.0%"],
        ["nationality, religion, politics", "indirect", "3", "50.0%"],
    ]
    shares = [row[1] for row in read_rows(card, "What remains", "words by outcome")]
    assert sum(float(share.rstrip("%")) for share in shares) == pytest.approx(100, abs=0.3)
    assert "17, 4. They come from new noise" in card.to_markdown()


def test_kinds_without_a_harm_have_no_column_for_it(issued):
    found = replace(make_measurement("identifiers"), details={"kinds": {"PERSON": {"found": 2, "remaining": 1.0}}})
    card = build_card(make_evaluation(found), issued)
    assert read_rows(card, "What remains", "identifiers") == [["person", "2", "100.0%"]]


def test_what_is_not_protected_has_the_points_of_the_certificate_and_of_the_guarantees(issued):
    text = build_card(measure(), issued, GOOD).to_markdown()
    for point in (*issued.not_protected, *OPEN_POINTS.values()):
        assert point in text


def test_the_card_covers_every_open_point_of_the_guarantees():
    listed = GUARANTEES.read_text(encoding="utf-8").partition("## Open points")[2].partition("\n## ")[0]
    names = re.findall(r"^- \*\*([^*.]+)\.?\*\*", listed, flags=re.MULTILINE)
    assert set(names) == {*OPEN_POINTS, *STATED}


def test_every_profile_has_a_claim_in_plain_words():
    assert set(CLAIMS) == set(PROFILES)


def test_the_certificate_is_shown_with_its_hash_and_checks(issued, tmp_path):
    card = build_card(measure(), issued, GOOD)
    issued.write(tmp_path / "c.json")
    digest = hashlib.sha256((tmp_path / "c.json").read_bytes()).hexdigest()
    assert read_facts(card, "Certificate")["SHA-256"] == digest
    assert read_facts(build_card(measure(), issued, certificate_sha256="ab"), "Certificate")["SHA-256"] == "ab"
    assert read_rows(card, "Certificate", "check") == [
        ["documents", "passed", "As many."],
        ["words", "not made", "Not compared."],
    ]
    assert "NOT VERIFIED" in section(build_card(measure(), issued), "Certificate")


def test_without_a_certificate_the_card_says_that_nothing_is_known():
    text = build_card(measure()).to_markdown()
    assert "No certificate was given. Nothing is known about the settings or the guarantee." in text
    assert "Assume that nothing is protected." in text


def test_a_card_without_details_of_metrics_is_written(issued):
    clear = make_measurement("clear_text", unchanged=around(0.72))
    text = build_card(make_evaluation(clear, make_measurement("identifiers", remaining=0.5)), issued).to_markdown()
    assert "| all unchanged words | 72.0% (69.0–75.0%) |" in text
    assert "Rows with the largest share" not in text


def test_versions_are_those_of_both_runs(issued):
    facts = read_facts(build_card(measure(), issued), "Versions")
    assert "package 1.0" in facts["evaluated with"]
    assert "python" in facts["obfuscated with"]
    assert facts["attribute"] == "attribute (model)"


def test_no_text_is_on_the_card(issued):
    assert "dreadful" not in build_card(measure(), issued, GOOD).to_markdown()


def test_an_evaluation_without_measurements_still_has_a_card():
    text = build_card(make_evaluation()).to_markdown()
    assert "Nothing was measured." in text
    assert "Unknown: no utility was measured." in text


def test_text_cannot_become_markup(issued):
    checks = [Check("<b>a | b", True, "# *c* `d` [e](f) <i>")]
    card = build_card(measure(), issued, checks)
    assert "| &lt;b>a \\| b | passed | # \\*c\\* \\`d\\` \\[e\\](f) &lt;i> |" in card.to_markdown()
    assert "&lt;b&gt;a | b" in card.to_html()
    assert "<i>" not in card.to_html()


def test_the_page_needs_nothing_else_and_has_the_words_of_the_markdown(issued):
    def words(text):
        return set(re.findall(r"[A-Za-z0-9.%]+", text))

    card = build_card(measure(), issued, (*GOOD, Check("counts", False, "The certificate counts 600 documents.")))
    html = card.to_html()
    outline = Outline(html)
    assert not {"script", "link", "img", "iframe"} & set(outline.tags)
    assert not re.search(r"@import|url\(", html)
    body = html.partition("<body>")[2].rpartition("</body>")[0].replace("><", "> <")
    assert words(card.to_markdown().replace("&lt;", "<").replace("&amp;", "&")) <= words(Outline(body).text)
    assert '<span class="mark pass">passed</span>' in html
    assert '<span class="mark fail">FAILED</span>' in html
    assert set(re.findall(r'<table class="(\w+) words">', html)) == {"stacking", "fitting"}
