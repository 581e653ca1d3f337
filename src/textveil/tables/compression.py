"""Compression by the suffix of a file name: ``.gz``, ``.xz`` and ``.zst``."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

SUFFIXES = (".gz", ".xz", ".zst")
_READ_SIZE = 1 << 16
_COMPRESSED_SIZE = 1 << 12
"""The number of compressed bytes to take at a time. Each of them can become 32 KiB, all at once."""


def strip_suffix(path: Path) -> Path:
    """The path without the suffix of the compression.

    >>> strip_suffix(Path("reviews.csv.gz")).name
    'reviews.csv'
    """
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def decompress(stream: BinaryIO, path: Path) -> IO[bytes]:
    """The decompressed content of an open file, by the suffix of ``path``."""
    match path.suffix.lower():
        case ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
        case ".xz":
            # LZMAFile would silently ignore a damaged second frame.
            return io.BufferedReader(_Frames(stream, lzma.LZMADecompressor, lzma.LZMAError), _READ_SIZE)
        case ".zst":
            import zstandard

            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31)
            return io.BufferedReader(_Frames(stream, decompressor.decompressobj, zstandard.ZstdError), _READ_SIZE)
        case _:
            return stream


def compressing(stream: BinaryIO, path: Path) -> AbstractContextManager[Any]:
    """A stream that compresses into an open file, by the suffix of ``path``."""
    match path.suffix.lower():
        case ".gz":
            # Without a time stamp and a name, the same content gives the same bytes.
            return gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0)
        case ".xz":
            return lzma.LZMAFile(stream, mode="wb")
        case ".zst":
            import zstandard

            return cast("AbstractContextManager[Any]", zstandard.ZstdCompressor().stream_writer(stream, closefd=False))
        case _:
            return nullcontext(stream)


class _Frames(io.RawIOBase):
    """Reads consecutive compressed frames and detects a damaged or truncated one.

    Args:
        stream: The compressed file.
        start_frame: Creates a decompressor for one frame.
        error: The exception of the decompressor for a damaged frame.
    """

    def __init__(self, stream: BinaryIO, start_frame: Callable[[], Any], error: type[Exception]) -> None:
        self._stream = stream
        self._start_frame = start_frame
        self._error = error
        self._frame: Any = None
        self._ready = memoryview(b"")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._rest or self._stream.read(_COMPRESSED_SIZE)
            self._rest = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("the last frame is truncated")
                return 0
            self._decompress(data)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self, data: bytes) -> None:
        if self._frame is None:
            data = data.lstrip(b"\0")  # padding between frames; no frame begins with it
            if not data:
                return
            self._frame = self._start_frame()
        try:
            self._ready = memoryview(self._frame.decompress(data))
        except self._error as error:
            raise EOFError("a frame is damaged") from error
        if self._frame.eof:
            self._rest = self._frame.unused_data
            self._frame = None
