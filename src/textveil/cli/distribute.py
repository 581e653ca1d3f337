"""``textveil distribute``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.decompose import read_text
from textveil.cli.method_options import choose_options, refuse_unused, with_method_options
from textveil.cli.reporting import report, reporting_errors
from textveil.cli.share_page import Division, draw_page
from textveil.distribution import DISTRIBUTORS, Distributor, Score
from textveil.distribution.allocation import check_budget
from textveil.errors import MissingExtraError, ResourceError
from textveil.jobs import check_free
from textveil.language.text import Document
from textveil.privacy.kept import mark_kept_words
from textveil.privacy.planning import divide
from textveil.privacy.profiles import PROFILES, STRICT, load_profile
from textveil.storage.atomic import writing

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
