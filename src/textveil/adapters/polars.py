"""The adapter for Polars: a function that obfuscates columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from textveil.adapters.columns import ObfuscatedFrame, choose_kept, choose_obfuscator, find_columns, obfuscate_columns
from textveil.errors import ParameterError
from textveil.extras import require
from textveil.obfuscator import Obfuscator
from textveil.settings import Arguments
from textveil.tables import TEXT_COLUMN
from textveil.tables.identifying import SAMPLE

if TYPE_CHECKING:
    import polars

__all__ = ["ObfuscatedFrame", "obfuscate"]


def obfuscate(
    frame: polars.DataFrame,
    columns: str | Sequence[str] = TEXT_COLUMN,
    *,
    drop_columns: str | Sequence[str] = (),
    keep_columns: str | Sequence[str] | None = None,
    obfuscator: Obfuscator | None = None,
    **settings: Unpack[Arguments],
) -> ObfuscatedFrame[polars.DataFrame]:
    """Obfuscate columns of a DataFrame. Nulls stay nulls, and other columns are those of ``frame``.

    Args:
        frame: The table.
        columns: The column with the texts, or several columns; each text is a document with a budget of its own.
        drop_columns: Other columns that the result does not get.
        keep_columns: The only other columns that it gets, instead.
        obfuscator: An obfuscator that is there already.
        settings: Any of :class:`~textveil.settings.Settings`: the budget and, without ``obfuscator``, all others.

    >>> import polars
    >>> frame = polars.DataFrame({"text": ["The soup was cold.", None], "stars": [1, 5]})
    >>> result = obfuscate(frame, epsilon=30, seed=1)
    >>> result.outcomes["text"].to_list(), result.frame["stars"].to_list()
    (['obfuscated', 'missing'], [1, 5])
    >>> result.certificate.budget.epsilon
    30.0
    """
    polars = require("polars", extra="polars")
    if isinstance(frame, polars.LazyFrame):
        raise ParameterError("`frame` is lazy. Read it first: frame.collect().")
    if not isinstance(frame, polars.DataFrame):
        raise ParameterError(
            f"`frame` must be a Polars DataFrame. Got {type(frame).__name__} instead. A Series becomes one: "
            "series.to_frame('text')."
        )
    names = find_columns(columns, frame.columns, "The frame")
    for name in names:
        if frame.schema[name] not in (polars.String, polars.Null):
            raise ParameterError(
                f"The column {name!r} has the type {frame.schema[name]}. Turn it into strings first: "
                f"polars.col({name!r}).cast(polars.String)."
            )
    kept = choose_kept(
        names,
        frame.columns,
        "The frame",
        drop=drop_columns,
        keep=keep_columns,
        sample_of=lambda name: frame[name].head(SAMPLE).to_list(),
    )
    frame = frame.select(kept)
    chosen, budget = choose_obfuscator(obfuscator, settings)
    done = obfuscate_columns(
        chosen,
        {name: frame[name].to_list() for name in names},
        budget,
        other_columns=len(names) < len(frame.columns),
    )
    texts = [polars.Series(name, done.texts[name], dtype=frame.schema[name]) for name in names]
    outcomes = polars.DataFrame(done.outcomes, schema=dict.fromkeys(names, polars.String))
    return ObfuscatedFrame(frame.with_columns(texts), outcomes, done.certificate)
