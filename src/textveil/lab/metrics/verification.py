"""Checks of a certificate: against itself, against its settings, and against the texts it is said to belong to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from textveil.certificate import RETURN_BANDS, Certificate, Tally
from textveil.errors import InputError
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.profiles import load_profile
from textveil.results import Obfuscation
from textveil.text.words import find_spans
from textveil.version import __version__

Texts = Sequence[str | None]
TOLERANCE = 0.1
"""The largest difference of shares of unchanged words.

Words that stand in the output by chance make it larger. For single words it was below 0.006. For collocations with
perturbed stopwords it was 0.02, and up to 0.06 in short texts: an entry can share a word with the one it replaces.
"""


_ROUNDING = 1e-9
"""The relative error of sums of shares."""
_MOST_WORDS = 2**53
"""More words than any document has."""
_TOLERANCES = {"distance": 1e-3, "deniability": 1e-2}
"""The errors of figures that another processor computes a little differently."""


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
    tally, rows = certificate.tally, len(originals)
    columns = _covers_columns(certificate, rows)
    several = " It covers several columns." if columns else ""
    words = sum(len(find_spans(text)) for text in originals if text is not None)
    counted, documents = tally.words.total(), tally.documents.total()
    same = sum((original or "") == (other or "") for original, other in zip(originals, obfuscated, strict=True))
    admitted = documents - tally.documents[DocumentOutcome.OBFUSCATED]  # fewer can be, because of their form
    return (
        Check(
            "documents",
            None if columns else documents == rows,
            f"The certificate counts {documents:,} documents, and there are {rows:,} rows.{several}",
        ),
        Check(
            "words",
            None if columns else counted == words,
            f"The certificate counts {counted:,} words, and the originals have {words:,}.{several}",
        ),
        Check(
            "unchanged texts",
            same <= admitted,
            f"{same:,} texts are unchanged; the certificate admits up to {admitted:,}.",
        ),
        check_unchanged_words(certificate, rows, unchanged),
        _check_outcomes(certificate, obfuscations),
        _check_claim(certificate),
    )


def check_statements(certificate: Certificate, obfuscator: Obfuscator) -> None:
    """Refuse a certificate that contradicts itself, or that states anything else than its settings imply.

    Args:
        certificate: The certificate.
        obfuscator: The obfuscator that has the settings of the certificate.

    Raises:
        InputError: The message lists what is wrong.
    """
    if found := list(find_contradictions(certificate)):
        raise InputError(f"The certificate contradicts itself: {'; '.join(found)}. Do not trust it.")
    version = certificate.terms.versions.get("textveil")
    if differing := _find_differences(certificate, obfuscator):
        advice = (
            "It was edited. Do not trust it."
            if version == __version__
            else f"It was edited, or version {version} states this differently. Audit it with that version."
        )
        raise InputError(
            f"The certificate does not state what textveil {__version__} states for its settings, in: "
            f"{', '.join(differing)}. {advice}"
        )


def _find_differences(certificate: Certificate, obfuscator: Obfuscator) -> list[str]:
    """The parts of a certificate that are not those of an obfuscator with its settings, for its budget and counts."""
    terms, stated = certificate.terms, certificate.as_dict()
    if terms.deniability is not None:
        obfuscator.add_deniability(certificate.budget)
    own = replace(
        obfuscator.terms,
        randomness={name: terms.randomness.get(name) for name in ("source", "predictable")},
        versions=terms.versions,
        ledger=terms.ledger,
        calibration=terms.calibration,
    )
    expected = replace(certificate, terms=own, _as_read=None).as_dict()
    return [
        name if name in expected else repr(name)
        for name in sorted(expected.keys() | stated.keys())
        if name not in expected or not _are_equal(stated.get(name), expected[name], _TOLERANCES.get(name, 0.0))
    ]


def _are_equal(stated: Any, expected: Any, tolerance: float) -> bool:
    """Whether two values are equal up to rounding. A certificate of an earlier version may lack what says nothing."""
    if isinstance(expected, Mapping) and isinstance(stated, Mapping):
        keys = stated.keys() | expected.keys()
        return all(_are_equal(stated.get(key), expected.get(key), tolerance) for key in keys)
    if isinstance(expected, list | tuple) and isinstance(stated, list | tuple):
        pairs = zip(stated, expected, strict=False)
        return len(stated) == len(expected) and all(_are_equal(*pair, tolerance) for pair in pairs)
    if all(type(value) is float or (type(value) is int and abs(value) < _MOST_WORDS) for value in (stated, expected)):
        return math.isclose(stated, expected, rel_tol=max(tolerance, _ROUNDING), abs_tol=tolerance)
    return bool(stated == expected) or (stated is None and not expected)


def find_contradictions(certificate: Certificate) -> Iterator[str]:
    """What cannot be true of any texts, in words: counts against settings, counts against counts, and budgets."""
    yield from _contradict_settings(certificate)
    yield from _contradict_counts(certificate)
    yield from _contradict_budget(certificate)


def _contradict_settings(certificate: Certificate) -> Iterator[str]:
    terms, tally = certificate.terms, certificate.tally
    words, documents, profile = tally.words, tally.documents, load_profile(certificate.terms.profile.name)
    in_clear = words[Outcome.KEPT_UNKNOWN] + words[Outcome.KEPT_NO_SHARE] + documents[DocumentOutcome.PARTLY_IN_CLEAR]
    if in_clear and not profile.releases_unperturbed:
        yield f"the profile {profile.name!r} releases no unknown words in clear, but some are counted"
    if terms.stopwords == "perturb" and words[Outcome.KEPT_STOPWORD] + documents[DocumentOutcome.ONLY_STOPWORDS]:
        yield "stopwords are perturbed, but kept ones are counted"
    kinds = (terms.identifiers or {}).get("kinds", [])
    if not set(tally.identifiers) <= set(kinds) or (
        words[Outcome.REDACTED] and (terms.identifiers or {}).get("treatment") != "redact"
    ):
        yield "identifiers are counted that were not looked for or not redacted"
    if terms.form != "keep" and tally.symbols:
        yield f"the form {terms.form!r} writes no symbols, but some are counted"
    if terms.randomness.get("predictable") is not {"os": False, "keyed": False, "seeded": True}.get(
        str(terms.randomness.get("source"))
    ):
        yield "seeded noise is predictable, and no other noise is"
    if terms.ledger is None and documents[DocumentOutcome.REFUSED]:
        yield "documents were refused without a ledger"


def _contradict_counts(certificate: Certificate) -> Iterator[str]:
    tally = certificate.tally
    words, documents, bands = tally.words, tally.documents, tally.return_bands
    chosen = words[Outcome.PERTURBED] + words[Outcome.DRAWN]
    wordless = (DocumentOutcome.NO_WORDS, DocumentOutcome.MISSING, DocumentOutcome.REFUSED)
    with_words = documents.total() - sum(documents[outcome] for outcome in wordless)
    asked = with_words - documents[DocumentOutcome.ONLY_STOPWORDS]
    if words.total() < with_words or (words.total() > 0) != (with_words > 0):
        yield "the numbers of words and of documents with words do not fit"
    if tally.returned > chosen or max(tally.capped, tally.unscored) > words.total():
        yield "more words returned, lacked a score or had the largest share than there are"
    at_ends = bands[RETURN_BANDS[0]], bands[RETURN_BANDS[-1]]
    if (
        not documents[DocumentOutcome.RETURNED] <= at_ends[1]
        or not bands.total() <= min(asked, chosen)
        or (bands.total() > 0) != (chosen > 0)
        or not bands.total() - at_ends[0] <= tally.returned
        or (tally.returned > 0) != (bands.total() > at_ends[0])
        or (tally.returned == chosen) != (bands.total() == at_ends[1])
    ):
        yield "the numbers of returned words and of documents by returned words do not fit"


def _contradict_budget(certificate: Certificate) -> Iterator[str]:
    terms, tally, given = certificate.terms, certificate.tally, certificate.budget
    chosen = tally.words[Outcome.PERTURBED] + tally.words[Outcome.DRAWN]
    budget, spent, chunk = tally.largest_budget, tally.largest_spent, tally.largest_chunk
    per_word = given.epsilon_per_word or 0.0
    if given.epsilon is None and given.average_length is None:
        words = min(round(min(budget / per_word, _MOST_WORDS)), tally.words.total())
        fits = math.isclose(budget, words * per_word, rel_tol=_ROUNDING)
    else:
        fits = math.isclose(budget, given.of(0), rel_tol=_ROUNDING)
    if (given.average_length is None) != (given.length != "average"):
        yield "an average length goes with budgets that are computed from it, and only with those"
    if chosen and (budget == 0 or not fits):
        yield "the largest budget does not follow from the epsilon"
    most = 1 + _ROUNDING
    if spent > budget * most or chunk > spent * most or chunk * tally.words.total() * most < spent:
        yield "the largest share, what was spent and the budget do not fit"
    if chosen and not tally.capped and not terms.profile.releases_unperturbed and spent * most < budget:
        yield "less than the budget was spent, although no share was limited"
    if terms.draft_share is None and chunk > (terms.largest_share or math.inf) * most:
        yield "a chunk spent more than the largest share"
    if terms.draft_share is None and tally.capped and not math.isclose(chunk, terms.largest_share or 0.0):
        yield "shares were limited, but no chunk has the largest share"
    limit = (terms.ledger or {}).get("budget_per_document")
    if limit is not None and (spent if terms.draft_share is None else budget) > limit * most:
        yield "a document spent more than the ledger allows"


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


def _covers_columns(certificate: Certificate, rows: int) -> bool:
    """Whether the certificate counts a document for each of several columns of every row."""
    counted = certificate.tally.documents.total()
    return counted > rows and counted % rows == 0


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
    if unchanged is None or not total or _covers_columns(certificate, rows):
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
