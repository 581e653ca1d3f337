"""Figures of findings, drawn with matplotlib and written as reproducible SVG and PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from textveil.extras import require
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn, Reference
from textveil.lab.metrics.quantities import Reading
from textveil.lab.report.findings import (
    Findings,
    SettingFindings,
    average,
    average_combinations,
    find_references,
    list_titles,
)
from textveil.lab.report.results import CLEAR_SHARE, CONTROLS, HIGH, LOW, RELATIVE_GAIN, Results
from textveil.lab.report.tables import show_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

INK, MUTED, RULE = "#1b1f24", "#66707b", "#dde2e7"
"""The colors of text, of the background data, and of lines, as in the style. The page replaces them by its own."""
HOLLOW = "#fefefe"
"""The color inside hollow markers: that of the page."""
COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c7b00", "#7a5195", "#882255")
"""The colors of methods, in order: distinguishable by color-blind people (after Okabe and Ito)."""
MARKERS = "os^DvPX*"
"""The markers of methods, in order, so that they differ not only in color. There is one less than there are colors, so
that no two of many methods look alike."""
LINES = {Reference.ORIGINALS: (0, (5, 2)), Reference.CHANCE: (0, (1, 1.5)), Reference.MAJORITY: (0, (4, 1.5, 1, 1.5))}
"""The dashes of references."""
_TITLE = 27
"""The number of characters of a panel's title that fit into a line."""
_CHARACTER = 0.08
"""The approximate width of a character in inches."""
COLOR_MAP = "YlGnBu"
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_BACKGROUND = '<rect width="100%" height="100%" fill="white"/>'


def draw_all(findings: Findings) -> dict[str, Figure]:
    """Every figure that the results allow, by file name. Each factor that varies has one of its levels."""
    results, response = findings.results, findings.response
    figures = {"heat_map": draw_heat_map(findings)}
    for factor in list_factors(results):
        figures[f"levels_{factor}"] = draw_levels(results, factor, response)
    for setting in findings.settings:
        end = setting.file_part
        figures[f"combinations{end}"] = draw_combinations(setting, response)
        for factor in setting.results.varying if end else ():
            figures[f"levels_{factor}{end}"] = draw_levels(setting.results, factor, response)
    if varies_in_clear(results):
        figures["words_in_clear"] = draw_clear(findings)
    return figures


def list_factors(results: Results) -> tuple[str, ...]:
    """The factors whose levels are drawn: those that vary, or one if none does."""
    return results.varying or results.combination[:1]


def varies_in_clear(results: Results) -> bool:
    """Whether the share of words in clear is known and not the same in all cells."""
    return results.counts_words and results.frame[CLEAR_SHARE].nunique() > 1


def draw_heat_map(findings: Findings) -> Figure:
    """The mean response of every combination: one panel per setting, all on one scale."""
    response = findings.response
    tables = [average_combinations(setting.results) for setting in findings.settings]
    grids = [table[response.name].unstack().to_numpy() for table in tables]
    low, high = min(map(np.min, grids)), max(map(np.max, grids))
    with styled():
        rows, columns = grids[0].shape
        longest = max(map(len, findings.results.values(findings.results.combination[0])))
        width = max(6.4, 0.6 * (columns + 1) + _CHARACTER * longest)
        height = 0.9 + 0.52 * (rows + 1)
        figure, panels = make_panels(len(grids), min(len(grids), 2), width=width, height=height)
        for axes, table, setting in zip(panels, tables, findings.settings, strict=True):
            _fill_heat_map(axes, table, setting.results, response, (low, high))
            axes.set_xlabel(_tell_references(setting.results, response), fontsize=8, color=MUTED, loc="left")
            axes.set_title(_title(f"mean {response.title}", setting.name), pad=22)
        _lay_out(figure)
        _turn_crowded_names(figure, panels)
        settle(figure)
    return figure


def _tell_references(results: Results, metric: MetricColumn) -> str:
    """The references of a metric as a line of text."""
    found = find_references(results.frame, metric).items()
    return _title(*(f"{reference} {metric.show(reading.value)}" for reference, reading in found))


