"""References: the values of originals, of chance and of the majority baseline, beside those of obfuscated texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textveil.analysis.columns import HIGH, LOW
from textveil.evaluation.columns import CHANCE, MAJORITY, METRIC_COLUMNS, ORIGINALS, MetricColumn

if TYPE_CHECKING:
    from pandas import DataFrame

TITLES = (ORIGINALS, CHANCE, MAJORITY)
"""The titles of references, in the order of tables."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value to compare a metric with."""

    title: str
    value: float
    low: float | None = None
    """The lower bound of its 95 % interval, if known."""
    high: float | None = None


def find_references(frame: DataFrame, metric: MetricColumn) -> dict[str, Reference]:
    """The references of a metric that results have, by title: means over the cells of a frame."""
    found = {} if metric.of_originals is None else {ORIGINALS: Reference(ORIGINALS, metric.of_originals)}
    for column in METRIC_COLUMNS.values():
        if metric.name in column.reference_of and column.name in frame and frame[column.name].notna().any():
            bounds = [_average(frame, f"{column.name}{suffix}") for suffix in (LOW, HIGH)]
            found[column.short] = Reference(column.short, float(frame[column.name].mean()), *bounds)
    return {title: found[title] for title in TITLES if title in found}


def _average(frame: DataFrame, column: str) -> float | None:
    return float(frame[column].mean()) if column in frame and frame[column].notna().any() else None


def list_titles(frame: DataFrame, metrics: Iterable[MetricColumn]) -> list[str]:
    """The titles of all references that any of the metrics has."""
    found = {title for metric in metrics for title in find_references(frame, metric)}
    return [title for title in TITLES if title in found]
