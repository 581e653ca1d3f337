"""The settings of a preparation, their defaults and checks: labels, thresholds, vectors, prior, storage, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from textveil.bundles.bundle import MANIFEST, Bundle, Storage
from textveil.bundles.prior import LONGEST_ORDER
from textveil.errors import BundleError, OutputExistsError, ParameterError
from textveil.lab.corpus import MIN_COUNT, MIN_PMI, TOP_SHARE
from textveil.models.encoders import DEFAULT_ENCODER
from textveil.registry import unknown_name

STORAGE: Storage = "int8"
"""The storage of vectors by default."""
MIN_DOCUMENTS = 20
"""The smallest number of documents with a chunk, an expression or an n-gram that a bundle has, by default."""
PROJECTED = 64
"""The length of vectors that an encoder took part in, by default."""

VectorSource: TypeAlias = Literal["word2vec", "encoder", "both"]
VECTOR_SOURCES: tuple[VectorSource, ...] = get_args(VectorSource)
Architecture: TypeAlias = Literal["skip-gram", "cbow"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)


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
class Selection:
    """The thresholds that make a chunk an entry of a vocabulary.

    Attributes:
        min_entry_count: Chunks that occur less often are left out.
        min_documents: Chunks and expressions in fewer documents are left out, so that a bundle quotes nobody.
        most_entries: The largest size of a vocabulary. The rarest chunks are left out.
        limits: Other sizes, by decomposition.
    """

    min_entry_count: int = 5
    min_documents: int = MIN_DOCUMENTS
    most_entries: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse numbers below 1."""
        _check_positive(self, "min_entry_count", "min_documents", "most_entries")
        for decomposition in self.limits:
            self.narrow(decomposition).check()

    def narrow(self, decomposition: str) -> Selection:
        """The thresholds of a decomposition."""
        limit = self.limits.get(decomposition, self.most_entries)
        return replace(self, most_entries=limit, limits={})


@dataclass(frozen=True)
class Training:
    """The parameters of word2vec. The defaults are the paper's.

    Attributes:
        dimensions: The length of a vector.
        window: The number of tokens on each side that are the context of a token.
        epochs: The number of passes over the corpus.
        negative: The number of negative samples for each token of the context.
        architecture: ``skip-gram`` predicts the context from a token, and ``cbow`` a token from its context.
        seed: The seed of the initial vectors. With more than one worker, results still differ from run to run.
    """

    dimensions: int = 300
    window: int = 5
    epochs: int = 5
    negative: int = 5
    architecture: Architecture = "skip-gram"
    seed: int = 1

    def check(self) -> None:
        """Refuse numbers below 1 and unknown architectures."""
        _check_positive(self, "dimensions", "window", "epochs", "negative")
        if self.architecture not in ARCHITECTURES:
            raise unknown_name("architecture", self.architecture, ARCHITECTURES)


@dataclass(frozen=True)
class VectorOptions:
    """The origin of the vectors.

    Attributes:
        source: ``word2vec`` learns vectors from the corpus. ``encoder`` takes those that a sentence encoder gives to
            the entries as they are spoken. ``both`` joins the two, each divided by its median distance.
        dimensions: The length of a vector; by default that of word2vec, or 64. Vectors of an encoder and joined ones
            are projected on their principal axes.
        encoder: The sentence encoder: the name of a resource, a folder, or a Hugging Face name.
        training: The parameters of word2vec.
    """

    source: VectorSource = "word2vec"
    dimensions: int | None = None
    encoder: str = DEFAULT_ENCODER
    training: Training = field(default_factory=Training)

    @property
    def uses_encoder(self) -> bool:
        """Whether a sentence encoder reads the entries."""
        return self.source != "word2vec"

    @property
    def uses_word2vec(self) -> bool:
        """Whether word2vec is trained."""
        return self.source != "encoder"

    @property
    def length(self) -> int:
        """The length of a vector of the bundle."""
        return self.dimensions or (PROJECTED if self.uses_encoder else self.training.dimensions)

    def check(self) -> None:
        """Refuse unknown sources and numbers below 1."""
        if self.source not in VECTOR_SOURCES:
            raise unknown_name("source of vectors", self.source, VECTOR_SOURCES)
        _check_positive(self, "dimensions")
        self.train_options.check()

    @property
    def train_options(self) -> Training:
        """The parameters of word2vec. Alone, it has the length of the vectors of the bundle."""
        return self.training if self.uses_encoder else replace(self.training, dimensions=self.length)

    def describe(self) -> dict[str, Any]:
        """The options that count, as the manifest of a bundle records them."""
        return {
            "source": self.source,
            "dimensions": self.length,
            **({"encoder": self.encoder} if self.uses_encoder else {}),
            **({"word2vec": asdict(self.train_options)} if self.uses_word2vec else {}),
        }


@dataclass(frozen=True)
class PriorOptions:
    """The settings of an n-gram prior.

    Attributes:
        order: The number of entries of the longest n-grams. 1 is a model without contexts.
        min_documents: An n-gram that occurs in fewer documents is left out, so that the prior quotes nobody.
        most_ngrams: The largest number of n-grams of two entries or more. Those with the least effect are left out.
    """

    order: int = 3
    min_documents: int = MIN_DOCUMENTS
    most_ngrams: int = 1_200_000

    def check(self) -> None:
        """Refuse numbers below 1, and n-grams that are too long."""
        _check_positive(self, "min_documents", "most_ngrams")
        if not 1 <= self.order <= LONGEST_ORDER:
            raise ParameterError(f"`order` must be from 1 to {LONGEST_ORDER}. Got {self.order} instead.")

    def describes(self, description: Mapping[str, Any]) -> bool:
        """Whether a prior of this description was built with these settings."""
        return all(description.get(name) == value for name, value in asdict(self).items())


def _check_positive(settings: Any, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise ParameterError(f"`{name}` must be at least 1. Got {value} instead.")


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
