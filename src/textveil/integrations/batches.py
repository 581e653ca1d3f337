"""A callable that obfuscates batches of rows: what adapters for data sets share."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from textveil.errors import ColumnError, ParameterError
from textveil.integrations.columns import find_columns, obfuscate_columns
from textveil.integrations.deferred import DeferredObfuscator
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Length
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.levels import Level
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN
from textveil.tables.base import name_columns, name_outcomes
from textveil.tables.identifying import warn_of_replacement


class BatchObfuscator:
    """Obfuscates columns of batches, which are mappings from the name of a column to its values.

    Args:
        columns: The column with the texts, or several columns; each text is a document with a budget of its own.
        epsilon: The budget of every text.
        epsilon_per_word: The budget per word, instead of ``epsilon``; kept stopwords do not count.
        level: The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``.
        length: The words that ``epsilon_per_word`` is multiplied by: only a text's ``own``.
        outcome_column: The column for the outcomes; ``None`` leaves them out. With several text columns, each has an
            outcome column of its own: this name, an underscore and the name of the text column.
        obfuscator: An obfuscator that is there already. It cannot be sent to other processes.
        settings: The arguments of a new ``Obfuscator``, instead. Every process builds its own.

    >>> obfuscate = BatchObfuscator(level="high")
    >>> obfuscate({"text": ["it is", None], "stars": [1, 5]})["textveil_outcome"]
    ['only_stopwords', 'missing']
    """

    def __init__(
        self,
        columns: str | Sequence[str] = TEXT_COLUMN,
        *,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        level: Level | None = None,
        length: Length | None = None,
        outcome_column: str | None = OUTCOME_COLUMN,
        obfuscator: Obfuscator | None = None,
        **settings: Any,
    ) -> None:
        self.columns = name_columns(columns, parameter="columns")
        self.outcome_columns = name_outcomes(self.columns, outcome_column)
        self._outcome_column = outcome_column
        if set(self.columns) & set(self.outcome_columns):
            raise ParameterError(
                "Texts and outcomes cannot be in the same column. Set `outcome_column` to another name."
            )
        self._deferred = DeferredObfuscator(
            settings,
            obfuscator=obfuscator,
            epsilon=epsilon,
            epsilon_per_word=epsilon_per_word,
            level=level,
            length=length,
        )
        self._tally = Tally()
        self._other_columns = False

    @property
    def predictable(self) -> bool:
        """Whether a seed decides the noise."""
        return self._deferred.obfuscator.randomness.predictable

    def __getstate__(self) -> dict[str, Any]:
        # Libraries recognize a function by a hash of its state, and would take noise that was drawn before for a result
        # that needs no computation. So the state is never the same twice.
        return {**self.__dict__, "_tally": Tally(), "_state": secrets.token_hex(16)}

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The columns that change: new texts and outcomes."""
        self.check(list(batch))
        done = obfuscate_columns(
            self._deferred.ready(),
            {name: batch[name] for name in self.columns},
            self._deferred.budget,
            other_columns=self._other_columns,
        )
        self._tally.add(done.certificate.tally)
        outcomes = dict(zip(self.outcome_columns, done.outcomes.values(), strict=False))  # there may be none
        return {**done.texts, **outcomes}

    def check(self, present: Sequence[str]) -> None:
        """Check the columns of a data set.

        Raises:
            ColumnError: A text column does not exist, or an outcome column would replace another one.
        """
        find_columns(self.columns, present, "The data set")
        self._other_columns = self._other_columns or bool({*present} - {*self.columns, *self.outcome_columns})
        taken = [name for name in self.outcome_columns if name in present]
        if taken and self._outcome_column != OUTCOME_COLUMN:
            raise ColumnError(f"The data set has a column {taken[0]!r} already. Set `outcome_column` to another name.")
        for name in taken:
            warn_of_replacement(name, present)

    @property
    def certificate(self) -> Certificate:
        """What is and is not protected, for all texts that were obfuscated in this process so far."""
        tally = Tally.over([self._tally])
        terms = self._deferred.obfuscator.terms
        return Certificate(terms, self._deferred.budget, tally, other_columns=self._other_columns)
