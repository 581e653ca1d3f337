"""The page of a calibration: a curve for every target, the epsilon that was found, and a table of what was tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from textveil.lab.calibration.calibration import EXACT, TARGETS, Calibration, Point
from textveil.lab.report.pages import (
    Markup,
    bullets,
    element,
    facts,
    figure,
    paragraph,
    stacking_table,
    text,
    write_document,
)
from textveil.lab.report.plots import HEIGHT, WIDTH, Scale, assign_looks, draw_marker, find_ticks

_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 12.0, 12.0, 42.0
_LOOK = assign_looks(["value"])["value"]


def draw_page(calibration: Calibration) -> str:
    """The page. It needs no other file."""
    content = [paragraph(tell(calibration), class_="lead")]
    for name, level in calibration.targets.items():
        if calibration.curve and TARGETS[name].metric is not None:
            svg = draw_curve(name, level, calibration.curve, calibration.epsilon_per_word)
            content.append(figure(svg, _caption(name)))
    content.append(facts(describe(calibration)))
    if calibration.curve:
        content.append(_draw_table(calibration))
    content.append(bullets(calibration.caveats) if calibration.caveats else "")
    head = element("header", element("h1", "Calibration"))
    return write_document("Calibration", head, element("main", element("section", content)))


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


def _caption(name: str) -> str:
    side = "lower" if TARGETS[name].floor else "upper"
    return (
        f"{TARGETS[name].title.capitalize()}, by epsilon per word. Bars end at the {side} confidence bound. The dashed "
        "line is the target, and the vertical line is the epsilon that was found."
    )


def draw_curve(name: str, level: float, curve: Sequence[Point], chosen: float) -> Markup:
    """The values of a target over epsilon per word, on a logarithmic scale, with their bounds."""
    places = [math.log10(point.epsilon_per_word) for point in curve]
    readings = [point.readings[name] for point in curve]
    numbers = [level, *(reading.value for reading in readings), *(reading.bound for reading in readings)]
    across = Scale(min(places) - 0.05, max(places) + 0.05, _LEFT, WIDTH - _RIGHT)
    margin = 0.07 * (max(numbers) - min(numbers)) or 0.05
    down = Scale(min(numbers) - margin, max(numbers) + margin, HEIGHT - _BOTTOM, _TOP)
    parts = [*_draw_axes(TARGETS[name].title, across, down)]
    parts.append(_path(f"M{_LEFT:.1f} {down(level):.1f}H{WIDTH - _RIGHT:.1f}", "var(--ink)", dashes="6 3"))
    parts.append(_path(f"M{across(math.log10(chosen)):.1f} {_TOP:.1f}V{HEIGHT - _BOTTOM:.1f}", "var(--accent)"))
    points = [(across(place), down(reading.value)) for place, reading in zip(places, readings, strict=True)]
    parts.append(_path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), _LOOK.color))
    for point, (x, y), reading in zip(curve, points, readings, strict=True):
        shown = f"{point.epsilon_per_word:g} per word: {reading.value:.3f}, bound {reading.bound:.3f}"
        bar = _path(f"M{x:.1f} {y:.1f}V{down(reading.bound):.1f}", _LOOK.color)
        marker = draw_marker(_LOOK, x, y, hollow=not reading.met)
        parts.append(element("g", element("title", text(shown)) + bar + marker))
    described = f"{TARGETS[name].title} at {len(curve)} epsilons"
    return element("svg", parts, class_="curve", viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=described)


def _draw_axes(title: str, across: Scale, down: Scale) -> Iterator[Markup]:
    for tick in find_ticks(down.low, down.high):
        yield _path(f"M{_LEFT:.1f} {down(tick):.1f}H{WIDTH - _RIGHT:.1f}", "var(--rule)")
        yield _label(_LEFT - 5, down(tick) + 3.5, f"{tick:g}", "end")
    for tick in _find_epsilons(across.low, across.high):
        yield _path(f"M{across(math.log10(tick)):.1f} {_TOP:.1f}V{HEIGHT - _BOTTOM:.1f}", "var(--rule)")
        yield _label(across(math.log10(tick)), HEIGHT - _BOTTOM + 13, f"{tick:g}", "middle")
    yield _label((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, "epsilon per word", "middle")
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    turned = {"text_anchor": "middle", "transform": f"rotate(-90 11 {middle:.1f})"}
    yield element("text", text(title), x="11", y=f"{middle:.1f}", **turned)


def _find_epsilons(low: float, high: float) -> list[float]:
    """Round numbers between two powers of ten: 1, 2 and 5 times a power.

    >>> _find_epsilons(-0.2, 1.1)
    [1.0, 2.0, 5.0, 10.0]
    """
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)]
    return [tick for tick in ticks if low <= math.log10(tick) <= high]


def _draw_table(calibration: Calibration) -> Markup:
    names = [name for name in calibration.targets if TARGETS[name].metric is not None]
    head = ["epsilon per word", *(f"{name} (bound)" for name in names)]
    rows = [
        [text(f"{point.epsilon_per_word:g}"), *(_write_cell(point, name) for name in names)]
        for point in calibration.curve
    ]
    return stacking_table(head, rows)


def _write_cell(point: Point, name: str) -> Markup:
    reading = point.readings[name]
    mark: Mapping[bool, str] = {True: "met", False: "not met"}
    return text(f"{reading.value:.3f} ({reading.bound:.3f}), {mark[reading.met]}")


def _path(outline: str, color: str, *, dashes: str = "") -> Markup:
    dashed = {"stroke_dasharray": dashes} if dashes else {}
    return element("path", d=outline, fill="none", stroke=color, stroke_width="1.4", **dashed)


def _label(x: float, y: float, content: str, anchor: str) -> Markup:
    return element("text", text(content), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="muted")
