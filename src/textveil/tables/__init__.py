"""Tables: files and streams of texts, one class per format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Result, Rows, Table, Writer, list_columns

if TYPE_CHECKING:
    from textveil.tables.source import FORMATS, FileSource, Layout, Source, StreamSource, detect_format, read_records

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
    "detect_format",
    "list_columns",
    "read_records",
]


def __getattr__(name: str) -> Any:
    """A name of ``source``, which is imported when it is first asked for: a single text needs no file."""
    if name not in __all__:
        raise AttributeError(f"module 'textveil.tables' has no attribute {name!r}")
    from textveil.tables import source

    return getattr(source, name)
