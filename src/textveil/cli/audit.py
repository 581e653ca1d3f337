"""``textveil audit``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import Vectors
from textveil.certificate import Certificate
from textveil.cli.options import AsJson, BundleName, Quiet, build_app
from textveil.cli.options import command as register
from textveil.cli.reporting import FAILURE, print_json, print_table, showing_progress
from textveil.cli.settings import BUDGET, METHODS, build_settings, pick
from textveil.errors import ParameterError
from textveil.lab.audit import Audit, Claims, Command, Finding, audit_obfuscator, choose_pairs
from textveil.lab.audit import audit as audit_texts
from textveil.lab.audit.auditing import CONFIDENCE, DRAWS
from textveil.lab.audit.claims import claim_by_distance, claim_per_word, read_pairs
from textveil.lab.metrics.replay import rebuild_obfuscator
from textveil.lab.metrics.verification import check_statements
from textveil.methods.distribution.allocation import check_budget
from textveil.obfuscator import Obfuscator

DISTANCE = "distance"
app = build_app()


@register(
    app,
    "audit",
    settings=pick(
        *BUDGET,
        *("profile", "decomposition", "distribution", "mechanism", "stopwords", "draft_share", "form"),
        *("largest_share", "seed"),
    ),
    methods=METHODS,
)
def audit(
    *,
    settings: dict[str, Any],
    certificate: Path | None = None,
    command: str | None = None,
    claim: str | None = None,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    pairs: Path | None = None,
    bundle: BundleName = DEFAULT_BUNDLE,
    as_json: AsJson = False,
    quiet: Quiet = False,
    method_options: dict[str, Any],
) -> None:
    """Try to refute the claim of a certificate or of another tool.

    Draws answers to pairs of public texts that are hard cases: near and far words, known and unknown words, and so on.
    Looks for an event that distinguishes the two texts of a pair, and bounds its log-ratio on other answers. A bound
    above the claim refutes the claim. If the mechanism has a closed form, the audit also computes exact log-ratios.
    The exit code is 0 if no claim was refuted, 1 if one was, and 2 if the auditee or an argument is wrong.

    Args:
        certificate: Audit the settings and the budget of this certificate.
        command: Audit a command instead: it reads texts and writes answers, one per line. Needs --claim.
        claim: The claim to refute: the largest log-ratio for any two words, or distance, which is --epsilon-per-word
            times the distance of the words in the bundle. By default that of the certificate.
        draws: Number of answers to draw for each text.
        confidence: Probability that all shown bounds hold at the same time.
        pairs: A file of pairs: two texts per line, tab-separated. By default, pairs of words of the bundle.

    Examples:
      textveil audit --epsilon-per-word 10
      textveil audit --epsilon-per-word 10 --mechanism exponential --dimensions 64 --profile proven --draws 100000
      textveil audit --certificate out.json
      textveil audit --command "python their_tool.py --epsilon 4" --claim 4
      textveil audit --command "./tool" --claim distance --epsilon-per-word 10 --json
      textveil audit --epsilon-per-word 10 --pairs pairs.tsv
    """
    budget = {name: settings.pop(name) for name in BUDGET if name in settings}
    _check_combination(command, certificate, claim, [*settings, *method_options], budget)
    per_word = budget.get("epsilon_per_word")
    options: dict[str, Any] = {"pairs": pairs and read_pairs(pairs), "draws": draws, "confidence": confidence}
    with showing_progress(quiet, "answers") as progress:
        options["progress"] = progress
        if command is not None:
            name, result = command, _audit_command(command, bundle, str(claim), per_word, options)
        else:
            if certificate is None:
                obfuscator, given = Obfuscator(build_settings(bundle, settings, method_options)), budget
            else:
                issued = Certificate.load(certificate)
                obfuscator, given = rebuild_obfuscator(issued.terms, bundle), {"budget": issued.budget}
                check_statements(issued, obfuscator)
                per_word = issued.budget.epsilon_per_word
            if claim is not None:
                options["claims"] = _read_claim(claim, obfuscator.mechanism.space, per_word)
            name, result = repr(obfuscator), audit_obfuscator(obfuscator, **given, **options)
    if as_json:
        print_json({"auditee": name, **result.as_dict()})
    else:
        _show(name, result)
    if result.violations:
        raise typer.Exit(FAILURE)


def _check_combination(
    command: str | None, certificate: Path | None, claim: str | None, settings: list[str], budget: Mapping[str, Any]
) -> None:
    """Refuse flags that contradict each other."""
    if certificate is not None and (command is not None or budget):
        raise ParameterError("Give only one of --certificate, --command, and a budget.")
    if command is not None and (claim is None or "epsilon" in budget):
        raise ParameterError(
            "--command needs --claim: a log-ratio for any two words, or distance with --epsilon-per-word. It has no "
            "--epsilon."
        )
    if settings and (command is not None or certificate is not None):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in settings)
        raise ParameterError(f"{named} does not go with --command or --certificate, which decides this.")


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


def _show(name: str, result: Audit) -> None:
    """Print a line per pair, and what refutes the claim."""
    rows = []
    for finding in result.findings:
        values = map(_write, (finding.claim.bound, finding.claim.exact, finding.shown))
        verdict = ": ".join(filter(None, (finding.verdict.value, finding.claim.not_covered)))
        rows.append((finding.pair.kind, *values, verdict))
    numbers = ("claimed", "exact", "shown")
    print_table(("pair", *numbers, "verdict"), rows, right=numbers, title=f"log-ratios of {name}")
    for finding in result.violations:
        typer.echo(_tell(finding))
    tried = sum(finding.shown is not None for finding in result.findings)
    typer.echo(
        f"{len(result.violations)} of {tried} pairs refute the claim: {result.draws:,} answers to each text, "
        f"{result.confidence:.4g} confidence for all bounds together. This number of answers can show a log-ratio of "
        f"at most {result.reach:.1f}."
    )


def _write(value: float | None) -> str:
    return "" if value is None or math.isinf(value) else f"{value:.3f}"


def _tell(finding: Finding) -> str:
    """A violation in one line."""
    if finding.shown is None or finding.shown <= finding.claim.bound or finding.counts is None:
        return f"- {finding.pair.kind}: the exact log-ratio {_write(finding.claim.exact)} is above the claim."
    likely, unlikely = finding.counts
    return f"- {finding.pair.kind}: {finding.event}, {likely:,} times for one text and {unlikely:,} for the other."
