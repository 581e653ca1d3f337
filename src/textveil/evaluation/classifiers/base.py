"""The contract of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.texts import Texts
from textveil.progress import Progress, ignore_progress
from textveil.registry import Method


class Fitted(ABC):
    """A classifier that was trained."""

    @abstractmethod
    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The class of each of the texts at some positions."""


class Classifier(Method):
    """Learns the classes of texts. The same texts and seed give the same predictions."""

    kind = "classifier"
    held: ClassVar[int] = 12
    """How many of it, trained on originals, are held in memory for the obfuscations to come."""

    @abstractmethod
    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> Fitted:
        """Train on the texts at some positions."""
