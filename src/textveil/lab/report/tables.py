"""The content of tables, independent of text, HTML, LaTeX or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from textveil.lab.metrics.columns import MetricColumn
from textveil.lab.report.anova import SIGNIFICANCE, Anova
from textveil.lab.report.findings import find_references, list_titles, measure_noise
from textveil.lab.report.results import CLEAR, CONTROLS, HIGH, LOW, NOISE_HIGH, NOISE_LOW, Group, Results

if TYPE_CHECKING:
    from pandas import DataFrame

ANOVA_HEAD = ("effect", "F", "p", "eta sq", "df", "sum sq")
"""The columns of a table of effects, those that readers look for first."""
AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class Entry:
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


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One metric of one method of the first factor: one entry per method of the second, and their average."""

    method: str
    metric: MetricColumn
    entries: tuple[Entry, ...]
    average: str
    references: tuple[str, ...] = ()
    """The values of originals, chance and majority, as far as the table has them; empty where there is none."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The table of one data set and level."""

    rows: tuple[ResultRow, ...]
    titles: tuple[str, ...]
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
    rows: dict[str, list[ResultRow]] = {}
    for metric in metrics:
        grid, entries = _lay_out_metric(frame, metric, len(methods))
        found = find_references(frame, metric)
        references = tuple(metric.show_bare(found[title].value) if title in found else "" for title in titles)
        for name, row, values in zip(methods, entries, grid, strict=True):
            rows.setdefault(name, []).append(ResultRow(name, metric, row, metric.show_bare(values.mean()), references))
        means = tuple(Entry(metric.show_bare(mean)) for mean in grid.mean(axis=0))
        rows.setdefault(AVERAGE, []).append(
            ResultRow(AVERAGE, metric, means, metric.show_bare(grid.mean()), references)
        )
    shown = (*methods, AVERAGE) if len(methods) > 1 else methods
    return ResultTable(tuple(row for name in shown for row in rows[name]), tuple(titles))


def _lay_out_metric(frame: DataFrame, metric: MetricColumn, rows: int) -> tuple[np.ndarray, list[tuple[Entry, ...]]]:
    """The values of a metric by the two factors of combinations, as numbers and as entries."""
    grid = frame[metric.name].to_numpy().reshape(rows, -1)  # the frame is sorted by the first factor, then the second
    low, high, noise_low, noise_high = (
        _find_grid(frame, f"{metric.name}{suffix}", rows) for suffix in (LOW, HIGH, NOISE_LOW, NOISE_HIGH)
    )
    margins = (noise_high - noise_low) / 2
    signed = grid * metric.sign
    entries = []
    for place, values in enumerate(grid):
        own = signed[place]
        entries.append(
            tuple(
                Entry(
                    metric.show_bare(value),
                    interval=show_interval(metric, low[place][column], high[place][column]),
                    margin="" if np.isnan(margins[place][column]) else metric.show_bare(margins[place][column]),
                    best=bool(own[column] == signed.max()) and bool(signed.max() > signed.min()),
                    best_of_row=bool(own[column] == own.max()) and bool(own.max() > own.min()),
                )
                for column, value in enumerate(values)
            )
        )
    return grid, entries


def _find_grid(frame: DataFrame, column: str, rows: int) -> np.ndarray:
    """A column by the two factors of combinations; not a number where it is unknown."""
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


_P = ANOVA_HEAD.index("p") - 1
"""The place of the p-value among the numbers of an effect."""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escape(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(escape("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def write_anova(anova: Anova, caption: str = "") -> str:
    """The table of effects, with significant p-values in bold."""
    laid_out = lay_out_anova(anova)
    effects, others = laid_out[: len(anova.effects)], laid_out[len(anova.effects) :]
    rows = []
    for effect, cells in zip(anova.effects, effects, strict=True):
        name, *numbers = map(escape, cells)
        if effect.p_value < SIGNIFICANCE:
            numbers[_P] = rf"\textbf{{{numbers[_P]}}}"
        rows.append([name.replace(" x ", r" $\times$ "), *numbers])
    rows += [[cell or "--" for cell in other] for other in others]
    head = ["", "$F$", "$p$", r"$\eta_p^2$", "df", "sum sq"]
    return _write_table("lrrrrr", head, [rows], caption or f"ANOVA of {anova.response.replace('_', ' ')}.")


def write_results(results: Results, group: Group, response: MetricColumn, setting: str = "") -> str:
    """The table of one data set and level. Bold: best of a row. Underlined: best of all."""
    laid_out = lay_out_results(results, group, response)
    blocks = []
    for name, rows in groupby(laid_out.rows, key=lambda row: row.method):
        block: list[list[str]] = []
        for row in rows:
            title = f"{row.metric.title} %" if row.metric.percent else row.metric.title
            first = "" if block else name if name == AVERAGE else rf"\textbf{{{escape(name)}}}"
            block.append([first, escape(title), *map(_write_entry, row.entries), row.average, *row.references])
        blocks.append(block)
    first, second = results.combination
    head = [first, "metric", *map(escape, results.values(second)), AVERAGE, *laid_out.titles]
    caption = f"Results for {group}{f', {setting}' if setting else ''}."
    return _write_table(f"ll{'r' * (len(head) - 2)}", head, blocks, caption)


def _write_entry(entry: Entry) -> str:
    text = rf"\textbf{{{entry.text}}}" if entry.best_of_row else entry.text
    text = rf"\underline{{{text}}}" if entry.best else text
    spread = f"[{entry.interval}]".replace("\N{EN DASH}", "--")
    text = rf"{text} {{\scriptsize $\pm$ {entry.margin}}}" if entry.margin else text
    return rf"{text} {{\scriptsize {spread}}}" if entry.interval else text


def _write_table(columns: str, head: Sequence[str], blocks: Iterable[Iterable[Sequence[str]]], caption: str) -> str:
    """A floating table, with a rule between blocks of rows."""
    body = "\n\\midrule\n".join("\n".join(f"{' & '.join(row)} \\\\" for row in block) for block in blocks)
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        f"{' & '.join(head)} \\\\",
        r"\midrule",
        body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape(caption)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
