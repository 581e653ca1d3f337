"""The results of a study: one row per cell and draw, checked, in one unit, and with every combination."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import permutations, product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

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
    from pandas import DataFrame, Series

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
LEAST_DRAWS = 3
"""With fewer draws of noise, a 95 % interval over them is too wide to say anything: 18 standard deviations with two."""
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

UTILITY = MetricColumn("", "", "mean of utility F1 and similarity", "utility", "higher", column="utility", lowest=-1.0)
"""The mean of UTILITY_PARTS: the U of relative gain."""
UTILITY_PARTS = ("utility_f1", "cosine_similarity")
EXPOSURE = MetricColumn(
    "",
    "",
    "mean of surviving identifiers, static and adaptive attacker F1",
    "exposure",
    "lower",
    column="exposure",
)
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
_SHARES = [f"{name}{suffix}" for name, metric in METRIC_COLUMNS.items() if metric.percent for suffix in ("", *SPREAD)]
"""The columns in percent or fractions."""
_SHOWN = 3
"""The largest number of missing cells that an error lists."""


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


def read_cells(
    records: Iterable[Mapping[str, Any]], *, source: str, drop_incomplete: bool
) -> tuple[DataFrame, tuple[Group, ...]]:
    """Check and normalize rows, as ``Results.from_records`` describes. Excluded groups are returned second."""
    rows = [_rename(record, source) for record in records]
    if not rows:
        raise InputError(f"{source} has no rows. Run the study first.")
    place = f"{source}, row"  # the unit that errors count
    if all(name in rows[0] for name in LONG):
        rows, place = _widen(rows, source), f"{source}, cell"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    _check_columns(columns, source)
    values = {name: [row.get(name) for row in rows] for name in columns}
    frame = _read_columns(require("pandas", extra="analyze").DataFrame(values, dtype=object), place)
    _check_ranges(frame, place)
    _convert_to_fractions(frame, place)
    _fill_levels(frame, source)
    _check_unique(frame, source)
    return _check_complete(frame, source, drop=drop_incomplete)


def _rename(record: Mapping[str, Any], source: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for name, value in record.items():
        column = canonical_column(name)
        if column in renamed:
            raise ColumnError(f"{source} has two columns for {column!r}, one of them {name!r}. Remove one of them.")
        renamed[column] = value
    return renamed


def _widen(rows: Sequence[Mapping[str, Any]], source: str) -> list[dict[str, Any]]:
    """A row per cell, from a row per cell and metric."""
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
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
    return list(cells.values())


def _check_columns(columns: list[str], source: str) -> None:
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise ColumnError(
            f"{source} has no column {missing[0]!r}. It has: {list_columns(columns)}. Rename the matching column."
        )
    if "level" not in columns and "epsilon" not in columns:
        raise ColumnError(f"{source} has neither a column 'level' nor a column 'epsilon'. Add one of them.")
    if not any(name in columns for name in METRIC_RESPONSES):
        raise ColumnError(f"{source} has no column with a metric. Expected one of: {', '.join(METRIC_RESPONSES)}.")


def _read_columns(rows: DataFrame, place: str) -> DataFrame:
    """The known columns that are not empty, as names, texts and numbers."""
    pandas = require("pandas", extra="analyze")
    frame: dict[str, Series] = {}  # columns that are added to a data frame one by one would fragment it
    for name in rows.columns.intersection(CELL):
        frame[name] = rows[name].map(lambda value, name=name: _read_name(value, name))
        _refuse(frame[name] == "", place, f"the column {name!r} is empty. Enter the {SPELLED.get(name, name)}.")
    for name in rows.columns.intersection([TARGET, *(f"{metric}{CAVEATS}" for metric in METRIC_COLUMNS)]):
        frame[name] = rows[name].map(lambda value: str(value or "").strip() or None)
    spreads = [f"{metric}{suffix}" for metric in METRIC_COLUMNS for suffix in SPREAD]
    for name in rows.columns.intersection([DRAW, "epsilon", *METRIC_COLUMNS, *spreads, *WORDS.values()]):
        frame[name] = rows[name].map(_read_number).astype(float)
        fault = f"the column {name!r} does not hold a finite number. Fix this row, or remove the cell."
        _refuse(np.isinf(frame[name]), place, fault)
    found: DataFrame = pandas.DataFrame(frame, index=rows.index).dropna(axis="columns", how="all")
    return found.assign(**{DRAW: found[DRAW].fillna(1.0) if DRAW in found else 1.0})


def _read_name(value: Any, column: str) -> str:
    name = "" if value is None else str(value).strip()
    if column in FACTORS:
        name = name.lower()
    registry = _REGISTRIES.get(column)
    return registry.resolve(name) if registry is not None else name


def _read_number(value: Any) -> float:
    """A number: NaN for an empty value, and infinity for one that is not a finite number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.inf
    return number if math.isfinite(number) else math.inf


