"""The commands that show methods: all of them, and what each does to one text or word."""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.cli.display import build_table, show
from textveil.cli.options import AsJson, BundleName, Overwrite, build_app, choose_options, command, refuse_unused
from textveil.cli.reporting import report
from textveil.cli.settings import build_settings, pick
from textveil.deniability import DRAWS, Estimate
from textveil.errors import BundleError, MissingExtraError, ParameterError, PluginError, ResourceError
from textveil.jobs import check_free
from textveil.lab.attacks.deniability import WordDeniability, measure_deniability
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS, Distributor, Score
from textveil.methods.distribution.allocation import check_budget
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.planning import divide, mark_kept_words
from textveil.profiles import STRICT, load_profile
from textveil.registry import Method, Registry
from textveil.storage.atomic import writing
from textveil.text.documents import Chunk, Document
from textveil.text.sentences import find_sentences
from textveil.text.stopwords import ENGLISH
from textveil.version import __version__

if TYPE_CHECKING:
    from rich.text import Text

AXES: dict[str, Registry[Any]] = {
    "decompositions": DECOMPOSERS,
    "distributions": DISTRIBUTORS,
    "mechanisms": MECHANISMS,
    "metrics": METRICS,
    "classifiers": CLASSIFIERS,
}
STANDARD = "-"
_BAR = " | "
_COLORS = ("bold green", "bold cyan")
_LIGHTEST, _DARKEST = (222, 241, 238), (6, 82, 96)
_TURNS = 0.69
"""The part from which white letters are easier to read than dark ones."""

app = build_app()

TextArgument = Annotated[list[str], typer.Argument(metavar="TEXT", help="The text, in quotes; - reads standard input.")]


