from textveil.lab.report.card import Blanks, Bullets, Facts, Page, Paragraph, Rows, Section
from textveil.lab.report.pages import escape_markdown


def test_markdown_has_every_block():
    page = Page(
        "Title",
        "Lead.",
        [
            Section("First", [Paragraph("Text."), Bullets(["one", "two"])]),
            Section("Second", [Facts([("name", "value")]), Rows(["a", "b"], [["1", "2"]]), Blanks(["date"])]),
        ],
    )
    assert page.to_markdown() == (
        "# Title\n\nLead.\n\n## First\n\nText.\n\n- one\n- two\n\n## Second\n\n|  |  |\n|---|---|\n| name | value |\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n- date: ____________________\n"
    )


def test_text_cannot_become_markup():
    assert escape_markdown("a | b\n# *c* `d` [e](f) <i>") == "a \\| b # \\*c\\* \\`d\\` \\[e\\](f) &lt;i>"
