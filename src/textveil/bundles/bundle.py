"""A bundle: a folder with the vectors and lexicons of a language.

bundle.json               name, version, language, corpus, license, parameters, SHA-256 of every file
words/vocabulary.txt      one entry per line
words/matrix.npy          one vector per entry: float32, float16, or int8
words/scales.npy          for int8: the factor of each row
words/excluded.txt        entries that are never written, one per line
words/counts.npy          the number of occurrences of each entry in the corpus (optional)
words/axes.npy            the principal axes of the vectors, one per column (optional)
words/prior_*.npy         the n-gram model over the entries (optional)
words/spelling.npy        a row per character n-gram: int8, on the first principal axes (optional)
words/spelling_keys.npy   the hash of each n-gram
words/spelling_scales.npy the factor of each row
pmi/lexicon_words.txt     the words of a lexicon, one per line
pmi/lexicon.npy           its n-grams: word numbers, counted from 1, padded with zeros
pmi/lexicon_scores.npy    the association scores of the n-grams (optional)
pmi/lexicon_licence.txt   the license to pass on with the lexicon (optional)
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from textveil.bundles.entries import Entries
from textveil.bundles.files import ArrayError, Shape, StoredMatrix, check_shape, map_array, open_regular, read_header
from textveil.bundles.prior import LONGEST_ORDER, NgramPrior, read_prior
from textveil.bundles.spelling import Spelling, SpellingTable
from textveil.bundles.vectors import Vectors, find_outliers, measure_distances
from textveil.errors import BundleError, ParameterError
from textveil.registry import unknown_name
from textveil.storage.atomic import hash_file
from textveil.storage.computed import MOST_CACHED, find_figures
from textveil.text.matching import LONGEST, NgramIndex
from textveil.text.words import WORD

FORMAT_VERSION = 3
MANIFEST = "bundle.json"
DEFAULT_BUNDLE = "en"
"""The name of the bundle that ships with textveil."""
SHIPPED = Path(__file__).parent
FIGURES_VERSION = 2
"""Changes whenever figures are computed in another way."""
SPELLING = "spelling"
"""The part of a bundle that places unknown words."""
SINGLE_WORDS = frozenset({"words"})
"""The decompositions into single words. They never write an entry of several words."""
PRIOR = "prior"
"""The name of the n-gram model in the manifest and in certificates."""
UNVERIFIABLE = ("corpus", "tokens", "parameters", "unit", "changed_neighbours", "prior.perplexity", "spelling.quality")
"""The statements of a manifest that nobody can check from its files: they are about the corpus and its vectors."""

_Part = TypeVar("_Part")

Storage: TypeAlias = Literal["int8", "float16", "float32"]
"""How the numbers of vectors are stored."""
STORAGES: tuple[Storage, ...] = get_args(Storage)
"""All values of ``Storage``."""

_LARGEST, _SMALLEST = 1e12, 1e-12  # beyond these, squares leave the range of single precision
_LONGEST_MANIFEST = 2**24
_DISTANCE_TOLERANCE = 1e-3  # of the largest distance: other processors round sums differently
_MOST_TOKENS = 2.0**62  # sums of counts stay in the range of their type
_NEARLY_ORTHONORMAL = 1e-5  # axes are stored in single precision
_SUM_TOLERANCE = 1e-4  # log-probabilities are stored in single precision
_LISTED_LINES = 10  # of entries that a message lists
_ROUNDING = 1e-4  # distances are stated to four decimals

_STORED_NAMES = {"license": "licence", "changed_neighbors": "changed_neighbours", "center": "centre"}
"""Names that ``bundle.json`` spells differently from Python."""
_PYTHON_NAMES = {stored: name for name, stored in _STORED_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of ``bundle.json``.

    Attributes:
        name: The name of the bundle.
        version: Its version.
        language: The language of its entries.
        corpus: A description of the training corpus.
        license: The terms of use.
        tokens: The number of tokens in the corpus; ``None`` if unknown.
        parameters: The settings of the build.
        vectors: Size, storage and distances of the vectors, by decomposition.
        lexicons: Size and origin of the lexicons, by decomposition.
        files: The SHA-256 of every file.
        parts: Further parts, such as the axes of a projection, by decomposition and then by name.
    """

    name: str
    version: str
    language: str
    corpus: str
    license: str
    tokens: int | None
    parameters: Mapping[str, Any]
    vectors: Mapping[str, Mapping[str, Any]]
    lexicons: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str]
    parts: Mapping[str, Mapping[str, Any]]

    @classmethod
    def parse(cls, content: bytes, *, source: Path) -> Manifest:
        """Read and check a manifest.

        Raises:
            BundleError: The manifest is incomplete or of a newer format.
        """
        try:
            values = json.loads(content, parse_constant=_refuse_constant)
            json.dumps(values, ensure_ascii=False).encode()  # a lone surrogate could not be printed
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{str(source)!r} is not JSON. Get the bundle again.") from error
        _check_format(values, source)
        for name, kind in _FIELDS.items():
            if not isinstance(values.get(name, ...), kind):
                raise BundleError(f"{str(source)!r} has no valid {name!r}. Get the bundle again.")
        for name, needed in _TABLE_FIELDS.items():
            if not all(_is_described(table, needed) for table in values[name].values()):
                raise BundleError(f"{str(source)!r} has no valid {name!r}. Get the bundle again.")
        for name in values["files"]:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\0" in name:
                raise BundleError(f"{str(source)!r} names a file outside its folder. Do not use this bundle.")
        return cls(**_rename({name: values[name] for name in _FIELDS}, _PYTHON_NAMES))

    def to_json(self) -> str:
        """The manifest as indented JSON."""
        values = _rename({name: getattr(self, name) for name in self.__slots__}, _STORED_NAMES)
        return json.dumps({"format": FORMAT_VERSION, **values}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _rename(values: Any, names: Mapping[str, str]) -> Any:
    """Rename the fields of a manifest, but not those of the parameters."""
    if not isinstance(values, Mapping):
        return values
    return {names.get(key, key): each if key == "parameters" else _rename(each, names) for key, each in values.items()}


_FIELDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("name", "version", "language", "corpus", "licence"), str),
    "tokens": (int, type(None)),
    **dict.fromkeys(("parameters", "vectors", "lexicons", "files", "parts"), dict),
}
_TABLE_FIELDS: dict[str, dict[str, type]] = {
    "vectors": {"entries": int, "dimensions": int, "writable": int, "storage": str, "distance": dict},
    "lexicons": {"ngrams": int},
    "parts": {},
}


