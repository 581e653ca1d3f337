"""Leaks: everything that was measured and that an obfuscation did not remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textveil.lab.metrics.base import Measurement
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.evaluator import Evaluation
from textveil.lab.metrics.quantities import (
    DIRECT,
    IDENTIFIERS,
    INVERSION,
    LINKAGE,
    MEMBERSHIP,
    STRONGEST,
    UNCHANGED,
    Quantity,
    Reading,
)

_SHARES = {
    UNCHANGED: "{} of the words are unchanged",
    DIRECT: "{} of the direct identifiers survive",
    IDENTIFIERS: "{} of all identifiers survive",
    LINKAGE: "{} of the texts are linked to their original by an attacker who has all originals",
    INVERSION: "{} of the replaced chunks are recovered by an attacker who knows the mechanism",
}
LEAKING = tuple(
    dict.fromkeys(column.metric for quantity in (STRONGEST, MEMBERSHIP, *_SHARES) for column in quantity.columns)
)
"""The metrics that :func:`list_leaks` reads."""


class Leak(NamedTuple):
    """Something that an obfuscation did not remove."""

    share: float
    """How much of it still stands: 0 is nothing, 1 is as much as in the originals."""
    sentence: str
    """In plain language, without a full stop."""


def list_leaks(measurements: Mapping[str, Measurement]) -> list[Leak]:
    """Everything that was measured and still stands, the most first: the only list of it."""
    evaluation = Evaluation(0, 0, measurements, {})
    leaks = []
    for quantity in (STRONGEST, MEMBERSHIP, *_SHARES):
        if (reading := quantity.read(evaluation)) is not None:
            beside = _show_beside(quantity, reading)
            if quantity in _SHARES:
                leaks.append(Leak(reading.value, _SHARES[quantity].format(f"{reading.value:.1%}{beside}")))
            else:
                leaks.append(_compare(quantity, evaluation, reading, f"{quantity.show(reading.value)}{beside}"))
    if verbatim := evaluation.value("clear_text", "documents_verbatim"):
        leaks.append(Leak(verbatim, f"in {verbatim:.1%} of the documents, every word to be replaced returned"))
    return sorted(leaks, key=lambda each: -each.share)


def _compare(quantity: Quantity, evaluation: Evaluation, reading: Reading, shown: str) -> Leak:
    """How far an attacker is between chance and the originals, with its value in plain language."""
    references = {each: quantity.read_reference(evaluation, each) for each in (Reference.ORIGINALS, Reference.CHANCE)}
    known = {each: found.value for each, found in references.items() if found is not None}
    low, high = known.get(Reference.CHANCE, 0.0), known.get(Reference.ORIGINALS, 1.0)
    share = (reading.value - low) / (high - low) if high > low else float(reading.value > low)
    column = quantity.find_column(evaluation) or quantity.columns[0]
    beside = "".join(f", {each.value} {quantity.show(value)}" for each, value in known.items())
    return Leak(min(max(share, 0.0), 1.0), f"the {column.title} is {shown}{beside}")


def _show_beside(quantity: Quantity, reading: Reading) -> str:
    """The interval of a value in parentheses; nothing if it has none, or if it is a point."""
    interval = reading.interval
    return "" if interval is None or interval.low == interval.high else f" ({quantity.show_interval(interval)})"
