import csv
import hashlib
import stat
import sys

import pytest
from typer.testing import CliRunner

from tests.metrics.conftest import make_rows
from textveil.cli.main import app


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of originals, the obfuscated one, and the certificate."""
    folder = tmp_path_factory.mktemp("card")
    original, obfuscated, certificate = folder / "a.csv", folder / "b.csv", folder / "b.json"
    with original.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["text", "sentiment", "author"], *zip(*make_rows(), strict=True)])
    result = run("obfuscate", "-i", original, "-o", obfuscated, "-e", 120, "--certificate", certificate, "-q")
    assert result.exit_code == 0, result.stderr
    return original, obfuscated, certificate


def evaluate(files, *more):
    metrics = ("--label", "sentiment", "--attribute", "author", "--metrics", "attribute,clear_text", "--seeds", "1")
    return run("evaluate", "--original", files[0], "--obfuscated", files[1], "--no-cache", *metrics, *more)


def test_html_and_markdown_by_suffix(files, tmp_path):
    page, text = tmp_path / "card.html", tmp_path / "card.md"
    result = evaluate(files, "--certificate", files[2], "--card", page, "--card", text, "--words", 3)
    assert result.exit_code == 0, result.stderr
    assert page.read_text().startswith("<!doctype html>")
    markdown = text.read_text()
    assert markdown.startswith("# Release card")
    assert hashlib.sha256(files[2].read_bytes()).hexdigest() in markdown
    assert "The certificate fits these texts" in markdown
    assert "| outcomes of words | passed |" in markdown
    assert "| budget | 120 per document |" in markdown
    for content in (page.read_text(), markdown):
        assert not any(word in content for word in ("soup", "pistons", "dreadful"))


def test_a_certificate_of_other_texts_is_not_verified(files, tmp_path):
    other, hidden, certificate = tmp_path / "o.csv", tmp_path / "h.csv", tmp_path / "h.json"
    other.write_text("text\nA short text about soup.\n")
    assert run("obfuscate", "-i", other, "-o", hidden, "-e", 9, "--certificate", certificate, "-q").exit_code == 0
    text = tmp_path / "card.md"
    result = evaluate(files, "--certificate", certificate, "--card", text)
    assert result.exit_code == 0, result.stderr
    assert "NOT VERIFIED: the certificate does not fit these texts (documents, words" in text.read_text()


def test_without_a_certificate(files, tmp_path):
    text = tmp_path / "card.md"
    result = run("evaluate", "--original", files[0], "--obfuscated", files[1], "--no-cache", "--attribute", "author",
                 "--metrics", "attribute", "--seeds", "1", "--card", text)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "No certificate was given." in text.read_text()


def test_bad_cards_are_refused_before_anything_is_measured(files, tmp_path):
    result = evaluate(files, "--card", tmp_path / "card.pdf")
    assert result.exit_code == 2
    assert "--card writes .html and .md files" in result.stderr
    mine = tmp_path / "card.md"
    mine.write_text("mine")
    result = evaluate(files, "--certificate", files[2], "--card", mine)
    assert result.exit_code == 2
    assert "--overwrite" in result.stderr
    assert mine.read_text() == "mine"
    assert evaluate(files, "--certificate", files[2], "--card", mine, "--overwrite").exit_code == 0
    assert mine.read_text().startswith("# Release card")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_card_is_as_private_as_the_originals(files, tmp_path):
    text = tmp_path / "card.md"
    mode = stat.S_IMODE(files[0].stat().st_mode)
    files[0].chmod(0o600)
    try:
        assert evaluate(files, "--certificate", files[2], "--card", text).exit_code == 0
    finally:
        files[0].chmod(mode)
    assert stat.S_IMODE(text.stat().st_mode) == 0o600
