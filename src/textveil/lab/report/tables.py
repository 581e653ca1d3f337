"""The content of tables, independent of text, HTML, LaTeX or CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textveil.lab.metrics.columns import MetricColumn, Reference
from textveil.lab.report.anova import Anova, name_combination
from textveil.lab.report.findings import (
    SettingFindings,
    average_combinations,
    find_references,
    list_titles,
    measure_noise,
)
from textveil.lab.report.pages import render
from textveil.lab.report.results import (
    CLEAR,
    CONTROLS,
    HIGH,
    IN_CLEAR,
    LOW,
    NOISE_HIGH,
    NOISE_LOW,
    NOISE_STD,
    Group,
    Results,
)

if TYPE_CHECKING:
    from pandas import DataFrame

ANOVA_HEAD = ("effect", "F", "p", "eta sq", "df", "sum sq")
"""The columns of a table of effects, those that readers look for first."""
AVERAGE = "average"


class Entry(NamedTuple):
    """One value of a table of results."""

    text: str
    interval: str = ""
    """The 95 % interval over texts, if it is known."""
    margin: str = ""
    """Half of the 95 % interval over draws of noise, if there are several."""
    best: bool = False
    """Whether it is the best value of the metric in the table."""
    best_of_row: bool = False
    """Whether it is the best of its row."""


class ResultRow(NamedTuple):
    """One metric of one method of the first factor: one entry per method of the second, and their average."""

    metric: MetricColumn
    entries: list[Entry]
    average: str
    references: list[str]
    """The values of originals, chance and majority, as far as the table has them; empty where there is none."""

    @property
    def title(self) -> str:
        """The metric with its unit."""
        return f"{self.metric.title} %" if self.metric.percent else self.metric.title


class ResultTable(NamedTuple):
    """The table of one data set and level."""

    blocks: dict[str, list[ResultRow]]
    """The rows of every method of the first factor, and of their average."""
    titles: list[Reference]
    """The titles of the references."""


def lay_out_results(results: Results, group: Group, response: MetricColumn) -> ResultTable:
    """The table of one data set and level: methods and metrics by methods of the second factor, with references."""
    frame = results.frame[(results.frame["dataset"] == group.dataset) & (results.frame["level"] == group.level)]
    wanted = (*results.list_shown(response), *[CLEAR] * results.counts_words)
    metrics = [metric for metric in dict.fromkeys(wanted) if frame[metric.name].notna().all()]
    if results.draws > 1:
        noise = measure_noise(results, (*CONTROLS, *results.combination)).loc[(group.dataset, group.level)]
        frame = frame.set_index(list(results.combination)).join(noise).reset_index()
    titles = list_titles(frame, metrics)
    methods = results.values(results.combination[0])
    blocks: dict[str, list[ResultRow]] = {name: [] for name in (*methods, AVERAGE)}
    for metric in metrics:
        grid, entries = _lay_out_metric(frame, metric, len(methods))
        found = find_references(frame, metric)
        references = [metric.show_bare(found[title].value) if title in found else "" for title in titles]
        entries.append([Entry(metric.show_bare(mean)) for mean in grid.mean(axis=0)])
        for name, row, mean in zip(blocks, entries, [*grid.mean(axis=1), grid.mean()], strict=True):
            blocks[name].append(ResultRow(metric, row, metric.show_bare(mean), references))
    if len(methods) == 1:
        del blocks[AVERAGE]
    return ResultTable(blocks, titles)


def _lay_out_metric(frame: DataFrame, metric: MetricColumn, rows: int) -> tuple[np.ndarray, list[list[Entry]]]:
    """The values of a metric by the two factors of combinations, as numbers and as entries."""
    grid, low, high, noise_low, noise_high = (
        _find_grid(frame, f"{metric.name}{suffix}", rows) for suffix in ("", LOW, HIGH, NOISE_LOW, NOISE_HIGH)
    )
    margins, signed = (noise_high - noise_low) / 2, grid * metric.sign
    top, least = signed.max(axis=1, keepdims=True), signed.min(axis=1, keepdims=True)
    best_of_row = (signed == top) & (top > least)
    best = (signed == signed.max()) & (signed.max() > signed.min())
    entries: list[list[Entry]] = [[] for _ in grid]
    for place, value in np.ndenumerate(grid):
        margin = "" if np.isnan(margins[place]) else metric.show_bare(margins[place])
        marks = bool(best[place]), bool(best_of_row[place])
        interval = show_interval(metric, float(low[place]), float(high[place]))
        entries[place[0]].append(Entry(metric.show_bare(value), interval, margin, *marks))
    return grid, entries


def _find_grid(frame: DataFrame, column: str, rows: int) -> np.ndarray:
    """A column by the two factors of combinations, by which the frame is sorted; not a number where it is unknown."""
    values = frame[column].to_numpy(dtype=float) if column in frame else np.full(len(frame), np.nan)
    return values.reshape(rows, -1)


def show_interval(metric: MetricColumn, low: float | None, high: float | None) -> str:
    """An interval for display; empty if it is unknown.

    >>> from textveil.lab.metrics import METRIC_COLUMNS
    >>> show_interval(METRIC_COLUMNS["utility_f1"], 0.712, 0.803)
    '71.2\u201380.3'
    """
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return ""
    dash = " to " if low < 0 else "\N{EN DASH}"
    return f"{metric.show_bare(low)}{dash}{metric.show_bare(high)}"


def lay_out_anova(anova: Anova) -> list[list[str]]:
    """The rows of a table of effects, then residual and noise; a single row if nothing was tested."""
    if not anova.effects:
        return [["not tested", *[""] * (len(ANOVA_HEAD) - 1)]]
    rows = [
        [
            effect.title,
            f"{effect.f_statistic:.2f}",
            f"{effect.p_value:.2e}",
            f"{effect.partial_eta_squared:.3f}",
            str(effect.degrees_of_freedom),
            f"{effect.sum_of_squares:.4f}",
        ]
        for effect in anova.effects
    ]
    residual = str(anova.residual_degrees_of_freedom), f"{anova.residual_sum_of_squares:.4f}"
    rows.append(["residual", "", "", "", *residual])
    if anova.noise is not None:
        noise = str(anova.noise.degrees_of_freedom), f"{anova.noise.sum_of_squares:.4f}"
        rows.append(["noise within cells", "", "", "", *noise])
    return rows


Cells = list[Any]
"""The cells of a row: texts, or pairs of a text and its class."""


def list_means(setting: SettingFindings, response: MetricColumn) -> Iterator[Cells]:
    """The means of combinations, the best first, with their intervals over draws of noise."""
    means = average_combinations(setting.results)
    for names, row in means.sort_values(response.name, ascending=response.better == "lower", kind="stable").iterrows():
        std, low, high = (row[f"{response.name}{suffix}"] for suffix in (NOISE_STD, NOISE_LOW, NOISE_HIGH))
        mean, interval = response.show(row[response.name]), show_interval(response, low, high)
        yield [(name_combination(*names), "left"), mean, f"{std:.4f}", interval]


def count_clear(setting: SettingFindings) -> dict[str, list[tuple[str, str]]]:
    """The number and share of words in clear of every combination, by group; empty if there are none."""
    frame = setting.results.frame
    counts = frame[list(IN_CLEAR)].sum(axis=1)
    shown: dict[str, list[tuple[str, str]]] = {}
    for row, count in zip(frame.to_dict("records"), counts, strict=True):
        name = name_combination(*(row[factor] for factor in setting.results.combination))
        shown.setdefault(name, []).append((f"{count:,.0f}", f"{row['clear_share']:.1%}"))
    return shown if counts.any() else {}


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


def write_anova(anova: Anova) -> str:
    """The table of effects in LaTeX, with significant p-values in bold."""
    return render("anova.tex", rows=lay_out_anova(anova), effects=anova.effects, response=anova.response)


def write_results(results: Results, group: Group, response: MetricColumn, setting: str = "") -> str:
    """The table of one data set and level in LaTeX. Bold: best of a row. Underlined: best of all."""
    laid_out = lay_out_results(results, group, response)
    first, second = results.combination
    head = [first, "metric", *results.values(second), AVERAGE, *laid_out.titles]
    caption = f"Results for {group}{f', {setting}' if setting else ''}."
    return render("results.tex", blocks=laid_out.blocks, head=head, caption=caption)
