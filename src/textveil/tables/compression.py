"""Compressed files: ``.gz``, ``.xz`` and ``.zst``, by their names."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

SUFFIXES = (".gz", ".xz", ".zst")
_READ_SIZE = 1 << 16


def strip_suffix(path: Path) -> Path:
    """The path without the suffix of its compression.

    >>> strip_suffix(Path("reviews.csv.gz")).name
    'reviews.csv'
    """
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def decompress(stream: BinaryIO, path: Path) -> IO[bytes]:
    """The content of an open file, decompressed as its name says."""
    match path.suffix.lower():
        case ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
        case ".xz":
            # LZMAFile would take a damaged second stream for something that is not its business, and leave it out.
            return io.BufferedReader(_Frames(stream, lzma.LZMADecompressor, lzma.LZMAError), _READ_SIZE)
        case ".zst":
            import zstandard

            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31)
            return io.BufferedReader(_Frames(stream, decompressor.decompressobj, zstandard.ZstdError), _READ_SIZE)
        case _:
            return stream


@contextmanager
def compressing(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """A stream that compresses what is written, as the name of the file says."""
    match path.suffix.lower():
        case ".gz":
            # No time stamp and no name: the same content gives the same bytes.
            with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as compressed:
                yield cast("BinaryIO", compressed)
        case ".xz":
            with lzma.LZMAFile(stream, mode="wb") as compressed_xz:
                yield cast("BinaryIO", compressed_xz)
        case ".zst":
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(stream, closefd=False) as compressed_zst:
                yield cast("BinaryIO", compressed_zst)
        case _:
            yield stream


class _Frames(io.RawIOBase):
    """Reads compressed frames one after the other, and notices one that is damaged or cut off.

    Args:
        stream: The compressed file.
        start_frame: Makes a decompressor of one frame.
        error: What it raises where a frame is damaged.
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
            data = self._rest or self._stream.read(_READ_SIZE)
            self._rest = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._decompress(data)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self, data: bytes) -> None:
        if self._frame is None:
            data = data.lstrip(b"\0")  # padding, which may stand between frames; none begins with it
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
