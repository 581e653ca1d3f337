"""Files of texts: one file per format, and how a path tells its format."""

from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Result, Rows, Table, Writer
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
    "read_records",
]
