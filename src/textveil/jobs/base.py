"""What a job asks of an obfuscator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from textveil.privacy.accounting import Account
from textveil.privacy.budget import Budget
from textveil.privacy.certificate import Terms
from textveil.privacy.ledger import Ledger
from textveil.privacy.results import Obfuscation
from textveil.randomness import Randomness


class ObfuscatesTexts(Protocol):
    """An obfuscator, as far as jobs know it."""

    terms: Terms
    randomness: Randomness
    ledger: Ledger | None

    def choose_budget(self, budget: Budget) -> Budget:
        """The budget with its meaning per word settled."""

    def for_run(self, key: bytes) -> ObfuscatesTexts:
        """The obfuscator for a run with a secret key of its own, which a resumed run has again."""

    def for_workers(self) -> Callable[[], ObfuscatesTexts]:
        """Builds the same obfuscator in another process, without a ledger."""

    def open_account(self, budget: Budget) -> Account | None:
        """The account of documents with this budget; ``None`` without a ledger."""

    def obfuscate_all(
        self, texts: Iterable[str | None], *, budget: Budget, batch_size: int, first_document: int | None
    ) -> Iterator[Obfuscation]:
        """One result per text, in order."""

    def obfuscate_numbered(
        self, texts: Sequence[str | None], numbers: Sequence[int], budget: Budget
    ) -> Iterator[Obfuscation]:
        """One result per text, in order, with the noise of its number. No ledger is asked."""
