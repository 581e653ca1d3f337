"""Tables: files and streams of texts, one module per format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Result, Rows, Table, Writer, list_columns

if TYPE_CHECKING:
    from textveil.tables.compression import compressing, decompress, strip_suffix
    from textveil.tables.source import FORMATS, FileSource, Layout, Source, StreamSource, detect_format, read_records

_LAZY = {
    **dict.fromkeys(["compressing", "decompress", "strip_suffix"], "textveil.tables.compression"),
    **dict.fromkeys(
        ["FORMATS", "FileSource", "Layout", "Source", "StreamSource", "detect_format", "read_records"],
        "textveil.tables.source",
    ),
}
"""Names that are imported when they are first asked for: a single text needs no file."""

__all__ = [
    "FORMATS",
    "OUTCOME_COLUMN",
    "TEXT_COLUMN",
    "FileSource",
    "Layout",
    "Result",
    "Rows",
    "Source",
    "StreamSource",
    "Table",
    "Writer",
    "compressing",
    "decompress",
    "detect_format",
    "list_columns",
    "read_records",
    "strip_suffix",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'textveil.tables' has no attribute {name!r}")
