"""Vector files of other programs: word2vec text and binary, GloVe text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Literal, TypeAlias, get_args

import numpy as np

from textveil.bundles.vectors import Matrix
from textveil.errors import InputError, ParameterError
from textveil.registry import unknown_name
from textveil.storage.atomic import writing

VectorFormat: TypeAlias = Literal["auto", "text", "binary"]
VECTOR_FORMATS: tuple[VectorFormat, ...] = get_args(VectorFormat)
"""The formats of vector files that textveil reads."""

_LINES_TO_GUESS = 1000
_LONGEST_TOKEN = 10_000
_DIGITS = 10  # a longer number is not the length of a vector
_Pair = tuple[bytes, Matrix]


@dataclass(frozen=True, slots=True)
class ImportedVectors:
    """The vectors of a file of another program.

    Attributes:
        entries: The vocabulary.
        matrix: One vector per entry.
        unusable: The number of skipped entries that are empty or not UTF-8.
        repeated: The number of skipped entries that occurred before.
    """

    entries: list[str]
    matrix: Matrix
    unusable: int
    repeated: int


@contextmanager
def reading_vectors(
    path: Path, *, vector_format: VectorFormat = "auto", limit: int | None = None
) -> Iterator[ImportedVectors]:
    """Read a file of vectors; the matrix is in a temporary file until the block ends.

    Text files may have a header or not. A token may contain anything but a line end, even spaces: the last numbers of
    a line are its vector. Entries that are empty, not UTF-8 or repeated are skipped and counted.

    Args:
        path: The file.
        vector_format: ``text``, ``binary`` (word2vec's), or ``auto`` to detect it.
        limit: The maximum number of vectors to read.

    Raises:
        InputError: The file cannot be read, or is not a complete file of vectors.
    """
    if vector_format not in VECTOR_FORMATS:
        raise unknown_name("format of vectors", vector_format, VECTOR_FORMATS)
    if limit is not None and limit < 1:
        raise ParameterError(f"`limit` must be at least 1. Got {limit} instead.")
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"Cannot read {str(path)!r}: {error.strerror}. Check the path.") from error
    with stream, TemporaryFile() as store:
        pairs = islice(_read_pairs(stream, path, vector_format), limit)
        yield _collect(pairs, store, path)


def _collect(pairs: Iterator[_Pair], store: BinaryIO, path: Path) -> ImportedVectors:
    entries: dict[str, None] = {}
    unusable = repeated = dimensions = 0
    for token, vector in pairs:
        entry = _decode(token)
        if entry is None:
            unusable += 1
            continue
        if entry in entries:
            repeated += 1
            continue
        if not np.isfinite(vector).all():
            raise InputError(
                f"{str(path)!r}: vector {len(entries) + 1} holds a number that is not finite. Get the file again."
            )
        entries[entry] = None
        dimensions = len(vector)
        store.write(vector.tobytes())
    if not entries:
        raise InputError(f"{str(path)!r} holds no vectors. Check that it is the right file.")
    store.flush()
    matrix = np.memmap(store, dtype=np.float32, mode="r", shape=(len(entries), dimensions))
    return ImportedVectors(list(entries), matrix, unusable, repeated)


def _decode(token: bytes) -> str | None:
    """The token as an entry of a vocabulary; ``None`` if it is unusable."""
    try:
        entry = token.decode()
    except UnicodeDecodeError:
        return None
    return entry if entry and "\n" not in entry else None


def _read_pairs(stream: BinaryIO, path: Path, vector_format: VectorFormat) -> Iterator[_Pair]:
    header = _parse_header(stream.readline())
    if vector_format == "auto":
        vector_format = "binary" if header and _parse_line(stream.readline(), header[1]) is None else "text"
    stream.seek(0)
    if vector_format == "binary":
        if header is None:
            raise InputError(
                f"{str(path)!r} does not begin with the number and the length of its vectors, as a "
                "binary file does. Try `vector_format='text'`."
            )
        stream.readline()
        return _read_binary(stream, *header, path)
    return _read_text(stream, header, path)


def _parse_header(line: bytes) -> tuple[int, int] | None:
    """The number of vectors and their length, if the line is a header."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < _DIGITS for field in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _parse_line(line: bytes, dimensions: int) -> _Pair | None:
    """The token and the vector of a line, which are separated by the last spaces only."""
    token, *numbers = line.rstrip(b"\r\n").rstrip(b" ").rsplit(b" ", dimensions)
    if len(numbers) != dimensions:
        return None
    try:
        return token, np.array([float(number) for number in numbers], dtype=np.float32)
    except ValueError:
        return None


def _read_text(stream: BinaryIO, header: tuple[int, int] | None, path: Path) -> Iterator[_Pair]:
    first = 1
    if header is not None:
        dimensions = header[1]
        stream.readline()
        first = 2
    else:
        # Few tokens contain spaces, so the number of spaces of most lines is the length of the vectors.
        fields = Counter(line.rstrip().count(b" ") for line in islice(stream, _LINES_TO_GUESS) if line.strip())
        dimensions = max(fields, key=lambda count: (fields[count], count), default=0)
        stream.seek(0)
    if dimensions < 1:
        raise InputError(f"{str(path)!r} is not a file of vectors: no line has a word and a number. Check the path.")
    found = 0
    for number, line in enumerate(stream, start=first):
        pair = _parse_line(line, dimensions)
        if pair is None:
            if not line.strip():
                continue
            raise InputError(f"{str(path)!r}, line {number}: expected a word and {dimensions} numbers. Fix this line.")
        found += 1
        yield pair
    if header is not None and found != header[0]:
        raise InputError(f"{str(path)!r} announces {header[0]} vectors and holds {found}. Get the file again.")


def _read_binary(stream: BinaryIO, count: int, dimensions: int, path: Path) -> Iterator[_Pair]:
    size = dimensions * np.dtype(np.float32).itemsize
    for number in range(1, count + 1):
        token = _read_token(stream)
        raw = stream.read(size)
        if token is None or len(raw) != size:
            raise InputError(f"{str(path)!r} ends inside vector {number} of {count}. Get the file again.")
        yield token, np.frombuffer(raw, dtype="<f4")


def _read_token(stream: BinaryIO) -> bytes | None:
    """The bytes up to the next space; a line end before them belongs to the previous vector."""
    token = bytearray()
    while len(token) < _LONGEST_TOKEN:
        byte = stream.read(1)
        if not byte:
            return None
        if byte == b" ":
            return bytes(token)
        if byte != b"\n" or token:
            token += byte
    return None


def write_vectors(path: Path, entries: Sequence[str], matrix: Matrix, *, binary: bool) -> None:
    """Write vectors in word2vec's format, which gensim and other programs read.

    Raises:
        ParameterError: An entry contains whitespace, which the format cannot represent.
    """
    if any(character.isspace() for entry in entries for character in entry):
        raise ParameterError("An entry contains whitespace, which word2vec's format cannot represent.")
    with writing(path) as stream:
        stream.write(f"{len(entries)} {matrix.shape[1]}\n".encode())
        for entry, row in zip(entries, np.asarray(matrix, dtype=np.float32), strict=True):
            if binary:
                stream.write(entry.encode() + b" " + row.tobytes() + b"\n")
            else:
                stream.write(f"{entry} {' '.join(map(repr, row.tolist()))}\n".encode())
