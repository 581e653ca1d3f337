"""Rows of a file as cells: under one name each, checked, in one unit, complete."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from textveil.analysis.columns import (
    CELL,
    F1_SCORES,
    FACTORS,
    LONG,
    METRIC_COLUMNS,
    REQUIRED,
    SPELLED,
    STD,
    WORDS,
    canonical_column,
)
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.errors import ColumnError, InputError
from textveil.mechanisms import MECHANISMS
from textveil.registry import Registry
from textveil.tables.base import list_columns

LEVELS = ("high", "medium", "low")
"""Levels of privacy, from the least budget to the largest, where a study has three and does not name them."""
_REGISTRIES: dict[str, Registry[Any]] = {
    "decomposition": DECOMPOSERS,
    "distribution": DISTRIBUTORS,
    "mechanism": MECHANISMS,
}
_SHOWN = 3
"""How many of many faults an error names."""

CellValues: TypeAlias = dict[str, Any]
"""The columns of a cell: names as text, numbers as floats."""


@dataclass(frozen=True, slots=True)
class Group:
    """A data set at one level of privacy: what combinations are compared within."""

    dataset: str
    level: str
    epsilon: float | None

    def __str__(self) -> str:
        budget = "" if self.epsilon is None else f", epsilon {self.epsilon:g}"
        return f"{self.dataset}, level {self.level}{budget}"


def build_cells(
    records: Iterable[Mapping[str, Any]], *, source: str, drop_incomplete: bool
) -> tuple[list[CellValues], tuple[Group, ...]]:
    """Check rows and put them into one form, as ``Results.from_records`` says; what was left out comes second."""
    rows = [_rename(record, source) for record in records]
    if not rows:
        raise InputError(f"{source} has no rows. Run the study first.")
    place = "row"
    if all(name in rows[0] for name in LONG):
        rows, place = _widen(rows, source), "cell"  # what errors count
    _check_columns(rows[0], source)
    cells = [_read_cell(row, f"{source}, {place} {number}") for number, row in enumerate(rows, start=1)]
    cells = _without_empty(cells, f"{source}, {place}")
    cells = _fill_levels(_in_fractions(cells, f"{source}, {place}"), source)
    _check_unique(cells, source)
    return _check_complete(cells, source, drop=drop_incomplete)


def _rename(record: Mapping[str, Any], source: str) -> CellValues:
    renamed: CellValues = {}
    for name, value in record.items():
        column = canonical_column(name)
        if column in renamed:
            raise ColumnError(f"{source} has two columns for {column!r}, one of them {name!r}. Remove one.")
        renamed[column] = value
    return renamed


def _widen(rows: Sequence[Mapping[str, Any]], source: str) -> list[CellValues]:
    """A row per cell, from a row per cell and metric."""
    cells: dict[tuple[Any, ...], CellValues] = {}
    for number, row in enumerate(rows, start=1):
        key = {name: row.get(name) for name in (*CELL, "epsilon") if name in row}
        cell = cells.setdefault(tuple(key.values()), key)
        metric = canonical_column(str(row.get("metric") or ""))
        if not metric or metric in cell:
            fault = f"has {metric!r} of this cell once more" if metric else "names no metric"
            raise InputError(f"{source}, row {number}: it {fault}. Mend the row.")
        cell[metric] = row.get("value")
        if row.get("std") not in (None, ""):
            cell[f"{metric}{STD}"] = row["std"]
    names = dict.fromkeys(name for cell in cells.values() for name in cell)
    return [{name: cell.get(name) for name in names} for cell in cells.values()]


def _check_columns(row: Mapping[str, Any], source: str) -> None:
    missing = [name for name in REQUIRED if name not in row]
    if missing:
        raise ColumnError(
            f"{source} has no column {missing[0]!r}. It has: {list_columns(list(row))}. Rename the one that holds it."
        )
    if "level" not in row and "epsilon" not in row:
        raise ColumnError(f"{source} has neither a column 'level' nor 'epsilon'. One of them has to tell the level.")
    if not any(name in row for name in METRIC_COLUMNS):
        raise ColumnError(f"{source} has no column of a metric. Expected one of: {', '.join(METRIC_COLUMNS)}.")


def _read_cell(row: Mapping[str, Any], place: str) -> CellValues:
    """The columns that are known, as names and numbers; ``None`` where a number is missing."""
    cell: CellValues = {}
    for name in CELL:
        if name in row:
            cell[name] = _read_name(row[name], name)
            if not cell[name]:
                raise InputError(f"{place}: the column {name!r} is empty. Name the {SPELLED.get(name, name)}.")
    for name in ("epsilon", *METRIC_COLUMNS, *(f"{metric}{STD}" for metric in METRIC_COLUMNS), *WORDS.values()):
        if name in row:
            cell[name] = _read_number(row[name], f"{place}: the column {name!r}")
    _check_ranges(cell, place)
    return cell


def _check_ranges(cell: CellValues, place: str) -> None:
    """Refuse a negative count, and a share that is neither a fraction nor a percentage."""
    for name in WORDS.values():
        if (cell.get(name) or 0) < 0:
            raise InputError(f"{place}: the column {name!r} is negative. It should count words.")
    for name, metric in METRIC_COLUMNS.items():
        for column in (name, f"{name}{STD}") if metric.percent else ():
            if not 0 <= (cell.get(column) or 0) <= 100:
                raise InputError(
                    f"{place}: the column {column!r} holds {cell[column]:g}, which is neither a fraction nor a "
                    "percentage. Mend the row, or leave the cell out."
                )


def _read_name(value: Any, column: str) -> str:
    name = "" if value is None else str(value).strip()
    if column in FACTORS:
        name = name.lower()
    registry = _REGISTRIES.get(column)
    return registry.resolve(name) if registry is not None else name


def _read_number(value: Any, place: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{place} holds no number. Mend the row.") from error
    if not math.isfinite(number):
        raise InputError(f"{place} holds {number}, which is no result. Mend the row, or leave the cell out.")
    return number


def _without_empty(cells: list[CellValues], place: str) -> list[CellValues]:
    """Without the columns that no row has a value for; a metric that some rows lack is refused."""
    empty = []
    for name in cells[0]:
        lacking = [number for number, cell in enumerate(cells, start=1) if cell[name] is None]
        if len(lacking) == len(cells):
            empty.append(name)
        elif lacking and not name.endswith(STD):
            raise InputError(
                f"{place} {lacking[0]}: the column {name!r} is empty, here and in {len(lacking) - 1} others. "
                "Fill it in, leave these cells out, or remove the column."
            )
    return [{name: value for name, value in cell.items() if name not in empty} for cell in cells]


def _in_fractions(cells: list[CellValues], place: str) -> list[CellValues]:
    """F1 scores and identifiers as fractions, whichever the results have; one unit for all of them.

    Identifiers may all be less than one percent, so that they never pass for fractions beside scores in percent.
    """
    shares = [name for name, metric in METRIC_COLUMNS.items() if metric.percent and name in cells[0]]
    percent = {
        name: number for name in shares for number, cell in reversed([*enumerate(cells, start=1)]) if cell[name] > 1
    }  # with the first row that tells
    fractions = [name for name in shares if name not in percent and name in F1_SCORES]
    if not percent:
        return cells
    if fractions:
        name, number = next(iter(percent.items()))
        raise InputError(
            f"{place} {number}: the column {name!r} seems to be in percent, and {fractions[0]!r} a fraction. Give both "
            "in the same unit."
        )
    scaled = [f"{name}{end}" for name, metric in METRIC_COLUMNS.items() if metric.percent for end in ("", STD)]
    return [
        {name: value / 100 if name in scaled and value is not None else value for name, value in cell.items()}
        for cell in cells
    ]


def _fill_levels(cells: list[CellValues], source: str) -> list[CellValues]:
    """Every cell with its level: as it is named, or as its epsilon is ranked among those of the data set."""
    if "level" in cells[0]:
        budgets: dict[tuple[str, str], float | None] = {}
        for cell in cells:
            group = cell["dataset"], cell["level"]
            if budgets.setdefault(group, cell.get("epsilon")) != cell.get("epsilon"):
                raise InputError(
                    f"{source}: {group[0]}, level {group[1]}, has more than one epsilon. Name more levels."
                )
        return cells
    ranks = {
        dataset: sorted({cell["epsilon"] for cell in cells if cell["dataset"] == dataset})
        for dataset in {cell["dataset"] for cell in cells}
    }
    names = LEVELS if {len(found) for found in ranks.values()} == {len(LEVELS)} else None
    return [
        {**cell, "level": names[rank] if names else str(rank + 1)}
        for cell in cells
        for rank in [ranks[cell["dataset"]].index(cell["epsilon"])]
    ]


def _describe(cell: Mapping[str, Any] | tuple[str, ...], names: Sequence[str] = CELL) -> str:
    found = cell if isinstance(cell, tuple) else [cell[name] for name in names if name in cell]
    return " / ".join(map(str, found))


def _check_unique(cells: Sequence[Mapping[str, Any]], source: str) -> None:
    seen: dict[str, int] = {}
    for number, cell in enumerate(cells, start=1):
        name = _describe(cell)
        if name in seen:
            raise InputError(
                f"{source}: the cell {name} is there more than once, as the {seen[name]}. and the {number}. cell. "
                "Keep one; repeated runs have to be averaged first."
            )
        seen[name] = number


def _check_complete(cells: list[CellValues], source: str, *, drop: bool) -> tuple[list[CellValues], tuple[Group, ...]]:
    """Every group with all combinations of the factors; others are refused, or left out."""
    factors = [name for name in FACTORS if name in cells[0]]
    wanted = set(product(*(dict.fromkeys(cell[name] for cell in cells) for name in factors)))
    found: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for cell in cells:
        found.setdefault((cell["dataset"], cell["level"]), set()).add(tuple(cell[name] for name in factors))
    missing = [(*group, *lost) for group, has in found.items() for lost in sorted(wanted - has)]
    if not missing:
        return cells, ()
    if not drop:
        named = "; ".join(map(_describe, missing[:_SHOWN]))
        more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"{source} lacks {len(missing)} of {len(wanted) * len(found)} cells: {named}{more}. Run them, or leave out "
            "every data set and level that lacks one with --drop-incomplete."
        )
    whole = [cell for cell in cells if len(found[cell["dataset"], cell["level"]]) == len(wanted)]
    if not whole:
        raise InputError(f"{source}: every data set and level lacks cells, so that nothing is left to compare.")
    kept = {(group.dataset, group.level) for group in list_groups(whole)}
    return whole, tuple(group for group in list_groups(cells) if (group.dataset, group.level) not in kept)


def list_groups(cells: Iterable[Mapping[str, Any]]) -> tuple[Group, ...]:
    """Every data set and level among cells, as they come."""
    return tuple(dict.fromkeys(Group(cell["dataset"], cell["level"], cell.get("epsilon")) for cell in cells))
