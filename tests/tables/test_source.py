import gzip
import io
import lzma
import os
from pathlib import Path

import pytest
import zstandard

from textveil.errors import InputError, ParameterError
from textveil.tables import FORMATS, FileSource, Layout, StreamSource, detect_format

from .test_contract import make

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", "txt"),
        ("a.CSV", "csv"),
        ("a.b.tsv.gz", "tsv"),
        ("a.ndjson.ZST", "jsonl"),
        ("a.jsonl", "jsonl"),
        ("x.pq", "parquet"),
    ],
)
def test_the_format_is_detected_from_the_name(name, expected):
    assert detect_format(Path(name)) == expected


@pytest.mark.parametrize("name", ["reviews", "reviews.xlsx", "reviews.gz"])
def test_a_name_without_a_known_suffix_is_refused(name):
    with pytest.raises(ParameterError, match="does not tell its format.*set `format_name`"):
        detect_format(Path(name))


def read(path: Path) -> list[str | None]:
    source = FileSource(path)
    return [text for rows in source.read(Layout().table(source), batch_size=2) for text in rows.texts]


@pytest.mark.parametrize("suffix", list(COMPRESS))
@pytest.mark.parametrize("name", ["txt", "csv", "jsonl", "parquet"])
def test_compressed_files_are_read(tmp_path, name, suffix):
    path = tmp_path / f"file.{name}{suffix}"
    path.write_bytes(COMPRESS[suffix](make(name, ["one", "two", "three"])))
    assert read(path) == ["one", "two", "three"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_line_may_span_two_frames(tmp_path, suffix):
    path = tmp_path / f"file.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](b"one\ntw") + COMPRESS[suffix](b"o\n"))
    assert read(path) == ["one", "two"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_truncated_file_is_an_error_and_not_a_short_file(tmp_path, suffix):
    import random

    path = tmp_path / f"file.txt{suffix}"
    lines = "".join(f"{random.Random(n).random()}\n" for n in range(30_000)).encode()
    path.write_bytes(COMPRESS[suffix](lines)[:-1000])
    with pytest.raises(InputError, match="cut off or damaged"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_that_is_not_compressed_is_an_error(tmp_path, suffix):
    path = tmp_path / f"file.txt{suffix}"
    path.write_bytes(b"just text\n")
    with pytest.raises(InputError, match="damaged|not what its name says"):
        read(path)


def test_a_missing_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        read(tmp_path / "none.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        read(tmp_path / "folder.txt")


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_a_pipe_or_a_device_is_refused_before_anything_is_read(tmp_path, kind):
    path = tmp_path / "in.txt"
    os.mkfifo(path) if kind == "fifo" else path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a device or a pipe.* send it to standard input"):
        read(path)


def test_progress_is_the_fraction_of_the_bytes_that_have_been_read(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(b"some text in a line\n" * 100_000)
    source = FileSource(path)
    fractions = []
    for _ in source.read(Layout().table(source), batch_size=10_000):
        fractions.append(source.fraction)
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < 0.5
    assert fractions[-1] == 1.0
    assert source.fraction is None


def test_a_stream_is_plain_text_by_default():
    source = StreamSource(io.BytesIO(b'{"text": "a"}\n'))
    assert Layout().table(source).name == "txt"
    table = Layout(format_name="jsonl").table(source)
    assert [rows.texts for rows in source.read(table, batch_size=5)] == [["a"]]
    assert source.fraction is None


def test_formats_have_names_and_aliases():
    assert list(FORMATS) == ["txt", "csv", "tsv", "jsonl", "parquet"]
    assert FORMATS.load("ndjson").name == "jsonl"
