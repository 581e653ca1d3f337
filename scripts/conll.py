"""CoNLL-2000: tagged and chunked sentences, with the same words that documents have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from textveil.errors import InputError
from textveil.text.documents import Document
from textveil.text.tagging import PhraseTagger

_CLITIC = re.compile(r"n't|'\w+", re.IGNORECASE)
OUTSIDE = "O"


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """Lowercase words without punctuation, each with a part-of-speech tag and an IOB chunk tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[str, ...]


def read_conll(path: Path) -> list[TaggedSentence]:
    """Read a CoNLL-2000 file: each line has a token, its tag and its chunk tag. An empty line ends a sentence.

    Tokens are joined into a text (``do`` and ``n't`` become ``don't``), which is then split into words like any other
    text. A word has the tag of the token in which it begins.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"Cannot read {str(path)!r}. Name the folder of CoNLL-2000 that has train.txt and test.txt."
        ) from error
    return [sentence for rows in _split_rows(lines, path) if (sentence := _as_in_texts(rows)).words]


def _split_rows(lines: Iterable[str], path: Path) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for number, line in enumerate([*lines, ""], start=1):
        row = line.split()
        if len(row) not in (0, 3):
            raise InputError(f"{str(path)!r}, line {number}: expected three columns. This is not a CoNLL-2000 file.")
        if row:
            rows.append(row)
        elif rows:
            yield rows
            rows = []


def _as_in_texts(rows: Sequence[Sequence[str]]) -> TaggedSentence:
    text = ""
    owner: list[int] = []
    for number, (token, _, _) in enumerate(rows):
        gap = "" if number == 0 or _CLITIC.fullmatch(token) else " "
        text += gap + token
        owner += [number] * (len(gap) + len(token))
    document = Document.parse(text)
    tokens = [owner[start] for start, _ in document.spans]
    return TaggedSentence(document.words, tuple(rows[token][1] for token in tokens), tuple(_chunk_tags(rows, tokens)))


def _chunk_tags(rows: Sequence[Sequence[str]], tokens: Sequence[int]) -> Iterator[str]:
    """The chunk tags of words: the first remaining word of a chunk begins it, and the others are inside."""
    chunk_of = _number_chunks([row[2] for row in rows])
    previous = None
    for token in tokens:
        kind = rows[token][2].partition("-")[2]
        yield OUTSIDE if chunk_of[token] is None else f"{'I' if chunk_of[token] == previous else 'B'}-{kind}"
        previous = chunk_of[token]


def _number_chunks(chunk_tags: Sequence[str]) -> list[int | None]:
    """The number of the chunk of every token; ``None`` outside chunks."""
    numbers: list[int | None] = []
    for position, (start, stop, _) in enumerate(find_chunks(chunk_tags)):
        numbers += [None] * (start - len(numbers))
        numbers += [position] * (stop - start)
    return numbers + [None] * (len(chunk_tags) - len(numbers))


def find_chunks(chunk_tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Start, stop and kind of every chunk. An inside tag without a chunk to continue begins one.

    >>> list(find_chunks(["B-NP", "I-NP", "O", "B-VP", "B-NP", "I-PP"]))
    [(0, 2, 'NP'), (3, 4, 'VP'), (4, 5, 'NP'), (5, 6, 'PP')]
    """
    start, kind = 0, ""
    for position, chunk_tag in enumerate([*chunk_tags, OUTSIDE]):
        place, _, here = chunk_tag.partition("-")
        if place == "I" and here == kind:
            continue
        if kind:
            yield start, position, kind
        start, kind = position, here


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of predicted with annotated tags: accuracy of tags, and F1 of complete chunks."""

    words: int
    tag_accuracy: float
    chunk_f1: float

    @classmethod
    def of(cls, expected: Sequence[TaggedSentence], predicted: Sequence[TaggedSentence]) -> Agreement:
        """Compare predicted with annotated sentences."""
        words = right = chunks = found = common = 0
        for ours, theirs in zip(predicted, expected, strict=True):
            words += len(theirs.words)
            right += sum(map(str.__eq__, ours.tags, theirs.tags))
            wanted, given = set(find_chunks(theirs.chunks)), set(find_chunks(ours.chunks))
            chunks, found, common = chunks + len(wanted), found + len(given), common + len(wanted & given)
        return cls(words, right / words, 2 * common / (chunks + found))


def tag_sentences(phrases: PhraseTagger, sentences: Sequence[TaggedSentence]) -> list[TaggedSentence]:
    """The same sentences with predicted tags."""
    lengths = [len(sentence.words) for sentence in sentences]
    numbers, chunk_numbers = phrases.tag([word for sentence in sentences for word in sentence.words], lengths)
    tags = iter([phrases.tagger.tags[number] for number in numbers])
    chunk_tags = iter([phrases.chunk_tags[number] for number in chunk_numbers])
    return [
        TaggedSentence(sentence.words, tuple(islice(tags, length)), tuple(islice(chunk_tags, length)))
        for sentence, length in zip(sentences, lengths, strict=True)
    ]
