"""Plain stopwords: those that are not part of a name, an acronym, a code or a spelled-out word."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.text.documents import Document
from textveil.text.sentences import begin_sentences
from textveil.text.stopwords import CONTRACTIONS, ENGLISH

_LETTERS = frozenset("ai")
"""The single letters that are words."""
_JOINERS = frozenset("&.'’")
_APOSTROPHES = frozenset("'’")
_STUBS = frozenset(
    """
    ain aren couldn didn doesn don hadn hasn haven isn ll ma mightn mustn needn re shan shouldn ve wasn weren won wouldn
    """.split()
)
"""Parts of contractions that are stopwords only there: elsewhere, they may be names (Don, Ma) or verbs (won)."""
_NAMES = frozenset("am an can do will".split())
"""Other stopwords that are also people's names. Pronouns and prepositions (He, In) are not in the list: they begin very
many sentences, and are hardly ever names."""
_AFTER_VERBS = frozenset(
    """
    I i you he she it we they the a an this that these those my your his her its our their there
    all any anybody anyone anything one some somebody someone something what yourself yourselves be have not
    """.split()
)
"""Words that follow "am", "can", "do" and "will" at the beginning of a sentence, but hardly ever a name."""
_AFTER_AN = frozenset("aeiouh")


def mark_plain_stopwords(documents: Sequence[Document]) -> list[list[bool]]:
    """For every word of every document, whether it is a stopword that may be kept.

    A stopword may be kept unless it is capitalized inside a sentence (Will, An), in capitals (IT, WHO), a single letter
    other than "a" and "I", or joined to another word by "&", "." or an apostrophe (AT&T) without being a contraction. A
    part of a contraction (don, won) may be kept only inside one. At the beginning of a sentence, a stopword that is
    also a name may be kept only if the next word makes it plain: "Will you", but not "Will left".

    >>> document = Document.parse("Will we ask Will? Will knows. It's IT, or AT&T. Don won, we don't.")
    >>> [word for word, plain in zip(document.words, mark_plain_stopwords([document])[0]) if plain]
    ['will', 'we', 'it', 's', 'or', 'we', 'don', 't']
    """
    marks = [
        [word in ENGLISH and _is_plain(document, place) for place, word in enumerate(document.words)]
        for document in documents
    ]
    capitalized = [
        (number, place)
        for number, document in enumerate(documents)
        for place in range(len(document.words))
        if marks[number][place] and _is_capitalized(document, place)
    ]
    behind_pauses = [
        (number, place) for number, place in capitalized if place > 0 and documents[number].pauses_before(place)
    ]
    begun = begin_sentences([(documents[number], place) for number, place in behind_pauses]) if behind_pauses else []
    beginning = {asked for asked, begins in zip(behind_pauses, begun, strict=True) if begins}
    for number, place in capitalized:
        begins = place == 0 or (number, place) in beginning
        marks[number][place] = begins and not _may_be_name(documents[number], place)
    return marks


def _surface(document: Document, place: int) -> str:
    start, stop = document.spans[place]
    return document.text[start:stop]


def _is_capitalized(document: Document, place: int) -> bool:
    surface = _surface(document, place)
    return surface[0].isupper() and surface != "I"


def _may_be_name(document: Document, place: int) -> bool:
    """Whether the stopword that begins a sentence may be a name, because its next word does not exclude it."""
    word = document.words[place]
    if word not in _NAMES or _joiner(document, place) in _APOSTROPHES:  # can't
        return False
    if not _joiner(document, place).isspace() or place + 1 == len(document.words):
        return True
    following = _surface(document, place + 1)
    if word == "an":
        return following[0] not in _AFTER_AN or following in ENGLISH
    return following not in _AFTER_VERBS


def _is_plain(document: Document, place: int) -> bool:
    """Whether a stopword is plain, apart from a capital at its beginning."""
    surface, word = _surface(document, place), document.words[place]
    if not surface.isascii() or (len(surface) > 1 and surface.isupper()):
        return False
    before, after = _joiner(document, place - 1), _joiner(document, place)
    contracted_before = before in _APOSTROPHES and document.words[place - 1 : place + 1] in CONTRACTIONS
    contracted_after = after in _APOSTROPHES and document.words[place : place + 2] in CONTRACTIONS
    if word in _STUBS and not (contracted_before or contracted_after):
        return False
    if (before in _JOINERS and not contracted_before) or (after in _JOINERS and not contracted_after):
        return False
    return len(word) > 1 or word in _LETTERS or contracted_before or contracted_after


def _joiner(document: Document, place: int) -> str:
    """The gap between a word and the next, if both are joined without a space; otherwise a space."""
    if not 0 <= place < len(document.words) - 1:
        return " "
    return document.text[document.spans[place][1] : document.spans[place + 1][0]] or " "
