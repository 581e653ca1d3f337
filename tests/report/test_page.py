from tests.report.test_report import Outline
from textveil.lab.report.pages import bullets, facts, stacking_table, write_document


def test_a_document_is_complete_and_escapes_its_title():
    page = write_document("a < b", "<main><p>hello</p></main>")
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert "<title>a &lt; b</title>" in page
    assert "hello" in outline.text
    assert "Written by textveil" in outline.text
    assert "prefers-color-scheme: dark" in page
    assert 'content="width=device-width' in page
    assert not {"script", "link", "img"} & set(outline.tags)


def test_a_stacking_table_labels_every_cell_for_narrow_pages():
    table = stacking_table(["name", "F1 <", "gain"], [["a", "1", "2"], ["b", "3", ""]], ["reference", ""])
    assert table.count('data-label="F1 &lt;"') == 2
    assert table.count('data-label="gain"') == 2
    assert '<tr class="reference"><th scope="row">a</th>' in table
    assert '<tr><th scope="row">b</th>' in table


def test_lists_escape_their_text():
    assert bullets(["a & b"]) == "<ul><li>a &amp; b</li></ul>"
    assert facts([("x<", "y>")]) == "<dl><dt>x&lt;</dt><dd>y&gt;</dd></dl>"
