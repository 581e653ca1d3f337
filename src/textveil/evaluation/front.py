"""The Pareto front of a comparison: which obfuscations no other one surpasses, as far as intervals support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from textveil.evaluation.comparison import Comparison, Contender, Pair, is_clearly_better
from textveil.evaluation.quantities import Quantity, Reading


class Standing(StrEnum):
    """The place of an obfuscation, relative to the front."""

    ON = "on the front"
    """Clearly better than every other obfuscation in at least one of the two quantities."""
    BEHIND = "behind the front"
    """Another obfuscation is clearly better in both quantities."""
    OPEN = "undecided"


@dataclass(frozen=True, slots=True)
class Place:
    """An obfuscation on the plane of an attack and a utility."""

    contender: Contender
    attack: Reading
    utility: Reading
    standing: Standing
    rivals: tuple[str, ...] = ()
    """The obfuscations that surpass it, or that it cannot be told from."""

    @property
    def name(self) -> str:
        """The name of the obfuscation."""
        return self.contender.name


@dataclass(frozen=True, slots=True)
class Front:
    """The places of all obfuscations for which an attack and a utility were measured."""

    attack: Quantity
    utility: Quantity
    places: tuple[Place, ...]
    by_value: tuple[str, ...]
    """The obfuscations on the front if intervals are ignored, by utility."""
    caveats: tuple[str, ...] = ()
    """Reasons to draw no conclusion."""

    def select(self, standing: Standing) -> list[Place]:
        """The places with a standing."""
        return [place for place in self.places if place.standing is standing]

    def as_dict(self) -> dict[str, Any]:
        """The front as a JSON object."""
        return {
            "attack": self.attack.key,
            "utility": self.utility.key,
            "by_value": list(self.by_value),
            "standing": {place.name: place.standing.value for place in self.places},
            "rivals": {place.name: list(place.rivals) for place in self.places if place.rivals},
            "caveats": list(self.caveats),
        }


class _Point(NamedTuple):
    """An obfuscation with both quantities."""

    contender: Contender
    attack: Reading
    utility: Reading


def find_front(comparison: Comparison, pair: Pair) -> Front:
    """The front of an attack and a utility."""
    attack, utility = pair
    points: list[_Point] = []
    for contender in comparison.contenders:
        attacked, useful = contender.read(attack), contender.read(utility)
        if attacked is not None and useful is not None:
            points.append(_Point(contender, attacked, useful))
    caveats = dict.fromkeys(caveat for each in pair for caveat in comparison.find_caveats(each))
    unsurpassed = [point for point in points if not any(_surpasses(pair, other, point) for other in points)]
    return Front(
        attack,
        utility,
        tuple(_place(pair, point, points, known=not caveats) for point in points),
        tuple(point.contender.name for point in sorted(unsurpassed, key=lambda point: point.utility.value)),
        tuple(caveats),
    )


def _surpasses(pair: Pair, one: _Point, other: _Point) -> bool:
    """Whether one is better in a quantity and not worse in the other, whatever the intervals are."""
    both = list(zip(pair, one[1:], other[1:], strict=True))
    better = any(quantity.is_better(first, second) for quantity, first, second in both)
    return better and not any(quantity.is_better(second, first) for quantity, first, second in both)


def _place(pair: Pair, point: _Point, points: Sequence[_Point], *, known: bool) -> Place:
    if not known or point.attack.interval is None or point.utility.interval is None:
        return Place(*point, Standing.OPEN)
    behind, unclear = [], []
    own = point.contender
    for other in (each.contender for each in points if each is not point):
        if all(is_clearly_better(other, own, quantity) for quantity in pair):
            behind.append(other.name)
        elif not any(is_clearly_better(own, other, quantity) for quantity in pair):
            unclear.append(other.name)
    standing = Standing.BEHIND if behind else Standing.OPEN if unclear else Standing.ON
    return Place(*point, standing, tuple(behind or unclear))


def tell_front(front: Front) -> list[str]:
    """The front in plain language. Only what intervals support is stated."""
    names = f"{front.attack.title} and {front.utility.title}"
    if len(front.places) < 2:
        return [f"There is no front of {names}: only one obfuscation has both."]
    if front.caveats:
        return [f"No conclusion is drawn about the front of {names}. {' '.join(front.caveats)}"]
    if any(place.attack.interval is None or place.utility.interval is None for place in front.places):
        return [f"No conclusion is drawn about the front of {names}: not every value has an interval."]
    lines = []
    if found := [place.name for place in front.select(Standing.ON)]:
        lines.append(
            f"{join_names(found)} {_be(found)} on the Pareto front of {names}: every other obfuscation is clearly "
            "worse in at least one of the two."
        )
    for place in front.select(Standing.BEHIND):
        rivals = f"{join_names(place.rivals)} {_be(place.rivals)}"
        lines.append(f"{place.name} is behind the front: {rivals} clearly better in both.")
    return [*lines, *_tell_undecided(front.select(Standing.OPEN))]


def _tell_undecided(places: Sequence[Place]) -> Iterator[str]:
    for place in places:
        yield (
            f"{place.name} may or may not be on the front: it is not clearly better than {join_names(place.rivals)} in "
            "either of the two."
        )


def tell_attack(comparison: Comparison, attack: Quantity) -> list[str]:
    """How an attack compares with chance and with the originals, in plain language."""
    chance, originals, unknown = [], [], []
    for contender in comparison.contenders:
        reading = contender.read(attack)
        if reading is None:
            continue
        if attack.caveats(contender.evaluation):
            unknown.append(contender.name)
        elif comparison.is_chance(contender, attack):
            chance.append(contender.name)
        elif reading.interval is None:
            unknown.append(contender.name)
        elif comparison.is_original(contender, attack):
            originals.append(contender.name)
    title = attack.title[:1].upper() + attack.title[1:]
    said = {
        "cannot be told from chance": chance,
        "cannot be told from the originals, so no protection is shown": originals,
    }
    lines = [f"{title}: {join_names(names)} {ending}." for ending, names in said.items() if names]
    return [*lines, f"{title}: no conclusion is drawn about {join_names(unknown)}."] if unknown else lines


def join_names(names: Sequence[str]) -> str:
    """Names as a list in a sentence.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _be(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
