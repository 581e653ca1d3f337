"""``textveil distribute``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.decompose import read_text
from textveil.cli.options import choose_options, refuse_unused, with_method_options
from textveil.cli.reporting import report, reporting_errors
from textveil.errors import MissingExtraError, ResourceError
from textveil.jobs import check_free
from textveil.methods.distribution import DISTRIBUTORS, Distributor, Score
from textveil.methods.distribution.allocation import check_budget
from textveil.planning import divide, mark_kept_words
from textveil.profiles import PROFILES, STRICT, load_profile
from textveil.storage.atomic import writing
from textveil.text.documents import Document

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


EXAMPLES = """
\b
Examples:
  textveil distribute "The soup was cold and the waiter rude." --epsilon 14
  textveil distribute "The soup was cold." --epsilon 14 --distribution attention --distribution yake
  textveil distribute "The soup was cold." --epsilon 14 --html shares.html
  textveil distribute - --epsilon 60 --json < review.txt
"""


@reporting_errors
@with_method_options(DISTRIBUTORS)
def distribute(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The text, in quotes; - reads standard input.")],
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The budget of the text.")],
    distributions: Annotated[
        list[str] | None,
        typer.Option("--distribution", "-d", help=f"Show only this one (repeatable): {', '.join(DISTRIBUTORS)}."),
    ] = None,
    profile: Annotated[
        str, typer.Option(help=f"How stopwords and words without a score are handled: {', '.join(PROFILES)}.")
    ] = STRICT.name,
    stopwords: Annotated[str | None, typer.Option(help="keep or perturb; by default the profile decides.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an HTML page with colored boxes to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print scores and shares as JSON.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that exists.")] = False,
    method_options: dict[str, Any],
) -> None:
    """Show how each distribution divides a budget over words.

    Kept stopwords get nothing. A word without a score gets the mean of the others (profile strict) or nothing (paper).
    """
    budget = check_budget(epsilon)
    if html is not None:
        check_free(html, overwrite=overwrite)
    document = Document.parse(read_text(text))
    rules = load_profile(profile)
    takes_part = [not keeps for keeps in mark_kept_words(document, profile=rules, stopwords=stopwords)]
    found: list[Division] = []
    for distributor, scores in _score(document, distributions, method_options):
        shares = divide(distributor, scores, takes_part, budget=budget, profile=rules)
        found.append(Division(distributor.name, distributor.description, scores, shares))
    words = [document.text[start:stop] for start, stop in document.spans]
    if html is not None:
        with writing(html, private=True) as stream:
            stream.write(draw_page(words, takes_part, found, budget).encode(errors="replace"))
    if as_json:
        typer.echo(json.dumps(_as_dict(words, found), indent=2))
    else:
        _show(words, takes_part, found, budget)


def _score(
    document: Document, wanted: list[str] | None, options: dict[str, Any]
) -> Iterator[tuple[Distributor, list[Score]]]:
    """The scores of the wanted distributions, by default of all that are installed."""
    chosen = {DISTRIBUTORS.load(name).name: DISTRIBUTORS.load(name) for name in wanted or DISTRIBUTORS}
    refuse_unused(options, chosen.values(), {"--distribution": DISTRIBUTORS})
    for name, method in chosen.items():
        try:
            distributor = method(**choose_options(method, options))
            (scores,) = distributor.score([document])
        except (MissingExtraError, ResourceError) as error:
            if wanted:
                raise
            report(f"{name}: {error}")
        else:
            yield distributor, scores


def _as_dict(words: list[str], found: list[Division]) -> dict[str, Any]:
    return {
        division.name: {
            "description": division.description,
            "words": [
                {"word": word, "score": score, "share": share}
                for word, score, share in zip(words, division.scores, division.shares, strict=True)
            ],
        }
        for division in found
    }


def _show(words: list[str], takes_part: list[bool], found: list[Division], budget: float) -> None:
    """Print a table: a line per word and a column per distribution; larger shares are darker."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    largest = max((share for division in found for share in division.shares), default=0.0)
    table = Table(title=f"budget {budget:g}")
    table.add_column("word")
    for division in found:
        table.add_column(division.name, justify="right")
    for place, word in enumerate(words):
        cells = [
            Text(f" {division.shares[place]:.3g} ", style=_shade(division.shares[place], largest))
            if takes_part[place]
            else Text()
            for division in found
        ]
        table.add_row(Text(word), *cells, style="" if takes_part[place] else "dim")
    missing = [division.count_missing(takes_part) for division in found]
    if any(missing):
        table.add_section()
        table.add_row("no score", *(str(count or "") for count in missing))
    Console().print(table)


def _shade(share: float, largest: float) -> str:
    """From white on a dark ground to black on a light one."""
    part = share / largest if largest else 0.0
    red, green, blue = (int(low + (high - low) * part) for low, high in ((20, 60), (40, 220), (60, 120)))
    return f"{'black' if part > 0.5 else 'white'} on rgb({red},{green},{blue})"
