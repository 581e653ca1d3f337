"""The settings of a preparation and their defaults: labels, thresholds, training, storage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from textveil.bundles.bundle import Storage
from textveil.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.errors import ParameterError

STORAGE: Storage = "int8"
"""The storage of vectors by default."""


@dataclass(frozen=True)
class Labels:
    """The description of a bundle, which its manifest repeats.

    Attributes:
        name: Its name.
        version: Its version.
        language: The language of its entries.
        corpus: The corpus that it was computed from.
        license: The terms under which it may be used.
    """

    name: str
    version: str = "1"
    language: str = "en"
    corpus: str = "unknown"
    license: str = "unknown"


@dataclass(frozen=True)
class Thresholds:
    """The thresholds that make an n-gram an expression; see ``CountJob`` and ``ScoreJob``."""

    min_count: int = MIN_COUNT
    min_pmi: float = MIN_PMI
    top_share: float = TOP_SHARE
    only_attracted: bool = False


@dataclass(frozen=True)
class Training:
    """The parameters of word2vec. The defaults are the paper's.

    Attributes:
        dimensions: The length of a vector.
        window: The number of tokens on each side that are the context of a token.
        min_entry_count: Tokens that occur less often are left out.
        epochs: The number of passes over the corpus.
        negative: The number of negative samples for each token of the context.
        skip_gram: Predict the context from a token. Otherwise, predict the token from its context (CBOW).
        most_entries: The largest size of the vocabulary. The rarest tokens are left out.
        seed: The seed of the initial vectors. With more than one worker, results still differ from run to run.
    """

    dimensions: int = 300
    window: int = 5
    min_entry_count: int = 5
    epochs: int = 5
    negative: int = 5
    skip_gram: bool = True
    most_entries: int | None = None
    seed: int = 1

    def check(self) -> None:
        """Refuse numbers below 1."""
        for name in ("dimensions", "window", "min_entry_count", "epochs", "negative", "most_entries"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"`{name}` must be at least 1. Got {value} instead.")

    def as_dict(self) -> dict[str, Any]:
        """The parameters as the manifest of a bundle records them, with ``min_count`` for ``min_entry_count``."""
        return {name.replace("min_entry_count", "min_count"): value for name, value in asdict(self).items()}
