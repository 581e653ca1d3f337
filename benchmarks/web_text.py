"""Text like that of the web, of any size: passages of a corpus, drawn at random, with misspellings and new words.

The text is streamed from one file to another, so its size does not need memory.
"""

from __future__ import annotations

import gzip
import lzma
import mmap
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MISSPELLED, REPLACED = 0.015, 0.005
"""The shares of words with one other letter, and of words that get all new letters, as names and numbers are new."""
SHORTEST, MEAN = 200, 2300
"""The bytes of the shortest passage, and the mean of the exponential distribution of further ones."""
_BATCH_BYTES = 4 << 20
_RANDOM_WORDS = 5_000_000
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
_IS_LETTER = np.zeros(256, bool)
_IS_LETTER[list(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")] = True
_IN_WORD = _IS_LETTER.copy()
_IN_WORD[128:] = True  # most letters beyond ASCII


def read_documents(corpus: Path | None) -> Iterator[str]:
    """The lines of a corpus; without a corpus, endless lines of random words with Zipfian frequencies."""
    if corpus is not None:
        opener = {".xz": lzma.open, ".gz": gzip.open}.get(corpus.suffix, open)
        with opener(corpus, "rt", encoding="utf-8") as lines:  # type: ignore[operator]
            yield from lines
        return
    generator = np.random.default_rng(1)
    names = np.array([f"w{number}" for number in range(100_000)])
    weights = np.cumsum(1 / np.arange(1, len(names) + 1))
    while True:
        drawn = names[np.searchsorted(weights, generator.random(100_000) * weights[-1])]
        yield from (" ".join(drawn[start : start + 80]) + "\n" for start in range(0, len(drawn), 80))


def unpack(corpus: Path | None, path: Path) -> None:
    """Write a corpus without compression; without a corpus, some million random words."""
    if corpus is not None:
        opener = {".xz": lzma.open, ".gz": gzip.open}.get(corpus.suffix, open)
        with opener(corpus, "rb") as source, path.open("wb") as out:  # type: ignore[operator]
            shutil.copyfileobj(source, out, _BATCH_BYTES)
        return
    with path.open("w", encoding="utf-8") as out:
        written = 0
        for document in read_documents(None):
            out.write(document)
            written += document.count(" ") + 1
            if written >= _RANDOM_WORDS:
                break


def write_web_text(source: Path, words: int, path: Path, seed: int = 7) -> None:
    """Write passages of an uncompressed corpus with about ``words`` words in total, one document per line."""
    generator = np.random.default_rng(seed)
    written = 0
    with (
        source.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as corpus,
        path.open("wb") as out,
    ):
        while written < words:
            batch = _draw_passages(corpus, generator)
            starts, ends = (edges[: words - written] for edges in find_words(batch))
            written += len(starts)
            add_noise(batch, starts, ends, generator)
            out.write(batch[: ends[-1] if written == words else len(batch)].tobytes() + b"\n")


def _draw_passages(corpus: mmap.mmap, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Passages from random places of the corpus. They begin and end at spaces, so no letter is divided."""
    count = _BATCH_BYTES // (SHORTEST + MEAN)
    lengths = (SHORTEST + generator.exponential(MEAN, count)).astype(int).tolist()
    passages = []
    for length, start in zip(lengths, generator.integers(len(corpus), size=count).tolist(), strict=True):
        begin = corpus.find(b" ", start) + 1  # 0 after the last space
        end = corpus.find(b" ", begin + length)
        passages.append(corpus[begin : end if end >= 0 else len(corpus)])
    return np.frombuffer(b"\n".join(passages), np.uint8).copy()


def find_words(text: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first bytes of all words, and the bytes after them."""
    edges = np.flatnonzero(np.diff(_IN_WORD[text], prepend=False, append=False))
    return edges[::2], edges[1::2]


def add_noise(
    text: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp], generator: np.random.Generator
) -> None:
    """Change some words in place: one letter of some, and all letters of others."""
    chance = generator.random(len(starts))
    some = np.flatnonzero(chance < MISSPELLED)
    lengths = ends[some] - starts[some]
    one_letter = starts[some] + (generator.random(len(some)) * lengths).astype(np.intp)
    others = np.flatnonzero((chance >= MISSPELLED) & (chance < MISSPELLED + REPLACED))
    changed = np.concatenate([one_letter, *(np.arange(starts[word], ends[word]) for word in others)])
    changed = changed[_IS_LETTER[text[changed]]]
    text[changed] = generator.choice(_LETTERS, len(changed))
