"""Kept stopwords: the words of a document that a profile releases as they are."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.language.codes import Code, find_codes
from textveil.language.plain_stopwords import mark_plain_stopwords
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document
from textveil.privacy.profiles import Profile, Stopwords
from textveil.privacy.screening import Screened


def list_codes(screened: Screened, profile: Profile) -> list[Code]:
    """The codes of a document, and what is written in the stead of identifiers."""
    codes = find_codes(screened.document) if profile.guards_form else []
    if not screened.redactions:
        return codes
    redacted = {chunk.start for chunk in screened.redactions}
    apart = [code for code in codes if redacted.isdisjoint(range(code.chunk.start, code.chunk.stop))]
    return sorted([*apart, *screened.codes])


def mark_kept(
    screened: Sequence[Screened], codes: Sequence[Sequence[Code]], *, profile: Profile, stopwords: Stopwords
) -> list[list[bool]]:
    """For every word of every document, whether it is a stopword that is kept.

    Words of codes never are, and neither are those of identifiers.
    """
    documents = [each.document for each in screened]
    if stopwords == "perturb":
        return [[False] * len(document.words) for document in documents]
    if profile.guards_form:
        kept = mark_plain_stopwords(documents)
    else:
        kept = [[word in ENGLISH for word in document.words] for document in documents]
    for marks, each, found in zip(kept, screened, codes, strict=True):
        for code in found:
            marks[code.chunk.start : code.chunk.stop] = [False] * code.chunk.size
        for position in each.marked:
            marks[position] = False
    return kept


def mark_kept_words(document: Document, *, profile: Profile, stopwords: str | None) -> list[bool]:
    """For every word of a document in which no identifiers are looked for, whether it is a stopword that is kept.

    >>> from textveil.privacy.profiles import STRICT
    >>> document = Document.parse("The mail of @the to IT.")
    >>> kept = mark_kept_words(document, profile=STRICT, stopwords=None)
    >>> [word for word, keeps in zip(document.words, kept) if keeps]
    ['the', 'of', 'to']
    """
    screened = Screened(document, document)
    codes = list_codes(screened, profile)
    (kept,) = mark_kept([screened], [codes], profile=profile, stopwords=profile.choose_stopwords(stopwords))
    return kept
