"""``textveil decompose``."""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from itertools import cycle, islice, takewhile
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.cli.options import choose_options, refuse_unused, with_method_options
from textveil.cli.reporting import report, reporting_errors
from textveil.errors import BundleError, ParameterError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.text.documents import Chunk, Document
from textveil.text.sentences import find_sentences
from textveil.text.stopwords import ENGLISH

STANDARD = "-"
BAR = " | "
COLORS = ("bold green", "bold cyan")
EXAMPLES = """
\b
Examples:
  textveil decompose "People all over the world don't live in New York City."
  textveil decompose "It was out of the question." --decomposition pmi --decomposition wordnet
  textveil decompose "It was out of the question." --json
  textveil decompose - < review.txt
"""


@reporting_errors
@with_method_options(DECOMPOSERS)
def decompose(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The text, in quotes; - reads standard input.")],
    *,
    decompositions: Annotated[
        list[str] | None,
        typer.Option("--decomposition", "-d", help=f"Show only this one (repeatable): {', '.join(DECOMPOSERS)}."),
    ] = None,
    bundle: Annotated[str, typer.Option(help="The name or folder of the bundle with the lexicons.")] = DEFAULT_BUNDLE,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the chunks as JSON: start and stop (in words), and the text.")
    ] = False,
    method_options: dict[str, Any],
) -> None:
    """Show how each decomposition splits a text into chunks.

    Underscores join the words of a chunk; a bar separates sentences. A chunk of several words has no stopword at its
    edges.
    """
    document = Document.parse(read_text(text))
    opened = Bundle.load(bundle)
    chosen = [DECOMPOSERS.load(name) for name in decompositions or DECOMPOSERS]
    refuse_unused(method_options, chosen, {"--decomposition": DECOMPOSERS})
    found: dict[str, list[Chunk]] = {}
    for decomposer in chosen:
        options = choose_options(decomposer, method_options)
        try:
            found[decomposer.name] = decomposer(opened, **options).decompose([document])[0]
        except BundleError as error:  # other bundles may have fewer lexicons
            if decompositions:
                raise
            report(f"{decomposer.name}: {error}")
    if as_json:
        typer.echo(json.dumps(_as_dict(document, found), indent=2))
    else:
        _show(document, found)


def read_text(arguments: list[str]) -> str:
    """The one argument, or standard input."""
    if len(arguments) != 1:
        raise ParameterError("Put the text in quotes: it must be one argument.")
    if arguments[0] != STANDARD:
        return arguments[0]
    if sys.stdin is None:
        raise ParameterError("Standard input is closed. Give the text in quotes.")
    return sys.stdin.buffer.read().decode(errors="replace")


def _as_dict(document: Document, found: dict[str, list[Chunk]]) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{"start": chunk.start, "stop": chunk.stop, "text": document.written(chunk)} for chunk in chunks]
        for name, chunks in found.items()
    }


def _show(document: Document, found: dict[str, list[Chunk]]) -> None:
    """Print a line per decomposition; the same words stand below each other."""
    console = Console(highlight=False, soft_wrap=True)
    label = 2 + max(map(len, found), default=0)
    sentences = {start for start, _ in find_sentences(document)}
    for start, stop in _break_lines(document, console.width - label, sentences):
        for name, chunks in found.items():
            line = _show_line(document, chunks, start, stop, sentences)
            console.print(Text.assemble((f"{name:<{label}}", "bold"), line))
        if stop < len(document.words):
            console.print()


def _break_lines(document: Document, width: int, sentences: Container[int]) -> Iterator[tuple[int, int]]:
    """From which word to which a line reaches."""
    start = used = 0
    for position, (first, last) in enumerate(document.spans):
        size = last - first + len(BAR if position in sentences else " ")
        if used + size > width and position > start:
            yield start, position
            start, used = position, 0
        used += size
    yield start, len(document.words)


def _show_line(document: Document, chunks: Sequence[Chunk], start: int, stop: int, sentences: Container[int]) -> Text:
    line = Text()
    colors = cycle(COLORS)
    first = bisect_right(chunks, start, key=lambda chunk: chunk.stop)
    for chunk in takewhile(lambda chunk: chunk.start < stop, islice(chunks, first, None)):
        words = document.words[chunk.start : chunk.stop]
        style = "dim" if ENGLISH.issuperset(words) else next(colors) if chunk.size > 1 else ""
        for position in range(max(chunk.start, start), min(chunk.stop, stop)):
            if position == chunk.start > start:
                line.append(BAR if position in sentences else " ", "dim")
            line.append(document.written(Chunk(position, position + 1)), style)
            if position < chunk.stop - 1:
                line.append("_", style)
    return line
