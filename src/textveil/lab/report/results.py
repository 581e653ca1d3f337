"""The results of a study: one row per cell and draw, checked, in one unit, and with every combination."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import permutations, product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from textveil.errors import ColumnError, InputError, ParameterError, UnknownNameError
from textveil.extras import require
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn
from textveil.lab.metrics.columns import RESPONSES as METRIC_RESPONSES
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.outcomes import Outcome
from textveil.profiles import PROFILES
from textveil.registry import Registry, unknown_name
from textveil.tables import read_records
from textveil.tables.base import list_columns

if TYPE_CHECKING:
    from pandas import DataFrame

FACTORS = ("decomposition", "distribution", "mechanism", "profile")
"""The choices that are compared."""
CONTROLS = ("dataset", "level")
"""Columns that are not a choice. Their effect is removed before factors are compared."""
SPELLED = {"dataset": "data set"}
"""The name of a column in prose, if it differs."""
REQUIRED = ("dataset", "decomposition", "distribution")
CELL = ("dataset", "level", *FACTORS)
"""The columns that identify a cell."""
DRAW = "draw"
"""The number of the draw of noise. Rows that differ in nothing else of the cell are repetitions."""
DRAWS = "draws"
"""The number of draws that a value is a mean of."""
TARGET = "level_target"
"""The meaning of a calibrated level, such as a share of unchanged words. Its epsilon depends on the methods."""
OWN_EPSILON = "own_epsilon"
"""The epsilon of a cell, if cells of its level differ in it."""
LONG = ("metric", "value")
"""The columns of results with a row per cell and metric."""
STD = "_std"
"""The suffix of the column with a metric's standard deviation."""
LOW, HIGH = "_low", "_high"
"""The suffixes of the columns with the bounds of a metric's 95 % interval."""
SPREAD = (STD, LOW, HIGH)
"""The suffixes of columns with numbers about a metric."""
NOISE_STD, NOISE_LOW, NOISE_HIGH = "_noise_std", "_noise_low", "_noise_high"
"""The suffixes of a mean's standard deviation over draws of noise, and of the bounds of its 95 % interval."""
CAVEATS = "_caveats"
"""The suffix of the column with the reasons to draw no conclusion from a metric."""

RELATIVE_GAIN = METRIC_COLUMNS["relative_gain"]
F1_SCORES = ("utility_f1", "static_f1", "adaptive_f1")
"""The metrics that show whether a file uses percent or fractions."""

UTILITY = MetricColumn("", "", "utility", "utility", "higher", column="utility", lowest=-1.0)
"""The mean of UTILITY_PARTS: the U of relative gain."""
UTILITY_PARTS = ("utility_f1", "cosine_similarity")
EXPOSURE = MetricColumn("", "", "exposure", "exposure", "lower", column="exposure")
"""The mean of EXPOSURE_PARTS: the P of relative gain. Lower is better protected."""
EXPOSURE_PARTS = ("pi_remaining", "static_f1", "adaptive_f1")
PARTS = {
    UTILITY.name: UTILITY_PARTS,
    EXPOSURE.name: EXPOSURE_PARTS,
    RELATIVE_GAIN.name: (*UTILITY_PARTS, *EXPOSURE_PARTS),
}
"""The columns that a column is computed from."""
CLEAR = MetricColumn("", "", "words in clear", "clear", "lower", column="clear_share", percent=True)
"""The share of words released in clear, without stopwords. It is computed from the counts of words."""
CLEAR_SHARE = CLEAR.name
RESPONSES = (*METRIC_RESPONSES, CLEAR.name)
"""The columns that an analysis can explain, if results have them."""

WORDS = {outcome: f"words_{outcome.value}" for outcome in Outcome if outcome is not Outcome.REDACTED}
"""The columns with counts of words, by outcome."""
IN_CLEAR = tuple(WORDS[outcome] for outcome in WORDS if outcome.in_clear and outcome is not Outcome.KEPT_STOPWORD)

ALIASES = {
    "data_set": "dataset",
    "privacy_level": "level",
    "budget": "epsilon",
    "eps": "epsilon",
    "downstream_f1": "utility_f1",
    "similarity": "cosine_similarity",
    "pi_masking": "pi_remaining",
    "identifiers": "pi_remaining",
    "static_attacker_f1": "static_f1",
    "adaptive_attacker_f1": "adaptive_f1",
    "tradeoff": "relative_gain",
    "attribute_guess": "attribute_majority",
    "downstream_guess": "downstream_majority",
}


