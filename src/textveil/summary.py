"""The summary of a certificate for people: what a run did, what it protects, and warnings."""

from __future__ import annotations

import math

from textveil.certificate import Certificate
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.outcomes import DocumentOutcome, Outcome

WORDS_FOR = {
    Outcome.PERTURBED: "perturbed",
    Outcome.DRAWN: "drawn for unknown words",
    Outcome.REDACTED: "redacted",
    Outcome.KEPT_STOPWORD: "stopwords kept",
    Outcome.KEPT_UNKNOWN: "IN CLEAR because unknown",
    Outcome.KEPT_NO_SHARE: "IN CLEAR because they have no share",
}

_FEW = 20
"""So few words may return by chance, as long as there is a largest share."""
_TREATED = {"redact": "replaced by their kinds", "perturb": "perturbed, never kept"}


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
    if chosen := sum(tally.words[outcome] for outcome in Outcome if outcome.is_chosen):
        lines.append(
            f"returned       {tally.returned / chosen:.1%} of the replaced words of these documents; verbatim: "
            f"{tally.return_bands['100%']:,} documents; 80% or more: {tally.return_bands['80% or more']:,}"
        )
    if (screen := certificate.terms.identifiers) is not None:
        found = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tally.identifiers.items())) or "none found"
        lines.append(f"identifiers    {_TREATED[screen['treatment']]}: {found}")
    lines.append(f"budget         {_describe_budget(certificate)}")
    if (bound := certificate.bounds["document"]) is not None:
        lines.append(f"bound          exp({bound:.4g}) for any two documents that are neighbors, whatever their words")
    if (ledger := certificate.terms.ledger) is not None:
        limit, same = ledger["budget_per_document"], ledger["repeat"] == "same"
        kept = "records all releases" if limit is None else f"at most {limit:g} per document over all releases"
        lines.append(f"ledger         {kept}{'; the same text and settings get the same answer' if same else ''}")
    lines += [
        f"deniability    at the share {at['share']:.3g} ({at['meaning']}), the median word stays with "
        f"{at['stays']['50%']:.1%} and may become {at['others']['50%']:.0f} others with more than 1% each"
        for at in (certificate.terms.deniability or {}).get("shares", ())
    ]
    lines.append(f"profile        {profile.name}: {certificate.claim}")
    lines.append(f"not protected  {'; '.join(certificate.not_protected)}")
    return lines


def _describe_budget(certificate: Certificate) -> str:
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


def is_refused(certificate: Certificate) -> bool:
    """Whether a ledger refused most of the documents that had a text."""
    documents = certificate.tally.documents
    return 2 * documents[DocumentOutcome.REFUSED] > documents.total() - documents[DocumentOutcome.MISSING]


def list_warnings(certificate: Certificate) -> list[str]:
    """What a user must know even without a summary; refusals come first."""
    tally, warnings = certificate.tally, []
    if refused := tally.documents[DocumentOutcome.REFUSED]:
        needed = f" To release each, set `budget_per_document={math.ceil(tally.largest_refused)}` or more."
        warnings.append(
            f"Warning: the ledger refused {refused:,} of {tally.documents.total():,} documents (outcome 'refused'). "
            f"Their texts are empty.{needed if tally.largest_refused else ''}"
        )
    if clear := tally.words[Outcome.KEPT_UNKNOWN] + tally.words[Outcome.KEPT_NO_SHARE]:
        warnings.append(f"Warning: words released in clear that are not stopwords (profile paper): {clear}")
    if certificate.terms.mechanism.get("guarantee") == NO_GUARANTEE:
        name = certificate.terms.mechanism["name"]
        warnings.append(f"Warning: the mechanism {name} has no guarantee. Do not protect real texts with it.")
    budget, largest = certificate.budget, certificate.terms.largest_share
    moderate = (
        budget.length == "own" and budget.epsilon_per_word is not None and budget.epsilon_per_word <= (largest or 0)
    )
    if tally.capped and largest is not None and not moderate:
        # With a moderate budget, only expressions and words with a high score reach the limit, as they should.
        warnings.append(
            f"Warning: the budget is too large for {tally.capped:,} words. Their shares were limited to {largest:.3g}; "
            "the rest is not spent. To lift the limit: `largest_share=inf`"
        )
    if tally.hardly_english:
        warnings.append(
            f"Warning: documents that are hardly English, because too many of their words are unknown: "
            f"{tally.hardly_english:,}. Their meaning is lost, and words that look like English stopwords are kept."
        )
    if returned := tally.documents[DocumentOutcome.RETURNED]:
        warnings.append(f"Warning: documents that came back unchanged (outcome 'returned'): {returned:,}")
    chosen = sum(tally.words[outcome] for outcome in Outcome if outcome.is_chosen)
    some_changed = tally.return_bands["100%"] < tally.return_bands.total()
    if some_changed and 2 * tally.returned > chosen and (largest is None or chosen >= _FEW):
        warnings.append(
            f"Warning: {tally.returned / chosen:.0%} of the perturbed words came back unchanged, so the texts have "
            "hardly any protection. Use a smaller budget."
        )
    if certificate.budget.average_length is not None:
        warnings.append(
            "Warning: the average length decides every budget, so short documents get large shares and one long "
            "document changes all others. Use `length='own'`, unless you repeat the paper."
        )
    return warnings
