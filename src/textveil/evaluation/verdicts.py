"""The wording of conclusions: what a value means beside chance and originals, and what still stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textveil.evaluation.base import Interval
from textveil.evaluation.chance import Chance
from textveil.evaluation.predictions import Predictions
from textveil.evaluation.uncertainty import describe_few, show_bounds

MUCH = 0.5
"""From this share on, what still stands outweighs a gain."""


def describe_chance(f1s: Mapping[str, float], chance: Chance) -> str:
    """Whether one or two classifiers can be told from chance.

    Args:
        f1s: The F1 of each classifier, by its noun phrase.
        chance: The level of chance.

    >>> describe_chance({"the first": 0.1, "the second": 0.4}, Chance(0.1, Interval(0.05, 0.15)))
    'The first cannot be told from chance, which has F1 0.100 (0.050 to 0.150); the second is above it.'
    """
    level = f"chance, which has F1 {chance.level:.3f}{show_bounds(chance.interval)}"
    lost = [name for name, f1 in f1s.items() if chance.reaches(f1)]
    above = [name for name in f1s if name not in lost]
    if not lost:
        line = f"{' and '.join(above)} {'is' if len(above) == 1 else 'are both'} above {level}."
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
        chance: The level of chance.
        name: The name of the classes: ``label`` or ``attribute``.
    """
    caveats = describe_few(originals.texts, "test texts")
    if interval.low <= chance.interval.high:
        caveats.append(
            f"The {name} cannot be learned from the originals: F1 {originals.f1:.3f}{show_bounds(interval)} is near "
            f"chance, {chance.level:.3f}{show_bounds(chance.interval)}."
        )
    return caveats


@dataclass(frozen=True, slots=True)
class Standing:
    """Something that an obfuscation did not remove."""

    share: float
    """How much of it still stands: 0 is nothing, 1 is as much as in the originals."""
    sentence: str
    """In plain language, without a full stop."""


def judge(gain: float, interval: Interval | None, standing: Sequence[Standing]) -> str:
    """The verdict on a trade-off. It names the worst of what still stands.

    Args:
        gain: The relative gain.
        interval: Its interval.
        standing: Everything that was measured and still stands.
    """
    line = f"The relative gain is {gain:+.3f}{show_bounds(interval, '+.3f')}"
    ranked = sorted(standing, key=lambda each: -each.share)
    much = [each.sentence for each in ranked if each.share >= MUCH]
    if interval is not None and interval.low <= 0 <= interval.high:
        meaning = "it cannot be told from 0, where as much privacy is gained as utility is lost"
    elif gain <= 0:
        meaning = "less privacy was gained than utility was lost"
    elif much:
        meaning = "the formula counts a gain"
    else:
        meaning = "more privacy was gained than utility was lost"
    if much:
        return f"{line}: {meaning}, but much still stands: {'; '.join(much)}."
    worst = f" The worst that still stands: {ranked[0].sentence}." if ranked else ""
    return f"{line}: {meaning}.{worst}"


def refuse(caveats: Sequence[str]) -> str:
    """The sentences in place of a verdict that cannot be drawn."""
    return " ".join(["No relative gain is computed, and no conclusion is drawn.", *caveats])
