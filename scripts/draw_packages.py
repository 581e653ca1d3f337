"""Draw the packages of the code and the imports between them.

    python scripts/draw_packages.py --output docs/figures/packages.svg

A package is a package or module directly below ``src/textveil``. The layers are the table ``LAYERS`` of
``tests/test_architecture.py``. The script reads both without importing them, so it can also draw another checkout.
"""

from __future__ import annotations

import argparse
import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PACKAGE = "textveil"

WIDTH = 1240
MARGIN = 24
NAMES = 118
"""The width of the column with the names of the layers."""
HEADER = 84
BAND, BAND_GAP = 50, 34
CHARACTER = 7.4
"""The width of a character of a package's name, about."""
LANE = 2.6
"""The distance between arrows that pass through the same gap."""
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
INK, MUTED, RULE, PALE = "#1b1f24", "#66707b", "#c9d0d7", "#ccd3d9"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#7a5195", "#b8860b", "#cc79a7", "#56b4e9", "#5b7a1f")
"""Arrows have the color of the layer that they start from; neighbors differ for color-blind readers, too."""


@dataclass(frozen=True)
class Package:
    """A package or a loose module, with the number of its files and lines."""

    name: str
    is_package: bool
    files: int
    lines: int

    @property
    def title(self) -> str:
        """The name, with a slash behind that of a package."""
        return f"{self.name}/" if self.is_package else f"{self.name}.py"

    @property
    def size(self) -> str:
        """The number of files and the rounded number of lines."""
        lines = f"{self.lines} lines" if self.lines < 100 else f"{round(self.lines, -1 - (self.lines > 999)):,} lines"
        return f"{self.files} files, {lines}" if self.is_package else lines


@dataclass(frozen=True)
class Code:
    """The packages of a checkout, its layers from the bottom up, and its imports.

    Attributes:
        packages: The packages by name.
        layers: Titles and the names of packages, from the bottom up.
        imports: The number of modules of a package that import another package, by the names of both.
    """

    packages: dict[str, Package]
    layers: list[tuple[str, list[str]]]
    imports: dict[tuple[str, str], int]

    @property
    def summary(self) -> str:
        """The part of the code that the picture must be up to date with, as text."""
        packages = [
            f"{package.name} {package.files}"
            for package in sorted(self.packages.values(), key=lambda package: package.name)
        ]
        edges = [f"{source} > {target} {count}" for (source, target), count in sorted(self.imports.items())]
        layers = [f"{title}: {' '.join(names)}" for title, names in self.layers]
        return "\n".join([*layers, *packages, *edges])


def read_code(root: Path) -> Code:
    """Read the packages, layers and imports of a checkout."""
    source = root / "src" / PACKAGE
    counts: dict[str, list[int]] = defaultdict(list)
    importers: dict[tuple[str, str], set[Path]] = defaultdict(set)
    for path in sorted(source.rglob("*.py")):
        if path == source / "__init__.py":
            continue
        here = path.relative_to(source).parts[0].removesuffix(".py")
        text = path.read_text(encoding="utf-8")
        counts[here].append(len(text.splitlines()))
        for there in _find_imports(ast.parse(text)):
            if there != here:
                importers[here, there].add(path)
    packages = {name: Package(name, (source / name).is_dir(), len(lines), sum(lines)) for name, lines in counts.items()}
    imports = {edge: len(paths) for edge, paths in importers.items()}
    layers = [
        (title, [name for name in names if name in packages])
        for title, names in read_layers(root / "tests" / "test_architecture.py", imports)
    ]
    return Code(packages, layers, imports)


def _find_imports(tree: ast.Module) -> Iterator[str]:
    """The packages that a module imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        yield from (name.split(".")[1] for name in names if name.startswith(f"{PACKAGE}."))


def read_layers(path: Path, imports: dict[tuple[str, str], int]) -> list[tuple[str, list[str]]]:
    """The table ``LAYERS`` of a test file; packages of a layer without an order are ordered to shorten their arrows."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS":
            layers = ast.literal_eval(node.value)
            if isinstance(layers, dict):
                return list(layers.items())
            return _order([(f"layer {number}", sorted(names)) for number, names in enumerate(layers, start=1)], imports)
    raise SystemExit(f"{path} has no table LAYERS.")