def _refuse(wrong: Series, place: str, fault: str) -> None:
    """Raise an error that names the first row that is wrong, if any is."""
    if wrong.any():
        raise InputError(f"{place} {wrong.to_numpy().argmax() + 1}: {fault}")


def _check_ranges(frame: DataFrame, place: str) -> None:
    """Refuse a draw, a budget, a count or a share that is out of its range."""
    fault = f"the column {DRAW!r} does not hold a whole number of at least 1. Fix this row."
    _refuse((frame[DRAW] < 1) | (frame[DRAW] % 1 > 0), place, fault)
    frame[DRAW] = frame[DRAW].astype(int)
    if "epsilon" in frame:
        fault = "the column 'epsilon' is empty. Fill it in, remove such cells, or remove the column."
        _refuse(frame["epsilon"].isna(), place, fault)
    for name in frame.columns.intersection(list(WORDS.values())):
        _refuse(frame[name] < 0, place, f"the column {name!r} is negative. It must be a number of words.")
    for name in frame.columns.intersection(_SHARES):
        fault = f"the column {name!r} holds neither a fraction nor a percentage. Fix this row, or remove the cell."
        _refuse((frame[name] < 0) | (frame[name] > 100), place, fault)


def _convert_to_fractions(frame: DataFrame, place: str) -> None:
    """Convert F1 scores and identifiers to fractions. All of them must be in the same unit.

    All identifiers may be below one percent. So their values alone do not show that they are fractions.
    """
    percent = [name for name in METRIC_COLUMNS if name in _SHARES and name in frame and (frame[name] > 1).any()]
    fractions = [name for name in F1_SCORES if name in frame and name not in percent]
    if percent and fractions:
        fault = f"the column {percent[0]!r} seems to be in percent, but {fractions[0]!r} a fraction. Use one unit."
        _refuse(frame[percent[0]] > 1, place, fault)
    if percent:
        scaled = frame.columns.intersection(_SHARES)
        frame[scaled] /= 100


def _fill_levels(frame: DataFrame, source: str) -> None:
    """Add the level, by the rank of epsilon in the data set, and set epsilon to that of the level.

    Only in a calibrated level may epsilon differ between cells. Then it is the mean.
    """
    if "level" not in frame:
        ranks = frame.groupby("dataset")["epsilon"].rank(method="dense").astype(int)
        named = set(ranks.groupby(frame["dataset"]).max()) == {len(LEVELS)}
        frame["level"] = [LEVELS[rank - 1] if named else str(rank) for rank in ranks]
    groups = frame.groupby(list(CONTROLS), sort=False)
    for name in frame.columns.intersection([TARGET, "epsilon"]):
        differs = groups[name].nunique(dropna=False) > 1
        if name == "epsilon" and TARGET in frame:
            differs &= groups[TARGET].count() == 0
        if differs.any():
            what = "epsilon" if name == "epsilon" else f"value of {TARGET!r}"
            dataset, level = differs.idxmax()
            raise InputError(f"{source}: {dataset}, level {level}, has more than one {what}. Use more levels.")
    if "epsilon" in frame:
        frame[OWN_EPSILON] = frame["epsilon"]
        frame["epsilon"] = groups["epsilon"].transform(lambda found: fmean(found.unique()))


def _list_keys(frame: DataFrame) -> list[str]:
    """The columns that identify a row."""
    return [name for name in (*CELL, DRAW) if name in frame]


def _describe(cell: Mapping[str, Any]) -> str:
    draw = [f"draw {cell[DRAW]}"] if cell[DRAW] > 1 else []
    return " / ".join([*(cell[name] for name in CELL if name in cell), *draw])


def _check_unique(frame: DataFrame, source: str) -> None:
    cells = frame[_list_keys(frame)]
    if cells.duplicated().any():
        second = int(cells.duplicated().to_numpy().argmax())
        first = int((cells == cells.iloc[second]).all(axis=1).to_numpy().argmax())
        raise InputError(
            f"{source}: the cell {_describe(cells.iloc[second])} is repeated: numbers {first + 1} and {second + 1}. "
            "Keep one of them, or number repeated runs in a column 'draw'."
        )


