"""The budget of a document: given, or per word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from textveil.distribution.allocation import check_budget
from textveil.errors import BudgetError, InputError
from textveil.language.words import WORD


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of every document: ``epsilon``, or ``epsilon_per_word`` times its number of words."""

    epsilon: float | None = None
    epsilon_per_word: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is None and self.epsilon_per_word is None:
            raise BudgetError("A budget is missing: set `epsilon` for a document, or `epsilon_per_word`.")
        if self.epsilon is not None and self.epsilon_per_word is not None:
            raise BudgetError("Set `epsilon` or `epsilon_per_word`, not both.")
        check_budget(self.epsilon if self.epsilon is not None else self.epsilon_per_word or 0.0)

    def of(self, words: int) -> float:
        """The budget of a document with this many words that take part in the distribution."""
        if self.epsilon is not None:
            return check_budget(self.epsilon)
        return check_budget((self.epsilon_per_word or 0.0) * words) if words else 0.0

    def resolve(self, texts: Iterable[str | None]) -> ResolvedBudget:
        """The epsilon of a document; ``texts`` are read only if it depends on their average length."""
        if self.epsilon is not None:
            return ResolvedBudget(check_budget(self.epsilon), None)
        words = documents = 0
        for text in texts:
            if text is not None:
                documents += 1
                words += sum(1 for _ in WORD.finditer(text))
        if not words:
            raise InputError("No text has a word, so an epsilon per word gives no budget. Use `epsilon`.")
        average = words / documents
        return ResolvedBudget(check_budget((self.epsilon_per_word or 0.0) * average), average)


class ResolvedBudget(NamedTuple):
    """The epsilon of every document, and the average length that it was derived from, if it was."""

    epsilon: float
    average_length: float | None
