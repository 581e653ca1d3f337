"""An HTML page that shows words as boxes, colored by their share of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from textveil.distribution import Score

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>How a budget is divided</title>
<style>
:root {{ color-scheme: light dark; --empty: #f1f3f5; --ink: #1b1f24; --muted: #6a737d; --page: #fff; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --empty: #22272e; --ink: #e6edf3; --muted: #8b949e; --page: #0d1117; }}
}}
body {{ font: 16px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.3rem; margin: 0 0 .3rem; }}
h2 {{ font-size: 1rem; margin: 1.6rem 0 .4rem; }}
p, h2 span {{ color: var(--muted); font-weight: normal; }}
ul {{ list-style: none; display: flex; flex-wrap: wrap; gap: .25rem; margin: 0; padding: 0; }}
li {{ padding: .2rem .45rem; border-radius: .3rem; text-align: center; }}
li small {{ display: block; font-size: .7rem; opacity: .9; min-height: 1em; }}
li.kept {{ background: var(--empty); color: var(--muted); }}
li.light {{ color: #10151a; }}
li.dark {{ color: #fff; }}
.scale {{ display: inline-block; width: 8rem; height: .7rem; border-radius: .3rem; vertical-align: middle;
  background: linear-gradient(to right, {colors}); }}
</style>
</head>
<body>
<h1>How a budget of {budget} is divided</h1>
<p>0 <span class="scale"></span> {largest} &nbsp; Gray words are kept.</p>
{sections}
</body>
</html>
"""
_LIGHTEST, _DARKEST = (222, 241, 238), (6, 82, 96)
_TURNS = 0.69
"""The part from which white letters are easier to read than dark ones."""


@dataclass(frozen=True, slots=True)
class Division:
    """How one distribution divides the budget: a score and a share for every word."""

    name: str
    description: str
    scores: Sequence[Score]
    shares: Sequence[float]

    def count_missing(self, takes_part: Sequence[bool]) -> int:
        """How many words that should have a share got no score."""
        return sum(score is None and takes for score, takes in zip(self.scores, takes_part, strict=True))


def draw_page(words: Sequence[str], takes_part: Sequence[bool], divisions: Sequence[Division], budget: float) -> str:
    """The page as HTML, which needs no other file."""
    largest = max((share for division in divisions for share in division.shares), default=0.0)
    return _PAGE.format(
        budget=f"{budget:g}",
        largest=f"{largest:.3g}",
        colors=f"{_mix(0.0)}, {_mix(1.0)}",
        sections="\n".join(_draw_section(words, takes_part, division, largest) for division in divisions),
    )


def _draw_section(words: Sequence[str], takes_part: Sequence[bool], division: Division, largest: float) -> str:
    boxes = []
    for word, takes, score, share in zip(words, takes_part, division.scores, division.shares, strict=True):
        if not takes:
            boxes.append(f'<li class="kept">{escape(word)}<small></small></li>')
            continue
        part = share / largest if largest else 0.0
        said = "no score" if score is None else f"score {score:.4g}"
        boxes.append(
            f'<li class="{"dark" if part > _TURNS else "light"}" style="background: {_mix(part)}" title="{said}">'
            f"{escape(word)}<small>{share:.3g}</small></li>"
        )
    missing = division.count_missing(takes_part)
    note = f" {missing} words without a score" if missing else ""
    return f"<h2>{escape(division.description)}<span>{note}</span></h2>\n<ul>{''.join(boxes)}</ul>"


def _mix(part: float) -> str:
    """A color between the lightest and the darkest."""
    mixed = (round(light + part * (dark - light)) for light, dark in zip(_LIGHTEST, _DARKEST, strict=True))
    return f"rgb({', '.join(map(str, mixed))})"
