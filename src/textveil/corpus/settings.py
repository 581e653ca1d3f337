"""The settings of a preparation, their defaults and checks: labels, thresholds, training, prior, storage, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.bundles.bundle import MANIFEST, Bundle, Storage
from textveil.bundles.prior import LONGEST_ORDER
from textveil.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.errors import BundleError, OutputExistsError, ParameterError

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


@dataclass(frozen=True)
class PriorOptions:
    """The settings of an n-gram prior.

    Attributes:
        order: The number of entries of the longest n-grams. 1 is a model without contexts.
        min_documents: An n-gram that occurs in fewer documents is left out, so that the prior quotes nobody.
        most_ngrams: The largest number of n-grams of two entries or more. Those with the least effect are left out.
    """

    order: int = 3
    min_documents: int = 20
    most_ngrams: int = 1_200_000

    def check(self) -> None:
        """Refuse numbers below 1, and n-grams that are too long."""
        for name in ("min_documents", "most_ngrams"):
            if getattr(self, name) < 1:
                raise ParameterError(f"`{name}` must be at least 1. Got {getattr(self, name)} instead.")
        if not 1 <= self.order <= LONGEST_ORDER:
            raise ParameterError(f"`order` must be from 1 to {LONGEST_ORDER}. Got {self.order} instead.")

    def describes(self, description: Mapping[str, Any]) -> bool:
        """Whether a prior of this description was built with these settings."""
        return all(description.get(name) == value for name, value in asdict(self).items())


def check_bundle_folder(folder: Path) -> None:
    """Refuse to replace a folder that is not a bundle, or that has files besides."""
    try:
        owned = {MANIFEST, *Bundle(folder).manifest.files}
    except BundleError as error:
        raise OutputExistsError(f"{str(folder)!r} exists and is not a bundle. Choose another name.") from error
    if any(path.is_file() and path.relative_to(folder).as_posix() not in owned for path in folder.rglob("*")):
        raise OutputExistsError(
            f"{str(folder)!r} has files that are not part of the bundle. Move them away, or choose another name."
        )