class _Listed(NamedTuple):
    """A method, and the package that has it; or the reason why it cannot be used."""

    name: str
    aliases: list[str]
    package: str
    version: str
    method: type[Method] | None
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The method as JSON can hold it."""
        options = {} if self.method is None else self.method.list_options()
        return {
            "name": self.name,
            "aliases": self.aliases,
            "description": self.description,
            "options": {name: option.help for name, option in options.items()},
            "package": self.package,
            "version": self.version,
            "problem": self.problem,
        }

    @property
    def description(self) -> str:
        """The first sentence of its documentation."""
        return "" if self.method is None else (self.method.__doc__ or "").strip().partition("\n")[0]


@command(app, "methods", no_args_is_help=False)
def methods(as_json: AsJson = False) -> None:
    """List all methods, including those of plugins.

    A plugin that cannot be used is reported with the reason. All other methods work without it.

    Examples:
      textveil methods
      textveil methods --json
    """
    found = {title: list(_list_methods(registry)) for title, registry in AXES.items()}
    if as_json:
        listed = {title: [each.as_dict() for each in methods] for title, methods in found.items()}
        typer.echo(json.dumps(listed, indent=2))
        return
    for title, each_of in found.items():
        typer.echo(title)
        for each in each_of:
            if each.problem is None:
                origin = "" if each.package == "textveil" else f" ({each.package} {each.version})"
                typer.echo(f"  {each.name:<17} {each.description}{origin}")
    for each in (each for each_of in found.values() for each in each_of if each.problem is not None):
        report(f"Warning: {each.problem}")


def _list_methods(registry: Registry[Any]) -> Iterator[_Listed]:
    for name in registry:
        yield _Listed(name, registry.list_aliases(name), "textveil", __version__, registry.load(name))
    for plugin in registry.list_plugins():
        try:
            method, problem = registry.load_plugin(plugin), None
        except PluginError as error:
            method, problem = None, str(error)
        yield _Listed(plugin.name, [], plugin.package, plugin.version, method, problem)


@command(app, "decompose", methods={"--decomposition": DECOMPOSERS})
def decompose(
    text: TextArgument,
    *,
    decompositions: Annotated[list[str] | None, typer.Option("--decomposition", "-d")] = None,
    bundle: BundleName = DEFAULT_BUNDLE,
    as_json: AsJson = False,
    method_options: dict[str, Any],
) -> None:
    """Show how each decomposition splits a text into chunks.

    Underscores join the words of a chunk; a bar separates sentences. A chunk of several words has no stopword at its
    edges. With --json, the start and the stop of a chunk count words.

    Args:
        decompositions: Show only this one (repeatable): {textveil.methods.decomposition:DECOMPOSERS}.

    Examples:
      textveil decompose "People all over the world don't live in New York City."
      textveil decompose "It was out of the question." --decomposition pmi --decomposition wordnet
      textveil decompose "It was out of the question." --json
      textveil decompose - < review.txt
    """
    document = Document.parse(_read_text(text))
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
        typer.echo(json.dumps(_describe_chunks(document, found), indent=2))
    else:
        _show_chunks(document, found)


def _read_text(arguments: list[str]) -> str:
    """The one argument, or standard input."""
    if len(arguments) != 1:
        raise ParameterError("Put the text in quotes: it must be one argument.")
    if arguments[0] != STANDARD:
        return arguments[0]
    if sys.stdin is None:
        raise ParameterError("Standard input is closed. Give the text in quotes.")
    return sys.stdin.buffer.read().decode(errors="replace")


def _describe_chunks(document: Document, found: dict[str, list[Chunk]]) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{"start": chunk.start, "stop": chunk.stop, "text": document.written(chunk)} for chunk in chunks]
        for name, chunks in found.items()
    }


def _show_chunks(document: Document, found: dict[str, list[Chunk]]) -> None:
    """Print a line per decomposition; the same words stand below each other."""
    from rich.console import Console
    from rich.text import Text

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
        size = last - first + len(_BAR if position in sentences else " ")
        if used + size > width and position > start:
            yield start, position
            start, used = position, 0
        used += size
    yield start, len(document.words)


def _show_line(document: Document, chunks: Sequence[Chunk], start: int, stop: int, sentences: Container[int]) -> Text:
    from rich.text import Text

    line = Text()
    colors = cycle(_COLORS)
    first = bisect_right(chunks, start, key=lambda chunk: chunk.stop)
    for chunk in takewhile(lambda chunk: chunk.start < stop, islice(chunks, first, None)):
        words = document.words[chunk.start : chunk.stop]
        style = "dim" if ENGLISH.issuperset(words) else next(colors) if chunk.size > 1 else ""
        for position in range(max(chunk.start, start), min(chunk.stop, stop)):
            if position == chunk.start > start:
                line.append(_BAR if position in sentences else " ", "dim")
            line.append(document.written(Chunk(position, position + 1)), style)
            if position < chunk.stop - 1:
                line.append("_", style)
    return line


@dataclass(frozen=True, slots=True)
class Division:
    """How one distribution divides the budget.

    Attributes:
        name: The distribution.
        description: The distribution with its options.
        rows: Every word with its score and its share; a word that takes no part has no share.
    """

    name: str
    description: str
    rows: Sequence[tuple[str, Score, float | None]]

    @property
    def missing(self) -> int:
        """The number of words that should have a share and got no score."""
        return sum(score is None and share is not None for _, score, share in self.rows)


@command(app, "distribute", methods={"--distribution": DISTRIBUTORS})
def distribute(
    text: TextArgument,
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", "-e")],
    distributions: Annotated[list[str] | None, typer.Option("--distribution", "-d")] = None,
    profile: str = STRICT.name,
    stopwords: str | None = None,
    html: Path | None = None,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
    method_options: dict[str, Any],
) -> None:
    """Show how each distribution divides a budget over words.

    Kept stopwords get nothing. A word without a score gets the mean of the others (profile strict) or nothing (paper).

    Args:
        distributions: Show only this one (repeatable): {textveil.methods.distribution:DISTRIBUTORS}.
        profile: How stopwords and words without a score are handled: {textveil.profiles:PROFILES}.
        epsilon: The budget of the text.
        stopwords: keep or perturb; by default the profile decides.
        html: Write an HTML page with colored boxes to this file.

    Examples:
      textveil distribute "The soup was cold and the waiter rude." --epsilon 14
      textveil distribute "The soup was cold." --epsilon 14 --distribution attention --distribution yake
      textveil distribute "The soup was cold." --epsilon 14 --html shares.html
      textveil distribute - --epsilon 60 --json < review.txt
    """
    budget = check_budget(epsilon)
    if html is not None:
        check_free(html, overwrite=overwrite)
    document = Document.parse(_read_text(text))
    rules = load_profile(profile)
    takes_part = [not keeps for keeps in mark_kept_words(document, profile=rules, stopwords=stopwords)]
    words = [document.text[start:stop] for start, stop in document.spans]
    found: list[Division] = []
    for distributor, scores in _score(document, distributions, method_options):
        shares = divide(distributor, scores, takes_part, budget=budget, profile=rules)
        taken = [share if takes else None for share, takes in zip(shares, takes_part, strict=True)]
        rows = list(zip(words, scores, taken, strict=True))
        found.append(Division(distributor.name, distributor.description, rows))
    if html is not None:
        with writing(html, private=True) as stream:
            stream.write(draw_page(found, budget).encode(errors="replace"))
    if as_json:
        typer.echo(json.dumps({division.name: _describe_division(division) for division in found}, indent=2))
    else:
        _show_shares(words, found, budget)


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


def draw_page(divisions: Sequence[Division], budget: float) -> str:
    """The page as HTML, which needs no other file."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("textveil.cli", ""), autoescape=True)
    environment.filters["number"] = "{:.3g}".format
    template = environment.get_template("shares.html")
    largest = _find_largest(divisions)
    return template.render(divisions=divisions, budget=budget, largest=largest, mix=_mix, turns=_TURNS)


