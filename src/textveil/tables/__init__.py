"""Tables: files and streams of texts, one module per format."""

from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Result, Rows, Table, Writer, list_columns
from textveil.tables.compression import compressing, decompress, strip_suffix
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
    "compressing",
    "decompress",
    "detect_format",
    "list_columns",
    "read_records",
    "strip_suffix",
]
