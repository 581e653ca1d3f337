"""The budget of a document: given, or per word."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from textveil.distribution.allocation import check_budget
from textveil.errors import BudgetError, InputError
from textveil.language.words import find_spans
from textveil.registry import unknown_name

Length: TypeAlias = Literal["own", "average"]
LENGTHS: tuple[Length, ...] = ("own", "average")


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
        return {
            "epsilon": self.epsilon,
            "epsilon_per_word": self.epsilon_per_word,
            "length": self.length,
            "average_length": self.average_length,
        }
