"""The curves of attack against utility: a panel per pair, for files and for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textveil.extras import require
from textveil.lab.compare.curves import Frontier
from textveil.lab.compare.front import Point, Standing
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading
from textveil.lab.report.figures import (
    HOLLOW,
    LINES,
    MUTED,
    add_legend,
    choose_look,
    inline_svg,
    make_panels,
    render_svg,
    set_log_scale,
    settle,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Looks = Mapping[str, Mapping[str, Any]]
"""The color and the marker of every setting in full color."""
_COLUMNS = 3


def inline_frontiers(frontiers: Sequence[Frontier]) -> list[tuple[Frontier, str]]:
    """Every pair with its own figure for a page. A setting looks the same in all of them."""
    looks = _choose_looks(frontiers)
    return [
        (frontier, inline_svg(render_svg(draw_frontiers([frontier], looks)), f"curve_{number}"))
        for number, frontier in enumerate(frontiers)
    ]


def draw_frontiers(frontiers: Sequence[Frontier], looks: Looks | None = None) -> Figure:
    """The curves of every pair, one row per attack if all attacks have the same utilities. Down and right is better."""
    looks = _choose_looks(frontiers) if looks is None else looks
    columns, rest = divmod(len(frontiers), len({frontier.front.attack for frontier in frontiers}))
    columns = min(len(frontiers), _COLUMNS) if rest or columns == 1 else columns
    with styled():
        figure, panels = make_panels(len(frontiers), columns, width=4.0, height=3.2)
        for axes, frontier in zip(panels, frontiers, strict=True):
            _fill_panel(axes, frontier, looks)
        _explain(figure, frontiers, looks)
        settle(figure)
    return figure


def _choose_looks(frontiers: Sequence[Frontier]) -> Looks:
    chosen = {name for frontier in frontiers for name in frontier.strong}
    names = dict.fromkeys(name for each in frontiers for name in each.curves if name in chosen)
    return {name: choose_look(order, name) for order, name in enumerate(names)}


def _fill_panel(axes: Axes, frontier: Frontier, looks: Looks) -> None:
    front = frontier.front
    on = [place for name in front.by_value for place in front.places if place.name == name]
    if len(on) > 1 and not front.caveats:  # a staircase: between two points, the worse value of both holds
        axes.step(*_locate(frontier, on), where="pre", color=MUTED, linewidth=5, alpha=0.3, zorder=1)
    for setting, places in frontier.curves.items():
        if setting in frontier.strong:
            _draw_curve(axes, frontier, places, looks[setting])
        else:
            faint: dict[str, Any] = {"color": MUTED, "alpha": 0.3, "linewidth": 0.8, "marker": ".", "markersize": 3}
            axes.plot(*_locate(frontier, places), **faint)
    _draw_references(axes, frontier)
    _set_axes(axes, frontier)
    against = frontier.curves[frontier.against]
    for place, x, y in zip(against, *_locate(frontier, against), strict=True):
        label = axes.annotate(place.level, (x, y), (-6, 4), textcoords="offset points", ha="right", fontsize=6.5)
        label.set(color=MUTED, zorder=5, in_layout=False)


def _locate(frontier: Frontier, places: Sequence[Point]) -> tuple[list[float], list[float]]:
    """The utilities and the attacks of places, in the units of the axes."""
    front = frontier.front
    return (
        [_unit(front.utility, place.utility.value) for place in places],
        [_unit(front.attack, place.attack.value) for place in places],
    )


def _unit(quantity: Quantity, value: float) -> float:
    return 100 * value if quantity.percent else value


def _draw_curve(axes: Axes, frontier: Frontier, places: Sequence[Point], look: Mapping[str, Any]) -> None:
    """The line of a setting, and its markers with their intervals. Those behind the front are hollow."""
    front, color = frontier.front, look["color"]
    across, up = _locate(frontier, places)
    axes.plot(across, up, color=color, linewidth=1.5, zorder=3)
    if any(reading.interval is not None for place in places for reading in (place.utility, place.attack)):
        bars: dict[str, Any] = {
            "xerr": _find_bars(front.utility, [place.utility for place in places]),
            "yerr": _find_bars(front.attack, [place.attack for place in places]),
        }
        axes.errorbar(across, up, **bars, fmt="none", ecolor=color, elinewidth=0.8, zorder=4)
    for face, behind in ((color, False), (HOLLOW, True)):
        chosen = [number for number, place in enumerate(places) if (place.standing is Standing.BEHIND) is behind]
        marks = ([values[number] for number in chosen] for values in (across, up))
        marker: dict[str, Any] = {"marker": look["marker"], "markerfacecolor": face, "markersize": 5}
        axes.plot(*marks, **marker, color=color, linestyle="", zorder=4)


def _find_bars(quantity: Quantity, readings: Sequence[Reading]) -> list[list[float]]:
    """The distances from values to the ends of their intervals; 0 without one."""
    bars: list[list[float]] = [[], []]
    for reading in readings:
        low, high = reading.interval or (reading.value, reading.value)
        bars[0].append(max(0.0, _unit(quantity, reading.value - low)))
        bars[1].append(max(0.0, _unit(quantity, high - reading.value)))
    return bars


def _draw_references(axes: Axes, frontier: Frontier) -> None:
    """The originals and chance as lines, and the interval of chance as a band."""
    front = frontier.front
    ways = ((front.attack, axes.axhline, axes.axhspan), (front.utility, axes.axvline, axes.axvspan))
    for quantity, draw, span in ways:
        for reference, reading in frontier.references[quantity].items():
            draw(_unit(quantity, reading.value), color=MUTED, linestyle=LINES[reference], linewidth=1.0, zorder=1)
            if reference is Reference.CHANCE and reading.interval is not None:
                low, high = (_unit(quantity, bound) for bound in reading.interval)
                span(low, high, color=MUTED, alpha=0.12, linewidth=0, zorder=0)


def _set_axes(axes: Axes, frontier: Frontier) -> None:
    attack, utility = (
        f"{each.title} %" if each.percent else each.title for each in (frontier.front.attack, frontier.front.utility)
    )
    axes.set_xlabel(f"{utility} \N{RIGHTWARDS ARROW} better", fontsize=8)
    axes.set_ylabel(f"better \N{LEFTWARDS ARROW} {attack}", fontsize=8)
    if frontier.front.utility.logarithmic:
        set_log_scale(axes)
    if frontier.front.utility.better == "lower":
        axes.invert_xaxis()
    axes.tick_params(axis="x", labelsize=8, colors=MUTED)
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)


def _explain(figure: Figure, frontiers: Sequence[Frontier], looks: Looks) -> None:
    """The legend of settings, references and the front."""
    line = require("matplotlib.lines", extra="analyze").Line2D
    strong = {name for frontier in frontiers for name in frontier.strong}
    handles = [line([], [], **look) for name, look in looks.items() if name in strong]
    handles.append(line([], [], color=MUTED, linewidth=5, alpha=0.3, label="front by value"))
    if any(len(frontier.strong) < len(frontier.curves) for frontier in frontiers):
        handles.append(line([], [], color=MUTED, alpha=0.3, marker=".", label="other settings"))
    found = {name for frontier in frontiers for each in frontier.references.values() for name in each}
    handles += [
        line([], [], color=MUTED, linestyle=LINES[reference], label=reference.value)
        for reference in Reference
        if reference in found
    ]
    add_legend(figure, handles)
