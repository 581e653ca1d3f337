"""Random generators. No other module creates one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from randomgen import ChaCha

from textveil.errors import ParameterError

KEY_BYTES = 32
_BLOCK_NUMBERS = 16  # randomgen counts numbers of 32 bits, and a block has 512 bits
_LARGEST_NUMBER = (1 << 64) - 1


class Randomness(ABC):
    """A source of ChaCha20 streams, one for every document. No two of them share a block."""

    source: ClassVar[str]
    predictable: ClassVar[bool]

    @abstractmethod
    def locate(self, document: int) -> tuple[bytes, int]:
        """The key of the stream for the document with this number, and the block at which it starts."""

    def stream(self, document: int) -> np.random.Generator:
        """The generator for the document with this number."""
        key, block = self.locate(document)
        return np.random.Generator(ChaCha(key=int.from_bytes(key, "little"), counter=block * _BLOCK_NUMBERS))

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """An identifier for resumed runs: equal for sources with the same streams."""

    def as_dict(self) -> dict[str, Any]:
        """The source as a certificate records it."""
        return {"source": self.source, "predictable": self.predictable}


class SystemRandomness(Randomness):
    """Every document gets a fresh 256-bit key from the operating system.

    No state is kept between documents, so neither a fork nor a copy in another process can repeat noise.
    """

    source = "os"
    predictable = False

    def locate(self, document: int) -> tuple[bytes, int]:
        """A fresh key; the number of the document is ignored."""
        return secrets.token_bytes(KEY_BYTES), 0

    @property
    def fingerprint(self) -> str:
        """Always ``"os"``: a resumed run continues with fresh randomness."""
        return self.source


class SeededRandomness(Randomness):
    """The key is derived from a seed: reproducible, and therefore predictable for anyone who knows the seed.

    All documents share the key. The number of a document selects a range of ChaCha20's block counter: document ``n``
    starts at block ``n * 2**60``. The ranges are disjoint, since no document needs 2**60 blocks of 64 bytes.
    """

    source = "seeded"
    predictable = True

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, Integral):
            raise ParameterError(f"`seed` must be a whole number. Got {type(seed).__name__} instead.")
        self._key: bytes = hashlib.sha256(f"textveil seed {int(seed)}".encode()).digest()

    def locate(self, document: int) -> tuple[bytes, int]:
        """The key of the seed, and the first block of the document's range."""
        return self._key, document << 60

    @property
    def fingerprint(self) -> str:
        """A prefix of the hash of the key."""
        return f"seeded {hashlib.sha256(self._key).hexdigest()[:8]}"


class KeyedRandomness(Randomness):
    """The key of a document's stream is derived from a secret and the document's number.

    The number is a hash of everything that the noise may depend on, such as the text and the settings. So it can be
    repeated, and nothing else gets the same noise.

    Args:
        secret: The secret. Whoever has it can repeat the noise.
    """

    source = "keyed"
    predictable = False

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def locate(self, document: int) -> tuple[bytes, int]:
        """The HMAC of the number as the key."""
        return hmac.digest(self._secret, f"textveil noise {document}".encode(), "sha256"), 0

    @property
    def fingerprint(self) -> str:
        """A prefix of a keyed hash."""
        return f"keyed {hmac.digest(self._secret, b'textveil fingerprint', 'sha256').hex()[:16]}"


class Streams:
    """The generators of batches of documents. They are used again: to make one takes longer than the noise of a text.

    Before a generator is used again, it gets the key and the block of its next document. From then on its numbers are
    those of a new generator. Between two documents it has a random key, so it can repeat no noise.
    """

    def __init__(self) -> None:
        self._idle: list[np.random.Generator] = []

    def __reduce__(self) -> tuple[type[Streams], tuple[()]]:
        return Streams, ()  # another process makes its own generators

    @contextmanager
    def open(self, randomness: Randomness, documents: Iterable[int]) -> Iterator[list[np.random.Generator]]:
        """The generators for documents with these numbers. None of them may be used after the block."""
        streams = [self._take(randomness, document) for document in documents]
        yield streams
        if _can_be_set():  # not after an error, when a thread could still use one
            idle = streams[: max(MOST_IDLE - len(self._idle), 0)]
            for generator in idle:
                _set(generator, secrets.token_bytes(KEY_BYTES), 0)  # the key of the document is forgotten
            self._idle += idle

    def _take(self, randomness: Randomness, document: int) -> np.random.Generator:
        try:
            generator = self._idle.pop()  # in one step, since several threads may take one
        except IndexError:
            return randomness.stream(document)
        _set(generator, *randomness.locate(document))
        return generator


MOST_IDLE = 1024
"""Generators that are kept for later batches."""


def _set(generator: np.random.Generator, key: bytes, block: int) -> None:
    """Let a generator start anew, with another key and at another block."""
    first = block * _BLOCK_NUMBERS
    name, buffered = _empty_state()
    generator.bit_generator.state = {
        "bit_generator": name,
        "state": {
            "block": buffered,  # not read, since a new block starts here
            "keysetup": struct.unpack("<8I", key),
            "ctr": (first & _LARGEST_NUMBER, first >> 64),
            "rounds": 20,
        },
    }


@cache
def _empty_state() -> tuple[str, Sequence[int]]:
    """The name that a generator has in its state, and its buffer."""
    state: Any = ChaCha(key=0).state
    return state["bit_generator"], state["state"]["block"].tolist()


@cache
def _can_be_set() -> bool:
    """Whether the installed version of randomgen lets a generator start anew. If not, each is used once."""
    source = SeededRandomness(1)
    used = source.stream(1)
    used.random(3)
    try:
        _set(used, *source.locate(2**32))
    except (TypeError, ValueError, KeyError):
        return False
    return bool((used.random(100) == source.stream(2**32).random(100)).all())


def build_randomness(seed: int | None = None) -> Randomness:
    """The randomness of the operating system, or with a seed, reproducible randomness."""
    return SystemRandomness() if seed is None else SeededRandomness(seed)
