"""Compression by file name; reading whole files is tested with the sources."""

import gzip
import io
import lzma
import random
from pathlib import Path

import pytest
import zstandard

from textveil.tables.compression import SUFFIXES, compressing, decompress, strip_suffix

COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
NOISE = random.Random(1).randbytes(200_000)


def pack(content: bytes, name: str) -> bytes:
    stream = io.BytesIO()
    with compressing(stream, Path(name)) as compressed:
        compressed.write(content)
    assert not stream.closed
    return stream.getvalue()


def unpack(content: bytes, name: str) -> bytes:
    return decompress(io.BytesIO(content), Path(name)).read()


@pytest.mark.parametrize(
    ("name", "stripped"),
    [
        ("a.csv.gz", "a.csv"),
        ("a.csv.XZ", "a.csv"),
        ("a.tar.zst", "a.tar"),
        ("a.csv", "a.csv"),
        ("a.gz.csv", "a.gz.csv"),
        ("a.zip", "a.zip"),
        ("a", "a"),
    ],
)
def test_only_the_last_suffix_is_stripped_and_only_if_it_is_a_compression(name, stripped):
    assert strip_suffix(Path("folder") / name) == Path("folder") / stripped


def test_every_suffix_is_tested():
    assert set(COMPRESS) == set(SUFFIXES)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"one\ntwo\n", NOISE], ids=["empty", "short", "long"])
def test_compressed_content_comes_back(suffix, content):
    packed = pack(content, f"a{suffix}")
    assert packed != content
    assert unpack(packed, f"a{suffix.upper()}") == content


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_other_programs_read_and_write_the_same_format(suffix):
    assert unpack(COMPRESS[suffix](NOISE), f"a{suffix}") == NOISE
    read = {
        ".gz": gzip.decompress,
        ".xz": lzma.decompress,
        ".zst": lambda packed: zstandard.ZstdDecompressor().stream_reader(packed).read(),
    }[suffix]
    assert read(pack(NOISE, f"a{suffix}")) == NOISE


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_content_gives_the_same_bytes_whatever_the_name_and_the_time(suffix, monkeypatch):
    first = pack(NOISE, f"a{suffix}")
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert pack(NOISE, f"other{suffix}") == first


def test_a_file_without_a_suffix_is_passed_through():
    stream = io.BytesIO(b"text")
    assert decompress(stream, Path("a.csv")) is stream
    assert pack(b"text", "a.csv") == b"text"


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_frames_are_read_one_after_the_other_with_padding_between(suffix):
    frames = COMPRESS[suffix](b"one ") + b"\0" * 8 + COMPRESS[suffix](b"") + COMPRESS[suffix](b"two") + b"\0" * 4
    assert unpack(frames, f"a{suffix}") == b"one two"


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.999])
def test_a_truncated_frame_is_an_error(suffix, keep):
    packed = COMPRESS[suffix](NOISE)
    with pytest.raises(EOFError, match="truncated"):
        unpack(packed[: int(keep * len(packed))], f"a{suffix}")


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_a_damaged_second_frame_is_an_error(suffix):
    first, second = COMPRESS[suffix](b"one"), bytearray(COMPRESS[suffix](b"two"))
    second[1] ^= 0xFF
    with pytest.raises(EOFError, match="damaged"):
        unpack(first + bytes(second), f"a{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_content_is_decompressed_as_it_is_read(suffix):
    packed = io.BytesIO(COMPRESS[suffix](NOISE * 10))
    stream = decompress(packed, Path(f"a{suffix}"))
    assert stream.read(10) == NOISE[:10]
    assert packed.tell() < len(packed.getvalue()) / 2


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_decompressed_streams_have_lines(suffix):
    stream = decompress(io.BytesIO(COMPRESS[suffix](b"one\n" * 50_000 + b"last")), Path(f"a{suffix}"))
    assert stream.readable()
    lines = list(stream)
    assert (len(lines), lines[0], lines[-1]) == (50_001, b"one\n", b"last")


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_few_compressed_bytes_are_taken_at_a_time_because_each_can_become_very_many(suffix):
    packed = COMPRESS[suffix](bytes(1 << 12)) * 1000
    stream = io.BytesIO(packed)
    assert decompress(stream, Path(f"a{suffix}")).read(1) == b"\0"
    assert stream.tell() < len(packed)
