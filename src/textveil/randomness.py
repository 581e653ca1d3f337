"""Random generators. No other module creates one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from abc import ABC, abstractmethod
from numbers import Integral
from typing import ClassVar

import numpy as np
from randomgen import ChaCha

from textveil.errors import ParameterError

KEY_BYTES = 32


class Randomness(ABC):
    """A source of ChaCha20 streams, one for every document. No two of them share a block."""

    source: ClassVar[str]
    predictable: ClassVar[bool]

    @abstractmethod
    def stream(self, document: int) -> np.random.Generator:
        """The generator for the document with this number."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """An identifier for resumed runs: equal for sources with the same streams."""


class SystemRandomness(Randomness):
    """Every document gets a fresh 256-bit key from the operating system.

    No state is kept between documents, so neither a fork nor a copy in another process can repeat noise.
    """

    source = "os"
    predictable = False

    def stream(self, document: int) -> np.random.Generator:
        """A generator with a fresh key; the number of the document is ignored."""
        return np.random.Generator(ChaCha(key=int.from_bytes(secrets.token_bytes(KEY_BYTES), "little")))

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

    def stream(self, document: int) -> np.random.Generator:
        """The generator that starts at the first block of the document's range."""
        # randomgen counts numbers of 32 bits, 16 to a block, so 64 bits are 2**60 blocks.
        return np.random.Generator(ChaCha(key=int.from_bytes(self._key, "little"), counter=document << 64))

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

    def stream(self, document: int) -> np.random.Generator:
        """The generator whose key is the HMAC of the number."""
        key = hmac.digest(self._secret, f"textveil noise {document}".encode(), "sha256")
        return np.random.Generator(ChaCha(key=int.from_bytes(key, "little")))

    @property
    def fingerprint(self) -> str:
        """A prefix of a keyed hash."""
        return f"keyed {hmac.digest(self._secret, b'textveil fingerprint', 'sha256').hex()[:16]}"


def build_randomness(seed: int | None = None) -> Randomness:
    """The randomness of the operating system, or with a seed, reproducible randomness."""
    return SystemRandomness() if seed is None else SeededRandomness(seed)
