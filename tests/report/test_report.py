import re
from html.parser import HTMLParser

import pytest

from tests.report.conftest import make_records, repeat
from textveil.lab.report.figures import draw_all, render_svg
from textveil.lab.report.findings import Findings, analyze
from textveil.lab.report.report import write_page, write_report
from textveil.lab.report.results import Results

EMPTY = {"meta"}


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
def page(example, drawings) -> str:
    return write_page(example, figures=drawings, title="Our <study>", about={"seeds": "42 & 43"})


def test_every_point_of_every_curve_has_its_values(page, example):
    assert len(example.frontiers) == 6
    for frontier in example.frontiers:
        for place in frontier.front.places:
            assert f"<td>{frontier.front.attack.show(place.attack.value)} (" in page


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


def test_the_page_has_every_finding(page, example, drawings):
    text = Outline(page).text
    for said in (
        "Our <study>",
        "108 cells: 3 decompositions, 3 distributions, 2 profiles, 2 data sets and 3 levels of privacy.",
        "42 & 43",
        "high (epsilon 4), medium (epsilon 40), low (epsilon 200)",
        "14 of the 36 pairs differ significantly",
        "None of the 36 pairs differ significantly.",
        "All settings together",
        "the difference is +0.0004, which cannot be told from chance",
        "Words in clear in every cell, profile paper",
        "None in any cell.",
        "2,250 45.0%",
    ):
        assert said in text, said
    assert page.count("<details") >= len(example.results.groups)
    assert page.count("<figure") == len(drawings) + len(example.frontiers)
    assert page.count('<div class="card">') == 6


def test_originals_and_chance_are_columns_of_every_table(page, example):
    tables = re.findall(r'<table class="results">.*?</table>', page, flags=re.DOTALL)
    results = [table for table in tables if "relative gain" in table]
    for table in results:
        assert re.search(r"average</th><th scope=\"col\">originals</th><th scope=\"col\">chance</th>", table)
        assert '<td class="reference">50.0</td>' in table


def test_intervals_are_in_the_tables(page):
    assert re.search(r"<small>\[\d+\.\d\N{EN DASH}\d+\.\d\]</small>", page)


def test_effects_are_read_without_scrolling(page):
    """F and p follow the name of the effect, which wraps on a narrow page."""
    assert re.search(r'<table class="effects">\s*<thead><tr><th scope="col">effect</th><th scope="col">F</th>', page)
    narrow = page[page.index("@media (max-width: 40rem)") :]
    assert re.search(r":is\(\.effects, \.pairs\) td:first-child[^}]*white-space: normal", narrow)


def test_interactions_with_data_sets_have_a_table(page):
    assert page.count("Effects with the interactions of methods and data sets") == 2
    assert "decomposition \N{MULTIPLICATION SIGN} data set" in page


def test_caveats_are_reported_and_nothing_is_recommended(example, drawings):
    rows = [
        {**row, "static_f1_caveats": "only 12 test texts" if row["dataset"] == "letters" else None}
        for row in example.results.frame.to_dict("records")
    ]
    findings = analyze(Results.from_records(rows))
    text = Outline(write_page(findings, figures=drawings)).text
    assert "No recommendation is drawn from these data sets and levels:" in text
    assert "static attacker F1: letters, level high; letters, level medium" in text
    assert "Excluded from this recommendation: letters, level high" in text
    rows = make_records(lambda *place: sum(place))
    assert "Caveats" not in Outline(page_of(analyze(Results.from_records(repeat(rows))))).text
    assert "too few draws of noise (2)" in Outline(page_of(analyze(Results.from_records(repeat(rows, draws=2))))).text


def test_failures_are_reported(example, drawings):
    failures = {"perplexity: No <model>.": ["a", "b", "c", "d"]}
    text = Outline(write_page(example, figures=drawings, failures=failures)).text
    assert "perplexity: No <model>. (4 cells: a; b; c; ...)" in text


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


def test_results_without_any_word_in_clear_have_no_figure_of_them(example):
    strict = analyze(example.settings[0].results)
    assert strict.results.counts_words
    figures = dict.fromkeys(draw_all(strict), "<svg></svg>")
    assert ("words_in_clear" in figures) == (
        write_page(strict, figures=figures).count("One marker per combination") == 1
    )


def test_missing_values_are_reported_in_words(records):
    rows = [
        {
            **row,
            "relative_gain": "" if row["dataset"] == "b" else row["relative_gain"],
            "perplexity": 9 if place else "",
        }
        for place, row in enumerate(records)
    ]
    page = page_of(analyze(Results.from_records(rows)))
    for said in (
        "Relative gain is missing, so these are excluded from the analysis: b, level high (all cells); b, level low",
        "Perplexity is missing, so none of its values is used: a, level high (1 of 4 cells).",
    ):
        assert said in page
    assert ">nan<" not in page


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
    write_report(analyze(Results.from_records(records)), tmp_path / "analysis")
    text = Outline((tmp_path / "analysis/report.html").read_text(encoding="utf-8")).text
    assert text.count("Not tested. The values of relative gain are the same for all combinations") == 2
    assert "not tested" in (tmp_path / "analysis/tables/anova_profile_strict.tex").read_text(encoding="utf-8")


def test_at_most_eight_figures_are_shown_before_anything_is_unfolded(page):
    axes = {"mechanism": ("madlib", "own", "other"), "profile": ("strict", "paper")}
    many = make_records(lambda *place: sum(place), **axes)
    names = ("utility_f1", "cosine_similarity", "perplexity", "static_f1", "adaptive_f1", "inversion_top_1")
    rows = [{**row, **dict.fromkeys(names, 0.1 + row["relative_gain"] / 9)} for row in many]
    for written in (page, page_of(analyze(Results.from_records(rows)))):
        shown = re.sub(r"<details>.*?</details>", "", written, flags=re.DOTALL)
        assert shown.count("<figure") <= 8 < written.count("<figure")


def test_names_are_escaped(hostile):
    page = page_of(analyze(hostile), title="<b>", about={"<b>": "<b>"})
    body = page[page.index("<body>") :]
    assert "<b>&" not in body
    assert hostile.values("dataset")[0] in Outline(page).text
    assert body.count("<b>") == 5  # the word bold in the key of tables, and four terms that are explained


def test_the_published_results_have_a_page(published):
    page = page_of(published)
    for said in ("5.57", "0.236", "23 of the 435", "pos + attention"):
        assert said in page
    assert len(page) < 1_000_000


def test_a_report_of_several_draws_shows_their_intervals(records):
    names = ("heat_map", "levels_decomposition", "levels_distribution", "combinations")
    findings = analyze(Results.from_records(repeat(records)))
    page = write_page(findings, figures=dict.fromkeys(names, "<svg></svg>"))
    assert "48 cells: 2 decompositions, 2 distributions, 2 data sets, 2 levels of privacy and 3 draws of noise." in page
    expected = ("<small>\N{PLUS-MINUS SIGN}0.0", "95 % intervals over draws", "noise within cells", "Noise: over draws")
    for shown in expected:
        assert shown in page
    once = write_page(analyze(Results.from_records(records)), figures=dict.fromkeys(names, "<svg></svg>"))
    assert not any(shown in once for shown in expected)
