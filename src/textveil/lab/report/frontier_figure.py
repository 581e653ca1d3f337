"""The figure of all curves of attack against utility, for files: a panel per pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textveil.extras import require
from textveil.lab.compare.curves import Frontier
from textveil.lab.compare.front import Place, Standing
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading
from textveil.lab.report.figures import INK, LINES, MARKERS, MUTED, add_legend, make_panels, settle, styled
from textveil.lab.report.plots import assign_common_looks, shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
_WIDTH, _HEIGHT = 4.0, 3.2
"""The size of a panel, in inches."""
_BESIDE = 6.0
"""The distance of a label from its point, in points."""
_CHARACTER = 3.5
"""The approximate width of a character of a label, in points."""
_POINTS = 60
"""The points of an inch of a panel that the drawing gets, beside labels of axes."""
_LINE = 0.05
"""The height of a label, as a share of the panel."""


def draw_frontiers(frontiers: Sequence[Frontier]) -> Figure:
    """The curves of every pair, one row per attack if all attacks have the same utilities. Down and right is better."""
    looks = {
        name: {"color": look.color, "marker": MARKERS[place % len(MARKERS)]}
        for place, (name, look) in enumerate(assign_common_looks(frontiers).items())
    }
    attacks = {frontier.front.attack: None for frontier in frontiers}
    columns, rest = divmod(len(frontiers), len(attacks))
    columns = min(len(frontiers), _COLUMNS) if rest or columns == 1 else columns
    with styled():
        rows = -(-len(frontiers) // columns)
        figure, panels = make_panels(rows, columns, width=_WIDTH, height=_HEIGHT)
        for axes, frontier in zip(panels, frontiers, strict=False):
            _fill_panel(axes, frontier, looks)
        for axes in panels[len(frontiers) :]:
            axes.set_visible(False)
        _explain(figure, frontiers, looks)
        settle(figure)
    return figure


def _fill_panel(axes: Axes, frontier: Frontier, looks: Mapping[str, dict[str, Any]]) -> None:
    front, strong = frontier.front, frontier.strong
    _draw_front(axes, frontier)
    for setting, places in frontier.curves.items():
        _draw_curve(axes, frontier, places, looks[setting] if setting in strong else None)
    for quantity, draw, span in (
        (front.attack, axes.axhline, axes.axhspan),
        (front.utility, axes.axvline, axes.axvspan),
    ):
        for reference, reading in frontier.references[quantity].items():
            draw(_unit(quantity, reading.value), color=MUTED, linestyle=LINES[reference], linewidth=1.0, zorder=1)
            if reference is Reference.CHANCE and reading.interval is not None:
                low, high = (_unit(quantity, bound) for bound in reading.interval)
                span(low, high, color=MUTED, alpha=0.12, linewidth=0, zorder=0)
    _set_axes(axes, frontier)
    _label(axes, frontier)


def _set_axes(axes: Axes, frontier: Frontier) -> None:
    front = frontier.front
    axes.set_xlabel(f"{_title(front.utility)} \N{RIGHTWARDS ARROW} better", fontsize=8)
    axes.set_ylabel(f"better \N{LEFTWARDS ARROW} {_title(front.attack)}", fontsize=8)
    if front.utility.logarithmic:
        ticker = require("matplotlib.ticker", extra="analyze")
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,g}"))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    if front.utility.better == "lower":
        axes.invert_xaxis()
    axes.tick_params(axis="x", labelsize=8, colors=MUTED)
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)


def _title(quantity: Quantity) -> str:
    return f"{quantity.title} %" if quantity.percent else quantity.title


def _unit(quantity: Quantity, value: float) -> float:
    return 100 * value if quantity.percent else value


def _draw_front(axes: Axes, frontier: Frontier) -> None:
    """The front by value, as a staircase."""
    front = frontier.front
    places = {place.name: place for place in front.places}
    on = [places[name] for name in front.by_value]
    if len(on) > 1 and not front.caveats:
        across = [_unit(front.utility, place.utility.value) for place in on]
        up = [_unit(front.attack, place.attack.value) for place in on]
        axes.step(across, up, where="pre", color=MUTED, linewidth=5, alpha=0.3, zorder=1)


def _draw_curve(axes: Axes, frontier: Frontier, places: Sequence[Place], look: Mapping[str, Any] | None) -> None:
    front = frontier.front
    across = [_unit(front.utility, place.utility.value) for place in places]
    up = [_unit(front.attack, place.attack.value) for place in places]
    if look is None:
        axes.plot(across, up, color=MUTED, alpha=0.3, linewidth=0.8, marker=".", markersize=3, zorder=2)
        return
    axes.plot(across, up, color=look["color"], linewidth=1.5, zorder=3)
    for place, x, y in zip(places, across, up, strict=True):
        bars: dict[str, Any] = {
            "xerr": _find_bars(front.utility, place.utility),
            "yerr": _find_bars(front.attack, place.attack),
        }
        face = "#ffffff" if place.standing is Standing.BEHIND else look["color"]
        axes.errorbar(
            x, y, **bars, color=look["color"], marker=look["marker"], markerfacecolor=face, markersize=5,
            elinewidth=0.8, zorder=4,
        )  # fmt: skip


def _label(axes: Axes, frontier: Frontier) -> None:
    """The names of settings beside their last points, apart from each other, and the levels of one curve."""
    front = frontier.front
    low, high = axes.get_ylim()
    last = {name: frontier.curves[name][-1] for name in frontier.strong}
    heights = {name: _unit(front.attack, place.attack.value) for name, place in last.items()}
    names, above = shorten_names(frontier.strong), low
    for name in sorted(heights, key=lambda each: heights[each]) if len(frontier.curves) > 1 else []:
        at = _unit(front.utility, last[name].utility.value), heights[name]
        room = _WIDTH * _POINTS * (1 - float(axes.transAxes.inverted().transform(axes.transData.transform(at))[0]))
        right = min(_BESIDE, room - _CHARACTER * len(names[name]))  # it must not leave the panel
        above = max(at[1], above + _LINE * (high - low))
        up = (4 if right == _BESIDE else 8) + (above - at[1]) / (high - low) * _HEIGHT * _POINTS
        _write(axes, at, names[name], (right, up))
    for place in frontier.curves[frontier.against]:
        at = _unit(front.utility, place.utility.value), _unit(front.attack, place.attack.value)
        _write(axes, at, place.point.level, (-_BESIDE, 4), ha="right", color=MUTED)


def _write(axes: Axes, at: tuple[float, float], label: str, offset: tuple[float, float], **look: Any) -> None:
    """A label beside a point, for which the layout makes no room."""
    look = {"fontsize": 6.5, "color": INK, "zorder": 5, **look}
    axes.annotate(label, at, offset, textcoords="offset points", **look).set_in_layout(False)


def _find_bars(quantity: Quantity, reading: Reading) -> list[list[float]] | None:
    """The distances from a value to the ends of its interval."""
    if reading.interval is None:
        return None
    below, above = reading.value - reading.interval.low, reading.interval.high - reading.value
    return [[max(0.0, _unit(quantity, distance))] for distance in (below, above)]


def _explain(figure: Figure, frontiers: Sequence[Frontier], looks: Mapping[str, dict[str, Any]]) -> None:
    """The legend of settings, references and the front."""
    lines = require("matplotlib.lines", extra="analyze")
    handles = [lines.Line2D([], [], markersize=5, linewidth=1.5, label=name, **look) for name, look in looks.items()]
    handles.append(lines.Line2D([], [], color=MUTED, linewidth=5, alpha=0.3, label="front by value"))
    if any(len(frontier.strong) < len(frontier.curves) for frontier in frontiers):
        handles.append(lines.Line2D([], [], color=MUTED, alpha=0.3, marker=".", label="other settings"))
    found = {name for frontier in frontiers for each in frontier.references.values() for name in each}
    handles += [
        lines.Line2D([], [], color=MUTED, linestyle=LINES[reference], label=reference.value)
        for reference in Reference
        if reference in found
    ]
    add_legend(figure, handles, [str(handle.get_label()) for handle in handles])