def _check_complete(frame: DataFrame, source: str, *, drop: bool) -> tuple[DataFrame, tuple[Group, ...]]:
    """Check that every draw of a group has all combinations. Incomplete draws and groups are refused or excluded."""
    keys = _list_keys(frame)
    wanted = frame[[*CONTROLS, DRAW]].drop_duplicates()
    for name in frame.columns.intersection(FACTORS):
        wanted = wanted.merge(frame[[name]].drop_duplicates(), how="cross")
    found = wanted.merge(frame[keys], how="left", indicator="found")
    missing = found[found.pop("found") == "left_only"].to_dict("records")
    if not missing:
        return frame, ()
    if not drop:
        named = "; ".join(map(_describe, missing[:_SHOWN]))
        more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"{source} lacks {len(missing)} of {len(wanted)} cells: {named}{more}. Run them, or set "
            "`drop_incomplete=True` to exclude every data set and level that lacks a cell."
        )
    lacking = {_find_draw(cell) for cell in missing}
    whole = [_find_draw(cell) not in lacking for cell in frame.to_dict("records")]
    kept = frame[whole]
    if kept.empty:
        raise InputError(
            f"{source}: every data set and level lacks cells, so nothing is left to compare. Run the missing cells."
        )
    groups = set(list_groups(kept))
    excluded = frame.drop(kept.index).to_dict("records")
    pairs = [(find_group(cell), cell[DRAW]) for cell in excluded]
    return kept, tuple(dict.fromkeys(replace(group, draw=draw) if group in groups else group for group, draw in pairs))


def _find_draw(cell: Mapping[str, Any]) -> tuple[str, str, int]:
    return cell["dataset"], cell["level"], cell[DRAW]


def find_group(cell: Mapping[str, Any]) -> Group:
    """The data set and level of a cell."""
    target = cell.get(TARGET)  # may be missing, in a table as not a number
    return Group(cell["dataset"], cell["level"], cell.get("epsilon"), target if isinstance(target, str) else "")


def list_groups(cells: DataFrame) -> tuple[Group, ...]:
    """Every data set and level among cells, in order of appearance."""
    return tuple(dict.fromkeys(map(find_group, cells.to_dict("records"))))


_KNOWN: dict[str, tuple[str, ...]] = {
    "level": LEVELS,
    **{axis: tuple(registry) for axis, registry in _REGISTRIES.items()},
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
        cells, left_out = read_cells(records, source=source, drop_incomplete=drop_incomplete)
        frame = _sort(cells)
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

    @property
    def draws_suffice(self) -> bool:
        """Whether there are enough draws for an interval over noise."""
        return self.draws >= LEAST_DRAWS

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
        return list_groups(self.frame)

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
        return list_groups(self.frame[self.frame[metric.name].isna()])

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


def _sort(frame: DataFrame) -> DataFrame:
    """The cells in order, with the values of factors in their usual order, and the share of words in clear."""
    for name in frame.columns.intersection(CELL):
        frame[name] = frame[name].astype("category").cat.set_categories(_order(frame, name), ordered=True)
    if all(name in frame for name in WORDS.values()):
        clear = frame[list(IN_CLEAR)].sum(axis=1, skipna=False)
        counted = frame[list(WORDS.values())].sum(axis=1, skipna=False) - frame[WORDS[Outcome.KEPT_STOPWORD]]
        frame[CLEAR_SHARE] = clear / counted.where(counted != 0, 1.0)
    return frame.sort_values(_list_keys(frame), ignore_index=True)


def _find_missing(frame: DataFrame) -> Iterator[Missing]:
    """The metrics that groups lack, in some or in all of their cells."""
    for metric in (*(METRIC_COLUMNS[name] for name in METRIC_RESPONSES), CLEAR):
        for _, cells in frame.groupby(list(CONTROLS), observed=True) if metric.name in frame else ():
            if lacking := int(cells[metric.name].isna().sum()):
                yield Missing(metric, find_group(cells.iloc[0]), lacking, len(cells))


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


def _order(frame: DataFrame, name: str) -> list[str]:
    """The values in their usual order, then in order of appearance. Levels are sorted by epsilon, if known."""
    found, known = list(frame[name].unique()), _KNOWN.get(name, ())
    usual = [value for value in known if value in found] + [value for value in found if value not in known]
    return _rank_levels(list_groups(frame), usual) if name == "level" and "epsilon" in frame else usual


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
    values = results.frame[response.name]
    groups = values.groupby([results.frame[name] for name in CONTROLS], observed=True)
    if (groups.max() - groups.min()).max() <= _ROUNDING * values.abs().max():
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


def _overlap(groups: Sequence[Group]) -> bool:
    """Whether steps that change either the data set or the level connect all groups."""
    datasets, levels, size = {groups[0].dataset}, {groups[0].level}, 0
    while len(datasets) + len(levels) > size:
        size = len(datasets) + len(levels)
        near = [group for group in groups if group.dataset in datasets or group.level in levels]
        datasets |= {group.dataset for group in near}
        levels |= {group.level for group in near}
    return all(group.dataset in datasets for group in groups)
