"""Splitting a corpus into chunks: tasks for workers, and one file of tokens for gensim.

split/BLOCK.txt         the documents of a block, one per line; a chunk is a token, with its words joined by underscores
split/BLOCK.json        the mark of a finished block: the numbers of its documents and words
tokens.txt              all blocks in order
split.json              the sums over all blocks
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from textveil.bundles.bundle import Bundle
from textveil.lab.corpus.inputs import Block
from textveil.lab.corpus.resumption import Reading, loading, save_json
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.storage.atomic import make_folder, writing
from textveil.text.documents import Document
from textveil.text.matching import LONGEST
from textveil.text.words import find_words

LONGEST_LINE = 10_000
"""The number of tokens that gensim reads from a line. It drops the rest."""


def split_block(block: Block, output: Path, *, bundle: Path, decomposition: str) -> int:
    """Write the tokens of a block, and then the numbers of documents and words. Progress counts words."""
    decomposer = _load_decomposer(bundle, decomposition)
    documents = words = 0
    with writing(output.with_suffix(".txt")) as stream:
        for texts in block.read():
            batch = [Document.parse(text) for text in texts if text is not None]
            for document, chunks in zip(batch, decomposer.decompose(batch), strict=True):
                keys = list(map(document.key, chunks))
                for start in range(0, len(keys), LONGEST_LINE):
                    line = " ".join(keys[start : start + LONGEST_LINE])
                    stream.write(line.encode(errors="replace") + b"\n")
                documents, words = documents + 1, words + len(document.words)
    save_json(output, [documents, words])
    return words


@cache
def _load_decomposer(bundle: Path, decomposition: str) -> Decomposer:
    """Load the decomposer once per worker."""
    return DECOMPOSERS.load(decomposition)(Bundle(bundle))


def read_split(path: Path) -> tuple[int, int]:
    """The numbers of documents and words, of a block or of the corpus."""
    with loading(path):
        documents, words = map(int, json.loads(path.read_bytes()))
    return documents, words


def split_corpus(reading: Reading, folder: Path, *, bundle: Path, decomposition: str) -> Path:
    """Split a corpus, or resume splitting it.

    Args:
        reading: The corpus.
        folder: The folder for the parts and for the file of tokens.
        bundle: A bundle with the lexicons.
        decomposition: The name of the decomposition.

    Returns:
        The file of tokens, next to ``split.json``.
    """
    tokens = folder / "tokens.txt"
    if tokens.exists():
        return tokens

    work = partial(split_block, bundle=bundle, decomposition=decomposition)
    parts = reading.run_blocks(
        f"splitting by {decomposition}", folder / "split", work, recall=lambda output: read_split(output)[1]
    )
    save_json(folder / "split.json", [sum(numbers) for numbers in zip(*map(read_split, parts), strict=True)] or [0, 0])
    join_files([part.with_suffix(".txt") for part in parts], tokens)
    shutil.rmtree(folder / "split")
    return tokens


def read_documents(tokens: Path) -> Iterator[list[str]]:
    """The tokens of every document. A document of more than ``LONGEST_LINE`` tokens has several lines."""
    waiting: list[str] = []
    with tokens.open(encoding="utf-8") as lines:
        for line in lines:
            part = line.split()
            waiting += part
            if len(part) < LONGEST_LINE:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


def join_files(parts: Sequence[Path], whole: Path) -> None:
    """Concatenate files."""
    with writing(whole) as stream:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, stream, 1 << 20)


def join_tokens(tokens: Sequence[Path]) -> Path:
    """The file of tokens to train on: that of the corpus, joined with that of the background if there is one."""
    if len(tokens) == 1:
        return tokens[0]
    joined = tokens[-1].with_name("all.txt")
    join_files(tokens, joined)
    return joined


def count_documents_of(block: Block, output: Path, *, expressions: Path) -> None:
    """Count the documents of a block that have each expression. Progress counts bytes."""
    numbers = _load_numbers(expressions)
    counts = np.zeros(len(numbers), dtype=np.int64)
    for texts in block.read():
        for text in texts:
            if text is not None:
                counts[list(_find(list(find_words(text)), numbers))] += 1
    with writing(output) as stream:
        np.save(stream, counts, allow_pickle=False)


def _find(words: list[str], numbers: dict[str, int]) -> set[int]:
    """The numbers of the expressions in a document."""
    found = set()
    for length in range(2, LONGEST + 1):
        shifted = (words[start:] for start in range(length))
        found |= {numbers[ngram] for ngram in map(" ".join, zip(*shifted, strict=False)) if ngram in numbers}
    return found


@cache
def _load_numbers(path: Path) -> dict[str, int]:
    """Load the expressions once per worker."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return {expression: number for number, expression in enumerate(lines)}


def count_documents(reading: Reading, folder: Path, expressions: Sequence[str]) -> dict[str, int]:
    """Count the documents with each expression, or resume counting them.

    Args:
        reading: The corpus.
        folder: The folder for the counts of blocks.
        expressions: Expressions of several words, with spaces between words.
    """
    wanted = sorted(set(expressions))
    content = ("\n".join(wanted) + "\n").encode()
    listed = folder / f"{zlib.crc32(content):08x}.txt"
    if folder.exists() and not listed.exists():
        shutil.rmtree(folder)  # it has the counts of other expressions
    make_folder(folder)
    with writing(listed) as stream:
        stream.write(content)

    work = partial(count_documents_of, expressions=listed)
    totals = np.zeros(len(wanted), dtype=np.int64)
    for path in reading.run_blocks("finding documents", folder, work, suffix=".npy"):
        with loading(path):
            totals += np.load(path, allow_pickle=False)
    return dict(zip(wanted, totals.tolist(), strict=True))
