"""References: the values of originals, of chance and of the majority baseline, beside those of obfuscated texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textveil.analysis.columns import HIGH, LOW
from textveil.evaluation.columns import MetricColumn, Reference, find_reference

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class ReferenceValue:
    """The value of a reference of a metric."""

    title: Reference
    value: float
    low: float | None = None
    """The lower bound of its 95 % interval, if known."""
    high: float | None = None


def find_references(frame: DataFrame, metric: MetricColumn) -> dict[Reference, ReferenceValue]:
    """The references of a metric that results have: means over the cells of a frame."""
    found: dict[Reference, ReferenceValue] = {}
    for reference in Reference:
        column = find_reference(metric, reference)
        if column is not None and column.name in frame and frame[column.name].notna().any():
            bounds = [_average(frame, f"{column.name}{suffix}") for suffix in (LOW, HIGH)]
            found[reference] = ReferenceValue(reference, float(frame[column.name].mean()), *bounds)
        elif reference is Reference.ORIGINALS and metric.of_originals is not None:
            found[reference] = ReferenceValue(reference, metric.of_originals)
    return found


def _average(frame: DataFrame, column: str) -> float | None:
    return float(frame[column].mean()) if column in frame and frame[column].notna().any() else None


def list_titles(frame: DataFrame, metrics: Iterable[MetricColumn]) -> list[Reference]:
    """All references that any of the metrics has, in the order of tables."""
    found = {title for metric in metrics for title in find_references(frame, metric)}
    return [title for title in Reference if title in found]