def _order(layers: list[tuple[str, list[str]]], imports: dict[tuple[str, str], int]) -> list[tuple[str, list[str]]]:
    """Put every package of a layer near the packages that it shares imports with."""
    places = {name: (number + 1) / (len(names) + 1) for _, names in layers for number, name in enumerate(names)}
    neighbors: dict[str, list[str]] = defaultdict(list)
    for source, target in imports:
        neighbors[source].append(target)
        neighbors[target].append(source)
    for _ in range(8):
        for _, names in layers:
            wanted = {name: math.fsum(places[near] for near in neighbors[name]) for name in names}
            names.sort(key=lambda name: (wanted[name] / max(1, len(neighbors[name])), name))
            places |= {name: (number + 1) / (len(names) + 1) for number, name in enumerate(names)}
    return layers


@dataclass(frozen=True)
class Box:
    """A package's rectangle."""

    left: float
    top: float
    width: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + BAND


@dataclass
class Plan:
    """The rectangles of all packages, and the gaps between them in every layer, from the bottom up."""

    code: Code
    boxes: dict[str, Box] = field(default_factory=dict)
    level: dict[str, int] = field(default_factory=dict)
    gaps: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for level, (_, names) in enumerate(self.code.layers):
            self._place(level, names)

    @property
    def height(self) -> float:
        """The height of the picture."""
        return HEADER + len(self.code.layers) * (BAND + BAND_GAP) + MARGIN

    def top(self, level: int) -> float:
        """The upper edge of a layer."""
        return HEADER + (len(self.code.layers) - 1 - level) * (BAND + BAND_GAP) + BAND_GAP / 2

    def _place(self, level: int, names: Sequence[str]) -> None:
        left, right = MARGIN + NAMES, WIDTH - MARGIN
        packages = [self.code.packages[name] for name in names]
        widths = [max(len(package.title) * CHARACTER, len(package.size) * 5.6) + 18 for package in packages]
        gap = (right - left - sum(widths)) / (len(names) + 1)
        edges: list[float] = [left]
        for name, width in zip(names, widths, strict=True):
            box = self.boxes[name] = Box(edges[-1] + gap, self.top(level), width)
            self.level[name] = level
            edges += [box.left, box.right]
        edges.append(right)
        self.gaps.append([(start + stop) / 2 for start, stop in zip(edges[::2], edges[1::2], strict=False)])


def _route(plan: Plan) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """The points of every arrow that leads down: through the gaps of the layers between its packages."""
    leading = [edge for edge in plan.code.imports if plan.level[edge[0]] > plan.level[edge[1]]]
    starts = _spread(plan, leading, end=0)
    stops = _spread(plan, leading, end=1)
    gaps: dict[tuple[str, str], list[float]] = {}
    crowds: dict[tuple[int, float], list[tuple[str, str]]] = defaultdict(list)
    for edge in leading:
        high, low = plan.level[edge[0]], plan.level[edge[1]]
        gaps[edge] = []
        for level in range(high - 1, low, -1):
            straight = starts[edge] + (stops[edge] - starts[edge]) * (high - level) / (high - low)
            gap = min(plan.gaps[level], key=lambda middle: abs(middle - straight))
            gaps[edge].append(gap)
            crowds[level, gap].append(edge)
    routes = {}
    for edge in leading:
        high, low = plan.level[edge[0]], plan.level[edge[1]]
        points = [(starts[edge], plan.boxes[edge[0]].bottom)]
        for level, gap in zip(range(high - 1, low, -1), gaps[edge], strict=True):
            crowd = sorted(crowds[level, gap], key=lambda other: starts[other] + stops[other])
            x = gap + (crowd.index(edge) - (len(crowd) - 1) / 2) * LANE
            points += [(x, plan.top(level)), (x, plan.top(level) + BAND)]
        routes[edge] = [*points, (stops[edge], plan.boxes[edge[1]].top)]
    return routes


def _spread(plan: Plan, edges: Sequence[tuple[str, str]], *, end: int) -> dict[tuple[str, str], float]:
    """Where arrows touch their boxes at one end: side by side, in the order of the boxes at the other end."""
    places = {}
    for name, box in plan.boxes.items():
        touching = [edge for edge in edges if edge[end] == name]
        touching.sort(key=lambda edge: plan.boxes[edge[1 - end]].left)
        for number, edge in enumerate(touching, start=1):
            places[edge] = box.left + box.width * number / (len(touching) + 1)
    return places


