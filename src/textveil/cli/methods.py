"""The commands that show methods: all of them, and what each does to one text or word."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.cli.options import AsJson, BundleName, Overwrite, build_app, choose_options, command, refuse_unused
from textveil.cli.reporting import print_json, print_table, report, write_file
from textveil.cli.settings import build_settings, pick
from textveil.deniability import DRAWS, Estimate
from textveil.errors import BundleError, MissingExtraError, ParameterError, PluginError, ResourceError
from textveil.jobs import check_free
from textveil.lab.attacks.deniability import measure_deniability
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS, Distributor, Score
from textveil.methods.distribution.allocation import check_budget
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.planning import divide, mark_kept_words
from textveil.profiles import STRICT, load_profile
from textveil.registry import Registry
from textveil.text.documents import Chunk, Document
from textveil.text.sentences import find_sentences
from textveil.version import __version__

AXES: dict[str, Registry[Any]] = {
    "decompositions": DECOMPOSERS,
    "distributions": DISTRIBUTORS,
    "mechanisms": MECHANISMS,
    "metrics": METRICS,
    "classifiers": CLASSIFIERS,
}
STANDARD = "-"
app = build_app()

TextArgument = Annotated[list[str], typer.Argument(metavar="TEXT", help="The text, in quotes; - reads standard input.")]


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
        print_json(found)
        return
    for title, listed in found.items():
        typer.echo(title)
        for each in listed:
            if each["problem"] is None:
                origin = "" if each["package"] == "textveil" else f" ({each['package']} {each['version']})"
                typer.echo(f"  {each['name']:<17} {each['description']}{origin}")
    for each in (each for listed in found.values() for each in listed if each["problem"] is not None):
        report(f"Warning: {each['problem']}")


def _list_methods(registry: Registry[Any]) -> Iterator[dict[str, Any]]:
    """All methods of an axis, with the packages that have them; or the reason why one cannot be used."""
    own = {"package": "textveil", "version": __version__, "problem": None}
    for name in registry:
        yield {"name": name, "aliases": registry.list_aliases(name), **_describe_method(registry.load(name)), **own}
    for plugin in registry.list_plugins():
        try:
            method, problem = registry.load_plugin(plugin), None
        except PluginError as error:
            method, problem = None, str(error)
        origin = {"package": plugin.package, "version": plugin.version, "problem": problem}
        yield {"name": plugin.name, "aliases": [], **_describe_method(method), **origin}


def _describe_method(method: Any) -> dict[str, Any]:
    """The first sentence about a method, and about its options; nothing about one that cannot be loaded."""
    options = {} if method is None else method.list_options()
    return {
        "description": "" if method is None else (method.__doc__ or "").strip().partition("\n")[0],
        "options": {name: option.help for name, option in options.items()},
    }


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

    Underscores join the words of a chunk; every sentence begins new lines. A chunk of several words has no stopword at
    its edges. With --json, the start and the stop of a chunk count words.

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
        print_json({name: _describe_chunks(document, chunks) for name, chunks in found.items()})
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


def _describe_chunks(document: Document, chunks: list[Chunk]) -> list[dict[str, object]]:
    return [{"start": chunk.start, "stop": chunk.stop, "text": document.written(chunk)} for chunk in chunks]


def _show_chunks(document: Document, found: dict[str, list[Chunk]]) -> None:
    """Print a line per sentence and decomposition; the same words stand below each other."""
    width = 2 + max(map(len, found), default=0)
    for number, (start, stop) in enumerate(find_sentences(document) or [(0, 0)]):
        if number:
            typer.echo()
        for name, chunks in found.items():
            inside = (chunk for chunk in chunks if start <= chunk.start < stop)
            words = (
                [document.text[slice(*span)] for span in document.spans[chunk.start : chunk.stop]] for chunk in inside
            )
            typer.echo(f"{name:<{width}}{' '.join(map('_'.join, words))}".rstrip())


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
    found = {}
    for distributor, scores in _score(document, distributions, method_options):
        shares = divide(distributor, scores, takes_part, budget=budget, profile=rules)
        rows = [
            dict(zip(("word", "score", "share"), row, strict=True)) for row in zip(words, scores, shares, strict=True)
        ]
        found[distributor.name] = {"description": distributor.description, "words": rows}
    if html is not None:
        write_file(html, _draw_page(found, takes_part, budget), private=True)
    if as_json:
        print_json(found)
    else:
        _show_shares(found, words, takes_part, budget)


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


def _draw_page(found: Mapping[str, Any], takes_part: Sequence[bool], budget: float) -> str:
    """The page as HTML, which needs no other file."""
    from jinja2 import Environment, PackageLoader

    template = Environment(loader=PackageLoader("textveil.cli", ""), autoescape=True).get_template("shares.html")
    shares = (word["share"] for division in found.values() for word in division["words"])
    return template.render(found=found, takes_part=takes_part, budget=budget, largest=max(shares, default=0.0))


def _show_shares(found: Mapping[str, Any], words: Sequence[str], takes_part: Sequence[bool], budget: float) -> None:
    """Print a table: a line per word and a column per distribution; an asterisk marks a word without a score."""
    columns = [[_write_share(word) for word in division["words"]] for division in found.values()]
    rows = [
        (word, *(shares if takes else [""] * len(shares)))
        for word, takes, *shares in zip(words, takes_part, *columns, strict=True)
    ]
    print_table(["word", *found], rows, right=found, title=f"budget {budget:g} (* no score)")


def _write_share(word: Mapping[str, Any]) -> str:
    return f"{'*' if word['score'] is None else ''}{word['share']:.3g}"


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
        print_json(values)
        return
    rows = [
        (
            word.word if word.known else f"{word.word} (unknown)",
            _write(word.stays, ".2%"),
            _write(word.others, ".0f"),
            _write(word.guessed, ".2%"),
        )
        for word in found
    ]
    heads = ("word", "stays", "may become", "guessed")
    print_table(heads, rows, right=heads[1:], title=f"{obfuscator.mechanism.description}, share {share:.4g}")
    typer.echo("may become: the number of other words with more than 1% each.")


def _write(estimate: Estimate, form: str) -> str:
    shown = f"{estimate.value:{form}}"
    return shown if estimate.low == estimate.high else f"{shown} ({estimate.low:{form}} to {estimate.high:{form}})"
