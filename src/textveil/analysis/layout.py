"""The content of tables, independent of text, HTML, LaTeX or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.analysis.anova import Anova
from textveil.analysis.cells import Group
from textveil.analysis.columns import CLEAR, STD
from textveil.analysis.results import Results
from textveil.evaluation.columns import MetricColumn

ANOVA_HEAD = ("effect", "sum sq", "df", "F", "p", "eta sq")
AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a table of results."""

    text: str
    std: str = ""
    best: bool = False
    """Whether it is the best value of the metric in the table."""
    best_of_row: bool = False
    """Whether its distribution is the best for its decomposition."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One metric of one decomposition: one entry per distribution, and their average."""

    decomposition: str
    metric: MetricColumn
    entries: tuple[Entry, ...]
    average: str


def lay_out_results(results: Results, group: Group) -> list[ResultRow]:
    """The table of one data set and level: decompositions and metrics by distribution, with averages."""
    frame = results.frame[(results.frame["dataset"] == group.dataset) & (results.frame["level"] == group.level)]
    metrics = (*results.metrics, *[CLEAR] * results.counts_words)
    decompositions, shape = results.values("decomposition"), (len(results.values("decomposition")), -1)
    rows: dict[str, list[ResultRow]] = {}
    for metric in metrics:
        grid = frame[metric.name].to_numpy().reshape(shape)  # the frame is sorted by decomposition, then distribution
        spread = f"{metric.name}{STD}"
        stds = frame[spread].to_numpy().reshape(shape) if spread in frame else np.full(grid.shape, np.nan)
        signed = grid * metric.sign
        for place, name in enumerate(decompositions):
            entries = tuple(
                Entry(
                    metric.show_bare(value),
                    std="" if np.isnan(std) else metric.show_bare(std),
                    best=bool(own == signed.max()) and bool(signed.max() > signed.min()),
                    best_of_row=bool(own == signed[place].max()) and bool(signed[place].max() > signed[place].min()),
                )
                for value, std, own in zip(grid[place], stds[place], signed[place], strict=True)
            )
            rows.setdefault(name, []).append(ResultRow(name, metric, entries, metric.show_bare(grid[place].mean())))
        means = tuple(Entry(metric.show_bare(mean)) for mean in grid.mean(axis=0))
        rows.setdefault(AVERAGE, []).append(ResultRow(AVERAGE, metric, means, metric.show_bare(grid.mean())))
    return [row for name in (*decompositions, AVERAGE) for row in rows[name]]


def lay_out_anova(anova: Anova) -> list[list[str]]:
    """The rows of a table of effects, the residual last; a single row if nothing was tested."""
    if not anova.effects:
        return [["not tested", *[""] * (len(ANOVA_HEAD) - 1)]]
    rows = [
        [
            effect.title,
            f"{effect.sum_of_squares:.4f}",
            str(effect.degrees_of_freedom),
            f"{effect.f_statistic:.2f}",
            f"{effect.p_value:.2e}",
            f"{effect.partial_eta_squared:.3f}",
        ]
        for effect in anova.effects
    ]
    residual = f"{anova.residual_sum_of_squares:.4f}", str(anova.residual_degrees_of_freedom)
    return [*rows, ["residual", *residual, "", "", ""]]


def align(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Align a table as plain text: the first column left, the others right.

    >>> align(["effect", "F"], [["level", "165.0"]])
    ['effect      F', 'level   165.0']
    """
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
