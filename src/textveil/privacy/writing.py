"""Writing: the text of a document from its plan and the replacements of its chunks, in one of several forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textveil.language.gaps import clean_gap, is_clean
from textveil.language.punctuation import load_punctuation
from textveil.language.text import spoken
from textveil.privacy.plan import Plan
from textveil.privacy.profiles import Form


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes texts in one form.

    ``keep`` writes the text between chunks, and kept chunks, as the original has them. ``plain`` and ``bare`` compute
    the text from the released words alone, so they reveal no more than the words do.

    Attributes:
        form: The form.
        cleans_gaps: For ``keep``: drop symbols and invisible characters between words.
        keep_emoji: For ``keep``: do not drop emoji.
    """

    form: Form
    cleans_gaps: bool
    keep_emoji: bool

    @property
    def emoji(self) -> str:
        """What becomes of emoji between words: ``keep`` or ``drop``."""
        return "keep" if self.form == "keep" and (self.keep_emoji or not self.cleans_gaps) else "drop"

    def write(self, plan: Plan, replacements: Sequence[str | None]) -> tuple[str, int]:
        """The text, and the number of characters between words that were dropped one by one."""
        (written,) = self.write_all([plan], [replacements])
        return written

    def write_all(
        self, plans: Sequence[Plan], replacements: Sequence[Sequence[str | None]]
    ) -> Sequence[tuple[str, int]]:
        """The same for several documents."""
        pairs = zip(plans, replacements, strict=True)
        if self.form == "keep":
            return [self._keep(plan, replaced) for plan, replaced in pairs]
        released = (_release(plan, replaced) for plan, replaced in pairs)
        texts = map(" ".join, released) if self.form == "bare" else load_punctuation().write_all(released)
        return [(text, 0) for text in texts]

    def count_symbols(self, plan: Plan, dropped: int) -> int:
        """The number of symbols between words that were written."""
        return plan.count_symbols() - dropped if self.form == "keep" else 0

    def _keep(self, plan: Plan, replacements: Sequence[str | None]) -> tuple[str, int]:
        document = plan.document
        spans = plan.list_spans()
        if not self.cleans_gaps or is_clean(document.text):
            return document.assemble(spans, replacements), 0
        dropped = 0

        def write_gap(gap: str, between: bool) -> str:
            nonlocal dropped
            cleaned = clean_gap(gap, keep_emoji=self.keep_emoji)
            dropped += len(gap) - len(cleaned)
            return " " if between and gap and not cleaned else cleaned  # two words stay two

        return document.assemble(spans, replacements, write_gap), dropped


def _release(plan: Plan, replacements: Sequence[str | None]) -> list[str]:
    """What is released for every chunk."""
    return [
        spoken(plan.document.key(planned.chunk)) if replacement is None else replacement
        for planned, replacement in zip(plan.chunks, replacements, strict=True)
    ]