def _fill_heat_map(
    axes: Axes, table: DataFrame, results: Results, response: MetricColumn, scale: tuple[float, float]
) -> None:
    low, high = scale
    grid = table[response.name].unstack().to_numpy()
    rows, columns = grid.shape
    signed = grid if response.better == "higher" else high + low - grid  # better is darker
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    axes.pcolormesh(*edges, signed, cmap=COLOR_MAP, vmin=low, vmax=high, edgecolors="#ffffff", linewidth=1.5)
    intervals = _show_intervals(table, response).unstack().to_numpy()
    best = np.unravel_index(np.argmax(signed), grid.shape)
    for place, value in np.ndenumerate(grid):
        dark = (signed[place] - low) / (high - low or 1) > 0.6
        weight = "bold" if place == best else "normal"
        color = "#ffffff" if dark else "#10151a"
        up = -0.12 if intervals[place] else 0.0
        axes.text(
            place[1], place[0] + up, response.show_bare(value), ha="center", va="center", weight=weight, color=color
        )
        axes.text(place[1], place[0] + 0.25, intervals[place], ha="center", va="center", fontsize=6, color=color)
    for row, mean in enumerate(grid.mean(axis=1)):
        axes.text(columns - 0.42, row, response.show_bare(mean), ha="left", va="center", color=MUTED)
    for column, mean in enumerate(grid.mean(axis=0)):
        axes.text(column, rows - 0.2, response.show_bare(mean), ha="center", va="center", color=MUTED)
    axes.text(columns - 0.42, rows - 0.2, "mean", ha="left", va="center", color=MUTED)
    axes.set_xlim(-0.5, columns + 0.2)
    axes.set_ylim(rows - 0.05, -0.5)
    first, second = results.combination
    axes.set_xticks(range(columns), results.values(second))
    axes.set_yticks(range(rows), results.values(first))
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, labelsize=9, colors=INK)
    axes.spines[:].set_visible(False)


def _show_intervals(table: DataFrame, metric: MetricColumn) -> Series:
    """The interval of every mean as text; empty where it is unknown."""
    bounds = table.reindex(columns=[f"{metric.name}{LOW}", f"{metric.name}{HIGH}"])
    return bounds.apply(lambda row: show_interval(metric, *row), axis=1)


def _turn_crowded_names(figure: Figure, panels: Sequence[Axes]) -> None:
    """Rotate the names of the columns if they overlap, and enlarge the figure for them."""
    boxes = [[label.get_window_extent() for label in axes.get_xticklabels()] for axes in panels]
    if not any(one.x1 + 2 > other.x0 for row in boxes for one, other in pairwise(row)):
        return
    for axes in panels:
        axes.tick_params(axis="x", labelrotation=40)
        for label in axes.get_xticklabels():
            label.set(ha="left", rotation_mode="anchor")
        axes.set_title(axes.get_title(loc="left"), pad=8)
    longest = max(box.width for row in boxes for box in row) / figure.dpi
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.64 * longest)  # the sine of 40 degrees


def draw_combinations(setting: SettingFindings, response: MetricColumn) -> Figure:
    """Every combination as a line over the metrics, each scaled from the worst mean (0) to the best (1).

    There is one panel per method of the second factor. Its own lines have the colors of the first; others are gray.
    """
    results = setting.results
    means = average_combinations(results)
    metrics = sorted(results.list_shown(response), key=lambda metric: metric == response)
    references = _list_references(results, metrics)
    scaled, lines = _scale(means, references, metrics)
    lines_of, panels_of = choose_lines(results)
    if (lines_of, panels_of) != results.combination:
        scaled = scaled.swaplevel()
    with styled():
        titles = results.values(panels_of)
        columns = min(len(titles), 3)
        figure, panels = make_panels(len(titles), columns, width=9.9 / columns, height=2.3)
        for axes, panel in zip(panels, titles, strict=True):
            for other in scaled.to_numpy():
                axes.plot(other, color=RULE, linewidth=0.8, zorder=1)
            for title, line in lines.iterrows():
                axes.plot(line.to_numpy(), marker="_", markersize=9, zorder=3, **_look_of(Reference(title)))
            for order, name in enumerate(results.values(lines_of)):
                axes.plot(scaled.loc[(name, panel)].to_numpy(), zorder=2, **choose_look(order, name))
            axes.set_title(panel)
            axes.set_xticks(range(len(metrics)), [metric.short for metric in metrics], rotation=40, ha="right")
            axes.set_yticks([0, 1], ["worst", "best"])
            axes.set_ylim(-0.05, 1.05)
        add_legend(figure, panels[0].get_legend_handles_labels()[0])
        settle(figure)
    return figure


def choose_lines(results: Results) -> tuple[str, str]:
    """The factors of the lines and of the panels of combinations: one panel, if only the second factor varies."""
    first, second = results.combination
    return (first, second) if len(results.values(first)) > 1 else (second, first)


def _list_references(results: Results, metrics: Sequence[MetricColumn]) -> DataFrame:
    """The references of all metrics: a row for every title, empty where a metric has none.

    Without a measured reference there are no rows. Values that follow from definitions are no line on their own.
    """
    pandas = require("pandas", extra="analyze")
    found = {
        metric.name: {title: reading.value for title, reading in find_references(results.frame, metric).items()}
        for metric in metrics
    }
    measured = any(column.reference_of for name, column in METRIC_COLUMNS.items() if name in results.frame)
    titles = list_titles(results.frame, metrics) if measured else []
    return pandas.DataFrame(found, index=titles, columns=[metric.name for metric in metrics], dtype=float)


