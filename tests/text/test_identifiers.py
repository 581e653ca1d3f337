import pytest

from textveil.errors import ResourceError
from textveil.text import identifiers
from textveil.text.identifiers import HARMS, KINDS, Finder, Found, Harm, is_whole


@pytest.fixture(scope="module")
def finder():
    try:
        return Finder()
    except ResourceError as error:
        pytest.skip(str(error))


def test_every_kind_has_a_harm():
    assert set(HARMS) == set(KINDS)
    assert HARMS["PERSON"] is Harm.DIRECT
    assert HARMS["LOCATION"] is Harm.INDIRECT
    assert HARMS["MONEY"] is Harm.OTHER


def test_whole_words():
    assert is_whole("Ann Lee", 0, 3)
    assert not is_whole("Ann Lee", 1, 3)
    assert not is_whole("a  b", 1, 3)


def test_it_finds_and_says_with_what(finder):
    text = "Maria Smith moved to London."
    (found,) = finder.find([text])
    assert Found(0, 11, "PERSON") in found
    assert Found(21, 27, "LOCATION") in found
    assert set(finder.versions) == {"presidio-analyzer", "spacy"}
    assert len(finder.model_used["sha256"]) == 64


def test_texts_without_anything_and_half_characters(finder):
    assert list(finder.find([])) == []
    found = list(finder.find(["", "\ud800 London \udfff", "it is"]))
    assert found[0] == found[2] == []
    assert Found(2, 8, "LOCATION") in found[1]


def test_a_long_text_is_searched_in_parts(finder, monkeypatch):
    monkeypatch.setattr(identifiers, "LONGEST", 300)
    monkeypatch.setattr(identifiers, "OVERLAP", 60)
    text = "We met Maria Smith in London. " * 40
    short, found, other = finder.find(["In London.", text, "In Paris."])
    assert [text[each.start : each.stop] for each in found if each.kind == "LOCATION"] == ["London"] * 40
    assert len(short) == len(other) == 1
    parts = list(identifiers._cut(text))
    assert all(text[start : start + len(part)] == part and len(part) <= 300 for start, part in parts)
    assert parts[-1][0] + len(parts[-1][1]) == len(text)
    assert all(len(part) <= 300 for _, part in identifiers._cut("x" * 2000))
