"""The adapter for Spark: a pandas UDF that obfuscates a column of texts."""

from __future__ import annotations

from collections.abc import Iterator
from types import GenericAlias
from typing import Any

from textveil.adapters.columns import DeferredObfuscator, seed_refused
from textveil.budget import Length, Level
from textveil.extras import require
from textveil.jobs.workers import as_result

__all__ = ["build_udf"]


def build_udf(
    *,
    epsilon: float | None = None,
    epsilon_per_word: float | None = None,
    level: Level | None = None,
    length: Length | None = None,
    **settings: Any,
) -> Any:
    """A function of a column of strings, for ``select`` and ``withColumn``. Nulls stay nulls.

    A worker builds its obfuscator once. Spark computes a column again for every action, with new noise: write it once,
    and read what was written. A seed is refused, since all workers would draw the same noise.

    Args:
        epsilon: The budget of every text.
        epsilon_per_word: The budget per word, instead of ``epsilon``; kept stopwords do not count.
        level: The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``.
        length: The words that ``epsilon_per_word`` is multiplied by: only a text's ``own``.
        settings: The arguments of ``Obfuscator``. Every worker builds its own.
    """
    functions = require("pyspark.sql.functions", extra="spark")
    series = require("pandas", extra="spark").Series
    if settings.get("seed") is not None:
        raise seed_refused()
    deferred = DeferredObfuscator(
        settings, epsilon=epsilon, epsilon_per_word=epsilon_per_word, level=level, length=length
    )

    def obfuscate(batches: Iterator[Any]) -> Iterator[Any]:
        for texts in batches:
            yield series([as_result(done).text for done in deferred.obfuscate_all(texts)], dtype=object)

    batches_of_texts = GenericAlias(Iterator, (series,))
    obfuscate.__annotations__ = {"batches": batches_of_texts, "return": batches_of_texts}  # Spark reads them
    return functions.pandas_udf(obfuscate, "string").asNondeterministic()
