"""The matrix of a vocabulary as it is stored: rows are read in single precision where they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

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
