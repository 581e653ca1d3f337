"""Pairs of original and obfuscated texts from files, with label and attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.tables import TEXT_COLUMN, FileSource, Layout

_ROWS_AT_A_TIME = 1000

Values = list[str | None]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rows of an evaluation."""

    originals: Values
    obfuscated: Values
    labels: dict[str, Values]
    """The labels by column."""
    attribute: Values | None


def read_pairs(
    original: Path,
    obfuscated: Path | None = None,
    *,
    text: str = TEXT_COLUMN,
    obfuscated_text: str | None = None,
    labels: Sequence[str] = (),
    attribute: str | None = None,
    format_name: str | None = None,
) -> Pairs:
    """The rows of two files with the same rows, or of one file with both texts.

    Args:
        original: The file with the originals, their label and their attribute.
        obfuscated: The file with the obfuscated texts; by default the same file.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts; by default ``text``.
        labels: The columns with the labels of tasks.
        attribute: The column with an attribute to protect.
        format_name: The format of the files; by default it follows from their names.

    Raises:
        ColumnError: A file lacks a column.
        InputError: The files do not have the same rows.
    """
    if obfuscated is None and obfuscated_text in (None, text):
        raise ParameterError(
            "The obfuscated texts are missing. Set `obfuscated` to their file, or `obfuscated_text` to their column in "
            "a file with both."
        )
    wanted = [column for column in (*labels, attribute) if column is not None]
    originals, columns = read_columns(original, text, wanted, format_name)
    second = obfuscated or original
    hidden, others = read_columns(second, obfuscated_text or text, wanted, format_name, lenient=True)
    advice = "Give files with the same rows in the same order."
    if len(originals) != len(hidden):
        raise InputError(
            f"{str(original)!r} has {len(originals):,} rows and {str(second)!r} has {len(hidden):,}. {advice}"
        )
    for column in wanted:
        for row, (one, other) in enumerate(zip(columns[column], others.get(column, columns[column]), strict=True)):
            if one != other:
                raise InputError(f"Row {row + 1} has a different {column!r} in the file of obfuscated texts. {advice}")
    return Pairs(
        originals, hidden, {label: columns[label] for label in labels}, columns[attribute] if attribute else None
    )


def read_columns(
    path: Path, text: str, columns: Sequence[str], format_name: str | None = None, *, lenient: bool = False
) -> tuple[Values, dict[str, Values]]:
    """The texts of a file and some of its other columns. ``lenient`` skips columns that do not exist."""
    source = FileSource(path)
    table = Layout(text, None, format_name).table(source)
    texts: Values = []
    found: dict[str, Values] = {column: [] for column in columns}
    for rows in source.read(table, batch_size=_ROWS_AT_A_TIME):
        texts += rows.texts
        for column in list(found):
            try:
                found[column] += table.values(rows, column)
            except ColumnError:
                if not lenient:
                    raise
                del found[column]
    if not texts:
        raise InputError(f"{str(path)!r} has no rows. Give a file with texts.")
    return texts, found
