"""``textveil audit``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.budget import LEVEL
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import Vectors
from textveil.certificate import Certificate
from textveil.cli.display import showing_progress
from textveil.cli.obfuscate import FORM_HELP, LEVELS_HELP, MECHANISM_HELP, build_obfuscator
from textveil.cli.options import flag_of, with_method_options
from textveil.cli.reporting import FAILURE, reporting_errors
from textveil.draft import DRAFT_SHARE
from textveil.errors import ParameterError
from textveil.lab.audit import Audit, Claims, Command, Finding, Verdict, audit_obfuscator, choose_pairs
from textveil.lab.audit import audit as audit_texts
from textveil.lab.audit.auditing import CONFIDENCE, DRAWS
from textveil.lab.audit.claims import claim_by_distance, claim_per_word, read_pairs
from textveil.lab.metrics.replay import rebuild_obfuscator
from textveil.lab.metrics.verification import check_statements
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.distribution.allocation import check_budget
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES
from textveil.settings import DISTRIBUTION

DISTANCE = "distance"
STYLES = {
    Verdict.VIOLATED: "bold red",
    Verdict.NOT_REFUTED: "green",
    Verdict.NO_CLAIM: "yellow",
    Verdict.NOT_NEIGHBORS: "dim",
}
EXAMPLES = """
\b
Examples:
  textveil audit --epsilon-per-word 10
  textveil audit --epsilon-per-word 10 --mechanism exponential --dimensions 64 --profile proven --draws 100000
  textveil audit --certificate out.json
  textveil audit --command "python their_tool.py --epsilon 4" --claim 4
  textveil audit --command "./tool" --claim distance --epsilon-per-word 10 --json
  textveil audit --epsilon-per-word 10 --pairs pairs.tsv

\b
Exit codes: 0 if no claim was refuted, 1 if one was, 2 if the auditee or an argument is wrong.
"""


@reporting_errors
@with_method_options(DECOMPOSERS, DISTRIBUTORS, MECHANISMS)
def audit(
    *,
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The budget of a text.")] = None,
    epsilon_per_word: Annotated[float | None, typer.Option(help="The budget per word that is perturbed.")] = None,
    level: Annotated[
        str | None,
        typer.Option(help=f"The level of protection, instead of a number. {LEVELS_HELP}. By default {LEVEL}."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Audit the settings and the budget of this certificate.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(help="Audit a command instead: it reads texts and writes answers, one per line. Needs --claim."),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            help="The claim to refute: the largest log-ratio for any two words, or distance, which is "
            "--epsilon-per-word times the distance of the words in the bundle. By default that of the certificate."
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Number of answers to draw for each text.")] = DRAWS,
    confidence: Annotated[
        float, typer.Option(help="Probability that all shown bounds hold at the same time.")
    ] = CONFIDENCE,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="A file of pairs: two texts per line, tab-separated. By default, pairs of words of the bundle."
        ),
    ] = None,
    profile: Annotated[str | None, typer.Option(help=f"The profile: {', '.join(PROFILES)}.")] = None,
    decomposition: Annotated[
        str | None, typer.Option(help=f"How texts are split: {', '.join(DECOMPOSERS)}. By default as in obfuscate.")
    ] = None,
    distribution: Annotated[
        str | None, typer.Option(help=f"How the budget is divided: {', '.join(DISTRIBUTORS)}.")
    ] = None,
    mechanism: Annotated[str | None, typer.Option(help=MECHANISM_HELP)] = None,
    stopwords: Annotated[
        str | None, typer.Option(help="keep or perturb stopwords. By default the profile decides.")
    ] = None,
    draft_share: Annotated[float | None, typer.Option(flag_of(DRAFT_SHARE), help=DRAFT_SHARE.help)] = None,
    form: Annotated[str | None, typer.Option(help=FORM_HELP)] = None,
    largest_share: Annotated[float | None, typer.Option(help="The largest share, as in obfuscate.")] = None,
    bundle: Annotated[str, typer.Option(help="The name or folder of a bundle.")] = DEFAULT_BUNDLE,
    seed: Annotated[int | None, typer.Option(help="Make the noise, and so the audit, repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    method_options: dict[str, Any],
) -> None:
    """Try to refute the claim of a certificate or of another tool.

    Draws answers to pairs of public texts that are hard cases: near and far words, known and unknown words, and so on.
    Looks for an event that distinguishes the two texts of a pair, and bounds its log-ratio on other answers. A bound
    above the claim refutes the claim. If the mechanism has a closed form, the audit also computes exact log-ratios.
    """
    axes: dict[str, Any] = {
        "profile": profile,
        "decomposition": decomposition,
        "distribution": distribution,
        "mechanism": mechanism,
    }
    axes |= {"stopwords": stopwords, "form": form, "draft_share": draft_share, "largest_share": largest_share}
    axes["seed"] = seed
    settings = {name: value for name, value in axes.items() if value is not None}
    budget: dict[str, Any] = {"epsilon": epsilon, "epsilon_per_word": epsilon_per_word, "level": level}
    _check_combination(command, certificate, claim, [*settings, *method_options], budget)
    options: dict[str, Any] = {
        "pairs": None if pairs is None else read_pairs(pairs),
        "draws": draws,
        "confidence": confidence,
    }
    with showing_progress(quiet, unit_of=lambda _: "answers") as progress:
        options["progress"] = progress
        if command is not None:
            name, result = command, _audit_command(command, bundle, str(claim), epsilon_per_word, options)
        else:
            obfuscator, given = _build(certificate, bundle, settings, method_options, budget)
            if claim is not None:
                per_word = given["budget"].epsilon_per_word if certificate is not None else epsilon_per_word
                given["claims"] = _read_claim(claim, obfuscator.mechanism.space, per_word)
            name, result = repr(obfuscator), audit_obfuscator(obfuscator, **given, **options)
    if as_json:
        typer.echo(json.dumps({"auditee": name, **result.as_dict()}, indent=2, allow_nan=False))
    else:
        _show(name, result)
    if result.violations:
        raise typer.Exit(FAILURE)


def _check_combination(
    command: str | None,
    certificate: Path | None,
    claim: str | None,
    settings: list[str],
    budget: Mapping[str, Any],
) -> None:
    """Refuse flags that contradict each other."""
    if command is not None and certificate is not None:
        raise ParameterError("Give --command or --certificate, not both.")
    if command is not None and budget["epsilon"] is not None:
        raise ParameterError(
            "--epsilon does not go with --command. Give the claim per word: --claim, or with distance "
            "--epsilon-per-word."
        )
    if command is not None and claim is None:
        raise ParameterError("--command needs --claim: a log-ratio for any two words, or distance.")
    if settings and (command is not None or certificate is not None):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in settings)
        other = "--command" if command is not None else "--certificate"
        raise ParameterError(f"{named} does not go with {other}, which decides this.")
    if certificate is not None and any(value is not None for value in budget.values()):
        raise ParameterError("Give a budget or --certificate, which has one, not both.")


def _audit_command(
    command: str, bundle: str, claim: str, epsilon_per_word: float | None, options: dict[str, Any]
) -> Audit:
    """Audit another tool, with texts of the bundle's words."""
    space = Bundle.load(bundle).vectors("words")
    pairs = options.pop("pairs") or choose_pairs(space)
    return audit_texts(Command(command), pairs, _read_claim(claim, space, epsilon_per_word), **options)


