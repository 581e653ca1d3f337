"""Readers: files of every format, plain and compressed, intact and damaged."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import make_text, mutate_bytes, randoms, texts
from soak.watching import BrokenPromiseError
from textveil.tables import FileSource, Layout
from textveil.tables.base import Result
from textveil.tables.source import read_records

FORMATS = ("csv", "tsv", "jsonl", "txt", "parquet")
SUFFIXES = ("", "", "", ".gz", ".xz", ".zst")


class File(NamedTuple):
    """A file: its name, its bytes, and the number of rows to read at a time."""

    name: str
    content: bytes
    batch_size: int


class Readers(Part):
    """Reads files, and writes the rows that could be read."""

    name = "readers"

    def strategy(self, marker: str) -> st.SearchStrategy[File]:
        """Files of drawn texts, and drawn bytes."""
        rows = st.lists(st.one_of(st.none(), texts(marker)), min_size=1, max_size=6)
        kinds = st.sampled_from(FORMATS), st.sampled_from(SUFFIXES), st.integers(1, 4)
        built = st.builds(_build, randoms(), rows, *kinds)
        raw = st.builds(
            lambda content, kind, suffix, size: File(f"in.{kind}{suffix}", _hide(content, kind, marker), size),
            st.binary(max_size=200),
            *kinds,
        )
        return st.one_of(built, raw)

    def draw(self, random: Random, marker: str) -> File:
        """A file of random texts, most often damaged, or random bytes."""
        kind, suffix, size = random.choice(FORMATS), random.choice(SUFFIXES), random.randrange(1, 5)
        if random.random() < 0.1:
            return File(f"in.{kind}{suffix}", _hide(random.randbytes(random.randrange(300)), kind, marker), size)
        rows = [None if random.random() < 0.1 else make_text(random, marker) for _ in range(random.randrange(1, 6))]
        return _build(random, rows, kind, suffix, size)

    def use(self, given: File, marker: str) -> None:
        """Read the file in every way; write its rows and read them again."""
        path = self.folder / given.name
        path.write_bytes(given.content)
        source = FileSource(path)
        table = Layout().table(source)
        batches = list(source.read(table, batch_size=given.batch_size))
        found = [text for rows in batches for text in rows.texts]
        written = io.BytesIO()
        with table.writer(written, head=True) as writer:
            for rows in batches:
                writer.write(rows, [Result(text, "obfuscated") for text in rows.texts])
        path.write_bytes(_compress(written.getvalue(), path.suffix))
        again = [text for rows in source.read(Layout().table(source), batch_size=7) for text in rows.texts]
        if again != found:
            raise BrokenPromiseError(f"the rows of a {table.name} file are not read as they were written")
        with source.reading() as stream:
            only = [text for some in Layout().table(source).read_texts(stream, batch_size=3) for text in some]
        if only != found:
            raise BrokenPromiseError(f"the texts of a {table.name} file differ without their rows")
        if table.has_columns and sum(1 for _ in read_records(path)) != len(found):
            raise BrokenPromiseError(f"the number of records of a {table.name} file is wrong")


def _hide(content: bytes, kind: str, marker: str) -> bytes:
    """Bytes with the marker after the first line, because the short names of columns are quoted on purpose."""
    head = {"csv": b"id,text", "tsv": b"id\ttext", "jsonl": b'{"text": ""}'}.get(kind, b"")
    return head + b"\n" + content + f" my {marker} here\n".encode() + content


def _build(random: Random, rows: list[str | None], kind: str, suffix: str, batch_size: int) -> File:
    """A file of these texts, damaged before or after it is compressed, or not at all."""
    content = build_file(rows, kind)
    damage = random.randrange(3)
    if damage == 1 and kind in ("csv", "tsv"):
        head, _, rest = content.partition(b"\n")
        content = head + b"\n" + mutate_bytes(random, rest)
    elif damage == 1:
        content = mutate_bytes(random, content)
    content = _compress(content, suffix)
    return File(f"in.{kind}{suffix}", mutate_bytes(random, content) if damage == 2 and suffix else content, batch_size)


def build_file(rows: list[str | None], kind: str) -> bytes:
    """A file of texts with another column."""
    if kind == "parquet":
        whole = [None if text is None else text.encode("utf-8", "replace").decode() for text in rows]
        buffer = io.BytesIO()
        pq.write_table(pa.table({"id": list(range(len(rows))), "text": pa.array(whole, pa.string())}), buffer)
        return buffer.getvalue()
    if kind == "jsonl":
        lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(rows)]
        return "".join(f"{line}\n" for line in lines).encode()
    if kind == "txt":
        return "".join(f"{text or ''}\n" for text in rows).encode("utf-8", "replace")
    buffer_text = io.StringIO()
    writer = csv.writer(buffer_text, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
    writer.writerows([["id", "text"], *([number, text or ""] for number, text in enumerate(rows))])
    return buffer_text.getvalue().encode("utf-8", "replace")


def _compress(content: bytes, suffix: str) -> bytes:
    match suffix:
        case ".gz":
            return gzip.compress(content, mtime=0)
        case ".xz":
            return lzma.compress(content, preset=0)
        case ".zst":
            return bytes(zstandard.compress(content))
        case _:
            return content


def read_file(path: Path) -> Any:
    """The decompressed content of a file, in a form that can be compared."""
    content = path.read_bytes()
    match path.suffix:
        case ".gz":
            return gzip.decompress(content)
        case ".zst":
            return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read()
        case ".parquet":
            return pq.read_table(path).to_pylist()
        case _:
            return content
