"""The settings of the service, checked before it starts."""

from __future__ import annotations

import ipaddress
import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from textveil import settings as obfuscator
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.errors import InputError, ParameterError
from textveil.methods.distribution import DISTRIBUTORS
from textveil.profiles import STRICT

HOST = "127.0.0.1"
PORT = 8000
BYTES = 1 << 20
TEXTS = 1_000
WORDS = 5_000
REQUESTS = 64
SECONDS = 30.0
SHORTEST_TOKEN = 16
LONGEST_TOKEN = 1_000
Token: TypeAlias = bytes
DEFAULTS = ("profile", "decomposition", "distribution", "mechanism", "identifiers")
"""What a server decides about the obfuscator of a request that does not say."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service runs. Every worker gets a copy.

    Args:
        host: The address to listen on. Any other than a loopback address needs a token.
        port: The port; 0 takes a free one.
        bundles: The names or folders of bundles; the first is the default.
        profile: The profile of requests that name none; and likewise the next three.
        decomposition: By default as the library chooses.
        distribution: The distribution.
        mechanism: By default as the library chooses.
        identifiers: What becomes of identifiers in requests that do not say: ``redact`` or ``perturb``. By default,
            they are words like all others.
        load: Further distributions to load at the start.
        token_file: A file with the token that requests must bring.
        allow_seeds: Whether a request may choose a seed, and so make its noise predictable.
        origins: The origins of pages that may call the service (CORS).
        workers: The number of processes.
        bytes: The largest body of a request.
        texts: The largest number of texts in a request.
        words: The largest number of words of a text.
        requests: The number of requests that a worker accepts at once.
        seconds: The time that a request may take to arrive, and then to be answered; and a client, to read the answer.
    """

    host: str = HOST
    port: int = PORT
    bundles: tuple[str, ...] = (DEFAULT_BUNDLE,)
    profile: str = STRICT.name
    decomposition: str | None = None
    distribution: str = obfuscator.DISTRIBUTION
    mechanism: str | None = None
    identifiers: str | None = None
    load: tuple[str, ...] = ()
    token_file: Path | None = None
    allow_seeds: bool = False
    origins: tuple[str, ...] = ()
    workers: int = 1
    bytes: int = BYTES
    texts: int = TEXTS
    words: int = WORDS
    requests: int = REQUESTS
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        for name in ("workers", "bytes", "texts", "words", "requests"):
            if getattr(self, name) < 1:
                raise ParameterError(f"`{name}` must be a whole number of at least 1. Got {getattr(self, name)!r}.")
        if not 0 < self.seconds < math.inf:
            raise ParameterError(f"`seconds` must be positive and finite. Got {self.seconds!r} instead.")
        if not 0 <= self.port < 1 << 16:
            raise ParameterError(f"`port` must be from 0 to 65535. Got {self.port!r} instead.")
        if "*" in self.origins:
            raise ParameterError("`origins` must name the origins of pages, such as 'https://example.org', not '*'.")
        if self.token_file is None and not is_loopback(self.host):
            raise ParameterError(
                "An address that other machines can reach needs a token. Set `token_file`, or leave out `host`."
            )

    @property
    def defaults(self) -> dict[str, Any]:
        """The settings of an obfuscator that hold for a request that does not say."""
        return {name: getattr(self, name) for name in DEFAULTS}

    def check_names(self) -> None:
        """Check the names of the profile, the methods and the bundles.

        Raises:
            UnknownNameError: There is no such profile, method or treatment of identifiers.
            ProfileError: The profile does not allow the treatment of identifiers.
            BundleError: There is no such bundle.
        """
        obfuscator.Settings(**self.defaults)
        for name in self.load:
            DISTRIBUTORS.load(name)
        for name in self.bundles:
            Bundle.load(name)

    def read_token(self) -> Token | None:
        """The token that requests must bring; ``None`` if they need none.

        Raises:
            InputError: The file cannot be read, or holds no good token.
        """
        if self.token_file is None:
            return None
        try:
            with self.token_file.open("rb") as stream:
                writable = os.fstat(stream.fileno()).st_mode & stat.S_IWOTH
                token = stream.read(LONGEST_TOKEN + 1).strip()
        except OSError as error:
            raise InputError(f"The file of `token_file` cannot be read: {error.strerror}.") from error
        if writable:
            raise InputError(
                "Every user of this machine can write the file of `token_file`, and so choose the token. "
                "Allow only its owner to: chmod 600"
            )
        if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not all(33 <= byte <= 126 for byte in token):
            raise InputError(
                f"The file of `token_file` must hold one token of {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits "
                "or signs. Make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
        return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
