"""Pairs of texts from files: originals and obfuscated texts, row by row, with their label and attribute."""

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
    label: Values | None
    attribute: Values | None


@dataclass(frozen=True, slots=True)
class PairedFiles:
    """Where the rows of an evaluation are: in two files with the same rows, or in one with both texts.

    Args:
        original: The file with the originals, their label and their attribute.
        obfuscated: The file with the obfuscated texts; by default they are in the same file.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts, if its name is another.
        label: The column with the label of a task.
        attribute: The column with an attribute to protect.
        format_name: The format, if the names of the files do not tell it.
    """

    original: Path
    obfuscated: Path | None = None
    text: str = TEXT_COLUMN
    obfuscated_text: str | None = None
    label: str | None = None
    attribute: str | None = None
    format_name: str | None = None

    def read(self) -> Pairs:
        """Read all rows.

        Raises:
            ColumnError: A file lacks a column.
            InputError: The files have not the same rows.
        """
        if self.obfuscated is None and self.obfuscated_text in (None, self.text):
            raise ParameterError(
                "Obfuscated texts are missing: give --obfuscated FILE, or --obfuscated-text COLUMN for one file with "
                "both."
            )
        wanted = [column for column in (self.label, self.attribute) if column is not None]
        originals, columns = read_columns(self.original, self.text, wanted, self.format_name)
        second = self.obfuscated or self.original
        obfuscated, others = read_columns(
            second, self.obfuscated_text or self.text, wanted, self.format_name, lenient=True
        )
        if len(originals) != len(obfuscated):
            raise InputError(
                f"{str(self.original)!r} has {len(originals):,} rows and {str(second)!r} has {len(obfuscated):,}. They "
                "must be the same rows in the same order."
            )
        for column in wanted:
            _check_same(columns[column], others.get(column), column)
        return Pairs(
            originals,
            obfuscated,
            None if self.label is None else columns[self.label],
            None if self.attribute is None else columns[self.attribute],
        )


def read_columns(
    path: Path, text: str, columns: Sequence[str], format_name: str | None = None, *, lenient: bool = False
) -> tuple[Values, dict[str, Values]]:
    """The texts of a file, and some of its other columns; ``lenient`` leaves out those that it does not have."""
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


def _check_same(values: Values, others: Values | None, column: str) -> None:
    """Refuse files whose rows are not the same, as far as a column that both have tells."""
    for row, pair in enumerate(zip(values, others or values, strict=True), start=1):
        if pair[0] != pair[1]:
            raise InputError(
                f"Row {row} has another {column!r} in the file of obfuscated texts. The files must have the same rows "
                "in the same order."
            )
