"""Output for people: the table of chunks, the progress bar and the summary of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from textveil.cli.reporting import report
from textveil.distribution import Score
from textveil.mechanisms.base import NO_GUARANTEE
from textveil.privacy.certificate import Certificate
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.results import Obfuscation
from textveil.progress import Progress, ignore_progress

SECONDS_BETWEEN_LINES = 60.0
"""The time between two lines of progress, where there is no progress bar."""
COLORS = {
    Outcome.PERTURBED: "green",
    Outcome.DRAWN: "cyan",
    Outcome.KEPT_STOPWORD: "dim",
    Outcome.KEPT_UNKNOWN: "bold red",
    Outcome.KEPT_NO_SHARE: "bold red",
}
WORDS_FOR = {
    Outcome.PERTURBED: "perturbed",
    Outcome.DRAWN: "drawn for unknown words",
    Outcome.KEPT_STOPWORD: "stopwords kept",
    Outcome.KEPT_UNKNOWN: "IN CLEAR because unknown",
    Outcome.KEPT_NO_SHARE: "IN CLEAR because they have no share",
}


def explain(result: Obfuscation) -> None:
    """Print a table: chunk, draft if there is one, the scores of its words, share, outcome, replacement."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"budget {result.certificate.tally.largest_budget:g}, profile {result.certificate.terms.profile.name}"
    )
    drafted = result.certificate.terms.draft_share is not None
    table.add_column("chunk")
    if drafted:
        table.add_column("draft share", justify="right")
        table.add_column("draft")
    table.add_column("scores of the draft" if drafted else "scores", justify="right")
    table.add_column("share", justify="right")
    table.add_column("outcome")
    table.add_column("replacement")
    for chunk in result.chunks:
        table.add_row(
            Text(chunk.original),
            *((f"{chunk.draft_share:.4g}", Text(chunk.draft or "")) if drafted else ()),
            "" if chunk.outcome is Outcome.KEPT_STOPWORD else " + ".join(map(_write_score, chunk.scores)),
            f"{chunk.share:.4g}" if chunk.share else "",
            chunk.outcome.value,
            Text(chunk.replacement or ""),
            style=COLORS[chunk.outcome],
        )
    Console().print(table)


def _write_score(score: Score) -> str:
    return "none" if score is None else f"{score:.3g}"


