"""Outcomes: what became of a chunk, and of a document as a whole."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a chunk."""

    PERTURBED = "perturbed"
    """The mechanism chose the output, guided by the chunk's vector and share."""
    DRAWN = "drawn"
    """The mechanism chose the output without a vector of the chunk, which is unknown, or without a share."""
    REDACTED = "redacted"
    """An identifier: its kind was written in its stead, whatever it is."""
    KEPT_STOPWORD = "kept_stopword"
    """Released in clear: a word of the public stopword list."""
    KEPT_UNKNOWN = "kept_unknown"
    """Released in clear: the vocabulary does not know it (profile ``paper`` only)."""
    KEPT_NO_SHARE = "kept_no_share"
    """Released in clear: it got no share of the budget (profile ``paper`` only)."""

    in_clear: bool
    """Whether the output has the chunk itself."""
    is_chosen: bool
    """Whether the mechanism chose the output."""

    def __init__(self, value: str) -> None:
        self.is_chosen = value in ("perturbed", "drawn")
        self.in_clear = not self.is_chosen and value != "redacted"

    __hash__ = str.__hash__  # outcomes are counted for every chunk, and the hash of other enums is slow


class DocumentOutcome(StrEnum):
    """What became of a document as a whole."""

    OBFUSCATED = "obfuscated"
    """The mechanism chose every word except kept stopwords and redacted identifiers."""
    RETURNED = "returned"
    """The mechanism gave back every chunk that it was asked for, so nothing changed."""
    PARTLY_IN_CLEAR = "partly_in_clear"
    """Some words that are not stopwords were released in clear (profile ``paper`` only)."""
    ONLY_STOPWORDS = "only_stopwords"
    """Nothing to perturb: the text has only stopwords and is unchanged."""
    NO_WORDS = "no_words"
    """Nothing to perturb: the text is empty or has no words."""
    MISSING = "missing"
    """There was no text."""
    REFUSED = "refused"
    """Nothing was released: the ledger does not allow this document another release."""

    @classmethod
    def of(cls, outcomes: Collection[Outcome], *, unchanged: bool = False) -> DocumentOutcome:
        """The outcome of a document from those of its chunks.

        Args:
            outcomes: The outcomes of its chunks.
            unchanged: Whether every chunk is as it was.
        """
        if not outcomes:
            return cls.NO_WORDS
        if unchanged and any(outcome.is_chosen for outcome in outcomes):
            return cls.RETURNED
        if any(outcome.in_clear and outcome is not Outcome.KEPT_STOPWORD for outcome in outcomes):
            return cls.PARTLY_IN_CLEAR
        if all(outcome is Outcome.KEPT_STOPWORD for outcome in outcomes):
            return cls.ONLY_STOPWORDS
        return cls.OBFUSCATED
