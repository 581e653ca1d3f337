"""Embeddings of single words, which a sentence encoder computes once.

In memory, every word that was seen has its embedding. On disk there is only public data: the embeddings of *all*
tokens of the encoder's own vocabulary, or none. The embedding of a word gives the word away to everyone who has the
encoder, whatever the entry is called, and a list of words that were seen tells what the texts contain. So neither
is written.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from textveil.models.encoders import SentenceEncoder, Values
from textveil.storage.atomic import make_folder, writing
from textveil.storage.computed import cache_folder

LARGEST = 100_000
"""The number of words to hold in memory."""


class WordEmbeddings:
    """Finds the embeddings of words, each of length 1.

    Args:
        encoder: The encoder.
        identity: Everything that embeddings depend on, such as the hash of the encoder's files.
        keep: Write the embeddings of the vocabulary to the cache folder if they are not there.
        folder: The cache folder; by default the user's.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        identity: Mapping[str, object],
        *,
        keep: bool = False,
        folder: Path | None = None,
    ) -> None:
        self._encoder = encoder
        self._keep = keep
        self._seen: LRUCache[str, Values] = LRUCache(LARGEST)
        described = json.dumps(identity, sort_keys=True).encode()
        self.path = (folder or cache_folder()) / "words" / f"{hashlib.sha256(described).hexdigest()}.npy"

    def find(self, words: Sequence[str]) -> list[Values]:
        """The embedding of every word."""
        known = {word: row for word in words if (row := self._seen.get(word)) is not None}
        if missing := list(dict.fromkeys(word for word in words if word not in known)):
            known.update(zip(missing, self._embed(missing), strict=True))
            self._seen.update(known)
        return [known[word] for word in words]

    def _embed(self, words: list[str]) -> list[Values]:
        """The embeddings of words: from the vocabulary if a word is one token of it, or else computed."""
        found: dict[str, Values] = {}
        if self._vocabulary is not None:
            for word, text in zip(words, self._encoder.tokenize(words), strict=True):
                if len(text.ids) == 1:
                    found[word] = self._vocabulary[text.ids[0]].astype(np.float64)
        others = [word for word in words if word not in found]
        found.update(zip(others, normalize(self._encoder.embed(others)) if others else [], strict=True))
        return [found[word] for word in words]

    @cached_property
    def _vocabulary(self) -> NDArray[np.float32] | None:
        """The embeddings of all tokens, if they are kept."""
        size = len(self._encoder.tokenizer)
        if (kept := _read(self.path, size)) is not None or not self._keep:
            return kept
        _write(self.path, normalize(self._encoder.embed_token(range(size))).astype(np.float32))
        return _read(self.path, size)


def normalize(rows: Values) -> Values:
    """Rows of length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    normalized: Values = rows / np.where(lengths > 0, lengths, 1)
    return normalized


def _read(path: Path, size: int) -> NDArray[np.float32] | None:
    """A file of embeddings, mapped into memory; ``None`` if it is not there, or damaged."""
    try:
        found: NDArray[np.float32] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.ndim == 2 and len(found) == size and found.dtype == np.float32 else None


def _write(path: Path, rows: NDArray[np.float32]) -> None:
    packed = io.BytesIO()
    np.save(packed, rows, allow_pickle=False)
    make_folder(path.parent, private=True)
    with writing(path, private=True) as stream:
        stream.write(packed.getbuffer())