def _find_largest(divisions: Sequence[Division]) -> float:
    return max((share or 0.0 for division in divisions for _, _, share in division.rows), default=0.0)


def _shade(share: float, largest: float) -> Text:
    """A share on its color."""
    from rich.text import Text

    part = share / largest if largest else 0.0
    return Text(f" {share:.3g} ", style=f"{'white' if part > _TURNS else 'black'} on {_mix(part)}")


def _mix(part: float) -> str:
    """A color between the lightest and the darkest."""
    mixed = (round(light + part * (dark - light)) for light, dark in zip(_LIGHTEST, _DARKEST, strict=True))
    return f"rgb({','.join(map(str, mixed))})"


def _describe_division(division: Division) -> dict[str, Any]:
    words = [{"word": word, "score": score, "share": share or 0.0} for word, score, share in division.rows]
    return {"description": division.description, "words": words}


def _show_shares(words: Sequence[str], found: Sequence[Division], budget: float) -> None:
    """Print a table: a line per word and a column per distribution; larger shares are darker."""
    from rich.text import Text

    largest = _find_largest(found)
    rows: list[list[str | Text]] = []
    for word, *cells in zip(words, *(division.rows for division in found), strict=True):
        shares = [share for _, _, share in cells]
        shown = ["" if share is None else _shade(share, largest) for share in shares]
        rows.append([Text(word, style="dim" if None in shares else ""), *shown])
    names = [division.name for division in found]
    table = build_table(["word", *names], rows, right=names, title=f"budget {budget:g}")
    if any(division.missing for division in found):
        table.add_section()
        table.add_row("no score", *(str(division.missing or "") for division in found))
    show(table)


@command(
    app,
    "deniability",
    settings=pick("epsilon_per_word", "level", "mechanism", "decomposition", "profile", "largest_share"),
    methods={"--decomposition": DECOMPOSERS, "--mechanism": MECHANISMS},
)
def deniability(
    words: Annotated[list[str], typer.Argument(metavar="WORDS...")],
    *,
    settings: dict[str, Any],
    bundle: BundleName = DEFAULT_BUNDLE,
    draws: Annotated[int, typer.Option(min=1)] = DRAWS,
    as_json: AsJson = False,
    method_options: dict[str, Any],
) -> None:
    """Show how deniable words are.

    Shows how likely a word stays unchanged, what else it may become, and how often an attacker guesses it.

    The values are exact for the mechanisms exponential and fluent. For others they come from draws, with 95 %
    intervals. The attacker who guesses knows the mechanism, the share and the frequencies of words.

    Args:
        words: Words; one of several words in quotes.
        draws: Number of draws for each word, if the mechanism has no closed form.

    Examples:
      textveil deniability tea coffee Boston
      textveil deniability "new york" --epsilon-per-word 10 --mechanism exponential --json
      textveil deniability tea --epsilon-per-word 40 --mechanism madlib --draws 20000
    """
    obfuscator = Obfuscator(build_settings(bundle, settings, method_options))
    wanted = obfuscator.build_budget().epsilon_per_word or 0.0
    share = min(wanted, obfuscator.largest_share)
    if share < wanted:
        report(f"The share is limited to {share:.3g}, as in obfuscate. To lift the limit: --largest-share inf")
    found = measure_deniability(obfuscator, words, share=share, draws=draws)
    if as_json:
        method = obfuscator.mechanism.description
        values = {"mechanism": method, "share": share, "words": [word.as_dict() for word in found]}
        typer.echo(json.dumps(values, indent=2, allow_nan=False))
    else:
        _show_deniability(found, f"{obfuscator.mechanism.description}, share {share:.4g}")


def _show_deniability(found: list[WordDeniability], title: str) -> None:
    """Print a line per word."""
    heads = ("word", "stays", "may become", "guessed")
    rows = [
        (
            word.word if word.known else f"{word.word} (unknown)",
            _write(word.stays, ".2%"),
            _write(word.others, ".0f"),
            _write(word.guessed, ".2%"),
        )
        for word in found
    ]
    show(build_table(heads, rows, right=heads[1:], title=title, title_justify="left"))
    typer.echo(
        "stays: the word replaces itself. may become: other words with more than 1% each. guessed: by an attacker."
    )


def _write(estimate: Estimate, form: str) -> str:
    shown = f"{estimate.value:{form}}"
    return shown if estimate.low == estimate.high else f"{shown} ({estimate.low:{form}} to {estimate.high:{form}})"
