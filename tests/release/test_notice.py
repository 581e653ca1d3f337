"""NOTICE states the terms of every data file that ships."""

from pathlib import Path

import pytest

from scripts.release.check_dist import list_tracked
from scripts.release.notice import Statement, find_uncovered, find_unused, read_notice

ROOT = Path(__file__).parents[2]
SHIPPED = [name.removeprefix("src/") for name in list_tracked(ROOT) if name.startswith("src/textveil/")]


def test_every_shipped_data_file_is_covered() -> None:
    assert len(SHIPPED) > 300
    assert find_uncovered(SHIPPED, read_notice(ROOT / "NOTICE")) == []


def test_every_pattern_matches_a_file() -> None:
    assert find_unused(SHIPPED, read_notice(ROOT / "NOTICE")) == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("textveil/bundles/en/wordnet/lexicon.npy", ["WordNet 3.0", "Princeton University", "lexicon_licence.txt"]),
        (
            "textveil/bundles/en/pmi/prior_2_codes.npy",
            ["IMDB", "Gutenberg", "Blog Authorship", "non-commercial research"],
        ),
        ("textveil/bundles/en/words/matrix.npy", ["all-MiniLM-L6-v2", "Apache License 2.0"]),
        ("textveil/text/pos.npz", ["CoNLL-2000", "NLTK"]),
        ("textveil/text/punctuation.npz", ["Blog Authorship Corpus"]),
    ],
)
def test_sources_are_named(path: str, words: list[str]) -> None:
    (statement,) = (statement for statement in read_notice(ROOT / "NOTICE") if statement.covers(path))
    assert [word for word in words if word not in f"{statement.origin} {statement.license}"] == []


def test_no_file_has_two_statements() -> None:
    statements = read_notice(ROOT / "NOTICE")
    assert [path for path in SHIPPED if sum(statement.covers(path) for statement in statements) > 1] == []


def test_a_new_data_file_is_found() -> None:
    statements = [Statement(("textveil/a/*.npy",), "ours", "MIT")]
    paths = ["textveil/a/x.npy", "textveil/a/x.txt", "textveil/a/code.py"]
    assert find_uncovered(paths, statements) == ["textveil/a/x.txt"]
    assert find_unused(["textveil/b.npy"], statements) == ["textveil/a/*.npy"]


def test_a_paragraph_without_a_license_is_refused(tmp_path: Path) -> None:
    (tmp_path / "NOTICE").write_text("About.\n\nFiles: a.txt\n b.txt\nOrigin: someone\n")
    with pytest.raises(ValueError, match="lacks License: a.txt b.txt"):
        read_notice(tmp_path / "NOTICE")


def test_paragraphs_are_read(tmp_path: Path) -> None:
    (tmp_path / "NOTICE").write_text(
        "About.\n\nFiles: a.txt\n b.txt\nOrigin: some\n one\nLicense: MIT\n\nNothing: else\n"
    )
    assert read_notice(tmp_path / "NOTICE") == [Statement(("a.txt", "b.txt"), "some one", "MIT")]
