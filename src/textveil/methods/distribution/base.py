"""The contract of a distributor, and the base of those that use an encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from textveil.extras import require_version
from textveil.models.encoders import BATCH_SIZE, DEFAULT_ENCODER, PAPER_ENCODER, Encoder
from textveil.models.files import DEVICE_OPTION, EXTRA, PRECISION_OPTION, ModelFiles, choose_device
from textveil.registry import Method, Option
from textveil.text.documents import Document

Score: TypeAlias = float | None
"""The importance of a word; ``None`` if the method gives none."""


class Distributor(Method):
    """Scores the words of documents; ``allocation`` turns scores into shares."""

    kind = "distribution"
    data_independent: bool = False
    """Whether the scores depend on nothing but the number of words."""
    invert: bool = False
    """Whether a higher score must mean a smaller share."""
    unscored: float = 0.0
    """The score that the paper gives a word without one."""

    @abstractmethod
    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """One score for every word of every document."""


class EncoderDistributor(Distributor):
    """Scores words with an encoder, which is loaded on first use."""

    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "model",
            str,
            DEFAULT_ENCODER,
            f"Encoder: a resource, a folder, or OWNER/NAME in the Hugging Face cache. The paper's: {PAPER_ENCODER}.",
            flag="--encoder",
            changes_results=False,  # its files do, and they are recorded
        ),
        Option("batch_size", int, BATCH_SIZE, "Windows of text to encode at a time.", least=1, changes_results=False),
        DEVICE_OPTION,
        PRECISION_OPTION,
    )
    model: str
    batch_size: int
    device: str | None
    precision: str
    packages: tuple[str, ...] = ("torch", "transformers")
    """The software that runs the encoder."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for package in self.packages:  # better missed now than later
            require_version(package, extra=EXTRA)
        self.files = ModelFiles.find(self.model)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The encoder, and the device that runs it. Scores are the same on all devices, but for rounding."""
        return {**self.files.as_dict(), "device": choose_device(self.device)}

    @property
    def settings(self) -> dict[str, Any]:
        """How the encoder is run."""
        return {"batch_size": self.batch_size, "device": self.device, "precision": self.precision}

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the packages that run the encoder."""
        return {package: require_version(package, extra=EXTRA) for package in self.packages}

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use."""
        return self.load()

    @abstractmethod
    def load(self) -> Encoder:
        """Load the encoder."""