def _is_described(table: Any, needed: Mapping[str, type]) -> bool:
    """Whether the description of a table has all needed fields; distances are optional."""
    if not isinstance(table, dict):
        return False
    distances = table.get("distance", {})
    if not isinstance(distances, dict) or not all(isinstance(kind, str | dict) for kind in distances.values()):
        return False
    return all(isinstance({"distance": {}, **table}.get(field), kind) for field, kind in needed.items())


def _check_format(values: Any, source: Path) -> None:
    version = values.get("format") if isinstance(values, dict) else None
    if type(version) is not int or version < 1:
        raise BundleError(f"{str(source)!r} is not the manifest of a bundle. Get the bundle again.")
    if version != FORMAT_VERSION:
        advice = "Update textveil" if version > FORMAT_VERSION else "Prepare the bundle anew with 'textveil prepare'"
        raise BundleError(
            f"The bundle {str(source.parent)!r} has format {version}, and this version of textveil reads format "
            f"{FORMAT_VERSION}. {advice}."
        )


class Bundle:
    """The vectors and lexicons of a language, on disk.

    Files are checked against their hashes and memory-mapped at first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / MANIFEST
        try:
            with open_regular(path) as stream:
                content = stream.read(_LONGEST_MANIFEST + 1)
        except OSError as error:
            raise BundleError(
                f"{str(folder)!r} is not a bundle: {MANIFEST} cannot be read ({error.strerror}). "
                "'textveil prepare' and 'textveil bundle import' build one."
            ) from error
        if len(content) > _LONGEST_MANIFEST:
            raise BundleError(f"{str(path)!r} is too long to be the manifest of a bundle. Get the bundle again.")
        self.manifest = Manifest.parse(content, source=path)
        self.hash = hashlib.sha256(content).hexdigest()
        self._loaded: dict[tuple[str, str], Any] = {}
        self._figures: LRUCache[str, dict[str, Any]] = LRUCache(MOST_CACHED)

    @staticmethod
    def shipped() -> list[str]:
        """The names of the bundles that ship with textveil."""
        return sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}"))

    @classmethod
    def load(cls, name_or_path: str | Path = DEFAULT_BUNDLE) -> Bundle:
        """Open a shipped bundle by its name, or any bundle by its folder.

        Raises:
            UnknownNameError: No bundle has this name, and no folder does.
            BundleError: The folder is not a bundle.
        """
        if not isinstance(name_or_path, str | Path):
            raise ParameterError(f"A bundle is a name or a folder. Got {type(name_or_path).__name__} instead.")
        shipped = cls.shipped()
        if str(name_or_path) in shipped:
            return cls(SHIPPED / str(name_or_path))
        if not Path(name_or_path).exists():
            raise unknown_name("bundle or folder", str(name_or_path), shipped)
        return cls(Path(name_or_path))

    @cached_property
    def decompositions(self) -> tuple[str, ...]:
        """The decompositions with vectors in this bundle."""
        return tuple(self.manifest.vectors)

    def distance(self, decomposition: str) -> Mapping[str, Any]:
        """The quantiles of the distances between the entries of a vocabulary, computed from its vectors."""
        return self.find_figures(decomposition, "distance", lambda: measure_distances(self.vectors(decomposition)))

    def find_figures(self, decomposition: str, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Figures that depend on nothing but the vectors of a decomposition; computed once, then cached.

        Args:
            decomposition: The decomposition.
            name: The name of the figures, with everything else that they depend on.
            compute: Computes them.
        """
        self.vectors(decomposition)  # checks the files against their hashes
        names = ("vocabulary.txt", "matrix.npy", "scales.npy", "excluded.txt", "counts.npy", "axes.npy")
        paths = [f"{decomposition}/{name}" for name in names]
        files = {path: self.manifest.files[path] for path in paths if path in self.manifest.files}
        key = hashlib.sha256(json.dumps([FIGURES_VERSION, name, sorted(files.items())]).encode()).hexdigest()
        figures = self._figures.get(key)  # what takes little time to compute is cached in memory only
        if figures is None:
            figures = self._figures[key] = find_figures(key, SHIPPED / "figures.json", compute)
        return copy.deepcopy(figures)

    def _load_once(self, load: Callable[[str], _Part], decomposition: str) -> _Part:
        key = load.__name__, decomposition
        if key not in self._loaded:
            self._loaded[key] = load(decomposition)
        return cast("_Part", self._loaded[key])

    def vectors(self, decomposition: str) -> Vectors:
        """The vectors of a decomposition."""
        if decomposition not in self.manifest.vectors:
            raise BundleError(
                f"The bundle {self.manifest.name!r} has no vectors for {decomposition!r}. "
                f"It has: {', '.join(self.decompositions)}."
            )
        return self._load_once(self._load_vectors, decomposition)

    def counts(self, decomposition: str) -> npt.NDArray[Any] | None:
        """The number of occurrences of each entry in the corpus; ``None`` if unknown."""
        name = f"{decomposition}/counts.npy"
        if name not in self.manifest.files:
            return None
        counts = self._load_array(name, (self.manifest.vectors[decomposition]["entries"],))
        valid = counts.dtype == np.int64 and counts.min() >= 0 and 0 < counts.sum(dtype=np.float64) < _MOST_TOKENS
        self._require(valid, name, "has counts that are not numbers of occurrences")
        return counts

    def has_prior(self, decomposition: str) -> bool:
        """Whether the bundle has a language model for a decomposition."""
        return PRIOR in self.manifest.parts.get(decomposition, {})

    def prior(self, decomposition: str) -> NgramPrior | None:
        """The language model over the entries of a decomposition; ``None`` if the bundle has none."""
        return self._load_once(self._load_prior, decomposition) if self.has_prior(decomposition) else None

    def spelling(self, decomposition: str) -> Spelling | None:
        """Places unknown words by their spelling; ``None`` if the bundle has no table for it."""
        if SPELLING not in self.manifest.parts.get(decomposition, {}):
            return None
        return self._load_once(self._load_spelling, decomposition)

    def lexicon(self, decomposition: str) -> NgramIndex:
        """The multi-word expressions that a decomposition treats as chunks."""
        if decomposition not in self.manifest.lexicons:
            known = ", ".join(self.manifest.lexicons) or "none"
            raise BundleError(
                f"The bundle {self.manifest.name!r} has no lexicon for {decomposition!r}. It has: {known}. "
                "Build the bundle again with `lexicons`, or choose another decomposition or bundle."
            )
        return self._load_once(self._load_lexicon, decomposition)

    def lexicon_scores(self, decomposition: str) -> npt.NDArray[Any] | None:
        """The association scores of a lexicon, in its order; ``None`` if it has none."""
        name = f"{decomposition}/lexicon_scores.npy"
        return self._load_array(name, (None,)) if name in self.manifest.files else None

    def verify(self) -> list[str]:
        """Check every file and every vector, and compute again what the manifest states about the files.

        No entry may lie so far from all others that it returns at every level. All other checks are those of
        ``check_files``.

        Returns:
            The names of the files.

        Raises:
            BundleError: A file is damaged, a field of the manifest is false, or entries lie too far from all others.
                The message names them.
        """
        names = self.check_files()
        for decomposition in self.decompositions:
            self._check_outliers(decomposition)
        return names

    def check_files(self) -> list[str]:
        """Check every file, and compute again what the manifest states about the files.

        Checked are the hash of every file; entries, dimensions, writable, storage, lexicon and distance of all vectors;
        ngrams of all lexicons; order, ngrams, vocabulary and probabilities of all priors. The fields in
        ``UNVERIFIABLE`` cannot be checked.

        Returns:
            The names of the files.

        Raises:
            BundleError: A file is damaged, or a field of the manifest is false. The message names it.
        """
        for name in self.manifest.files:
            with self._open(name) as stream:
                self._check_hash(name, hashlib.file_digest(stream, "sha256").hexdigest())
        for decomposition in self.decompositions:
            self._check_distance(decomposition, self._load_vectors(decomposition))
            self.counts(decomposition)
            self.check_prior(decomposition)
            self.spelling(decomposition)
        for decomposition in self.manifest.lexicons:
            self._load_lexicon(decomposition)
        return sorted(self.manifest.files)

    def copy_file(self, name: str, path: Path) -> None:
        """Copy a file of the bundle, and check its hash."""
        import shutil

        path.parent.mkdir(parents=True, exist_ok=True)
        with self._open(name) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)
        self._check_hash(name, hash_file(path))

    def _check_distance(self, decomposition: str, vectors: Vectors) -> None:
        """Compare the distances that the manifest states, if it states any, with those of the vectors."""
        stated = self.manifest.vectors[decomposition].get("distance", {})
        if not stated:
            return
        computed = measure_distances(vectors)
        quantiles = [value for kind in computed.values() if isinstance(kind, dict) for value in kind.values()]
        tolerance = _DISTANCE_TOLERANCE * max(quantiles, default=0.0) + _ROUNDING
        for kind, values in stated.items():
            if not _are_near(values, computed.get(kind), tolerance):
                stored = _STORED_NAMES.get(kind, kind)
                self._require_field(f"distance.{stored}", decomposition, values, computed.get(kind, "absent"))

    def _check_outliers(self, decomposition: str) -> None:
        """Refuse entries that are far from all others."""
        found = find_outliers(self.vectors(decomposition))
        if len(found) == 0:
            return
        lines = ", ".join(f"{row + 1:,}" for row in found[:_LISTED_LINES].tolist())
        more = f" and {len(found) - _LISTED_LINES:,} more" if len(found) > _LISTED_LINES else ""
        raise BundleError(
            f"{len(found):,} of {self.manifest.vectors[decomposition]['entries']:,} entries of "
            f"{str(self.folder / decomposition)!r} lie so far from all others that they return at every level: lines "
            f"{lines}{more} of vocabulary.txt. Do not use this bundle. If you built it, leave these entries out."
        )

    def _refuse(self, name: str, fault: str) -> BundleError:
        """The error for a file, or a folder of files, that is not as it should be."""
        return BundleError(f"{str(self.folder / name)!r} {fault}. Get the bundle again, from an author whom you trust.")

    def _require(self, holds: Any, name: str, fault: str) -> None:
        if not holds:
            raise self._refuse(name, fault)

    def _require_field(self, field: str, decomposition: str, stated: Any, computed: Any) -> None:
        """Refuse a bundle whose manifest states something else than its files show."""
        if stated != computed:
            raise BundleError(
                f"The manifest of {str(self.folder)!r} does not fit its files: {field} of {decomposition!r} should "
                f"be {computed}. Do not use this bundle."
            )

    def _open(self, name: str) -> BufferedReader:
        if name not in self.manifest.files:
            raise BundleError(f"The manifest of {str(self.folder)!r} does not list {name!r}. Get the bundle again.")
        try:
            return open_regular(self.folder / name)
        except OSError as error:
            raise BundleError(
                f"The file {name!r} of the bundle {str(self.folder)!r} cannot be read ({error.strerror}). "
                "Get the bundle again."
            ) from error

    def _check_hash(self, name: str, digest: str) -> None:
        self._require(digest == self.manifest.files[name], name, "is not what its manifest says: the SHA-256 differs")

    def _read_entries(self, name: str) -> Entries:
        """The lines of a file, after a check of its hash."""
        with self._open(name) as stream:
            content = stream.read()
        self._check_hash(name, hashlib.sha256(content).hexdigest())
        try:
            return Entries.parse(content)
        except UnicodeDecodeError as error:
            raise BundleError(f"{str(self.folder / name)!r} is not UTF-8. Get the bundle again.") from error

    def _load_vectors(self, decomposition: str) -> Vectors:
        entries = self._read_entries(f"{decomposition}/vocabulary.txt")
        stored = self._load_array(f"{decomposition}/matrix.npy", (len(entries), None))
        excluded = f"{decomposition}/excluded.txt"
        vectors = Vectors(
            entries,
            self._load_matrix(decomposition, stored),
            excluded=self._read_entries(excluded) if excluded in self.manifest.files else (),
            single_words=decomposition in SINGLE_WORDS,
            axes=self._load_axes(decomposition, stored.shape[1]),
        )
        self._require(entries.are_distinct, decomposition, "has an entry twice")
        if len(vectors.writable) == 0:
            raise BundleError(
                f"No entry of {str(self.folder / decomposition)!r} may be written. Exclude fewer entries."
            )
        trained_with = self.manifest.vectors[decomposition].get("lexicon")
        fitting = trained_with == identify_lexicon(self.manifest.files, decomposition)
        self._require(fitting, decomposition, "has vectors that belong to the lexicon of another version of the bundle")
        for name, value in describe(vectors).items():
            self._require_field(name, decomposition, self.manifest.vectors[decomposition].get(name), value)
        return vectors

    def _load_axes(self, decomposition: str, dimensions: int) -> npt.NDArray[np.float64] | None:
        """The stored principal axes; ``None`` if there are none."""
        name = f"{decomposition}/axes.npy"
        if name not in self.manifest.files:
            return None
        axes = self._load_array(name, (dimensions, dimensions)).astype(np.float64)
        orthonormal = np.allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=_NEARLY_ORTHONORMAL)  # NaN fails too
        self._require(orthonormal, name, "has axes that are not orthonormal")
        return axes

    def _load_prior(self, decomposition: str) -> NgramPrior:
        described = self.manifest.parts[decomposition][PRIOR]
        order = described.get("order") if isinstance(described, dict) else None
        if type(order) is not int or not 1 <= order <= LONGEST_ORDER or decomposition not in self.manifest.vectors:
            raise BundleError(f"{str(self.folder)!r} has no valid prior of {decomposition!r}. Get the bundle again.")
        fitting = described.get("vocabulary") == self.manifest.files.get(f"{decomposition}/vocabulary.txt")
        self._require(fitting, decomposition, "has a prior that belongs to another vocabulary")
        start = f"{decomposition}/prior_"
        hashes = [sha256 for name, sha256 in sorted(self.manifest.files.items()) if name.startswith(start)]
        try:
            prior = read_prior(
                lambda name, shape: self._load_array(f"{start}{name}.npy", shape),
                entries=self.manifest.vectors[decomposition]["entries"],
                order=order,
                identity={"name": PRIOR, "sha256": hashlib.sha256("".join(hashes).encode()).hexdigest()},
            )
        except ValueError as error:
            raise BundleError(
                f"The prior of {str(self.folder / decomposition)!r} has {error}. Do not use this bundle."
            ) from error
        self._require_field("ngrams of the prior", decomposition, described.get("ngrams"), prior.ngrams)
        return prior

    def check_prior(self, decomposition: str) -> None:
        """Compute the sum of the probabilities in every context of a prior.

        Raises:
            BundleError: A sum is not 1.
        """
        prior = self.prior(decomposition)
        sums = [] if prior is None else prior.sum_probabilities()
        valid = all((np.abs(each - 1) <= _SUM_TOLERANCE).all() for each in sums)
        self._require(valid, decomposition, "has a prior with probabilities that do not sum to 1")

    def _load_spelling(self, decomposition: str) -> Spelling:
        vectors, path = self.vectors(decomposition), f"{decomposition}/{SPELLING}"
        keys = self._load_array(f"{path}_keys.npy", (None,))
        rows = self._load_array(f"{path}.npy", (len(keys), None))
        table = SpellingTable(keys, rows, self._load_array(f"{path}_scales.npy", (len(keys),)))
        fault = table.find_fault(self.manifest.parts[decomposition][SPELLING])
        if f"{decomposition}/axes.npy" not in self.manifest.files or table.dimensions > vectors.axes.shape[1]:
            fault = "has more dimensions than the bundle has axes"
        self._require(fault is None, f"{path}.npy", f"{fault}")
        return Spelling(table, vectors)

    def _load_lexicon(self, decomposition: str) -> NgramIndex:
        words = list(self._read_entries(f"{decomposition}/lexicon_words.txt"))
        ngrams = self._load_array(f"{decomposition}/lexicon.npy", (None, LONGEST))
        valid = len(set(words)) == len(words) and _ARE_WORDS("\n".join(words)) and _are_ngrams(ngrams, len(words))
        self._require(valid, decomposition, "has a lexicon that does not fit its words")
        scores = self.lexicon_scores(decomposition)
        valid = scores is None or _are_scores(scores, len(ngrams))
        self._require(valid, decomposition, "has a lexicon with another number of n-grams than of finite scores")
        described = self.manifest.lexicons[decomposition].get("ngrams")
        self._require_field("ngrams of the lexicon", decomposition, described, len(ngrams))
        return NgramIndex(words, ngrams)

    def _load_matrix(self, decomposition: str, stored: npt.NDArray[Any]) -> StoredMatrix:
        path, kind = f"{decomposition}/matrix.npy", stored.dtype.name
        self._require(kind in STORAGES, path, f"has type {kind}, and a bundle holds {', '.join(STORAGES)}")
        self._require_field("storage", decomposition, self.manifest.vectors[decomposition]["storage"], kind)
        scales = self._load_array(f"{decomposition}/scales.npy", (len(stored),)) if kind == "int8" else None
        self._require(scales is None or scales.dtype == np.float32, decomposition, "has scales of another type")
        matrix = StoredMatrix(stored, scales)
        usable = _SMALLEST < matrix.find_largest() < _LARGEST  # NaN fails too
        self._require(usable, path, "holds numbers that are not finite, or too large or too small")
        return matrix

    def _load_array(self, name: str, shape: Shape) -> npt.NDArray[Any]:
        """Map an array, after a check of its hash. A false header takes neither time nor memory: it is read first."""
        with self._open(name) as stream:
            try:
                check_shape(read_header(stream)[0], shape)
                array = map_array(stream)
                stream.seek(0)
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            except (ArrayError, OSError) as error:
                raise self._refuse(name, str(error)) from error
        self._check_hash(name, digest)
        return array


