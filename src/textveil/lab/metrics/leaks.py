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

_NAMES = {"adaptive_f1": "adaptive", "static_f1": "static", "stylometry_adaptive": "style"}
"""The name of the attacker of a column."""
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
    precise: str
    """The sentence with the interval of the value, if it has one."""


def list_leaks(measurements: Mapping[str, Measurement]) -> list[Leak]:
    """Everything that was measured and still stands, the most first: the only list of it."""
    evaluation = Evaluation(0, 0, measurements, {})
    leaks = []
    if (strongest := STRONGEST.find_column(evaluation)) is not None:
        leaks.append(_find_attacker(_NAMES[strongest.name], STRONGEST, evaluation))
    leaks.append(_find_attacker("membership", MEMBERSHIP, evaluation))
    for quantity, sentence in _SHARES.items():
        if (reading := quantity.read(evaluation)) is not None:
            leaks.append(_fill(reading.value, sentence, _show_beside(quantity, reading)))
    if verbatim := evaluation.value("clear_text", "documents_verbatim"):
        leaks.append(_fill(verbatim, "in {} of the documents, every word to be replaced returned"))
    return sorted((each for each in leaks if each is not None), key=lambda each: -each.share)


def _fill(share: float, sentence: str, interval: str = "") -> Leak:
    """A share that still stands, in a sentence that has braces in its place."""
    shown = f"{share:.1%}"
    return Leak(share, sentence.format(shown), sentence.format(f"{shown} ({interval})" if interval else shown))


def _find_attacker(name: str, quantity: Quantity, evaluation: Evaluation) -> Leak | None:
    """An attacker, between chance and the originals; ``None`` if it was not measured."""
    reading = quantity.read(evaluation)
    if reading is None:
        return None
    found = {each: quantity.read_reference(evaluation, each) for each in (Reference.ORIGINALS, Reference.CHANCE)}
    known = {each: reference.value for each, reference in found.items() if reference is not None}
    low, high = known.get(Reference.CHANCE, 0.0), known.get(Reference.ORIGINALS, 1.0)
    share = (reading.value - low) / (high - low) if high > low else float(reading.value > low)
    line = f"the {name} attacker has {quantity.title.rpartition(' ')[2]} {quantity.show(reading.value)}"
    beside = ", ".join(f"{each.value} {quantity.show(value)}" for each, value in known.items())
    sentence, precise = (
        f"{line} ({'; '.join(filter(None, facts))})" if any(facts) else line
        for facts in ([beside], [_show_beside(quantity, reading), beside])
    )
    return Leak(min(max(share, 0.0), 1.0), sentence, precise)


def _show_beside(quantity: Quantity, reading: Reading) -> str:
    """The interval of a value; nothing if it has none, or if it is a point."""
    interval = reading.interval
    return "" if interval is None or interval.low == interval.high else quantity.show_interval(interval)
