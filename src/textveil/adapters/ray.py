"""The adapter for Ray Data: a class for ``map_batches`` that keeps its models in the actor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textveil.adapters.columns import BatchObfuscator, seed_refused
from textveil.errors import ParameterError
from textveil.tables import TEXT_COLUMN

__all__ = ["ActorObfuscator"]


class ActorObfuscator(BatchObfuscator):
    """Obfuscates columns of batches in an actor of Ray Data.

    Pass the class to ``map_batches``, and the arguments of :class:`BatchObfuscator` as ``fn_constructor_kwargs``. Every
    actor builds an obfuscator once. A seed is refused, since all actors would draw the same noise.
    """

    def __init__(self, columns: str | Sequence[str] = TEXT_COLUMN, **arguments: Any) -> None:
        super().__init__(columns, **arguments)
        if self.predictable:
            raise seed_refused()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The batch with new texts and outcomes."""
        if not isinstance(batch, Mapping):
            raise ParameterError(
                f"A batch must be a dictionary of arrays. Got {type(batch).__name__} instead. Leave out `batch_format`."
            )
        changed = super().__call__(batch)
        return {**batch, **{name: np.array(values, dtype=object) for name, values in changed.items()}}