def _draw_path(points: Sequence[tuple[float, float]]) -> str:
    """A smooth path that leaves and enters every point vertically."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (next_x, next_y) in pairwise(points):
        bend = (next_y - y) / 2
        parts.append(f"C{x:.1f} {y + bend:.1f} {next_x:.1f} {next_y - bend:.1f} {next_x:.1f} {next_y:.1f}")
    return "".join(parts)


def _draw_arrow(path: str, tip: tuple[float, float], *, up: bool, color: str, count: int) -> str:
    width = 0.7 + 0.45 * (count - 1)
    size = 2.4 + width
    x, y = tip
    back = y + size * 1.5 if up else y - size * 1.5
    head = f"M{x:.1f} {y:.1f}L{x - size:.1f} {back:.1f}L{x + size:.1f} {back:.1f}Z"
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width:.2f}" stroke-opacity="0.6"/>'
        f'<path d="{head}" fill="{color}"/>'
    )


def _draw_arrows(plan: Plan) -> Iterator[str]:
    """All arrows, those to the bottom layer first and pale: nearly every package imports it."""
    routes = _route(plan)
    for edge in sorted(plan.code.imports, key=lambda edge: (plan.level[edge[1]] > 0, plan.level[edge[0]], edge)):
        source, target = edge
        count, level = plan.code.imports[edge], plan.level[source]
        color = PALE if plan.level[target] == 0 else COLORS[level % len(COLORS)]
        if edge in routes:
            path, tip = _draw_path(routes[edge]), routes[edge][-1]
            yield _draw_arrow(path, tip, up=False, color=color, count=count)
        else:  # inside a layer: an arc below the boxes
            start, stop = plan.boxes[source], plan.boxes[target]
            x, tip = start.left + 8, (stop.right - 8, stop.bottom)
            depth = stop.bottom + 10 + min(20, abs(x - tip[0]) / 30)
            path = f"M{x:.1f} {start.bottom:.1f}C{x:.1f} {depth:.1f} {tip[0]:.1f} {depth:.1f} {tip[0]:.1f} {tip[1]:.1f}"
            yield _draw_arrow(path, tip, up=True, color=color, count=count)


def _draw_text(x: float, y: float, text: str, *, size: int = 12, color: str = INK, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}"{style}>{escape(text)}</text>'


def _draw_boxes(plan: Plan) -> Iterator[str]:
    middle = ' text-anchor="middle"'
    for name, box in plan.boxes.items():
        package = plan.code.packages[name]
        color = COLORS[plan.level[name] % len(COLORS)]
        yield (
            f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{BAND}" rx="5" fill="white" '
            f'stroke="{color}" stroke-width="{1.8 if package.is_package else 0.9}"/>'
        )
        center = box.left + box.width / 2
        weight = ' font-weight="bold"' if package.is_package else ""
        yield _draw_text(center, box.top + 22, package.title, size=13, style=middle + weight)
        yield _draw_text(center, box.top + 39, package.size, size=10, color=MUTED, style=middle)


def draw(code: Code, title: str) -> str:
    """The picture as SVG, with the summary of the code as its description."""
    plan = Plan(code)
    loose = sum(not package.is_package for package in code.packages.values())
    below = (
        f"{len(code.layers)} layers, {len(code.packages) - loose} packages and {loose} loose modules, "
        f"{len(code.imports)} arrows. An arrow leads to what is imported; its width is the number of importing "
        "modules. Imports of the bottom layer are gray."
    )
    height = plan.height
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" font-family="{FONTS}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(code.summary)}</desc>",
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
        _draw_text(MARGIN, 36, title, size=20, style=' font-weight="bold"'),
        _draw_text(MARGIN, 60, below, color=MUTED),
    ]
    for level, (name, _) in enumerate(code.layers):
        y = plan.top(level)
        lines.append(
            f'<rect x="{MARGIN}" y="{y - 8:.1f}" width="{WIDTH - 2 * MARGIN}" height="{BAND + 16}" rx="6" '
            f'fill="#f4f6f8" stroke="{RULE}" stroke-width="0.6"/>'
        )
        lines.append(_draw_text(MARGIN + 10, y + BAND / 2 + 4, name, color=MUTED, style=' font-weight="bold"'))
    return "\n".join([*lines, *_draw_arrows(plan), *_draw_boxes(plan), "</svg>", ""])


def main() -> None:
    """Draw a checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the folder of another checkout")
    parser.add_argument("--title", default="The packages of textveil")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(draw(read_code(options.checkout), options.title), encoding="utf-8")


if __name__ == "__main__":
    main()
