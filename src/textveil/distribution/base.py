"""The contract of a distributor, and what those that ask an encoder have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

from textveil.errors import ParameterError
from textveil.extras import require_version
from textveil.language.text import Document
from textveil.models.encoders import BATCH_SIZE, DEFAULT_ENCODER, Encoder
from textveil.models.files import EXTRA, ModelFiles
from textveil.registry import Method

Score: TypeAlias = float | None
"""How important a word is; ``None`` where the method gives no answer."""


class Distributor(Method):
    """Gives every word a score; ``allocation`` turns scores into shares."""

    kind = "distribution"
    data_independent: bool = False
    """Whether the scores depend on nothing but the number of words."""
    invert: bool = False
    """Whether a higher score must mean a smaller share."""

    @abstractmethod
    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """One score for every word of every document."""


class EncoderDistributor(Distributor):
    """Asks an encoder, which is loaded when it is first needed.

    Args:
        model: A resource, a folder, or the OWNER/NAME of a model in the cache of Hugging Face.
        batch_size: Windows of text that are read at a time. Scores do not depend on it, but for rounding.
        device: A device of PyTorch; by default a GPU if there is one.
    """

    packages: tuple[str, ...] = ("torch", "transformers")
    """What runs the encoder."""

    def __init__(
        self,
        *,
        model: str | Path = DEFAULT_ENCODER,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        for package in self.packages:  # which are better missed now than later
            require_version(package, extra=EXTRA)
        self.batch_size = check_count("batch size", batch_size)
        self.device = device
        self.files = ModelFiles.find(model)

    @property
    def description(self) -> str:
        """The name, and the encoder with the hash of its files."""
        return f"{self.name} ({self.files.description})"

    @property
    def versions(self) -> dict[str, str]:
        """Of the packages that run the encoder."""
        return {package: require_version(package, extra=EXTRA) for package in self.packages}

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use."""
        return self.load()

    @abstractmethod
    def load(self) -> Encoder:
        """Load the encoder."""


def check_count(name: str, count: int) -> int:
    """The count, if it is a positive whole number."""
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
        raise ParameterError(f"The {name} must be a whole number of at least 1. Got {count!r} instead.")
    return int(count)
