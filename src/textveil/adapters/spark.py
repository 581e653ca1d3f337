"""The adapter for Spark: a pandas UDF that obfuscates a column of texts."""

from __future__ import annotations

from collections.abc import Iterator
from types import GenericAlias
from typing import Any, Unpack

from textveil.adapters.columns import DeferredObfuscator, seed_refused
from textveil.extras import require
from textveil.jobs.workers import as_result
from textveil.settings import Arguments

__all__ = ["build_udf"]


def build_udf(
    **settings: Unpack[Arguments],
) -> Any:
    """A function of a column of strings, for ``select`` and ``withColumn``. Nulls stay nulls.

    A worker builds its obfuscator once. Spark computes a column again for every action, with new noise: write it once,
    and read what was written. A seed is refused, since all workers would draw the same noise.

    Args:
        settings: Any of :class:`~textveil.settings.Settings`, with those of the budget. Every worker builds its own
            obfuscator. The ``length`` is only a text's ``own``.
    """
    functions = require("pyspark.sql.functions", extra="spark")
    series = require("pandas", extra="spark").Series
    if settings.get("seed") is not None:
        raise seed_refused()
    deferred = DeferredObfuscator(settings)

    def obfuscate(batches: Iterator[Any]) -> Iterator[Any]:
        for texts in batches:
            yield series([as_result(done).text for done in deferred.obfuscate_all(texts)], dtype=object)

    batches_of_texts = GenericAlias(Iterator, (series,))
    obfuscate.__annotations__ = {"batches": batches_of_texts, "return": batches_of_texts}  # Spark reads them
    return functions.pandas_udf(obfuscate, "string").asNondeterministic()