@lru_cache(maxsize=1000)  # every row of a file has the same names
def canonical_column(name: str) -> str:
    """The column for a name in a file.

    >>> canonical_column("Privacy Level"), canonical_column("utility-F1")
    ('level', 'utility_f1')
    """
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return ALIASES.get(plain, plain)


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
    if not any(name in row for name in METRIC_RESPONSES):
        raise ColumnError(f"{source} has no column with a metric. Expected one of: {', '.join(METRIC_RESPONSES)}.")


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


_KNOWN: dict[str, tuple[str, ...]] = {
    "level": LEVELS,
    "decomposition": tuple(DECOMPOSERS),
    "distribution": tuple(DISTRIBUTORS),
    "mechanism": tuple(MECHANISMS),
    "profile": tuple(PROFILES),
}
_ROUNDING = 1e-12
"""A difference below this fraction of the largest value counts as zero."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A metric that some cells of a data set and level lack. None of its values there is used."""

    metric: MetricColumn
    group: Group
    cells: int
    """The number of cells that lack it."""
    of: int
    """The number of all cells of the group."""

    def __str__(self) -> str:
        lacking = "all cells" if self.cells == self.of else f"{self.cells} of {self.of} cells"
        return f"{self.group} ({lacking})"


@dataclass(frozen=True)
class Results:
    """One row per cell. Every data set and level has every combination of the factors, once for each draw of noise.

    Args:
        rows: A pandas DataFrame. Its columns are those of ``columns.CELL`` as categories, ``draw``, ``epsilon`` if
            known, the metrics (F1 and identifiers as fractions), their standard deviations, intervals and caveats,
            counts of words, and the columns that are computed from others (``clear_share``, ``utility``,
            ``exposure``).
        left_out: The groups that were excluded because they lacked a combination, or single draws of them.
        missing: The metrics that a group lacks, in some or in all of its cells. The frame has none of their values
            there, so that all means of a metric are over the same groups.
    """

    rows: DataFrame
    left_out: tuple[Group, ...] = ()
    missing: tuple[Missing, ...] = ()

    @classmethod
    def from_records(
        cls, records: Iterable[Mapping[str, Any]], *, source: str = "the results", drop_incomplete: bool = False
    ) -> Results:
        """Check and normalize rows.

        Args:
            records: One row per cell, or one row per cell and metric (columns ``metric``, ``value``, optionally
                ``std``). Repetitions with other noise have a number in the column ``draw``.
            source: The name of the rows in errors.
            drop_incomplete: Exclude a data set and level, or a draw of it, that lacks a combination, instead of
                refusing the results.

        Raises:
            ColumnError: A column is missing, or repeated under two names.
            InputError: A name is missing, a value is not a number, or a cell is missing or repeated.
        """
        cells, left_out = build_cells(records, source=source, drop_incomplete=drop_incomplete)
        frame = _build_frame(cells)
        missing = tuple(_find_missing(frame))
        for each in missing:
            columns = [f"{each.metric.name}{suffix}" for suffix in ("", *SPREAD)]
            frame.loc[_select(frame, [each.group]), [name for name in columns if name in frame]] = None
        return cls(_add_computed(frame), left_out, missing)

    @cached_property
    def frame(self) -> DataFrame:
        """The means over draws: one row for each data set, level and combination. ``draws`` is their number."""
        if DRAW not in self.rows or self.rows[DRAW].nunique() < 2:
            return self.rows.assign(**{DRAWS: 1})
        names = [name for name in CELL if name in self.rows]
        groups = self.rows.groupby(names, observed=True)
        others = [name for name in self.rows if name not in (*names, DRAW)]
        numbers = [name for name in others if self.rows[name].dtype.kind in "if"]
        means = groups[numbers].mean().join(groups[[name for name in others if name not in numbers]].first())
        return means.join(groups.size().rename(DRAWS)).reset_index()

    @property
    def draws(self) -> int:
        """The number of draws of noise, the largest if it differs."""
        return int(self.frame[DRAWS].max())

    @cached_property
    def metrics(self) -> tuple[MetricColumn, ...]:
        """The metrics that figures and tables show, without references and details."""
        return tuple(metric for metric in self.responses if not metric.detail and metric != CLEAR)

    @cached_property
    def responses(self) -> tuple[MetricColumn, ...]:
        """Everything that an analysis of these results can explain."""
        known = (*(METRIC_COLUMNS[name] for name in METRIC_RESPONSES), CLEAR)
        return tuple(each for each in known if each.name in self.frame and self.frame[each.name].notna().any())

    def list_shown(self, response: MetricColumn) -> tuple[MetricColumn, ...]:
        """The metrics to show for a response: those of tables and figures, and the response last, if it is a detail."""
        return self.metrics if response in self.metrics else (*self.metrics, response)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Every data set and level, in order."""
        return list_groups(self.frame.to_dict("records"))

    def values(self, column: str) -> list[str]:
        """The values of a column of the cell, in order."""
        return [str(value) for value in self.frame[column].cat.categories] if column in self.frame else []

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """The factors that have more than one value."""
        return tuple(factor for factor in FACTORS if len(self.values(factor)) > 1)

    @cached_property
    def combination(self) -> tuple[str, str]:
        """The factors of the rows and columns of tables: the first two that vary. Others fill up, if fewer vary."""
        one, other = sorted(
            (*self.varying, *(name for name in FACTORS if name not in self.varying))[:2], key=FACTORS.index
        )
        return one, other

    @property
    def counts_words(self) -> bool:
        """Whether the results count the words released in clear, in all cells."""
        return CLEAR_SHARE in self.frame and bool(self.frame[CLEAR_SHARE].notna().all())

    def choose_metric(self, name: str) -> MetricColumn:
        """A metric of these results by its name.

        Raises:
            UnknownNameError: These results do not have it.
            InputError: No data set and level has it in all cells.
        """
        for metric in self.responses:
            if metric.name == canonical_column(name):
                return metric
        if lacking := [each for each in self.missing if each.metric.name == canonical_column(name)]:
            raise InputError(
                f"Every data set and level lacks the response {canonical_column(name)!r} in some cells: "
                f"{'; '.join(map(str, lacking))}. Fill it in, or choose another `response`."
            )
        names = [metric.name for metric in self.responses]
        if canonical_column(name) in RESPONSES:
            raise UnknownNameError(f"The results do not have {name!r}. Set `response` to one of: {', '.join(names)}.")
        raise unknown_name("response", name, names)

    def list_caveats(self, metric: MetricColumn) -> dict[Group, tuple[str, ...]]:
        """The reasons to draw no conclusion from a metric, for every group that has any."""
        columns = [f"{name}{CAVEATS}" for name in (metric.name, *PARTS.get(metric.name, ()))]
        known = [column for column in columns if column in self.frame]
        found: dict[Group, dict[str, None]] = {}
        for cell in self.rows.to_dict("records"):
            for column in known:
                if isinstance(cell[column], str):
                    found.setdefault(find_group(cell), {})[cell[column]] = None
        return {group: tuple(caveats) for group, caveats in found.items()}

    def list_lacking(self, metric: MetricColumn) -> tuple[Group, ...]:
        """The groups that have no value of a metric."""
        return list_groups(self.frame[self.frame[metric.name].isna()].to_dict("records"))

    def without(self, groups: Collection[Group]) -> Results | None:
        """The results without some groups; ``None`` if none are left."""
        if not groups:
            return self
        kept = [not chosen for chosen in _select(self.rows, groups)]
        return replace(self, rows=_drop_unused(self.rows[kept])) if any(kept) else None

    def split(self) -> dict[str, Results]:
        """The results of every setting: the values of factors that vary, but are not part of a combination.

        If no more than two factors vary, there is one setting, and its name is empty.
        """
        varying = [factor for factor in self.varying if factor not in self.combination]
        if not varying:
            return {"": self}
        parts = {}
        for chosen in product(*map(self.values, varying)):
            rows = self.rows
            for factor, value in zip(varying, chosen, strict=True):
                rows = rows[rows[factor] == value]
            name = ", ".join(f"{factor} {value}" for factor, value in zip(varying, chosen, strict=True))
            parts[name] = replace(self, rows=_drop_unused(rows))
        return parts


def read_results(path: Path, *, drop_incomplete: bool = False) -> Results:
    """Read results from CSV, TSV, JSONL or Parquet, compressed or not."""
    return Results.from_records(read_records(path), source=repr(str(path)), drop_incomplete=drop_incomplete)


def _build_frame(cells: list[CellValues]) -> DataFrame:
    """The cells as a sorted table, with the values of factors in their usual order."""
    pandas = require("pandas", extra="analyze")
    frame = pandas.DataFrame(cells)
    for name in CELL:
        if name in frame:
            order = _order(cells, name)
            frame[name] = pandas.Categorical(frame[name], categories=order, ordered=True)
    if all(name in frame for name in WORDS.values()):
        clear = frame[list(IN_CLEAR)].sum(axis=1, skipna=False)
        counted = frame[list(WORDS.values())].sum(axis=1, skipna=False) - frame[WORDS[Outcome.KEPT_STOPWORD]]
        frame[CLEAR_SHARE] = clear / counted.where(counted != 0, 1.0)
    return frame.sort_values([name for name in (*CELL, DRAW) if name in frame], ignore_index=True)


def _find_missing(frame: DataFrame) -> Iterator[Missing]:
    """The metrics that groups lack, in some or in all of their cells."""
    for metric in (*(METRIC_COLUMNS[name] for name in METRIC_RESPONSES), CLEAR):
        if metric.name not in frame or frame[metric.name].notna().all():
            continue
        for group in list_groups(frame.to_dict("records")):
            values = frame.loc[_select(frame, [group]), metric.name]
            if lacking := int(values.isna().sum()):
                yield Missing(metric, group, lacking, len(values))


def _select(frame: DataFrame, groups: Collection[Group]) -> list[bool]:
    """Whether a row belongs to one of the groups, for every row."""
    names = {(group.dataset, group.level) for group in groups}
    return [pair in names for pair in zip(frame["dataset"], frame["level"], strict=True)]


def _add_computed(frame: DataFrame) -> DataFrame:
    """The frame with utility and exposure, where all of their parts are known."""
    for whole in (UTILITY, EXPOSURE):
        parts = list(PARTS[whole.name])
        if all(part in frame and frame[part].notna().any() for part in parts):
            frame[whole.name] = frame[parts].mean(axis=1, skipna=False)
    return frame


def _order(cells: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """The values in their usual order, then in order of appearance. Levels are sorted by epsilon, if known."""
    found = list(dict.fromkeys(cell[name] for cell in cells))
    known = _KNOWN.get(name, ())
    usual = [value for value in known if value in found] + [value for value in found if value not in known]
    return _rank_levels(list_groups(cells), usual) if name == "level" and "epsilon" in cells[0] else usual


def _rank_levels(groups: Sequence[Group], usual: list[str]) -> list[str]:
    """The levels by increasing epsilon within data sets. Other levels stay in their usual order."""
    below: dict[str, set[str]] = {level: set() for level in usual}
    for one, other in permutations(groups, 2):
        if one.dataset == other.dataset and (one.epsilon or 0) < (other.epsilon or 0):
            below[other.level].add(one.level)
    try:
        return list(TopologicalSorter(below).static_order())
    except CycleError:  # data sets disagree
        return sorted(usual, key=lambda level: min(group.epsilon or 0 for group in groups if group.level == level))


def _drop_unused(frame: DataFrame) -> DataFrame:
    kept = frame.reset_index(drop=True).copy()
    for name in CELL:
        if name in kept:
            kept[name] = kept[name].cat.remove_unused_categories()
    return kept


def find_obstacle(results: Results, response: MetricColumn) -> str:
    """The reason why results cannot be tested; empty if they can."""
    if not results.varying:
        return "Every factor has only one value, so nothing can be compared. Add cells with another method."
    if len(results.groups) < 2:
        return (
            f"One data set at one level ({results.groups[0]}) does not separate effects from chance. Add a data set or "
            "a level."
        )
    if not _overlap(results.groups):
        return "Data sets and levels do not overlap, so their effects cannot be separated. Remove a data set."
    if not varies_within_groups(results, response):
        return (
            f"The values of {response.title} are the same for all combinations in every data set and level, so there "
            "is no variance to explain. Choose another response."
        )
    return ""


def check_comparable(results: Results, response: MetricColumn) -> None:
    """Refuse results that cannot be tested.

    Raises:
        ParameterError: No factor varies, there is only one group, or the response does not vary within groups.
    """
    if obstacle := find_obstacle(results, response):
        raise ParameterError(obstacle)


def varies_within_groups(results: Results, response: MetricColumn) -> bool:
    """Whether the response varies within any data set and level, beyond rounding."""
    values = results.frame[response.name]
    groups = values.groupby([results.frame[name] for name in CONTROLS], observed=True)
    spread = groups.max() - groups.min()
    return bool(spread.max() > _ROUNDING * values.abs().max())


def _overlap(groups: Sequence[Group]) -> bool:
    """Whether steps that change either the data set or the level connect all groups."""
    datasets, levels, size = {groups[0].dataset}, {groups[0].level}, 0
    while len(datasets) + len(levels) > size:
        size = len(datasets) + len(levels)
        near = [group for group in groups if group.dataset in datasets or group.level in levels]
        datasets |= {group.dataset for group in near}
        levels |= {group.level for group in near}
    return all(group.dataset in datasets for group in groups)
