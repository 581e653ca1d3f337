"""Profiles: how words that cannot be perturbed are handled, and what may be claimed of the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from textveil.budget import Budget, Length
from textveil.errors import ProfileError
from textveil.registry import unknown_name

S = TypeVar("S", bound=str)

Stopwords: TypeAlias = Literal["keep", "perturb"]
Form: TypeAlias = Literal["keep", "plain", "bare"]
"""How a text is written: with its own case and text between words, with sentences made for the released words, or as
the released words with one space between them."""

_TEXT_BETWEEN_WORDS = "the text between words: spaces and punctuation"
_CLAIM_OF_DRAFTS = (
    "The probabilities of any draft and output together differ by a factor of at most exp(sum of share * distance) "
    "over both rounds: word by word in the draft, and chunk by chunk in the refinement, whose chunks and shares are "
    "computed from the draft alone; a word that is not in the vocabulary is placed by its spelling, or at the center "
    "of the embedding, and a chunk of several words that is not in it at the mean of its words."
)
"""What may be claimed of a text that was drafted first, instead of the claim of its profile."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A consistent set of rules, with the claim that they allow."""

    name: str
    releases_unperturbed: bool
    """A chunk that is unknown or has no share is released in clear instead of drawn."""
    backs_off: bool
    """An unknown chunk of several words is split into the longest known ones."""
    stopwords: tuple[Stopwords, ...]
    """The allowed ways to treat stopwords; the first is the default."""
    forms: tuple[Form, ...]
    """The allowed ways to write a text; the first is the default."""
    earlier_form: Form
    """The form of certificates and studies of earlier versions, which had no choice."""
    guards_form: bool
    """Symbols and invisible characters are dropped, codes such as phone numbers are one chunk, and only plain stopwords
    are kept."""
    lengths: tuple[Length, ...]
    """The allowed meanings of a budget per word; the first is the default."""
    caps_shares: bool
    """By default, no chunk gets more than the share at which words return at a stated rate."""
    public_allocation: bool
    """Chunks and shares depend on nothing but the number of words, or on a draft that the budget pays for."""
    missing: Literal["mean", "zero"]
    """The score of a word that the distributor gives none: the mean of the others, or zero."""
    neighbors: str
    claim: str
    not_protected: tuple[str, ...]
    """What the claim leaves open, besides kept stopwords."""

    def choose_budget(self, budget: Budget) -> Budget:
        """The budget with its meaning per word settled, if the profile allows it."""
        if budget.epsilon is not None or budget.length in self.lengths:
            return budget
        if budget.length is None:
            return replace(budget, length=self.lengths[0])
        raise ProfileError(
            f"The profile {self.name!r} does not allow `length={budget.length!r}`: one document would change the "
            f"budgets of others. Use `length={self.lengths[0]!r}`."
        )

    def choose_stopwords(self, wanted: str | None) -> Stopwords:
        """The way to treat stopwords: as wanted, if the profile allows it."""
        return self._choose("stopwords", wanted, self.stopwords)

    def choose_form(self, wanted: str | None) -> Form:
        """The way to write a text: as wanted, if the profile allows it."""
        return self._choose("form", wanted, self.forms)

    def _choose(self, parameter: str, wanted: str | None, allowed: tuple[S, ...]) -> S:
        for choice in allowed:
            if wanted in (None, choice):
                return choice
        raise ProfileError(
            f"The profile {self.name!r} needs `{parameter}` to be {' or '.join(map(repr, allowed))}. "
            f"Got {wanted!r} instead."
        )

    def stated(self, form: Form, *, drafts: bool, redacts: bool) -> Profile:
        """The profile as a certificate states it.

        Args:
            form: The form of the texts.
            drafts: Whether a text is drafted first.
            redacts: Whether identifiers are replaced by their kinds before all else.
        """
        profile = self.written(form)
        if drafts:
            profile = replace(profile, claim=_CLAIM_OF_DRAFTS)
        if redacts:
            profile = replace(
                profile,
                neighbors=f"{profile.neighbors}, once identifiers are replaced by their kinds",
                claim=f"{profile.claim} Redacted identifiers are exempt: their kinds and places are released.",
            )
        return profile

    def written(self, form: Form) -> Profile:
        """The profile for texts in a form: what is not written is protected."""
        if form == "keep" or _TEXT_BETWEEN_WORDS not in self.not_protected:
            return self
        return replace(
            self,
            neighbors=(
                "two documents with the same chunks, shares and kept stopwords, that differ in their other chunks, in "
                "case, and in the text between words"
            ),
            not_protected=tuple(point for point in self.not_protected if point != _TEXT_BETWEEN_WORDS),
        )


STRICT = Profile(
    name="strict",
    releases_unperturbed=False,
    backs_off=True,
    stopwords=("keep", "perturb"),
    forms=("plain", "keep"),
    earlier_form="keep",
    guards_form=True,
    lengths=("own", "average"),
    caps_shares=True,
    public_allocation=False,
    missing="mean",
    neighbors=(
        "two documents with the same chunks, shares, kept stopwords and text between words, that differ in their "
        "other chunks"
    ),
    claim=(
        "Every chunk that is not a kept stopword was chosen by the mechanism: the probabilities of any output differ "
        "by a factor of at most exp(sum of share * distance) over the chunks that differ."
    ),
    not_protected=(
        "the number of words, and so a budget per word",
        "the boundaries of chunks and their shares",
        _TEXT_BETWEEN_WORDS,
    ),
)

PAPER = replace(
    STRICT,
    name="paper",
    releases_unperturbed=True,
    backs_off=False,
    stopwords=("keep",),
    forms=("keep",),
    guards_form=False,
    lengths=("average", "own"),
    caps_shares=False,
    missing="zero",
    neighbors=f"{STRICT.neighbors}, all of them chunks that are perturbed",
    claim=(
        "What the paper claims: every perturbed chunk has share * distance. Words that are unknown or got no share "
        "were released in clear; they are counted under 'words' and have no protection."
    ),
    not_protected=("words that are unknown, or got no share", *STRICT.not_protected, "symbols between words"),
)

PROVEN = replace(
    STRICT,
    name="proven",
    stopwords=("perturb",),
    forms=("plain", "bare"),
    earlier_form="bare",
    guards_form=False,
    lengths=("own",),
    public_allocation=True,
    neighbors="any two documents with the same number of words",
    claim=(
        "The probabilities of any output differ by a factor of at most exp(sum of share * distance), word by word; "
        "a word that is not in the vocabulary is placed by its spelling, or at the center of the embedding."
    ),
    not_protected=(
        "the number of words, and so a budget per word",
        "whether a text is missing, which is told apart from an empty one",
    ),
)

PROFILES = {profile.name: profile for profile in (STRICT, PAPER, PROVEN)}


def load_profile(name: str) -> Profile:
    """The profile with this name."""
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return PROFILES[name]