def identify_lexicon(files: Mapping[str, str], decomposition: str) -> str | None:
    """The identity of a lexicon: a hash over the hashes of its words and n-grams; ``None`` if there is no lexicon."""
    names = [f"{decomposition}/lexicon_words.txt", f"{decomposition}/lexicon.npy"]
    if not files.keys() >= set(names):
        return None
    return hashlib.sha256("".join(files[name] for name in names).encode()).hexdigest()


_ARE_WORDS = re.compile(rf"{WORD.pattern}(?:\n{WORD.pattern})*").fullmatch
"""Whether lines are words."""


def _are_ngrams(ngrams: npt.NDArray[Any], words: int) -> bool:
    """Whether the rows are two or more word numbers padded with zeros, sorted and without repetition."""
    if ngrams.ndim != 2 or ngrams.shape[1] != LONGEST or ngrams.dtype.kind != "u" or len(ngrams) == 0:
        return False
    columns = [np.asarray(ngrams[:, place], dtype=np.int64) for place in range(LONGEST)]
    if max(int(column.max()) for column in columns) > words or min(int(column.min()) for column in columns[:2]) < 1:
        return False
    holes = any(((before == 0) & (after > 0)).any() for before, after in pairwise(columns))
    halves = [first * (words + 1) + second for first, second in (columns[:2], columns[2:])]  # two columns in one number
    steps = [np.diff(half) for half in halves]
    return not holes and bool(((steps[0] > 0) | ((steps[0] == 0) & (steps[1] > 0))).all())


def _are_scores(scores: npt.NDArray[Any], ngrams: int) -> bool:
    return scores.shape == (ngrams,) and scores.dtype.kind == "f" and bool(np.isfinite(scores).all())


def _are_near(stated: Any, computed: Any, tolerance: float) -> bool:
    """Whether a stated value, or a mapping of numbers, is the computed one."""
    if not isinstance(stated, Mapping) or not isinstance(computed, Mapping):
        return bool(stated == computed)
    return stated.keys() == computed.keys() and all(
        isinstance(value, int | float) and abs(value - computed[key]) <= tolerance for key, value in stated.items()
    )


def describe(vectors: Vectors) -> dict[str, int]:
    """The part of a manifest's description of vectors that is checked when they are loaded.

    ``writable`` also counts entries of several words in a decomposition into single words, although they are never
    written.
    """
    return {"entries": len(vectors), "dimensions": vectors.dimensions, "writable": len(vectors.plain)}
