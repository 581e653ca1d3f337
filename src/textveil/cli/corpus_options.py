"""What the commands that read a corpus have in common."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from textveil.errors import ParameterError
from textveil.execution import EXECUTORS
from textveil.tables import FORMATS

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (txt with a document per line, jsonl, parquet, csv, tsv; plain or .gz, .xz, .zst), folders, "
        "or hf:OWNER/NAME for a Hugging Face data set.",
        show_default=False,
    ),
]
Column = Annotated[str, typer.Option("--column", "-c", help="The column with the documents.")]
Format = Annotated[
    str | None, typer.Option("--format", help=f"The format, if names do not tell it: {', '.join(FORMATS)}.")
]
Config = Annotated[str | None, typer.Option(help="The configuration of a Hugging Face data set.")]
Split = Annotated[str, typer.Option(help="The split of a Hugging Face data set.")]
Revision = Annotated[str | None, typer.Option(help="The revision of a Hugging Face data set.")]
ExecutorName = Annotated[str, typer.Option(help=f"Where the corpus is worked on: {', '.join(EXECUTORS)}.")]
Workers = Annotated[int | None, typer.Option(help="How many work at a time; by default, one per core.")]
Address = Annotated[
    str | None, typer.Option(help="The address of a running Ray cluster, or auto; its machines share the files.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show neither progress nor a summary.")]

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {
    "hashing": "files",
    "reading": "words",
    "counting": "words",
    "merging": "n-grams",
    "writing": "n-grams",
    "splitting": "words",
    "training": "epochs",
    "finding": "bytes",
}


def parse_size(text: str) -> int:
    """Bytes, as people write them.

    >>> parse_size("1.5G"), parse_size("512 MiB")
    (1610612736, 536870912)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ParameterError("The memory must be a number of bytes, such as 512M or 16G.")
    size = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")
    return int(min(size, 2.0**62))


def unit_of(stage: str) -> str:
    """What the progress of a stage is counted in."""
    return _UNITS.get(stage.partition(" ")[0], "n-grams")
