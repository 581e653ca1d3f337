import pytest

from textveil.planning import list_codes, mark_kept, mark_kept_words
from textveil.profiles import PAPER, PROVEN, STRICT
from textveil.redaction import redact
from textveil.text.codes import Code
from textveil.text.documents import Chunk, Document
from textveil.text.identifiers import Found

TEXT = "The mail of @the to IT, Will and AT&T."


def kept(text, profile, stopwords=None):
    document = Document.parse(text)
    marks = mark_kept_words(document, profile=profile, stopwords=stopwords)
    return [word for word, keeps in zip(document.words, marks, strict=True) if keeps]


def test_stopwords_are_kept_as_the_profile_says():
    assert kept(TEXT, STRICT) == ["the", "of", "to", "and"]
    assert kept(TEXT, PAPER) == ["the", "of", "the", "to", "it", "will", "and", "at", "t"]
    assert kept(TEXT, STRICT, "perturb") == kept(TEXT, PROVEN) == []


@pytest.mark.parametrize("profile", [STRICT, PAPER])
def test_words_of_codes_are_not_kept(profile):
    document = Document.parse("the man of the house")
    codes = [Code(Chunk(3, 4), 11, 14)]
    assert mark_kept([document], [codes], profile=profile, stopwords="keep") == [[True, False, True, False, False]]


def test_what_was_redacted_is_a_code_and_hides_codes_that_it_touches():
    text = "call 555-0134 or bo@xy.org"
    plain = Document.parse(text)
    assert len(list_codes(plain, STRICT)) == 2
    assert list_codes(plain, PAPER) == []
    redacted = redact(Document.parse(text), [Found(5, 13, "PHONE_NUMBER")])
    first, second = list_codes(redacted.document, STRICT, redacted)
    assert redacted.document.text[first.start : first.stop] == "<PHONE_NUMBER>"
    assert redacted.document.text[second.start : second.stop] == "bo@xy.org"
