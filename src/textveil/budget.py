"""The budget of a document: given, or per word."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from textveil.errors import BudgetError, InputError
from textveil.methods.distribution.allocation import check_budget
from textveil.methods.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE
from textveil.registry import unknown_name
from textveil.text.words import find_spans

Length: TypeAlias = Literal["own", "average"]
LENGTHS: tuple[Length, ...] = ("own", "average")
Level: TypeAlias = Literal["high", "medium", "low"]


class BudgetArguments(TypedDict, total=False):
    """The budget of every text, as calls take it: at most one of the first three."""

    epsilon: float | None
    """The budget of a text."""
    epsilon_per_word: float | None
    """The budget per word, instead of ``epsilon``; kept stopwords do not count."""
    level: Level | None
    """The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``."""
    length: Length | None
    """The words that ``epsilon_per_word`` is multiplied by: a text's ``own``, or the ``average`` of all texts, as in
    the paper. By default the profile decides."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of every document: ``epsilon``, or ``epsilon_per_word`` times a number of words.

    Args:
        epsilon: The budget of a document.
        epsilon_per_word: The budget per word.
        length: The number of words that ``epsilon_per_word`` is multiplied by: a document's ``own``, without kept
            stopwords, or the ``average`` of all documents, as in the paper. By default the profile decides.
        average_length: The average number of words per document, once it is known.
    """

    epsilon: float | None = None
    epsilon_per_word: float | None = None
    length: Length | None = None
    average_length: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is None and self.epsilon_per_word is None:
            raise BudgetError("A budget is missing: set `epsilon` for a document, or `epsilon_per_word`.")
        if self.epsilon is not None and self.epsilon_per_word is not None:
            raise BudgetError("Set `epsilon` or `epsilon_per_word`, not both.")
        if self.length is not None and self.length not in LENGTHS:
            raise unknown_name("length", self.length, LENGTHS)
        if self.epsilon is not None and self.length is not None:
            raise BudgetError("`length` goes with `epsilon_per_word`.")
        name = "epsilon" if self.epsilon is not None else "epsilon_per_word"
        given = getattr(self, name)
        check_budget(given or 0.0, name)
        object.__setattr__(self, name, float(given))  # numbers of NumPy cannot be written as JSON

    @property
    def needs_average(self) -> bool:
        """Whether the average length of all documents must be found first."""
        return self.length == "average" and self.average_length is None

    def of(self, words: int) -> float:
        """The budget of a document with this many words to perturb; 0 if it has none."""
        if self.epsilon is not None:
            return float(self.epsilon)
        if self.needs_average:
            raise RuntimeError  # whoever calls this must resolve the budget first
        length = words if self.average_length is None else self.average_length
        budget = float(self.epsilon_per_word or 0.0) * length
        if math.isinf(budget):
            raise BudgetError(
                f"`epsilon_per_word` is too large: {self.epsilon_per_word:g} times the words of a document is not a "
                "finite number. Use a smaller one."
            )
        return budget

    def list_shares(self) -> dict[str, float]:
        """The shares that follow from the budget alone, by their meaning: a word's mean share, or the largest one.

        >>> Budget(epsilon_per_word=3.0, length="own").list_shares(), Budget(epsilon=60.0).list_shares()
        ({'per word': 3.0}, {'largest': 60.0})
        """
        if self.epsilon is not None:
            return {"largest": float(self.epsilon)}
        return {"per word": float(self.epsilon_per_word or 0.0)} if self.length != "average" else {}

    def resolve(self, texts: Iterable[str | None]) -> Budget:
        """The budget with the average length of these texts; they are read only if it is needed.

        Raises:
            InputError: No text has a word.
        """
        if not self.needs_average:
            return self
        words = documents = 0
        for text in texts:
            if text is not None:
                documents += 1
                words += len(find_spans(text))
        if not words:
            raise InputError("No text has a word, so an epsilon per word gives no budget. Use `epsilon`.")
        return replace(self, average_length=words / documents)

    def as_dict(self) -> dict[str, Any]:
        """The budget as JSON can hold it."""
        return asdict(self)


LEVELS: dict[Level, float] = {"high": SMALLEST_RATE, "medium": 0.2, "low": LARGEST_RATE}
"""How the epsilon per word of a level is found for any mechanism and bundle: the one at which this share of words that
are drawn from the vocabulary return. In texts, another share returns; see ``FIGURES``."""

LEVEL: Level = "medium"
"""The level where nothing else is given."""


class Figures(NamedTuple):
    """What a level means in practice."""

    epsilon_per_word: float
    linked: float
    """The share of texts that an attacker who has all originals links to the right one."""
    returned: float
    """The share of the replaced words that return."""
    similarity: float
    """The mean cosine similarity."""


MEASURED = "measured on 500 public product reviews with the default settings"
"""How ``scripts/measure_levels.py`` measures the figures: the first reviews, of 174 words on average, and one draw."""
FIGURES: dict[Level, Figures] = {
    "high": Figures(6.1, 0.66, 0.03, 0.29),
    "medium": Figures(13.6, 0.93, 0.16, 0.41),
    "low": Figures(20.5, 0.99, 0.37, 0.60),
}


def find_rate(level: str) -> float:
    """The share of words drawn from the vocabulary that return at a level."""
    if level not in LEVELS:
        raise unknown_name("level", level, LEVELS)
    return LEVELS[level]


def check_level(level: str | None, epsilon: float | None, epsilon_per_word: float | None) -> None:
    """Refuse an unknown level, and one beside a number."""
    if level is not None:
        find_rate(level)
        if epsilon is not None or epsilon_per_word is not None:
            raise BudgetError("Set `level`, `epsilon` or `epsilon_per_word`, not several of them.")


def describe_level(level: str) -> str:
    """The figures of a level in a few words, as they are ``MEASURED``.

    >>> describe_level("medium")
    '93 % of texts linked to their originals, 16 % of replaced words return, similarity 0.41'
    """
    find_rate(level)  # which refuses an unknown level
    found = FIGURES[level]  # type: ignore[index] # checked
    return (
        f"{found.linked:.0%} of texts linked to their originals, {found.returned:.0%} of replaced words return, "
        f"similarity {found.similarity:.2f}"
    ).replace("%", " %")