def _read_claim(claim: str, space: Vectors, epsilon_per_word: float | None) -> Claims:
    """The claim that is given on the command line."""
    if claim == DISTANCE:
        if epsilon_per_word is None:
            raise ParameterError("--claim distance needs --epsilon-per-word, which distances are multiplied by.")
        return claim_by_distance(space, check_budget(epsilon_per_word, "epsilon_per_word"))
    try:
        bound = float(claim)
    except ValueError:
        bound = math.nan
    if not bound >= 0:
        raise ParameterError("--claim must be a number of at least 0, or distance.")
    return claim_per_word(bound)


def _build(
    certificate: Path | None,
    bundle: str,
    settings: Mapping[str, Any],
    method_options: dict[str, Any],
    budget: Mapping[str, Any],
) -> tuple[Obfuscator, dict[str, Any]]:
    """The obfuscator to audit, and its budget."""
    if certificate is not None:
        issued = Certificate.load(certificate)
        obfuscator = rebuild_obfuscator(issued.terms, bundle)
        check_statements(issued, obfuscator)
        return obfuscator, {"budget": issued.budget}
    given = {"decomposition": None, "distribution": DISTRIBUTION, "mechanism": None, **settings}
    split, divide, perturb = (given.pop(name) for name in ("decomposition", "distribution", "mechanism"))
    return build_obfuscator(bundle, split, divide, perturb, method_options, **given), dict(budget)


def _show(name: str, result: Audit) -> None:
    """Print a line per pair, and what refutes the claim."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"log-ratios of {name}"), title_justify="left")
    table.add_column("pair")
    for column in ("claimed", "exact", "shown"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for finding in result.findings:
        claim, verdict = finding.claim, finding.verdict
        reason = "" if claim.not_covered is None else f": {claim.not_covered}"
        cells = [_write(value) for value in (claim.bound, claim.exact, finding.shown)]
        table.add_row(Text(finding.pair.kind), *cells, f"{verdict.value}{reason}", style=STYLES[verdict])
    Console().print(table)
    for finding in result.violations:
        typer.echo(_tell(finding))
    tried = sum(finding.shown is not None for finding in result.findings)
    found = f"{len(result.violations)} of {tried} pairs refute the claim"
    typer.echo(
        f"{found if result.violations else f'None of {tried} pairs refutes the claim'}: {result.draws:,} answers to "
        f"each text, {result.confidence:.4g} confidence for all bounds together. This number of answers can show a "
        f"log-ratio of at most {result.reach:.1f}."
    )


def _write(value: float | None) -> str:
    return "" if value is None or math.isinf(value) else f"{value:.3f}"


def _tell(finding: Finding) -> str:
    """A violation in one line."""
    if finding.shown is None or finding.shown <= finding.claim.bound or finding.counts is None:
        return f"- {finding.pair.kind}: the exact log-ratio {_write(finding.claim.exact)} is above the claim."
    likely, unlikely = finding.counts
    return f"- {finding.pair.kind}: {finding.event}, {likely:,} times for one text and {unlikely:,} for the other."
