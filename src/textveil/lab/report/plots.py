"""The axes of curves: linear and logarithmic scales, and round numbers on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from textveil.lab.compare.curves import Frontier
from textveil.lab.compare.front import Front, Place, Standing, scale
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading
from textveil.lab.report.figures import COLORS
from textveil.lab.report.pages import Markup, element, text


@dataclass(frozen=True, slots=True)
class Scale:
    """The linear or logarithmic map from values to places on the drawing.

    Args:
        low: The lowest value, or its logarithm.
        high: The highest value, or its logarithm.
        first: The place of the lowest value.
        last: The place of the highest value.
        log: Whether it is logarithmic.
    """

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value. A logarithmic scale puts values that are not positive at its low end."""
        placed = max(self.low, scale(value, self.log))
        return self.first + (placed - self.low) / (self.high - self.low) * (self.last - self.first)

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the scale."""
        if self.log:
            return find_log_ticks(math.exp(self.low), math.exp(self.high))
        return find_ticks(self.low, self.high)


def find_scale(quantity: Quantity, readings: Sequence[Reading], ends: tuple[float, float]) -> Scale:
    """The scale of an axis on which the last end is better."""
    log = quantity.logarithmic
    values = [value for reading in readings for value in (reading.value, *(reading.interval or ()))]
    placed = [scale(value, log) for value in values if value > 0 or not log]
    low, high = min(placed), max(placed)
    margin = 0.07 * (high - low) or 0.05 * abs(high) or 0.5
    first, last = ends if quantity.better == "higher" else ends[::-1]
    return Scale(low - margin, high + margin, first, last, log)


def find_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers between two values.

    >>> find_ticks(0.08, 0.93)
    [0.2, 0.4, 0.6, 0.8]
    """
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def find_log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two positive values, for a logarithmic axis.

    >>> find_log_ticks(80, 3000), find_log_ticks(110, 190)
    ([100, 200, 500, 1000, 2000], [120.0, 140.0, 160.0, 180.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10**power if power >= 0 else factor * 10.0**power for power in powers for factor in factors]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= most:
            break
    return inside if len(inside) > 1 else find_ticks(low, high)


WIDTH, HEIGHT = 400.0, 290.0
_FAINT = "0.3"
"""The opacity of settings that are not in full color."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 10.0, 38.0, 42.0
_CHARACTER = 6.2
"""The approximate width of a small character."""
_LINE = 12.0
"""The height of a line of text."""
_LONGEST = 24
"""The number of characters of the longest label."""
_STEPS = 24
"""The boxes that cover a line between two markers, plus one."""
_SIZE = 4.5
"""The radius of a marker."""
_CORNERS: dict[str, list[tuple[float, float]]] = {
    "circle": [],
    "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "triangle": [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
    "diamond": [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
    "wedge": [(0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
}
"""The corners of every shape, around its center, in radii."""
Box = tuple[float, float, float, float]
"""The left, top, right and bottom edge of a label."""


@dataclass(frozen=True, slots=True)
class Look:
    """The color and the shape of a setting."""

    color: str
    shape: str


def assign_looks(settings: Sequence[str]) -> dict[str, Look]:
    """A look for every setting. Neighbors differ in color and in shape."""
    shapes = list(_CORNERS)
    return {name: Look(COLORS[order % len(COLORS)], shapes[order % len(shapes)]) for order, name in enumerate(settings)}


def assign_common_looks(frontiers: Sequence[Frontier]) -> dict[str, Look]:
    """A look for every setting that any figure draws in full color, the same in all of them."""
    chosen = {name for frontier in frontiers for name in frontier.strong}
    return assign_looks(list(dict.fromkeys(name for each in frontiers for name in each.curves if name in chosen)))


def shorten_names(names: Sequence[str]) -> dict[str, str]:
    """The names without the words that all of them begin or end with. A name that is still long becomes empty.

    >>> list(shorten_names(["madlib with words under strict", "fluent with pmi under strict"]).values())
    ['madlib with words', 'fluent with pmi']
    """
    words = [name.split() for name in names]
    shortest = min(map(len, words), default=0)
    start = end = 0
    if len(names) > 1:
        while start < shortest - 1 and len({each[start] for each in words}) == 1:
            start += 1
        while end < shortest - start - 1 and len({each[-1 - end] for each in words}) == 1:
            end += 1
    short = {name: " ".join(each[start : len(each) - end]) for name, each in zip(names, words, strict=True)}
    return {name: each if len(each) <= _LONGEST else "" for name, each in short.items()}


def draw_curves(frontier: Frontier, looks: Mapping[str, Look]) -> Markup:
    """The places of a front, with intervals, curves of settings, and the references. Down and right is better.

    A point shows its values when the pointer or the keyboard focus is on it.
    """
    front, references = frontier.front, frontier.references
    across = find_scale(
        front.utility,
        [*(place.utility for place in front.places), *references[front.utility].values()],
        (_LEFT, WIDTH - _RIGHT),
    )
    down = find_scale(
        front.attack,
        [*(place.attack for place in front.places), *references[front.attack].values()],
        (_TOP, HEIGHT - _BOTTOM),
    )
    taken: list[Box] = []
    strong = frontier.strong
    parts = [
        *_draw_axes(front, across, down),
        *_draw_references(references[front.attack], references[front.utility], across, down, taken),
        _draw_front(front, across, down),
    ]
    for faint in (True, False):  # so that full colors cover faint ones
        for setting, places in frontier.curves.items():
            if (setting not in strong) == faint:
                parts += _draw_curve(places, None if faint else looks[setting], across, down, taken)
    for setting, places in frontier.curves.items():
        parts += _draw_points(front, places, looks[setting] if setting in strong else None, across, down)
    parts += _draw_labels(frontier, across, down, taken)
    described = f"{front.attack.title} against {front.utility.title} of {len(front.places)} obfuscations"
    return element(
        "svg", parts, class_="curve", viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="group", aria_label=described
    )


def _draw_axes(front: Front, across: Scale, down: Scale) -> Iterator[Markup]:
    for tick in down.ticks:
        yield _line(_LEFT, down(tick), WIDTH - _RIGHT, down(tick), "var(--rule)")
        yield _text(_LEFT - 5, down(tick) + 3.5, _show_tick(front.attack, tick), "end", "muted")
    for tick in across.ticks:
        yield _line(across(tick), _TOP, across(tick), HEIGHT - _BOTTOM, "var(--rule)")
        yield _text(across(tick), HEIGHT - _BOTTOM + 13, _show_tick(front.utility, tick), "middle", "muted")
    yield _text(
        (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, f"{front.utility.title} \N{RIGHTWARDS ARROW} better", "middle"
    )
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    title = f"better \N{LEFTWARDS ARROW} {front.attack.title}"
    yield element(
        "text", text(title), x="11", y=f"{middle:.1f}", text_anchor="middle", transform=f"rotate(-90 11 {middle:.1f})"
    )


def _show_tick(quantity: Quantity, tick: float) -> str:
    return f"{100 * tick:g}%" if quantity.percent else f"{tick:,g}"


def _draw_references(
    attack: Mapping[Reference, Reading],
    utility: Mapping[Reference, Reading],
    across: Scale,
    down: Scale,
    taken: list[Box],
) -> Iterator[Markup]:
    """Chance as a band with a line, and the originals as lines that meet at their place."""
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for reference, reading in attack.items():
        y = down(reading.value)
        if reading.interval is not None and reference is Reference.CHANCE:
            top, low = down(reading.interval.high), down(reading.interval.low)
            yield _rectangle(_LEFT, top, right - _LEFT, low - top)
        yield _line(_LEFT, y, right, y, "var(--muted)", dashes="2 3" if reference is Reference.CHANCE else "6 3")
        taken.append(_box(_LEFT + 3, y - 3, reference.value, "start"))
        yield _text(_LEFT + 3, y - 3, reference.value, "start", "muted")
    for reference, reading in utility.items():
        x = across(reading.value)
        if reading.interval is not None and reference is Reference.CHANCE:
            start, stop = across(reading.interval.low), across(reading.interval.high)
            yield _rectangle(start, _TOP, stop - start, bottom - _TOP)
        yield _line(x, _TOP, x, bottom, "var(--muted)", dashes="2 3" if reference is Reference.CHANCE else "6 3")
        anchor = "start" if x < (_LEFT + right) / 2 else "end"
        left = x + 3 if anchor == "start" else x - 3
        heights = [bottom - 4 - _LINE * number for number in range(4)]
        free = [y for y in heights if not any(_overlap(_box(left, y, reference.value, anchor), box) for box in taken)]
        y = (free or heights)[0]
        taken.append(_box(left, y, reference.value, anchor))
        yield _text(left, y, reference.value, anchor, "muted")


def _draw_front(front: Front, across: Scale, down: Scale) -> Markup:
    """The front by value, as a staircase: between two points, the worse value of both holds."""
    on = [place for name in front.by_value for place in front.places if place.name == name]
    if len(on) < 2 or front.caveats:
        return ""
    points = [(across(on[0].utility.value), down(on[0].attack.value))]
    for one, other in pairwise(on):
        points += [
            (across(one.utility.value), down(other.attack.value)),
            (across(other.utility.value), down(other.attack.value)),
        ]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element(
        "polyline", points=drawn, fill="none", stroke="var(--accent)", stroke_width="5", stroke_opacity="0.3"
    )


def _draw_curve(
    places: Sequence[Place], look: Look | None, across: Scale, down: Scale, taken: list[Box]
) -> Iterator[Markup]:
    """The line of a setting and its intervals. Without a look, only a faint line."""
    for one, other in pairwise(places):
        ends = across(one.utility.value), down(one.attack.value), across(other.utility.value), down(other.attack.value)
        if look is None:
            yield _line(*ends, "var(--muted)", opacity=_FAINT)
        else:
            taken += _cover(*ends)
            yield _line(*ends, look.color, width=1.6)
    if look is None:
        return
    for place in places:
        x, y = across(place.utility.value), down(place.attack.value)
        if place.utility.interval is not None:
            low, high = map(across, place.utility.interval)
            yield _line(low, y, high, y, look.color, opacity="0.55")
        if place.attack.interval is not None:
            low, high = map(down, place.attack.interval)
            yield _line(x, low, x, high, look.color, opacity="0.55")
        taken.append((x - _SIZE, y - _SIZE, x + _SIZE, y + _SIZE))


def _draw_labels(frontier: Frontier, across: Scale, down: Scale, taken: list[Box]) -> Iterator[Markup]:
    """The names of settings beside their last points, and levels: of all settings, or of one if there are many."""
    strong = frontier.strong
    for setting, name in shorten_names(strong).items() if len(frontier.curves) > 1 else ():
        place = frontier.curves[setting][-1]
        yield _label(across(place.utility.value), down(place.attack.value), name, taken)
    for setting in strong if len(strong) == len(frontier.curves) else [frontier.against]:
        for place in frontier.curves[setting]:
            yield _label(across(place.utility.value), down(place.attack.value), place.point.level, taken)


def _draw_points(
    front: Front, places: Sequence[Place], look: Look | None, across: Scale, down: Scale
) -> Iterator[Markup]:
    """The markers of a setting. Each has its values as text, which the page shows for the one in focus."""
    for place in places:
        x, y = across(place.utility.value), down(place.attack.value)
        hollow = place.standing is Standing.BEHIND
        if look is None:
            marker = element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="2.2", fill="var(--muted)", fill_opacity=_FAINT)
        else:
            marker = draw_marker(look, x, y, hollow=hollow)
        name, values = f"{place.name}: {place.standing.value}", tell_values(front, place)
        shown = _read_out(16.0, name) + _read_out(30.0, values)
        reached = {} if look is None else {"tabindex": "0"}  # faint ones are in the table of all points
        yield element(
            "g",
            element("title", text(f"{name}. {values}")) + marker + element("g", shown, class_="values"),
            class_="point",
            role="img",
            aria_label=f"{name}. {values}",
            **reached,
        )


def _read_out(y: float, content: str) -> Markup:
    """A line of text above the drawing, narrower if it would not fit."""
    room = WIDTH - 8
    fitted = {"textLength": f"{room:g}", "lengthAdjust": "spacingAndGlyphs"} if _CHARACTER * len(content) > room else {}
    return element("text", text(content), x="4", y=f"{y:g}", class_="muted", **fitted)


def tell_values(front: Front, place: Place) -> str:
    """The values of a point in words, with their intervals."""
    said = [
        f"{quantity.title} {show_reading(quantity, reading)}"
        for quantity, reading in ((front.attack, place.attack), (front.utility, place.utility))
    ]
    return ", ".join(said if place.point.epsilon is None else [*said, f"epsilon {place.point.epsilon:.4g}"])


def show_reading(quantity: Quantity, reading: Reading) -> str:
    """A value with its interval, if it has one."""
    shown = quantity.show(reading.value)
    return shown if reading.interval is None else f"{shown} ({quantity.show_interval(reading.interval)})"


def _cover(x1: float, y1: float, x2: float, y2: float) -> Iterator[Box]:
    """Small boxes along a line, so that labels avoid it."""
    for step in range(1, _STEPS):
        x, y = x1 + (x2 - x1) * step / _STEPS, y1 + (y2 - y1) * step / _STEPS
        yield x - 1, y - 1, x + 1, y + 1


def _label(x: float, y: float, label: str, taken: list[Box]) -> Markup:
    """A label beside a marker, where it covers nothing that is drawn already; none if there is no such place."""
    offsets = (
        (7, -6, "start"),
        (-7, -6, "end"),
        (7, 13, "start"),
        (-7, 13, "end"),
        (0, -9, "middle"),
        (0, 17, "middle"),
    )
    boxes = [
        (_box(x + across, y + down, label, anchor), x + across, y + down, anchor) for across, down, anchor in offsets
    ]
    inside = [each for each in boxes if each[0][0] >= _LEFT and each[0][2] <= WIDTH and each[0][3] <= HEIGHT - _BOTTOM]
    free = [each for each in inside if not any(_overlap(each[0], other) for other in taken)]
    if not free or not label:
        return ""
    box, left, bottom, anchor = free[0]
    taken.append(box)
    return _text(left, bottom, label, anchor, "muted")


def _box(x: float, y: float, label: str, anchor: str) -> Box:
    width = _CHARACTER * len(label)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 9, left + width, y + 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def draw_marker(look: Look, x: float, y: float, *, hollow: bool = False) -> Markup:
    """The marker of a setting."""
    paint = {"fill": "var(--card)" if hollow else look.color, "stroke": look.color, "stroke_width": "1.6"}
    if look.shape == "circle":
        return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{_SIZE:g}", **paint)
    corners = " ".join(f"{x + _SIZE * right:.1f},{y + _SIZE * down:.1f}" for right, down in _CORNERS[look.shape])
    return element("polygon", points=corners, **paint)


def draw_legend(frontier: Frontier, looks: Mapping[str, Look]) -> Markup:
    """The settings in full color, with their markers, and the number of the others."""
    items = []
    for name in frontier.strong:
        key = element("svg", draw_marker(looks[name], 7, 7), viewBox="0 0 14 14", aria_hidden="true")
        items.append(element("li", key + text(name)))
    if others := len(frontier.curves) - len(frontier.strong):
        items.append(element("li", text(f"gray: {others} others"), class_="note"))
    return element("ul", items, class_="legend")


def _line(
    x1: float, y1: float, x2: float, y2: float, color: str, *, width: float = 1, dashes: str = "", opacity: str = "1"
) -> Markup:
    places = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    dashed = {"stroke_dasharray": dashes} if dashes else {}
    return element("line", **places, stroke=color, stroke_width=f"{width:g}", stroke_opacity=opacity, **dashed)


def _rectangle(x: float, y: float, width: float, height: float) -> Markup:
    outline = f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"
    return element("path", d=outline, fill="var(--muted)", fill_opacity="0.16")


def _text(x: float, y: float, content: str, anchor: str, mark: str = "") -> Markup:
    more = {"class_": mark} if mark else {}
    return element("text", text(content), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, **more)
