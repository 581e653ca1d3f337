"""Columns: Arrow arrays from NumPy arrays or words, and back, without pandas.

Arrow's own conversions import pandas if it is installed, to look for its types. That takes 35 MiB in every process, as
much as a task of counting. A buffer is the same memory on both sides, so these conversions need nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def to_arrow(values: NDArray[Any]) -> Any:
    """Numbers as an Arrow array.

    >>> to_arrow(np.array([3, 1], np.uint32)).to_pylist()
    [3, 1]
    """
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def to_numpy(array: Any) -> NDArray[Any]:
    """The numbers or truth values of an Arrow array without nulls."""
    if pa.types.is_boolean(array.type):  # stored as bits
        return to_numpy(array.cast(pa.uint8())).astype(bool)
    kind = np.dtype(array.type.to_pandas_dtype())  # a type of NumPy, despite the name
    if len(array) == 0:  # without a buffer
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def to_words(words: Sequence[str]) -> Any:
    """Words as an Arrow array.

    >>> to_words(["a", "né"]).to_pylist()
    ['a', 'né']
    """
    joined = "".join(words)
    text = joined.encode()
    ascii_only = len(text) == len(joined)
    ends = np.zeros(len(words) + 1, np.int64)
    sizes = map(len, words) if ascii_only else (len(word.encode()) for word in words)
    np.cumsum(np.fromiter(sizes, np.int64, len(words)), out=ends[1:])
    return pa.Array.from_buffers(pa.large_string(), len(words), [None, pa.py_buffer(ends), pa.py_buffer(text)])
