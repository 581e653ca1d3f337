"""The files of a comparison: originals, and several files with an obfuscated text for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import InputError, ParameterError
from textveil.evaluation.comparison import check_names
from textveil.evaluation.files import PairedFiles, Values
from textveil.tables import TEXT_COLUMN, strip_suffix


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The rows of a comparison."""

    originals: Values
    obfuscations: dict[str, Values]
    """The obfuscated texts by the name of their file."""
    label: Values | None
    attribute: Values | None


@dataclass(frozen=True, slots=True)
class ComparedFiles:
    """The files of a comparison, all with the same rows.

    Args:
        originals: The file with the originals, their label and their attribute.
        files: The files with the obfuscated texts.
        names: A name for every file; by default the name of the file without its suffix.
        text: The column with the texts.
        obfuscated_text: The column with the obfuscated texts; by default ``text``.
        label: The column with the label of a task.
        attribute: The column with an attribute to protect.
        format_name: The format of the files; by default it follows from their names.
    """

    originals: Path
    files: Sequence[Path]
    names: Sequence[str] | None = None
    text: str = TEXT_COLUMN
    obfuscated_text: str | None = None
    label: str | None = None
    attribute: str | None = None
    format_name: str | None = None

    def read(self) -> ComparedRows:
        """Read all rows.

        Raises:
            ColumnError: A file lacks a column.
            InputError: The files do not have the same rows.
            ParameterError: A file is given twice or is the file of originals, or the names do not fit.
        """
        self._check_files()
        names = self.choose_names()
        obfuscations: dict[str, Values] = {}
        for name, path in zip(names, self.files, strict=True):
            labels = () if self.label is None else (self.label,)
            pairs = PairedFiles(
                self.originals, path, self.text, self.obfuscated_text, labels, self.attribute, self.format_name
            ).read()
            obfuscations[name] = pairs.obfuscated
        return ComparedRows(pairs.originals, obfuscations, next(iter(pairs.labels.values()), None), pairs.attribute)

    def choose_names(self) -> list[str]:
        """The name of every file."""
        if self.names and len(self.names) != len(self.files):
            raise ParameterError(
                f"There are {len(self.files):,} files and {len(self.names):,} names. Give one name per file, in the "
                "same order (`names`), or none."
            )
        names = list(self.names) if self.names else [strip_suffix(path).stem for path in self.files]
        check_names(names)
        return names

    def _check_files(self) -> None:
        for number, path in enumerate(self.files):
            for other in self.files[:number]:
                if _is_same(path, other):
                    raise ParameterError(f"{str(path)!r} is given twice. Remove one of the two.")
            own_column = self.obfuscated_text in (None, self.text)
            if own_column and _is_same(path, self.originals):
                raise InputError(
                    f"{str(path)!r} is the file of originals. Remove it from the files to compare. The values of the "
                    "originals are shown in any case."
                )


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # reading it will say what is wrong
        return one == other
