from tests.report.test_report import Outline
from textveil.lab.report.pages import render


def test_a_page_is_complete_and_escapes_its_text():
    page = render("empty.html", title="a < b", summary="hello", about={"x<": "y>"}, failures={})
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert "<title>a &lt; b</title>" in page
    assert "<dt>x&lt;</dt><dd>y&gt;</dd>" in page
    assert "hello" in outline.text
    assert "Written by textveil" in outline.text
    assert "prefers-color-scheme: dark" in page
    assert 'content="width=device-width' in page
    assert not {"script", "link", "img"} & set(outline.tags)
