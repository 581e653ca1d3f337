"""The contract of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.texts import Texts
from textveil.progress import Progress, ignore_progress
from textveil.registry import Method


class Fitted(ABC):
    """A trained classifier."""

    @abstractmethod
    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The class of each text at the given positions."""

    def pack(self) -> bytes:
        """The trained weights as safetensors, for a classifier that is :attr:`Classifier.kept`."""
        raise NotImplementedError


class Classifier(Method):
    """Learns the classes of texts. The same texts and seed give the same predictions."""

    kind = "classifier"
    cached: ClassVar[int] = 12
    """The number of classifiers trained on originals to cache in memory for further obfuscations."""
    gives_probabilities: ClassVar[bool] = False
    """Whether a trained one has ``weigh_classes``, which gives the probability of each class."""

    @property
    def kept(self) -> bool:
        """Whether classifiers trained on originals are stored in the folder of cached scores."""
        return False

    @abstractmethod
    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> Fitted:
        """Train on the texts at the given positions."""

    def unpack(self, content: bytes, classes: Classes) -> Fitted:
        """The trained classifier that :meth:`Fitted.pack` returned."""
        raise NotImplementedError
