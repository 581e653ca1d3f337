import re

import pytest

from tests.report.test_report import Outline
from textveil.lab.report.card import Blanks, Bullets, Facts, Page, Paragraph, Rows, Section, write_card_page


@pytest.fixture(scope="module")
def page():
    long = "The certificate counts 600 documents, one for each row."
    return Page(
        "Card <1>",
        "Lead & more.",
        [
            Section("First", [Paragraph("a < b"), Bullets(["one", "two"]), Facts([("name", "value")])]),
            Section("Second", [Rows(["check", "result", "finding"], [["x", "passed", long], ["y", "FAILED", "no"]])]),
            Section("Third", [Rows(["kind", "share"], [["person", "21.0%"]]), Blanks(["date"])]),
        ],
    )


def test_the_page_is_complete_and_escaped(page):
    html = write_card_page(page)
    outline = Outline(html)
    assert not {"script", "link", "img", "iframe"} & set(outline.tags)
    assert not re.search(r"@import|url\(", html)
    for said in ("Card <1>", "Lead & more.", "a < b", "one", "value", "person", "21.0%", "date"):
        assert said in outline.text


def test_html_and_markdown_have_the_same_words(page):
    def words(text):
        return set(re.findall(r"[A-Za-z0-9.%]+", text))

    plain = page.to_markdown().replace("&lt;", "<").replace("&amp;", "&")
    body = write_card_page(page).partition("<body>")[2].replace("><", "> <")
    assert words(plain) <= words(Outline(body.rpartition("</body>")[0]).text)


def test_results_of_checks_are_marked(page):
    html = write_card_page(page)
    assert '<span class="mark pass">passed</span>' in html
    assert '<span class="mark fail">FAILED</span>' in html


def test_only_tables_that_are_too_wide_for_a_phone_are_stacked(page):
    html = write_card_page(page)
    assert re.findall(r'<table class="(\w+) words">', html) == ["stacking", "fitting"]
