"""An obfuscator that is built in the process that uses it: what adapters for several processes share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from textveil.errors import BudgetError, ParameterError
from textveil.integrations.columns import choose_obfuscator
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Budget
from textveil.privacy.results import Obfuscation


class DeferredObfuscator:
    """Settings and a budget that travel between processes, and the obfuscator that each process builds from them.

    It is built at once, so that wrong settings are found here, and again at first use in every other process.

    Args:
        settings: The arguments of ``Obfuscator``.
        obfuscator: An obfuscator, instead. It cannot travel.
        epsilon: The budget of every text.
        epsilon_per_word: The budget per word, instead.
        level: The level of protection, instead of a number.
        length: Only a text's ``own``, since the texts arrive in batches.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        obfuscator: Obfuscator | None = None,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        level: str | None = None,
        length: str | None = None,
    ) -> None:
        self._settings = dict(settings)
        self._given = obfuscator is not None
        self._numbers = (epsilon, epsilon_per_word, length, level)
        self._process: int | None = os.getpid()
        self._token = secrets.token_hex(16)
        self._built: Obfuscator | None = choose_obfuscator(obfuscator, settings)
        self.budget: Budget = self._built.build_budget(*self._numbers)
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
            self._built = _build_once(_Recipe(self._token, self._settings))
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


class _Recipe:
    """Settings that are found again by their token."""

    def __init__(self, token: str, settings: Mapping[str, Any]) -> None:
        self.token = token
        self.settings = settings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Recipe) and other.token == self.token

    def __hash__(self) -> int:
        return hash(self.token)


@lru_cache(maxsize=4)
def _build_once(recipe: _Recipe) -> Obfuscator:
    """The obfuscator of some settings; a worker that gets them again with every task keeps its models."""
    return Obfuscator(**recipe.settings)