def _scale(means: DataFrame, references: DataFrame, metrics: Sequence[MetricColumn]) -> tuple[DataFrame, DataFrame]:
    """Scale every metric from 0 (the worst of means and references) to 1 (the best). Equal means get 1."""
    signs = [metric.sign for metric in metrics]
    signed = means[[metric.name for metric in metrics]] * signs
    lines = references * signs
    best = np.fmax(signed.max(), lines.max())
    spread = best - np.fmin(signed.min(), lines.min())
    spread = spread.where(spread > 0, 1.0)
    return (1 - (best - signed) / spread).astype(float), (1 - (best - lines) / spread).astype(float)


def draw_levels(results: Results, factor: str, response: MetricColumn) -> Figure:
    """The mean of every metric at each level: one panel per metric, one line per method of the factor.

    Whiskers are intervals. Dashed lines are references, the band of chance is its interval.
    """
    means, levels, metrics = average(results, [factor, "level"]), results.values("level"), results.list_shown(response)
    with styled():
        figure, panels = make_panels(len(metrics), 4, width=2.6, height=2.1)
        legend: dict[str, Any] = {}
        for axes, metric in zip(panels, metrics, strict=True):
            methods = results.values(factor)
            for order, method in enumerate(methods):
                beside = 0.04 * (order - (len(methods) - 1) / 2)  # so that whiskers do not cover each other
                _draw_line(axes, means.loc[method].reindex(levels), metric, beside, choose_look(order, method))
            for reference, reading in find_references(results.frame, metric).items():
                if reading.value != metric.of_originals or metric == RELATIVE_GAIN:  # others say nothing new
                    _draw_reference(axes, reference, reading, metric)
            legend |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
            axes.set_xticks(range(len(levels)), levels)
            arrow = "\N{UPWARDS ARROW}" if metric.better == "higher" else "\N{DOWNWARDS ARROW}"
            axes.set_title(fill(f"{metric.title}{' %' if metric.percent else ''} {arrow}", _TITLE))
            axes.grid(axis="y", linewidth=0.6)
            axes.margins(x=0.12)
            axes.spines["left"].set_visible(False)
        add_legend(figure, list(legend.values()))
        settle(figure)
    return figure


def _draw_line(axes: Axes, means: DataFrame, metric: MetricColumn, beside: float, look: dict[str, Any]) -> None:
    """A line over the levels, with whiskers where intervals are known."""
    scale, bounds = 100 if metric.percent else 1, _find_bounds(means, metric)
    places = np.arange(len(means)) + (beside if bounds is not None else 0.0)
    axes.plot(places, scale * means[metric.name].to_numpy(), **look)
    if bounds is not None:
        axes.vlines(places, *(scale * bounds), color=look["color"], linewidth=1.0, alpha=0.7, zorder=1)


def _find_bounds(means: DataFrame, metric: MetricColumn) -> np.ndarray | None:
    """The lower and upper bounds of means; ``None`` if there are no intervals."""
    names = [f"{metric.name}{LOW}", f"{metric.name}{HIGH}"]
    return means[names].to_numpy().T if set(names) <= set(means) and means[names].notna().any(axis=None) else None


def _draw_reference(axes: Axes, reference: Reference, reading: Reading, metric: MetricColumn) -> None:
    """A dashed line, and the band of its interval."""
    scale = 100 if metric.percent else 1
    axes.axhline(scale * reading.value, zorder=1, **_look_of(reference))
    if reading.interval is not None:
        low, high = reading.interval
        axes.axhspan(scale * low, scale * high, color=MUTED, alpha=0.15, linewidth=0, zorder=0)


def _look_of(reference: Reference) -> dict[str, Any]:
    return {"color": INK, "linestyle": LINES[reference], "linewidth": 1.1, "label": reference.value}


