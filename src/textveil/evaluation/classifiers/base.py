"""The contract of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from textveil.errors import ParameterError
from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.texts import Texts
from textveil.progress import Progress, ignore_progress


class Fitted(ABC):
    """A classifier that was trained."""

    @abstractmethod
    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The class of each of the texts at some positions."""


class Classifier(ABC):
    """Learns the classes of texts. The same texts and seed give the same predictions."""

    name: ClassVar[str]
    held: ClassVar[int] = 12
    """How many of it, trained on originals, are held in memory for the obfuscations to come."""

    def __init__(self, **options: Any) -> None:
        if options:
            raise ParameterError(f"The classifier {self.name!r} has no {', '.join(options)} to choose.")

    @property
    def label(self) -> str:
        """The name, and all that was chosen besides and makes other predictions."""
        return self.name

    @property
    @abstractmethod
    def versions(self) -> dict[str, str]:
        """The software that predictions depend on, besides textveil itself."""

    @abstractmethod
    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> Fitted:
        """Train on the texts at some positions."""