@contextmanager
def showing_progress(quiet: bool, unit_of: Callable[[str], str] = lambda _: "documents") -> Iterator[Progress]:
    """A progress bar on a terminal, and a line a minute elsewhere, such as in a log; nothing if ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield ignore_progress if quiet else _ProgressLines(unit_of)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[amount]:,} {task.fields[unit]}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, tuple[TaskID, int]] = {}

        def advance(stage: str, amount: int, fraction: float | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0, amount=0, rate="", unit=unit_of(stage)), amount
            task, first = tasks[stage]
            elapsed = bar.tasks[task].elapsed or 0.0
            rate = f"{(amount - first) / elapsed:,.0f}/s" if elapsed > 1 else ""
            total = None if fraction is None else 1.0
            bar.update(task, total=total, completed=fraction or 0.0, amount=amount, rate=rate)

        yield advance


class _ProgressLines:
    """Writes a line to standard error now and then.

    Args:
        unit_of: The unit of the amount of a stage.
    """

    def __init__(self, unit_of: Callable[[str], str]) -> None:
        self._unit_of = unit_of
        self._due = time.monotonic() + SECONDS_BETWEEN_LINES

    def __call__(self, stage: str, amount: int, fraction: float | None) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + SECONDS_BETWEEN_LINES
        share = "" if fraction is None else f" ({fraction:.0%})"
        report(f"{stage}: {amount:,} {self._unit_of(stage)}{share}")


def summarize(certificate: Certificate, seconds: float) -> list[str]:
    """A few lines on what a run did and what it protects."""
    tally, profile = certificate.tally, certificate.terms.profile
    documents, words = tally.documents.total(), tally.words.total()
    rate = documents / seconds if seconds > 0 else 0.0
    lines = [f"{documents:,} documents, {words:,} words in {seconds:.1f} s ({rate:,.0f} documents/s)"]
    shown = [
        f"{WORDS_FOR[outcome]} {count / words:.1%}" for outcome in Outcome if words and (count := tally.words[outcome])
    ]
    if shown:
        lines.append(f"words          {', '.join(shown)}")
    unusual = [
        f"{outcome.value} {count:,}"
        for outcome in DocumentOutcome
        if outcome is not DocumentOutcome.OBFUSCATED and (count := tally.documents[outcome])
    ]
    if unusual:
        lines.append(f"documents      {', '.join(unusual)}")
    if chosen := sum(tally.words[outcome] for outcome in Outcome if not outcome.in_clear):
        lines.append(
            f"returned       {tally.returned / chosen:.1%} of the perturbed words; verbatim: "
            f"{tally.return_bands['100%']:,} documents; 80% or more: {tally.return_bands['80% or more']:,}"
        )
    lines.append(f"budget         {describe_budget(certificate)}")
    if (bound := certificate.bounds["document"]) is not None:
        lines.append(f"bound          exp({bound:.4g}) for any two documents that are neighbors, whatever their words")
    if (ledger := certificate.terms.ledger) is not None:
        lines.append(f"ledger         {describe_ledger(ledger)}")
    lines += describe_deniability(certificate)
    lines.append(f"profile        {profile.name}: {certificate.claim}")
    lines.append(f"not protected  {'; '.join(certificate.not_protected)}")
    return lines


def describe_deniability(certificate: Certificate) -> list[str]:
    """How deniable words are, a line per share; nothing if the certificate does not say."""
    found = certificate.terms.deniability
    return [
        f"deniability    at the share {at['share']:.3g} ({at['meaning']}), the median word stays with "
        f"{at['stays']['50%']:.1%} and may become {at['others']['50%']:.0f} others with more than 1% each"
        for at in (found or {}).get("shares", ())
    ]


def describe_budget(certificate: Certificate) -> str:
    """The budget in a few words."""
    budget, cap = certificate.budget, certificate.terms.largest_share
    limit = "" if cap is None else f", at most {cap:.3g} per chunk"
    if (draft := certificate.terms.draft_share) is not None:
        limit += f"; {draft:.0%} for the draft"
    if budget.epsilon is not None:
        return f"{budget.epsilon:g} per document{limit}"
    if budget.average_length is not None:
        return f"{budget.epsilon_per_word:g} per word of the average length, {budget.average_length:.1f} words{limit}"
    return f"{budget.epsilon_per_word:g} per word that is perturbed{limit}"


def describe_ledger(ledger: Mapping[str, Any]) -> str:
    """What a ledger does, in a few words."""
    limit, again = ledger["budget_per_document"], "; the same text and settings get the same answer"
    bound = "records all releases" if limit is None else f"at most {limit:g} per document over all releases"
    return bound + (again if ledger["repeat"] == "same" else "")


def list_warnings(certificate: Certificate) -> list[str]:
    """What a user must know even without a summary."""
    tally, warnings = certificate.tally, []
    if clear := tally.words[Outcome.KEPT_UNKNOWN] + tally.words[Outcome.KEPT_NO_SHARE]:
        warnings.append(f"Warning: words released in clear that are not stopwords (profile paper): {clear}")
    if certificate.terms.mechanism.get("guarantee") == NO_GUARANTEE:
        name = certificate.terms.mechanism["name"]
        warnings.append(f"Warning: the mechanism {name} has no guarantee. Do not protect real texts with it.")
    if tally.capped:
        warnings.append(
            f"Warning: the budget is too large for {tally.capped:,} words. Their shares were limited to "
            f"{certificate.terms.largest_share:.3g}; the rest is not spent. "
            "To lift the limit: --largest-share inf"
        )
    if returned := tally.documents[DocumentOutcome.RETURNED]:
        warnings.append(f"Warning: documents that came back unchanged (outcome 'returned'): {returned:,}")
    if refused := tally.documents[DocumentOutcome.REFUSED]:
        warnings.append(f"Warning: documents that the ledger refused (outcome 'refused'): {refused:,}")
    if certificate.budget.average_length is not None:
        warnings.append(
            "Warning: the average length decides every budget, so short documents get large shares and one long "
            "document changes all others. Use --length own, unless you repeat the paper."
        )
    return warnings
