"""The page of a calibration: a curve for every target, the epsilon that was found, and a table of what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textveil.lab.calibration.calibration import EXACT, TARGETS, Calibration, Point
from textveil.lab.report.figures import (
    COLORS,
    HOLLOW,
    INK,
    MUTED,
    inline_svg,
    make_panels,
    render_svg,
    set_log_scale,
    settle,
    styled,
)
from textveil.lab.report.pages import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_page(calibration: Calibration) -> str:
    """The page. It needs no other file."""
    names = [name for name in calibration.targets if calibration.curve and TARGETS[name].metric is not None]
    figures = []
    for name in names:
        figure = draw_curve(name, calibration.targets[name], calibration.curve, calibration.epsilon_per_word)
        svg, side = inline_svg(render_svg(figure), name), "lower" if TARGETS[name].floor else "upper"
        figures.append((svg, TARGETS[name].title, side))
    rows = [[f"{point.epsilon_per_word:g}", *(_show(point, name) for name in names)] for point in calibration.curve]
    return render(
        "calibration.html",
        summary=tell(calibration),
        figures=figures,
        about=list(describe(calibration)),
        head=["epsilon per word", *(f"{name} (bound)" for name in names)],
        rows=rows,
        caveats=calibration.caveats,
    )


def _show(point: Point, name: str) -> str:
    reading = point.readings[name]
    return f"{reading.value:.3f} ({reading.bound:.3f}), {'met' if reading.met else 'not met'}"


def tell(calibration: Calibration) -> str:
    """The result in a sentence."""
    aims = " and ".join(f"{name}={level:g}" for name, level in calibration.targets.items())
    sure = "" if calibration.sample.origin == EXACT else f" with {100 * calibration.confidence:g} % confidence"
    return f"{calibration.epsilon_per_word:.4g} per word meets {aims}{sure}."


def describe(calibration: Calibration) -> Iterator[tuple[str, str]]:
    """What the calibration was made with, as names and values."""
    settings, sample = calibration.settings, calibration.sample
    yield "methods", ", ".join(settings[axis]["name"] for axis in ("decomposition", "distribution", "mechanism"))
    yield "profile", f"{settings['profile']}, stopwords: {settings['stopwords']}"
    yield "bundle", f"{settings['bundle']['name']} {settings['bundle']['version']}"
    share = calibration.largest_share
    yield "largest share", "none" if share is None else f"{share:.4g}"
    if sample.data_dependent:
        yield "texts", f"{sample.texts:,} texts of your own, so the epsilon depends on them and may reveal something"
    elif sample.origin == EXACT:
        yield "texts", sample.origin
    else:
        yield "texts", f"{sample.texts:,} public texts that ship with textveil ({sample.origin})"


def draw_curve(name: str, level: float, curve: Sequence[Point], chosen: float) -> Figure:
    """The values of a target over epsilon per word, on a logarithmic scale, with their bounds."""
    epsilons = [point.epsilon_per_word for point in curve]
    readings = [point.readings[name] for point in curve]
    with styled():
        figure, (axes,) = make_panels(1, 1, width=4.4, height=2.8)
        axes.plot(epsilons, [reading.value for reading in readings], color=COLORS[0], zorder=2)
        for epsilon, reading in zip(epsilons, readings, strict=True):
            axes.plot([epsilon, epsilon], [reading.value, reading.bound], color=COLORS[0], linewidth=1.0, zorder=2)
            face = COLORS[0] if reading.met else HOLLOW
            axes.plot(epsilon, reading.value, marker="o", color=COLORS[0], markerfacecolor=face, zorder=3)
        axes.axhline(level, color=INK, linestyle=(0, (5, 2)), linewidth=1.0)
        axes.axvline(chosen, color=MUTED, linewidth=1.4)
        set_log_scale(axes)
        axes.set_xlabel("epsilon per word")
        axes.set_ylabel(TARGETS[name].title)
        axes.grid(linewidth=0.6)
        settle(figure)
    return figure
