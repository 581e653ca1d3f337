"""Checks of a certificate against the texts that it is said to belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from textveil.language.words import find_spans
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.profiles import load_profile
from textveil.privacy.results import Obfuscation
from textveil.version import __version__

Texts = Sequence[str | None]
TOLERANCE = 0.1
"""The largest difference of shares of unchanged words.

Words that stand in the output by chance make it larger. For single words it was below 0.006. For collocations with
perturbed stopwords it was 0.02, and up to 0.06 in short texts: an entry can share a word with the one it replaces.
"""


class Check(NamedTuple):
    """One check of a certificate."""

    name: str
    passed: bool | None
    """``None`` if it could not be made."""
    finding: str


def verify_certificate(
    certificate: Certificate,
    originals: Texts,
    obfuscated: Texts,
    obfuscations: Sequence[Obfuscation] | None = None,
    *,
    unchanged: float | None = None,
) -> tuple[Check, ...]:
    """Check whether a certificate fits originals and obfuscated texts.

    A certificate is not signed. The checks find a certificate of other texts or of another budget, if that changes
    other shares of the words. They do not prove who made the obfuscation.

    Args:
        certificate: The certificate.
        originals: The originals.
        obfuscated: The obfuscated texts.
        obfuscations: The outcome of every chunk, from the run itself or from a replay.
        unchanged: The share of unchanged words, as the metric ``clear_text`` measures it.
    """
    return (
        _check_documents(certificate, originals),
        _check_words(certificate, originals),
        _check_unchanged_texts(certificate, originals, obfuscated),
        check_unchanged_words(certificate, len(originals), unchanged),
        _check_outcomes(certificate, obfuscations),
        _check_claim(certificate),
    )


def summarize_checks(checks: Sequence[Check]) -> str:
    """The result of all checks in a sentence.

    >>> summarize_checks([Check("words", True, ""), Check("claim", None, "")])
    'The certificate fits these texts: 1 of 2 checks passed, 1 could not be made.'
    """
    if failed := [check.name for check in checks if check.passed is False]:
        return f"NOT VERIFIED: the certificate does not fit these texts ({', '.join(failed)})."
    passed, open_checks = (sum(check.passed is result for check in checks) for result in (True, None))
    made = f"{passed} of {len(checks)} checks passed"
    return f"The certificate fits these texts: {made}{f', {open_checks} could not be made' if open_checks else ''}."


def _check_documents(certificate: Certificate, originals: Texts) -> Check:
    counted, rows = certificate.tally.documents.total(), len(originals)
    if _covers_columns(certificate, rows):
        return Check("documents", None, f"The certificate counts {counted:,} documents in {rows:,} rows: {_COLUMNS}.")
    if counted == rows:
        return Check("documents", True, f"The certificate counts {counted:,} documents, one for each row.")
    return Check("documents", False, f"The certificate counts {counted:,} documents, but there are {rows:,} rows.")


def _check_words(certificate: Certificate, originals: Texts) -> Check:
    if _covers_columns(certificate, len(originals)):
        return Check("words", None, f"The words were not compared: {_COLUMNS}.")
    counted = certificate.tally.words.total()
    found = sum(len(find_spans(text)) for text in originals if text is not None)
    if counted == found:
        return Check("words", True, f"The certificate counts {counted:,} words, and so many are in the originals.")
    return Check("words", False, f"The certificate counts {counted:,} words, but the originals have {found:,}.")


_COLUMNS = "it covers several columns"


def _covers_columns(certificate: Certificate, rows: int) -> bool:
    """Whether the certificate counts a document for each of several columns of every row."""
    counted = certificate.tally.documents.total()
    return counted > rows and counted % rows == 0


def _check_unchanged_texts(certificate: Certificate, originals: Texts, obfuscated: Texts) -> Check:
    """Whether no more documents are unchanged than the certificate admits. Fewer can be, because of their form."""
    documents = certificate.tally.documents
    admitted = documents.total() - documents[DocumentOutcome.OBFUSCATED]
    pairs = zip(originals, obfuscated, strict=True)
    unchanged = sum((original or "") == (other or "") for original, other in pairs)
    finding = f"{unchanged:,} texts are unchanged; the certificate admits up to {admitted:,}."
    return Check("unchanged texts", unchanged <= admitted, finding)


def check_unchanged_words(certificate: Certificate, rows: int, unchanged: float | None) -> Check:
    """Check the share of unchanged words against that of the certificate, up to words that stand there by chance.

    Args:
        certificate: The certificate.
        rows: The number of originals.
        unchanged: The measured share of unchanged words.
    """
    name, tally = "unchanged words", certificate.tally
    kept = sum(tally.words[outcome] for outcome in Outcome if outcome.in_clear)
    total = tally.words.total()
    counted = total > 0 and (total == kept or tally.return_bands.total() > 0)  # format 1 has no returned words
    if unchanged is None or not counted or _covers_columns(certificate, rows):
        return Check(name, None, "The share of unchanged words was not compared.")
    stated = (kept + tally.returned) / total
    finding = f"{unchanged:.1%} of the words are unchanged; by the certificate it is {stated:.1%}."
    return Check(name, abs(unchanged - stated) <= TOLERANCE, finding)


def _check_outcomes(certificate: Certificate, obfuscations: Sequence[Obfuscation] | None) -> Check:
    name = "outcomes of words"
    if obfuscations is None:
        return Check(name, None, "The originals were not obfuscated again, so the outcomes were not counted.")
    counted = Tally.over(result.certificate.tally for result in obfuscations).words
    fits = counted == certificate.tally.words
    said = "has the same" if fits else "has other"
    return Check(name, fits, f"The obfuscation of the originals with the same settings {said} outcomes of words.")


def _check_claim(certificate: Certificate) -> Check:
    """Whether the statements of the certificate are those that textveil makes for its settings."""
    terms = certificate.terms
    stated, redacts = terms.profile, (terms.identifiers or {}).get("treatment") == "redact"
    own = load_profile(stated.name).stated(terms.form, drafts=terms.draft_share is not None, redacts=redacts)
    expected = replace(certificate, terms=replace(certificate.terms, profile=own), _as_read=None).not_protected
    if (stated.claim, stated.neighbors, certificate.not_protected) == (own.claim, own.neighbors, expected):
        return Check("claim", True, "The claim is the one that textveil makes for these settings.")
    version = certificate.terms.versions.get("textveil")
    if version != __version__:
        return Check("claim", None, f"The claim differs from that of version {__version__}; it is of {version}.")
    return Check("claim", False, "The claim is not the one that textveil makes for these settings. It was edited.")
