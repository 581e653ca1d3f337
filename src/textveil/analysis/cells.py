"""Cells from the rows of a file: renamed, checked, converted to one unit, and with every combination."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Any, TypeAlias

from textveil.analysis.columns import (
    CAVEATS,
    CELL,
    DRAW,
    F1_SCORES,
    FACTORS,
    LONG,
    OWN_EPSILON,
    REQUIRED,
    SPELLED,
    SPREAD,
    TARGET,
    WORDS,
    canonical_column,
)
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.errors import ColumnError, InputError
from textveil.evaluation.columns import METRIC_COLUMNS, RESPONSES
from textveil.mechanisms import MECHANISMS
from textveil.registry import Registry
from textveil.tables.base import list_columns

LEVELS = ("high", "medium", "low")
"""The names of three unnamed levels of privacy, from the smallest budget to the largest."""
_REGISTRIES: dict[str, Registry[Any]] = {
    "decomposition": DECOMPOSERS,
    "distribution": DISTRIBUTORS,
    "mechanism": MECHANISMS,
}
_SHOWN = 3
"""The largest number of missing cells that an error lists."""

CellValues: TypeAlias = dict[str, Any]
"""The columns of a cell: names as text, numbers as floats."""


@dataclass(frozen=True, slots=True)
class Group:
    """A data set at one level of privacy. Combinations are compared within a group."""

    dataset: str
    level: str
    epsilon: float | None
    """The budget; for a calibrated level, the mean over its combinations."""
    target: str = ""
    """The meaning of a calibrated level; empty for others."""
    draw: int | None = None
    """A single draw of noise; ``None`` for all of them."""

    @property
    def budget(self) -> str:
        """The meaning of the level, as far as it is known."""
        return self.target or ("" if self.epsilon is None else f"epsilon {self.epsilon:g}")

    def __str__(self) -> str:
        parts = [self.dataset, f"level {self.level}", self.budget, "" if self.draw is None else f"draw {self.draw}"]
        return ", ".join(part for part in parts if part)


def build_cells(
    records: Iterable[Mapping[str, Any]], *, source: str, drop_incomplete: bool
) -> tuple[list[CellValues], tuple[Group, ...]]:
    """Check and normalize rows, as ``Results.from_records`` describes. Excluded groups are returned second."""
    rows = [_rename(record, source) for record in records]
    if not rows:
        raise InputError(f"{source} has no rows. Run the study first.")
    place = "row"  # the unit that errors count
    if all(name in rows[0] for name in LONG):
        rows, place = _widen(rows, source), "cell"
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
            raise ColumnError(f"{source} has two columns for {column!r}, one of them {name!r}. Remove one of them.")
        renamed[column] = value
    return renamed


def _widen(rows: Sequence[Mapping[str, Any]], source: str) -> list[CellValues]:
    """A row per cell, from a row per cell and metric."""
    cells: dict[tuple[Any, ...], CellValues] = {}
    for number, row in enumerate(rows, start=1):
        key = {name: row.get(name) for name in (*CELL, DRAW, TARGET, "epsilon") if name in row}
        cell = cells.setdefault(tuple(key.values()), key)
        metric = canonical_column(str(row.get("metric") or ""))
        if not metric or metric in cell:
            fault = f"repeats {metric!r} of an earlier row for the same cell" if metric else "has no metric"
            raise InputError(f"{source}, row {number}: the row {fault}. Fix this row.")
        cell[metric] = row.get("value")
        for suffix in (*SPREAD, CAVEATS):
            if (found := row.get(suffix.removeprefix("_"))) not in (None, ""):
                cell[f"{metric}{suffix}"] = found
    names = dict.fromkeys(name for cell in cells.values() for name in cell)
    return [{name: cell.get(name) for name in names} for cell in cells.values()]


def _check_columns(row: Mapping[str, Any], source: str) -> None:
    missing = [name for name in REQUIRED if name not in row]
    if missing:
        raise ColumnError(
            f"{source} has no column {missing[0]!r}. It has: {list_columns(list(row))}. Rename the matching column."
        )
    if "level" not in row and "epsilon" not in row:
        raise ColumnError(f"{source} has neither a column 'level' nor a column 'epsilon'. Add one of them.")
    if not any(name in row for name in RESPONSES):
        raise ColumnError(f"{source} has no column with a metric. Expected one of: {', '.join(RESPONSES)}.")


def _read_cell(row: Mapping[str, Any], place: str) -> CellValues:
    """The known columns, as names and numbers; ``None`` for a missing number."""
    cell: CellValues = {}
    for name in CELL:
        if name in row:
            cell[name] = _read_name(row[name], name)
            if not cell[name]:
                raise InputError(f"{place}: the column {name!r} is empty. Enter the {SPELLED.get(name, name)}.")
    cell[DRAW] = _read_draw(row.get(DRAW), place)
    if TARGET in row:
        cell[TARGET] = str(row[TARGET] or "").strip() or None
    spreads = (f"{metric}{suffix}" for metric in METRIC_COLUMNS for suffix in SPREAD)
    for name in ("epsilon", *METRIC_COLUMNS, *spreads, *WORDS.values()):
        if name in row:
            cell[name] = _read_number(row[name], f"{place}: the column {name!r}")
    for name in (f"{metric}{CAVEATS}" for metric in METRIC_COLUMNS):
        if name in row:
            cell[name] = str(row[name] or "").strip() or None
    _check_ranges(cell, place)
    return cell


def _check_ranges(cell: CellValues, place: str) -> None:
    """Refuse a negative count, and a share that is neither a fraction nor a percentage."""
    for name in WORDS.values():
        if (cell.get(name) or 0) < 0:
            raise InputError(f"{place}: the column {name!r} is negative. It must be a number of words.")
    for name, metric in METRIC_COLUMNS.items():
        for column in [f"{name}{suffix}" for suffix in ("", *SPREAD)] if metric.percent else ():
            if not 0 <= (cell.get(column) or 0) <= 100:
                raise InputError(
                    f"{place}: the column {column!r} holds {cell[column]:g}, which is neither a fraction nor a "
                    "percentage. Fix this row, or remove the cell."
                )


def _read_name(value: Any, column: str) -> str:
    name = "" if value is None else str(value).strip()
    if column in FACTORS:
        name = name.lower()
    registry = _REGISTRIES.get(column)
    return registry.resolve(name) if registry is not None else name


def _read_draw(value: Any, place: str) -> int:
    """The number of a draw. Results that do not number them have one draw."""
    number = _read_number(value, f"{place}: the column {DRAW!r}")
    if number is None:
        return 1
    if number < 1 or number != int(number):
        raise InputError(f"{place}: the column {DRAW!r} does not hold a whole number of at least 1. Fix this row.")
    return int(number)


def _read_number(value: Any, place: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{place} does not hold a number. Fix this row.") from error
    if not math.isfinite(number):
        raise InputError(f"{place} holds {number}, which is not a finite number. Fix this row, or remove the cell.")
    return number


def _without_empty(cells: list[CellValues], place: str) -> list[CellValues]:
    """Remove the columns that are empty in every row. Only budgets may not be empty in some rows."""
    empty = [name for name in cells[0] if all(cell[name] is None for cell in cells)]
    lacking = [number for number, cell in enumerate(cells, start=1) if cell.get("epsilon") is None]
    if "epsilon" in cells[0] and "epsilon" not in empty and lacking:
        raise InputError(
            f"{place} {lacking[0]}: the column 'epsilon' is empty, here and in {len(lacking) - 1} others. Fill it in, "
            "remove these cells, or remove the column."
        )
    return [{name: value for name, value in cell.items() if name not in empty} for cell in cells]


def _in_fractions(cells: list[CellValues], place: str) -> list[CellValues]:
    """Convert F1 scores and identifiers to fractions. All of them must be in the same unit.

    All identifiers may be below one percent. So their values alone do not show that they are fractions.
    """
    shares = [name for name, metric in METRIC_COLUMNS.items() if metric.percent and name in cells[0]]
    percent = {
        name: number
        for name in shares
        for number, cell in reversed([*enumerate(cells, start=1)])
        if (cell[name] or 0) > 1
    }  # with the first row that shows it
    fractions = [name for name in shares if name not in percent and name in F1_SCORES]
    if not percent:
        return cells
    if fractions:
        name, number = next(iter(percent.items()))
        raise InputError(
            f"{place} {number}: the column {name!r} seems to be in percent, but {fractions[0]!r} a fraction. Use one "
            "unit for both."
        )
    scaled = [f"{name}{end}" for name, metric in METRIC_COLUMNS.items() if metric.percent for end in ("", *SPREAD)]
    return [
        {name: value / 100 if name in scaled and value is not None else value for name, value in cell.items()}
        for cell in cells
    ]


def _fill_levels(cells: list[CellValues], source: str) -> list[CellValues]:
    """Add the level to every cell. A missing level follows from the rank of epsilon in the data set."""
    if "level" in cells[0]:
        budgets = _find_budgets(cells, source)
        if "epsilon" not in cells[0]:
            return cells
        return [
            {**cell, "epsilon": budgets[cell["dataset"], cell["level"]], OWN_EPSILON: cell["epsilon"]} for cell in cells
        ]
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


def _find_budgets(cells: Sequence[CellValues], source: str) -> dict[tuple[str, str], float | None]:
    """The epsilon of every group. Only in a calibrated level may it differ between cells: then it is the mean."""
    found: dict[tuple[str, str], dict[float | None, None]] = {}
    targets: dict[tuple[str, str], str | None] = {}
    for cell in cells:
        group = cell["dataset"], cell["level"]
        epsilons = found.setdefault(group, {})
        epsilons[cell.get("epsilon")] = None
        alike = targets.setdefault(group, cell.get(TARGET)) == cell.get(TARGET)
        if not alike or (len(epsilons) > 1 and cell.get(TARGET) is None):
            what = "epsilon" if alike else f"value of {TARGET!r}"
            raise InputError(f"{source}: {group[0]}, level {group[1]}, has more than one {what}. Use more levels.")
    return {
        group: fmean(epsilon or 0.0 for epsilon in epsilons) if len(epsilons) > 1 else next(iter(epsilons))
        for group, epsilons in found.items()
    }


def _describe(cell: Mapping[str, Any]) -> str:
    draw = [f"draw {cell[DRAW]}"] if cell[DRAW] > 1 else []
    return " / ".join([*(cell[name] for name in CELL if name in cell), *draw])


def _check_unique(cells: Sequence[Mapping[str, Any]], source: str) -> None:
    seen: dict[str, int] = {}
    for number, cell in enumerate(cells, start=1):
        name = _describe(cell)
        if name in seen:
            raise InputError(
                f"{source}: the cell {name} is repeated: numbers {seen[name]} and {number}. Keep one of them, or "
                "number repeated runs in a column 'draw'."
            )
        seen[name] = number


def _check_complete(cells: list[CellValues], source: str, *, drop: bool) -> tuple[list[CellValues], tuple[Group, ...]]:
    """Check that every draw of a group has all combinations. Incomplete draws and groups are refused or excluded."""
    factors = [name for name in FACTORS if name in cells[0]]
    wanted = set(product(*(dict.fromkeys(cell[name] for cell in cells) for name in factors)))
    found: dict[tuple[str, str, int], set[tuple[str, ...]]] = {}
    for cell in cells:
        found.setdefault(_find_draw(cell), set()).add(tuple(cell[name] for name in factors))
    missing = [
        {"dataset": place[0], "level": place[1], DRAW: place[2], **dict(zip(factors, lost, strict=True))}
        for place, has in found.items()
        for lost in sorted(wanted - has)
    ]
    if not missing:
        return cells, ()
    if not drop:
        named = "; ".join(map(_describe, missing[:_SHOWN]))
        more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"{source} lacks {len(missing)} of {len(wanted) * len(found)} cells: {named}{more}. Run them, or set "
            "`drop_incomplete=True` to exclude every data set and level that lacks a cell."
        )
    whole = [cell for cell in cells if len(found[_find_draw(cell)]) == len(wanted)]
    if not whole:
        raise InputError(
            f"{source}: every data set and level lacks cells, so nothing is left to compare. Run the missing cells."
        )
    return whole, _list_excluded(cells, whole)


def _find_draw(cell: CellValues) -> tuple[str, str, int]:
    return cell["dataset"], cell["level"], cell[DRAW]


def _list_excluded(cells: Sequence[CellValues], kept: Sequence[CellValues]) -> tuple[Group, ...]:
    """The groups of which nothing is kept, and the excluded draws of other groups."""
    groups, draws = set(list_groups(kept)), set(map(_find_draw, kept))
    excluded: dict[Group, None] = {}
    for cell in cells:
        if _find_draw(cell) not in draws:
            group = find_group(cell)
            excluded[replace(group, draw=cell[DRAW]) if group in groups else group] = None
    return tuple(excluded)


def find_group(cell: Mapping[str, Any]) -> Group:
    """The data set and level of a cell."""
    target = cell.get(TARGET)  # may be missing, in a table as not a number
    return Group(cell["dataset"], cell["level"], cell.get("epsilon"), target if isinstance(target, str) else "")


def list_groups(cells: Iterable[Mapping[str, Any]]) -> tuple[Group, ...]:
    """Every data set and level among cells, in order of appearance."""
    return tuple(dict.fromkeys(map(find_group, cells)))
