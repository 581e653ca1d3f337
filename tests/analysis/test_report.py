import re
from html.parser import HTMLParser

import pytest

from tests.analysis.conftest import make_records
from textveil.analysis import Findings, Results, analyze, write_report
from textveil.analysis.figures import draw_all, render_svg
from textveil.analysis.report import write_page

EMPTY = {"meta", "rect"}


def page_of(findings: Findings, **options) -> str:
    return write_page(findings, figures={name: render_svg(one) for name, one in draw_all(findings).items()}, **options)


class Outline(HTMLParser):
    """What stands in a page, and whether what is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(example) -> str:
    return page_of(example, title="Our <study>", about={"seeds": "42 & 43"})


def test_the_page_needs_nothing_else(page):
    outline = Outline(page)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(outline.tags)
    targets = [value for name, value in outline.attributes if name in ("src", "href", "xlink:href", "action")]
    assert targets
    assert all(target.startswith("#") for target in targets)
    assert not re.search(r"@import|url\((?!#)", page)
    assert not any(name.startswith("on") for name, _ in outline.attributes)


def test_every_link_has_a_target(page):
    ids = [value for name, value in Outline(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for target in re.findall(r'href="#([^"]+)"', page):
        assert target in ids


def test_the_page_has_every_finding(page, example):
    text = Outline(page).text
    for said in (
        "Our <study>",
        "108 cells: 3 decompositions, 3 distributions, 2 profiles, 2 data sets and 3 levels of privacy.",
        "42 & 43",
        "high (epsilon 4), medium (epsilon 40), low (epsilon 200)",
        "14 of the 36 pairs differ significantly",
        "None of the 36 pairs differ significantly.",
        "All settings together",
        "98% of it is gone",
        "Words in clear in every cell, profile paper",
        "None in any cell.",
        "2,250 45.0%",
    ):
        assert said in text, said
    assert page.count("<details") >= len(example.results.groups)
    assert page.count("<figure>") == len(draw_all(example))
    assert page.count('<div class="card">') == 6


def test_the_best_of_every_metric_is_marked_in_every_table(page, example):
    tables = re.findall(r'<table class="results">.*?</table>', page, flags=re.DOTALL)
    results = [table for table in tables if "relative gain" in table]
    assert len(results) == len(example.settings) * len(example.results.groups)
    for table in results:
        gains = re.findall(r"relative gain</th>(.*?)</tr>", table, flags=re.DOTALL)
        assert len(gains) == 4
        assert sum(row.count('class="best"') for row in gains) == 1
        assert 'class="best"' not in gains[-1]


def test_unknown_counts_are_reported_as_unknown(records):
    page = page_of(analyze(Results.from_records(records)))
    assert "unknown: these results do not count them" in page
    assert "An advantage may come from unprotected text alone." in page
    assert "words_in_clear" not in page


def test_excluded_groups_are_reported(records):
    results = Results.from_records(records[:-1], drop_incomplete=True)
    assert "b, level low (some combinations were missing)" in page_of(analyze(results))


def test_the_words_of_the_page_are_explained(page):
    text = Outline(page).text
    for term in (
        "relative gain: U / U_original",
        "static attacker F1: the F1 of",
        "profile strict: the mechanism chooses every word",
        "eta sq): the size of an effect",
    ):
        assert term in text
    assert "How to read this" in text


def test_p_values_are_written_alike_and_a_data_set_has_one_name(page):
    text = Outline(page).text
    assert not re.search(r"\de-\d\d", text)
    assert "< 0.001" in text
    assert not re.search(r"\bdatasets?\b", text)


def test_a_setting_that_was_not_tested_is_reported(tmp_path):
    records = make_records(lambda *place: place[4] * (place[2] + place[3] * place[0]), profile=("strict", "paper"))
    findings = analyze(Results.from_records(records))
    text = Outline(page_of(findings)).text
    assert text.count("Not tested: the response is the same for all combinations") == 2
    write_report(findings, tmp_path / "analysis")
    assert "not tested" in (tmp_path / "analysis/tables/anova_profile_strict.tex").read_text(encoding="utf-8")


def test_names_are_escaped(hostile):
    page = page_of(analyze(hostile), title="<b>", about={"<b>": "<b>"})
    body = page[page.index("<body>") :]
    assert "<b>&" not in body
    assert hostile.values("dataset")[0] in Outline(page).text
    assert body.count("<b>") == 4  # the word bold in the key of tables, and three terms that are explained


def test_the_published_results_have_a_page(published):
    page = page_of(published)
    for said in ("5.57", "0.236", "23 of the 435", "pos + attention"):
        assert said in page
    assert len(page) < 1_000_000
