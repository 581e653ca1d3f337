"""The options that all commands that read a corpus share."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from textveil.corpus import MEMORY
from textveil.errors import ParameterError
from textveil.tables import FORMATS

MEMORY_SIZE = f"{MEMORY >> 30}G"
"""The memory of counting by default, as :func:`parse_size` reads it."""

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files (txt with one document per line, jsonl, parquet, csv, tsv; plain or .gz, .xz, .zst), folders, "
        "or hf:OWNER/NAME for a Hugging Face data set.",
        show_default=False,
    ),
]
Column = Annotated[str, typer.Option("--column", "-c", help="The column that holds the documents.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"The format, if file names do not show it: {', '.join(FORMATS)}."),
]
Config = Annotated[str | None, typer.Option(help="The configuration of a Hugging Face data set.")]
Split = Annotated[str, typer.Option(help="The split of a Hugging Face data set.")]
Revision = Annotated[str | None, typer.Option(help="The revision of a Hugging Face data set.")]
MinCount = Annotated[
    int, typer.Option(help="Leave out n-grams that occur less often. The default is for ten billion words.")
]
MinPmi = Annotated[float, typer.Option(help="The PMI lexicon has the n-grams with a PMI above this value.")]
Top = Annotated[float, typer.Option(help="The LLR and t-score lexicons have the top N % of all n-grams.")]
OnlyAttracted = Annotated[
    bool,
    typer.Option(
        "--only-attracted",
        help="Leave n-grams that are rarer than by chance, such as 'the the', out of the LLR lexicon. The paper keeps "
        "them.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show neither progress nor a summary.")]

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)
_LARGEST_SIZE = 2.0**62
_UNITS = {
    "hashing": "files",
    "reading": "words",
    "counting": "words",
    "merging": "n-grams",
    "writing": "n-grams",
    "splitting": "words",
    "training": "epochs",
    "finding": "bytes",
    "numbering": "bytes",
    "choosing": "entries",
    "encoding": "entries",
}


def parse_size(text: str) -> int:
    """The number of bytes that a size such as ``16G`` stands for.

    >>> parse_size("1.5G"), parse_size("512 MiB")
    (1610612736, 536870912)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ParameterError("`memory` must be a number of bytes, such as 512M or 16G.")
    size = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")
    return int(min(size, _LARGEST_SIZE))


def parse_top(percent: float) -> float:
    """The share that a percentage stands for.

    >>> parse_top(5)
    0.05
    """
    if not 0 < percent <= 100:
        raise ParameterError(f"`top` must be a percentage above 0, up to 100. Got {percent:g} instead.")
    return percent / 100


def unit_of(stage: str) -> str:
    """The unit in which the progress of a stage is counted."""
    return _UNITS.get(stage.partition(" ")[0], "n-grams")
