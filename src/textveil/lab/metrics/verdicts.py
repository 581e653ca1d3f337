"""The wording of conclusions: what a value means beside chance and originals, and what still stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textveil.lab.metrics.base import Interval, Measurement
from textveil.lab.metrics.classification import Chance, Predictions
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
from textveil.lab.metrics.uncertainty import describe_few, show_bounds, show_interval

MUCH = 0.5
"""From this share on, what still stands outweighs a gain."""


def describe_chance(f1s: Mapping[str, float], chance: Chance) -> str:
    """Whether one or two classifiers can be told from chance.

    Args:
        f1s: The F1 of each classifier, by its noun phrase.
        chance: The level of chance.

    >>> describe_chance({"the first": 0.1, "the second": 0.4}, Chance(0.1, Interval(0.05, 0.15)))
    'The first cannot be told from chance, which has F1 10.0% (5.0% to 15.0%); the second is above it.'
    """
    level = f"chance, which has F1 {chance.level:.1%}{show_bounds(chance.interval, '.1%')}"
    lost = [name for name, f1 in f1s.items() if chance.reaches(f1)]
    above = [name for name in f1s if name not in lost]
    if not lost:
        line = f"{above[0]} is above {level}." if len(above) == 1 else f"both are above {level}."
    elif not above:
        line = f"{lost[0]} cannot be told from {level}." if len(lost) == 1 else f"neither can be told from {level}."
    else:
        line = f"{lost[0]} cannot be told from {level}; {above[0]} is above it."
    return line[0].upper() + line[1:]


def find_caveats(originals: Predictions, interval: Interval, chance: Chance, *, name: str) -> list[str]:
    """The reasons to draw no conclusion from classifiers: few test texts, or originals that teach nothing.

    Args:
        originals: The predictions of the classifier that was trained and tested on originals.
        interval: The interval of its F1.
        chance: Its level by chance. That of no other classifier matters, so all obfuscations have the same caveats.
        name: The name of the classes: ``label`` or ``attribute``.
    """
    caveats = describe_few(originals.texts, "test texts")
    if interval.low <= chance.interval.high:
        caveats.append(
            f"The {name} cannot be learned from the originals: F1 {originals.f1:.1%}{show_bounds(interval, '.1%')} "
            f"is near chance, {chance.level:.1%}{show_bounds(chance.interval, '.1%')}."
        )
    return caveats


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that an obfuscation did not remove."""

    share: float
    """How much of it still stands: 0 is nothing, 1 is as much as in the originals."""
    sentence: str
    """In plain language, without a full stop."""
    precise: str
    """The sentence with the interval of the value, if it has one."""

    @classmethod
    def of_share(cls, share: float, sentence: str, interval: str = "") -> Leak:
        """A share that still stands. The sentence has braces in place of the share.

        >>> Leak.of_share(0.72, "{} of the words are unchanged").sentence
        '72.0% of the words are unchanged'
        """
        shown = f"{share:.1%}"
        return cls(share, sentence.format(shown), sentence.format(f"{shown}{interval}"))

    @classmethod
    def of_attacker(cls, name: str, quantity: Quantity, evaluation: Evaluation) -> Leak | None:
        """An attacker, between chance and the originals; ``None`` if it was not measured."""
        reading = quantity.read(evaluation)
        if reading is None:
            return None
        found = {each: quantity.read_reference(evaluation, each) for each in (Reference.ORIGINALS, Reference.CHANCE)}
        known = {each: reference.value for each, reference in found.items() if reference is not None}
        low, high = known.get(Reference.CHANCE, 0.0), known.get(Reference.ORIGINALS, 1.0)
        share = (reading.value - low) / (high - low) if high > low else float(reading.value > low)
        beside = ", ".join(f"{each.value} {quantity.show(value)}" for each, value in known.items())
        line = f"the {name} attacker has {quantity.title.rpartition(' ')[2]} {quantity.show(reading.value)}"
        interval = _show_beside(quantity, reading).strip(" ()")
        precise = "; ".join(filter(None, [interval, beside]))
        return cls(
            min(max(share, 0.0), 1.0),
            f"{line} ({beside})" if beside else line,
            f"{line} ({precise})" if precise else line,
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


def list_leaks(measurements: Mapping[str, Measurement]) -> list[Leak]:
    """Everything that was measured and still stands, the most first: the only list of it."""
    evaluation = Evaluation(0, 0, measurements, {})
    strongest = STRONGEST.find_column(evaluation)
    attackers = (
        {"membership": MEMBERSHIP}
        if strongest is None
        else {_NAMES[strongest.name]: STRONGEST, "membership": MEMBERSHIP}
    )
    leaks = [Leak.of_attacker(name, quantity, evaluation) for name, quantity in attackers.items()]
    for quantity, sentence in _SHARES.items():
        if (reading := quantity.read(evaluation)) is not None:
            leaks.append(Leak.of_share(reading.value, sentence, _show_beside(quantity, reading)))
    if verbatim := evaluation.value("clear_text", "documents_verbatim"):
        leaks.append(Leak.of_share(verbatim, "in {} of the documents, every word to be replaced returned"))
    return sorted((each for each in leaks if each is not None), key=lambda each: -each.share)


def _show_beside(quantity: Quantity, reading: Reading) -> str:
    """The interval of a value in parentheses; nothing if it has none, or if it is a point."""
    interval = reading.interval
    return "" if interval is None or interval.low == interval.high else f" ({quantity.show_interval(interval)})"


def judge(gain: float, interval: Interval | None, leaks: Sequence[Leak]) -> str:
    """The verdict on a trade-off. It names the worst of what still stands, and all of it that is much.

    Args:
        gain: The relative gain.
        interval: Its interval.
        leaks: Everything that was measured and still stands.
    """
    ranked = sorted(leaks, key=lambda each: -each.share)
    much = [each.sentence for each in ranked if each.share >= MUCH]
    line = f"The relative gain is {gain:+.3f}{show_interval(interval, '+.3f')}: {_weigh(gain, interval, bool(much))}"
    if much:
        return f"{line}, {'but' if gain > 0 else 'and'} much still stands: {'; '.join(much)}."
    worst = f" The worst of what still stands: {ranked[0].sentence}." if ranked else ""
    return f"{line}.{worst}"


def _weigh(gain: float, interval: Interval | None, much: bool) -> str:
    if interval is not None and interval.low <= 0 <= interval.high:
        return "it cannot be told from 0, where as much privacy is gained as utility is lost"
    if gain <= 0:
        return "less privacy was gained than utility was lost"
    return "the formula counts a gain" if much else "more privacy was gained than utility was lost"


def refuse(caveats: Sequence[str]) -> str:
    """The sentences in place of a verdict that cannot be drawn.

    >>> refuse(["Only 17 test texts."])
    'No relative gain is computed, and no conclusion is drawn. Only 17 test texts.'
    """
    return " ".join(["No relative gain is computed, and no conclusion is drawn.", *caveats])
