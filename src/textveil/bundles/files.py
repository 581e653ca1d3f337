"""Files of a bundle: only regular files are opened, and arrays are mapped only if their header fits the file."""

from __future__ import annotations

import errno
import math
import os
import stat
import tokenize
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Shape: TypeAlias = tuple[int | None, ...]
"""The expected lengths of the axes of an array; ``None`` for any length."""

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_KINDS = "iuf"
_HEADER_ERRORS = (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError, tokenize.TokenError)


class ArrayError(Exception):
    """A file that does not hold an array of the expected kind."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file, or a link to one.

    Opening a FIFO or a device could wait forever or have side effects, so they are refused before.

    Raises:
        OSError: The file cannot be opened, or it is a FIFO, device, socket or folder.
    """
    _check_regular(path.stat())
    # The flag and the second check are for a file that is replaced in between.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check_regular(os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def map_array(stream: BinaryIO) -> npt.NDArray[Any]:
    """Map the array of a file whose header :func:`read_header` has accepted."""
    shape, dtype = read_header(stream)
    return np.memmap(stream, dtype=dtype, mode="r", offset=stream.tell(), shape=shape)


def read_header(stream: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and type of the numbers in a file of numpy's format. Afterwards, the stream is at the first number.

    Raises:
        ArrayError: The file is not an array of numbers in row order, or its size differs from that in its header.
    """
    stream.seek(0)
    try:
        version = np.lib.format.read_magic(stream)
        shape, column_order, dtype = _HEADERS[version](stream)
    except (KeyError, *_HEADER_ERRORS) as error:
        raise ArrayError("is not an array of numbers") from error
    if dtype.kind not in _KINDS or column_order:
        raise ArrayError("is not a plain array of numbers in row order")
    if not shape or min(shape) < 1:
        raise ArrayError(f"has the shape {shape}, which is not valid")
    if stream.tell() + math.prod(shape) * dtype.itemsize != os.fstat(stream.fileno()).st_size:
        raise ArrayError("has another size than its header says")
    return shape, dtype


def check_shape(shape: tuple[int, ...], expected: Shape) -> None:
    """Compare a shape with the expected one.

    Raises:
        ArrayError: They differ.
    """
    pairs = zip(shape, expected, strict=False)
    if len(shape) != len(expected) or any(wanted not in (None, length) for length, wanted in pairs):
        written = " x ".join("any" if wanted is None else f"{wanted}" for wanted in expected)
        raise ArrayError(f"has the shape {' x '.join(map(str, shape))}, but {written} is expected")


Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]
RowNumbers = npt.NDArray[np.int64]

LARGEST_COPY = 2**26
"""The size in bytes up to which all rows are copied at once. A larger matrix is read tile by tile."""
_TILE_ROWS = 16_384


class StoredMatrix:
    """One vector per row, in memory or mapped from a file.

    Args:
        stored: Numbers of the type float32, float16 or int8.
        scales: For int8, the factor of each row.
    """

    def __init__(self, stored: npt.NDArray[Any], scales: Matrix | None = None) -> None:
        # Plain views: every access to a memory map costs more than reading a row.
        self._stored = np.asarray(stored)
        self._scales = None if scales is None else np.asarray(scales)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._stored.shape[0], self._stored.shape[1]

    @property
    def is_large(self) -> bool:
        """Whether a copy in single precision would take too much memory."""
        return self.shape[0] * self.shape[1] * np.dtype(np.float32).itemsize > LARGEST_COPY

    def take(self, rows: RowNumbers | slice) -> Matrix:
        """Some rows in single precision."""
        if self._scales is not None:
            return cast("Matrix", self._stored[rows] * self._scales[rows, None])
        return self._stored[rows].astype(np.float32, copy=False)

    def decode(self) -> Matrix:
        """All rows in single precision. What is stored so is not copied."""
        return self.take(slice(None))

    def tiles(self) -> Iterator[tuple[slice, Matrix]]:
        """All rows in single precision, some at a time, with their places."""
        for start in range(0, self.shape[0], _TILE_ROWS):
            part = slice(start, min(start + _TILE_ROWS, self.shape[0]))
            yield part, self.take(part)

    def find_largest(self) -> float:
        """The largest absolute value of a number; not a number if any is not."""
        if self._scales is None:
            return max(float(self._stored.max(initial=0.0)), -float(self._stored.min(initial=0.0)))
        highest, lowest = self._stored.max(axis=1).astype(np.int16), self._stored.min(axis=1).astype(np.int16)
        with np.errstate(invalid="ignore", over="ignore"):
            return float(np.abs(np.maximum(highest, -lowest) * self._scales).max())
