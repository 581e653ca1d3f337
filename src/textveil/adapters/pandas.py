"""The adapter for pandas: a function that obfuscates columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from textveil.adapters.columns import ObfuscatedFrame, choose_kept, choose_obfuscator, find_columns, obfuscate_columns
from textveil.errors import ParameterError
from textveil.extras import require
from textveil.obfuscator import Obfuscator
from textveil.settings import Arguments
from textveil.tables import TEXT_COLUMN
from textveil.tables.identifying import SAMPLE

if TYPE_CHECKING:
    import pandas

__all__ = ["ObfuscatedFrame", "obfuscate"]


def obfuscate(
    frame: pandas.DataFrame,
    columns: str | Sequence[Any] = TEXT_COLUMN,
    *,
    drop_columns: str | Sequence[Any] = (),
    keep_columns: str | Sequence[Any] | None = None,
    obfuscator: Obfuscator | None = None,
    **settings: Unpack[Arguments],
) -> ObfuscatedFrame[pandas.DataFrame]:
    """Obfuscate columns of a DataFrame, which itself stays as it is.

    Missing texts stay missing, each in its own way. Index, types and other columns are those of ``frame``.

    Args:
        frame: The table.
        columns: The column with the texts, or several columns; each text is a document with a budget of its own.
        drop_columns: Other columns that the result does not get.
        keep_columns: The only other columns that it gets, instead.
        obfuscator: An obfuscator that is there already.
        settings: Any of :class:`~textveil.settings.Settings`: the budget and, without ``obfuscator``, all others.

    >>> import pandas
    >>> frame = pandas.DataFrame({"text": ["The soup was cold.", None], "stars": [1, 5]})
    >>> result = obfuscate(frame, epsilon=30, seed=1)
    >>> result.outcomes["text"].tolist(), result.frame["stars"].tolist()
    (['obfuscated', 'missing'], [1, 5])
    >>> result.certificate.budget.epsilon
    30.0
    """
    pandas = require("pandas", extra="pandas")
    if not isinstance(frame, pandas.DataFrame):
        raise ParameterError(
            f"`frame` must be a pandas DataFrame. Got {type(frame).__name__} instead. A Series becomes one: "
            "series.to_frame('text')."
        )
    names = find_columns(columns, frame.columns.tolist(), "The frame")
    for name in names:
        _refuse_types(pandas, frame[name], name)
    present = frame.columns.tolist()
    kept = choose_kept(
        names,
        present,
        "The frame",
        drop=drop_columns,
        keep=keep_columns,
        sample_of=lambda name: frame[name].head(SAMPLE).dropna().tolist(),
    )
    if len(kept) < len(present):
        frame = frame[list(dict.fromkeys(kept))]
    chosen, budget = choose_obfuscator(obfuscator, settings)
    done = obfuscate_columns(
        chosen,
        {name: frame[name].tolist() for name in names},
        budget,
        other_columns=len(names) < len(frame.columns)
        or not isinstance(frame.index, pandas.RangeIndex)
        or bool(frame.attrs),
    )
    copied = frame.copy(deep=False)  # new columns take the place of the old ones, which are not written to
    for name in names:
        copied[name] = _replace(pandas, frame[name], done.texts[name], done.outcomes[name])
    return ObfuscatedFrame(copied, pandas.DataFrame(done.outcomes, index=frame.index), done.certificate)


def _refuse_types(pandas: Any, column: Any, name: Any) -> None:
    reason = None
    if isinstance(column.dtype, pandas.CategoricalDtype):
        reason = "has categories, which would keep the original texts"
    elif isinstance(column.dtype, pandas.SparseDtype):
        reason = "is sparse. Its type keeps a text that fills gaps"
    if reason is not None:
        change = f"frame[{name!r}].astype('str')"
        raise ParameterError(f"The column {name!r} {reason}. Turn it into strings first: {change}.")


def _replace(pandas: Any, column: Any, texts: Sequence[str | None], outcomes: Sequence[str]) -> Any:
    """A column of the same type with new texts. A missing text is the same missing value as before."""
    values = [
        before if outcome == "missing" else text
        for before, text, outcome in zip(column.tolist(), texts, outcomes, strict=True)
    ]
    return pandas.Series(values, index=column.index, dtype=column.dtype, name=column.name)
