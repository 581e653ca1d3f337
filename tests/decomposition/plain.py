"""The paper's algorithms 1 and 3 as they are written there, to compare with: one document, one n-gram at a time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from textveil.text.sentences import load_splitter
from textveil.text.stopwords import CONTRACTIONS, ENGLISH

BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n")
Test = Callable[[list[str]], bool]


def decompose_plainly(text: str, is_entry: Test) -> list[str]:
    """The chunks of a text, words joined by a space. ``is_entry`` says whether some words are in the lexicon."""
    chunks: list[str] = []
    for tokens in list_sentences(text):
        found: list[str] = []
        i = 0
        while i < len(tokens):
            if i + 3 < len(tokens) and is_entry(tokens[i : i + 4]):
                found.extend(process_stopwords(tokens[i : i + 4]))
                i += 4
                continue
            if i + 2 < len(tokens) and is_entry(tokens[i : i + 3]):
                found.extend(process_stopwords(tokens[i : i + 3]))
                i += 3
                continue
            if i + 1 < len(tokens) and is_entry(tokens[i : i + 2]):
                found.extend(process_stopwords(tokens[i : i + 2]))
                i += 2
                continue
            found.append(tokens[i])
            i += 1
        chunks.extend(merge_contractions(found))
    return chunks


@cache
def list_sentences(text: str) -> list[list[str]]:
    """The words of every sentence of a text, which several lexicons are compared on."""
    sentences = (part for sentence in load_splitter().tokenize(text) for part in BLANK_LINE.split(sentence))
    return [[token.lower() for token in re.findall(r"\b\w+\b", sentence)] for sentence in sentences]


def process_stopwords(tokens: list[str]) -> list[str]:
    """Stopwords at the edges become chunks of their own."""
    first, last = 0, len(tokens)
    while first < last and tokens[first] in ENGLISH:
        first += 1
    while last > first and tokens[last - 1] in ENGLISH:
        last -= 1
    inner = [" ".join(tokens[first:last])] if first < last else []
    return tokens[:first] + inner + tokens[last:]


def merge_contractions(chunks: list[str]) -> list[str]:
    """Two chunks that make a contraction become one."""
    merged: list[str] = []
    i = 0
    while i < len(chunks):
        if tuple(chunks[i : i + 2]) in CONTRACTIONS:
            merged.append(" ".join(chunks[i : i + 2]))
            i += 2
        else:
            merged.append(chunks[i])
            i += 1
    return merged


def in_lexicon(ngrams: Iterable[str]) -> Test:
    """Algorithm 1: whether the words are an n-gram of a lexicon."""
    known = frozenset(ngrams)
    return lambda tokens: " ".join(tokens) in known


def in_wordnet(reader: Any) -> Test:
    """Algorithm 3: whether NLTK finds synsets for the words."""
    return lambda tokens: bool(reader.synsets("_".join(tokens)))


def remember(is_entry: Test) -> Test:
    """The same test, which is asked once about each expression."""
    asked = cache(lambda expression: is_entry([expression]))
    return lambda tokens: asked("_".join(tokens))


@cache
def read_wordnet(folder: Path) -> Any:
    """NLTK's reader for a folder of WordNet, read once."""
    import nltk
    from nltk.corpus.reader import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing to map: it is WordNet 3.0 itself. NLTK would look for another copy."""

    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))  # it reads nothing from elsewhere
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that other languages are not at hand
        return Reader(str(folder), None)
