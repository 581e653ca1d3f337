"""The results of a study: one row per cell and draw, checked, in one unit, and with every combination."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.analysis.cells import LEVELS, CellValues, Group, build_cells, find_group, list_groups
from textveil.analysis.columns import (
    CAVEATS,
    CELL,
    CLEAR,
    CLEAR_SHARE,
    CONTROLS,
    DRAW,
    DRAWS,
    EXPOSURE,
    FACTORS,
    IN_CLEAR,
    PARTS,
    RESPONSES,
    SPREAD,
    UTILITY,
    WORDS,
    canonical_column,
)
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.errors import InputError, ParameterError, UnknownNameError
from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn
from textveil.evaluation.columns import RESPONSES as METRIC_RESPONSES
from textveil.extras import require
from textveil.mechanisms import MECHANISMS
from textveil.privacy.outcomes import Outcome
from textveil.privacy.profiles import PROFILES
from textveil.registry import unknown_name
from textveil.tables import read_records

if TYPE_CHECKING:
    from pandas import DataFrame

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
