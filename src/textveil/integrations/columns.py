"""Columns of texts, obfuscated together: what the adapters for tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Generic, TypeVar

from textveil.errors import ColumnError, ParameterError
from textveil.jobs.row_writer import as_result
from textveil.obfuscation import Obfuscator, is_missing
from textveil.privacy.budget import Budget
from textveil.privacy.certificate import Certificate, Tally
from textveil.registry import unknown_name
from textveil.tables import Result, list_columns
from textveil.tables.base import carries, check_choice, check_names, name_choice, name_columns
from textveil.tables.identifying import point_out

Frame = TypeVar("Frame")


@dataclass(frozen=True, slots=True, repr=False)
class ObfuscatedFrame(Generic[Frame]):
    """A table with obfuscated texts, and beside it what became of them."""

    frame: Frame
    """The table with the new texts; all else is as before."""
    outcomes: Frame
    """The outcome of every text: a table with the rows of ``frame`` and its text columns."""
    certificate: Certificate
    """What is and is not protected, for all texts together."""

    def __repr__(self) -> str:
        documents = self.certificate.tally.documents
        counted = ", ".join(f"{number} {outcome.value}" for outcome, number in documents.items())
        return f"ObfuscatedFrame({counted or 'no texts'})"


@dataclass(frozen=True, slots=True, repr=False)
class ObfuscatedColumns:
    """Obfuscated columns: new texts and outcomes by column, and a certificate for all of them."""

    texts: dict[Any, list[str | None]]
    outcomes: dict[Any, list[str]]
    certificate: Certificate


_ARGUMENTS = ("columns", "drop_columns", "epsilon", "epsilon_per_word", "keep_columns", "length", "level", "obfuscator")
"""What adapters take besides the settings of an obfuscator."""


def choose_obfuscator(obfuscator: Obfuscator | None, settings: Mapping[str, Any]) -> Obfuscator:
    """The obfuscator that was given, or one with these settings.

    Raises:
        ParameterError: Both were given, or a setting does not exist.
    """
    known = signature(Obfuscator).parameters
    for name in settings:
        if name not in known:
            raise unknown_name("argument", name, (*known, *_ARGUMENTS))
    if obfuscator is None:
        return Obfuscator(**settings)
    if not isinstance(obfuscator, Obfuscator):
        raise ParameterError(f"`obfuscator` must be an Obfuscator. Got {type(obfuscator).__name__} instead.")
    if settings:
        names = ", ".join(f"`{name}`" for name in settings)
        raise ParameterError(f"Set `obfuscator`, or the settings of a new one ({names}), not both.")
    return obfuscator


def find_columns(columns: str | Sequence[Any], present: Sequence[Any], source: str) -> tuple[Any, ...]:
    """The names of the text columns, after a check that each of them exists once.

    Args:
        columns: One or more names.
        present: The names of all columns.
        source: What the columns belong to, in error messages.

    Raises:
        ParameterError: No column is named, or one is named twice.
        ColumnError: A column does not exist, or exists twice.
    """
    names = name_columns(columns, parameter="columns")
    for name in names:
        check_names(present, source, only=name)
        if name not in present:
            numbered = all(isinstance(each, int) for each in present)
            listed = ", ".join(map(str, present)) if numbered else list_columns([str(each) for each in present])
            raise ColumnError(f"{source} has no column {name!r}. It has: {listed}. Choose with `columns`.")
    return names


def choose_kept(
    columns: Sequence[Any],
    present: Sequence[Any],
    source: str,
    *,
    drop: str | Sequence[Any],
    keep: str | Sequence[Any] | None,
    sample_of: Callable[[Any], Iterable[Any] | None],
) -> list[Any]:
    """The names of all columns that the result has, after a warning of those that may identify people.

    Args:
        columns: The text columns.
        present: The names of all columns.
        source: What the columns belong to, in error messages.
        drop: Other columns that are not copied.
        keep: The only other columns that are copied, instead.
        sample_of: The first values of a column; ``None`` if they are not known.

    Raises:
        ColumnError: A column to drop or keep does not exist.
    """
    drop, keep = name_choice(drop, keep, columns)
    check_choice(present, drop, keep, source)
    kept = [name for name in present if name in columns or carries(name, drop, keep)]
    copied = [name for name in kept if name not in columns and kept.count(name) == 1]
    point_out({name: sample_of(name) for name in copied}, approved=keep)
    return kept


def obfuscate_columns(
    obfuscator: Obfuscator,
    columns: Mapping[Any, Iterable[Any]],
    budget: Budget,
    *,
    other_columns: bool,
) -> ObfuscatedColumns:
    """Obfuscate the texts of columns, row by row, as ``Obfuscator.obfuscate_file`` does. Each text is a document.

    Args:
        obfuscator: The obfuscator.
        columns: The texts by column. ``None``, NaN and ``pandas.NA`` are missing.
        budget: The budget of a document.
        other_columns: Whether there are columns that are carried along.
    """
    texts = {name: check_texts(name, values) for name, values in columns.items()}
    budget = budget.resolve(_by_row(texts))
    results: list[Result] = []
    tally = Tally()
    for obfuscation in obfuscator.obfuscate_all(
        _by_row(texts), budget=budget
    ):  # its chunks are not kept, since they would need much memory
        results.append(as_result(obfuscation))
        tally.add(obfuscation.certificate.tally)
    width = len(texts)
    return ObfuscatedColumns(
        {name: [result.text for result in results[place::width]] for place, name in enumerate(texts)},
        {name: [result.outcome for result in results[place::width]] for place, name in enumerate(texts)},
        Certificate(obfuscator.terms, budget, tally, other_columns=other_columns),
    )


def _by_row(texts: Mapping[Any, Sequence[str | None]]) -> Iterator[str | None]:
    return (text for row in zip(*texts.values(), strict=True) for text in row)


def check_texts(column: Any, values: Iterable[Any]) -> list[str | None]:
    """The texts of a column, with ``None`` for every missing value.

    Raises:
        ParameterError: A value is neither a text nor missing.
    """
    texts: list[str | None] = []
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str) and not is_missing(value):
            raise ParameterError(
                f"Row {row} of the column {column!r} must be a string, or missing. Got {type(value).__name__} instead."
            )
        texts.append(value if isinstance(value, str) else None)
    return texts