def draw_clear(findings: Findings) -> Figure:
    """The response against the share of words in clear: one marker per combination, one dot per cell.

    The effects of data set and level are removed from cells, so that dots and markers are comparable.
    """
    response = findings.response
    with styled():
        count = len(findings.settings)
        figure, panels = make_panels(count, min(count, 3), width=5.2, height=3.8, sharey=True, sharex=True)
        for axes, setting in zip(panels, findings.settings, strict=True):
            results, means = setting.results, average_combinations(setting.results)
            values = results.frame[response.name]
            groups = results.frame.groupby(list(CONTROLS), observed=True)[response.name]
            centered = values - groups.transform("mean") + values.mean()
            axes.scatter(100 * results.frame[CLEAR_SHARE], centered, s=5, color=MUTED, alpha=0.35, linewidths=0)
            first, second = results.combination
            for row, name in enumerate(results.values(first)):
                for column, other in enumerate(results.values(second)):
                    mean = means.loc[(name, other)]
                    if (bounds := _find_bounds(mean.to_frame().T, response)) is not None:
                        axes.vlines(100 * mean[CLEAR_SHARE], *bounds, color=MUTED, linewidth=0.8, zorder=2)
                    axes.scatter(
                        100 * mean[CLEAR_SHARE],
                        mean[response.name],
                        s=42,
                        color=COLORS[column % len(COLORS)],
                        marker=MARKERS[row % len(MARKERS)],
                        edgecolors="#ffffff",
                        linewidths=0.5,
                        zorder=3,
                    )
            for reference, reading in find_references(results.frame, response).items():
                axes.axhline(reading.value, zorder=1, **_look_of(reference))
            axes.set_title(_title("", setting.name))
            axes.set_xlabel("words in clear, without stopwords (%)")
            axes.grid(linewidth=0.6)
        panels[0].set_ylabel(response.title)
        panels[0].set_xlim(left=-2)
        _explain_marks(figure, findings.results, response)
        settle(figure)
    return figure


def _explain_marks(figure: Figure, results: Results, response: MetricColumn) -> None:
    lines = require("matplotlib.lines", extra="analyze")
    handles = [
        lines.Line2D([], [], color=COLORS[order % len(COLORS)], linewidth=4, label=name)
        for order, name in enumerate(results.values(results.combination[1]))
    ]
    handles += [
        lines.Line2D([], [], color=MUTED, marker=MARKERS[order % len(MARKERS)], linestyle="", label=name)
        for order, name in enumerate(results.values(results.combination[0]))
    ]
    handles += [lines.Line2D([], [], **_look_of(title)) for title in find_references(results.frame, response)]
    add_legend(figure, handles)


def choose_look(order: int, label: str) -> dict[str, Any]:
    """The color and the marker of a method or setting. Neighbors differ in both."""
    color, marker = COLORS[order % len(COLORS)], MARKERS[order % len(MARKERS)]
    return {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.6, "label": label}


def _title(*parts: str) -> str:
    return " \N{MIDDLE DOT} ".join(part for part in parts if part)


def add_legend(figure: Figure, handles: Sequence[Any]) -> None:
    """Add a legend below the panels, in as many rows as needed. The figure grows after the second row."""
    for columns in range(min(len(handles), 6), 0, -1):
        legend = figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width < figure.bbox.width:
            break
        legend.remove()
    rows = -(-len(handles) // columns)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.2 * max(0, rows - 2))


def set_log_scale(axes: Axes) -> None:
    """A logarithmic axis with round numbers."""
    ticker = require("matplotlib.ticker", extra="analyze")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_locator(ticker.NullLocator())


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of all figures."""
    matplotlib = require("matplotlib", extra="analyze")
    with as_file(files("textveil.lab.report") / "figures.mplstyle") as style, matplotlib.rc_context(fname=style):
        yield


def make_panels(count: int, columns: int, *, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with panels of a size in inches, in rows. It is independent of pyplot, so no window opens."""
    module = require("matplotlib.figure", extra="analyze")
    rows = -(-count // columns)
    figure = module.Figure(figsize=(columns * width, rows * height + 0.4), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.03, hspace=0.04)
    panels = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axes in panels[count:]:  # the rest of the last row
        axes.set_visible(False)
    return figure, panels[:count]


def settle(figure: Figure) -> None:
    """Compute the layout once, not again each time the figure is written."""
    _lay_out(figure)
    figure.set_layout_engine(None)  # with the engine "none", every file would be drawn twice


def _lay_out(figure: Figure) -> None:
    """Place the panels, their labels and the legend."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def render_svg(figure: Figure) -> str:
    """The figure as SVG on a white background."""
    with styled():
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", FONTS, buffer.getvalue())
    return re.sub(r"(<svg[^>]*>)", rf"\g<1>\n {_BACKGROUND}", svg, count=1)


def inline_svg(svg: str, name: str) -> str:
    """The output of ``render_svg`` for a page: no background, no head, the page's colors, and unique ids."""
    svg = svg[svg.index("<svg") :].replace(_BACKGROUND, "")
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}_", svg)
    for color, own in ((INK, "currentColor"), (MUTED, "var(--muted)"), (RULE, "var(--rule)"), (HOLLOW, "var(--card)")):
        svg = svg.replace(color, own)
    return svg


def render_png(figure: Figure) -> bytes:
    """The figure as PNG, at twice the usual resolution."""
    with styled():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return buffer.getvalue()
