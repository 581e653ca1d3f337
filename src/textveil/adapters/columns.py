"""Columns of texts, obfuscated together: what the adapters for tables share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Unpack

from cachetools import LRUCache

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.errors import BudgetError, ColumnError, ParameterError
from textveil.jobs.workers import as_result
from textveil.obfuscator import Obfuscator, is_missing
from textveil.registry import unknown_name
from textveil.results import Obfuscation
from textveil.settings import NAMES, Arguments, split_budget
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN, Result, list_columns
from textveil.tables.base import carries, check_choice, check_names, name_choice, name_columns, name_outcomes
from textveil.tables.identifying import point_out, warn_of_replacement

_ARGUMENTS = ("columns", "drop_columns", "keep_columns", "obfuscator")
"""What adapters take besides the settings of an obfuscator."""


def choose_obfuscator(obfuscator: Obfuscator | None, given: Mapping[str, Any]) -> tuple[Obfuscator, Budget]:
    """The obfuscator that was given, or one with these settings, and the budget that is among them.

    Raises:
        ParameterError: Both were given, or a setting does not exist.
    """
    for name in given:
        if name not in NAMES:
            raise unknown_name("argument", name, (*NAMES, *_ARGUMENTS))
    settings, budget = split_budget(given)
    if obfuscator is None:
        obfuscator = Obfuscator(**settings)
    elif not isinstance(obfuscator, Obfuscator):
        raise ParameterError(f"`obfuscator` must be an Obfuscator. Got {type(obfuscator).__name__} instead.")
    elif settings:
        names = ", ".join(f"`{name}`" for name in settings)
        raise ParameterError(f"Set `obfuscator`, or the settings of a new one ({names}), not both.")
    return obfuscator, obfuscator.build_budget(**budget)


class DeferredObfuscator:
    """Settings and a budget that travel between processes, and the obfuscator that each process builds from them.

    It is built at once, so that wrong settings are found here, and again at first use in every other process.

    Args:
        settings: Any of :class:`~textveil.settings.Settings`, but no ``length`` of ``average``, since the texts arrive
            in batches.
        obfuscator: An obfuscator, instead of all settings but the budget. It cannot travel.
    """

    def __init__(self, settings: Mapping[str, Any], obfuscator: Obfuscator | None = None) -> None:
        self._settings, _ = split_budget(settings)
        self._given = obfuscator is not None
        self._process: int | None = os.getpid()
        self._token = secrets.token_hex(16)
        self._built: Obfuscator | None
        self._built, self.budget = choose_obfuscator(obfuscator, settings)
        if self.budget.needs_average:
            raise BudgetError(
                "`length='average'` needs all texts at once, and here they arrive in batches. Set `length='own'`, or "
                "`epsilon`."
            )

    def __getstate__(self) -> dict[str, Any]:
        if self._given:
            raise ParameterError(
                "An obfuscator cannot be sent to another process. Give its settings instead of `obfuscator`."
            )
        return {**self.__dict__, "_built": None, "_process": None}  # a copy would repeat the noise of a seed

    @property
    def obfuscator(self) -> Obfuscator:
        """The obfuscator of this process."""
        if self._built is None:
            self._built = _received.get(self._token) or Obfuscator(**self._settings)
            _received[self._token] = self._built
        return self._built

    def obfuscate_all(self, texts: Iterable[str | None]) -> Iterator[Obfuscation]:
        """One result per text, in order."""
        return self.ready().obfuscate_all(texts, budget=self.budget)

    def ready(self) -> Obfuscator:
        """The obfuscator of this process, after a check that it may draw noise here.

        Raises:
            ParameterError: Its seed would repeat the noise of another process.
        """
        if self.obfuscator.randomness.predictable and os.getpid() != self._process:
            raise seed_refused()
        return self.obfuscator


def seed_refused() -> ParameterError:
    """The error for a seed that several processes would share."""
    return ParameterError("With `seed`, all processes would draw the same noise. Leave it out, or use one process.")


_received: LRUCache[str, Obfuscator] = LRUCache(4)
"""What this process has built for others. A worker that gets its settings again with every task keeps its models."""

Frame = TypeVar("Frame")


@dataclass(frozen=True, slots=True, repr=False)
class ObfuscatedFrame(Generic[Frame]):
    """A table with obfuscated texts, and beside it what became of them."""

    frame: Frame
    """The table with the new texts; all else is as before."""
    outcomes: Frame
    """The outcome of every text: a table with the rows of ``frame`` and its text columns."""
    certificate: Certificate
    """What is and is not protected, for all texts together."""

    def __repr__(self) -> str:
        documents = self.certificate.tally.documents
        counted = ", ".join(f"{number} {outcome.value}" for outcome, number in documents.items())
        return f"ObfuscatedFrame({counted or 'no texts'})"


@dataclass(frozen=True, slots=True, repr=False)
class ObfuscatedColumns:
    """Obfuscated columns: new texts and outcomes by column, and a certificate for all of them."""

    texts: dict[Any, list[str | None]]
    outcomes: dict[Any, list[str]]
    certificate: Certificate


def find_columns(columns: str | Sequence[Any], present: Sequence[Any], source: str) -> tuple[Any, ...]:
    """The names of the text columns, after a check that each of them exists once.

    Args:
        columns: One or more names.
        present: The names of all columns.
        source: What the columns belong to, in error messages.

    Raises:
        ParameterError: No column is named, or one is named twice.
        ColumnError: A column does not exist, or exists twice.
    """
    names = name_columns(columns, parameter="columns")
    for name in names:
        check_names(present, source, only=name)
        if name not in present:
            numbered = all(isinstance(each, int) for each in present)
            listed = ", ".join(map(str, present)) if numbered else list_columns([str(each) for each in present])
            raise ColumnError(f"{source} has no column {name!r}. It has: {listed}. Choose with `columns`.")
    return names


def choose_kept(
    columns: Sequence[Any],
    present: Sequence[Any],
    source: str,
    *,
    drop: str | Sequence[Any],
    keep: str | Sequence[Any] | None,
    sample_of: Callable[[Any], Iterable[Any] | None],
) -> list[Any]:
    """The names of all columns that the result has, after a warning of those that may identify people.

    Args:
        columns: The text columns.
        present: The names of all columns.
        source: What the columns belong to, in error messages.
        drop: Other columns that are not copied.
        keep: The only other columns that are copied, instead.
        sample_of: The first values of a column; ``None`` if they are not known.

    Raises:
        ColumnError: A column to drop or keep does not exist.
    """
    drop, keep = name_choice(drop, keep, columns)
    check_choice(present, drop, keep, source)
    kept = [name for name in present if name in columns or carries(name, drop, keep)]
    copied = [name for name in kept if name not in columns and kept.count(name) == 1]
    point_out({name: sample_of(name) for name in copied}, approved=keep)
    return kept


def obfuscate_columns(
    obfuscator: Obfuscator,
    columns: Mapping[Any, Iterable[Any]],
    budget: Budget,
    *,
    other_columns: bool,
) -> ObfuscatedColumns:
    """Obfuscate the texts of columns, row by row, as ``Obfuscator.obfuscate_file`` does. Each text is a document.

    Args:
        obfuscator: The obfuscator.
        columns: The texts by column. ``None``, NaN and ``pandas.NA`` are missing.
        budget: The budget of a document.
        other_columns: Whether there are columns that are carried along.
    """
    texts = {name: check_texts(name, values) for name, values in columns.items()}
    budget = budget.resolve(_by_row(texts))
    results: list[Result] = []
    tally = Tally()
    for obfuscation in obfuscator.obfuscate_all(_by_row(texts), budget=budget):
        # its chunks are not kept, since they would need much memory
        results.append(as_result(obfuscation))
        tally.add(obfuscation.certificate.tally)
    width = len(texts)
    return ObfuscatedColumns(
        {name: [result.text for result in results[place::width]] for place, name in enumerate(texts)},
        {name: [result.outcome for result in results[place::width]] for place, name in enumerate(texts)},
        Certificate(obfuscator.terms, budget, tally, other_columns=other_columns),
    )


def _by_row(texts: Mapping[Any, Sequence[str | None]]) -> Iterator[str | None]:
    return (text for row in zip(*texts.values(), strict=True) for text in row)


def check_texts(column: Any, values: Iterable[Any]) -> list[str | None]:
    """The texts of a column, with ``None`` for every missing value.

    Raises:
        ParameterError: A value is neither a text nor missing.
    """
    texts: list[str | None] = []
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str) and not is_missing(value):
            raise ParameterError(
                f"Row {row} of the column {column!r} must be a string, or missing. Got {type(value).__name__} instead."
            )
        texts.append(value if isinstance(value, str) else None)
    return texts


class BatchObfuscator:
    """Obfuscates columns of batches, which are mappings from the name of a column to its values.

    Args:
        columns: The column with the texts, or several columns; each text is a document with a budget of its own.
        outcome_column: The column for the outcomes; ``None`` leaves them out. With several text columns, each has an
            outcome column of its own: this name, an underscore and the name of the text column.
        obfuscator: An obfuscator that is there already. It cannot be sent to other processes.
        settings: Any of :class:`~textveil.settings.Settings`: the budget and, without ``obfuscator``, all others. Every
            process builds its own. The ``length`` is only a text's ``own``.

    >>> obfuscate = BatchObfuscator(level="high")
    >>> obfuscate({"text": ["it is", None], "stars": [1, 5]})["textveil_outcome"]
    ['only_stopwords', 'missing']
    """

    def __init__(
        self,
        columns: str | Sequence[str] = TEXT_COLUMN,
        *,
        outcome_column: str | None = OUTCOME_COLUMN,
        obfuscator: Obfuscator | None = None,
        **settings: Unpack[Arguments],
    ) -> None:
        self.columns = name_columns(columns, parameter="columns")
        self.outcome_columns = name_outcomes(self.columns, outcome_column)
        self._outcome_column = outcome_column
        if set(self.columns) & set(self.outcome_columns):
            raise ParameterError(
                "Texts and outcomes cannot be in the same column. Set `outcome_column` to another name."
            )
        self._deferred = DeferredObfuscator(settings, obfuscator)
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
