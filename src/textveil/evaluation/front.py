"""The Pareto front of a comparison: which obfuscations no other one surpasses, as far as intervals support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from textveil.evaluation.comparison import Comparison, Pair
from textveil.evaluation.quantities import Quantity, Reading


class Standing(StrEnum):
    """The place of an obfuscation, relative to the front."""

    ON = "on the front"
    """Clearly better than every other obfuscation in at least one of the two quantities."""
    BEHIND = "behind the front"
    """Another obfuscation is clearly better in one of the two quantities, and not worse in the other."""
    OPEN = "undecided"


@dataclass(frozen=True, slots=True)
class Point:
    """An obfuscation with both quantities.

    Args:
        name: Its name.
        setting: The name without its level. Points of one setting form a curve.
        level: The level; empty if it has none.
        attack: The success of the attack.
        utility: The utility.
        chance: The readings of chance, where the attack or the utility cannot be told from it. They are compared
            instead: a classifier that has learned nothing can be below another one, but it has not learned less.
        epsilon: The budget, if it is known.
    """

    name: str
    setting: str
    level: str
    attack: Reading
    utility: Reading
    chance: tuple[Reading | None, Reading | None] = (None, None)
    epsilon: float | None = None

    @property
    def compared(self) -> tuple[Reading, Reading]:
        """The readings to compare with those of other points."""
        return self.chance[0] or self.attack, self.chance[1] or self.utility


@dataclass(frozen=True, slots=True)
class Place:
    """A point with its place relative to the front."""

    point: Point
    standing: Standing
    rivals: tuple[str, ...] = ()
    """The obfuscations that surpass it, or that it cannot be told from."""

    @property
    def name(self) -> str:
        """The name of the obfuscation."""
        return self.point.name

    @property
    def attack(self) -> Reading:
        """The success of the attack."""
        return self.point.attack

    @property
    def utility(self) -> Reading:
        """The utility."""
        return self.point.utility


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

    @property
    def curves(self) -> dict[str, list[Place]]:
        """The places of every setting, in the order of levels."""
        found: dict[str, list[Place]] = {}
        for place in self.places:
            found.setdefault(place.point.setting, []).append(place)
        return found

    @property
    def has_intervals(self) -> bool:
        """Whether every value has an interval."""
        return all(reading.interval is not None for place in self.places for reading in (place.attack, place.utility))

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


def find_front(comparison: Comparison, pair: Pair) -> Front:
    """The front of an attack and a utility of a comparison."""
    points = []
    for contender in (each for contenders in comparison.settings.values() for each in contenders):
        attack, utility = map(contender.read, pair)
        if attack is None or utility is None:
            continue
        learned = map(contender.read_learned, pair)
        chance = [other if other != own else None for own, other in zip((attack, utility), learned, strict=True)]
        points.append(
            Point(contender.name, contender.setting, contender.level, attack, utility, (chance[0], chance[1]))
        )
    caveats = dict.fromkeys(caveat for each in pair for caveat in comparison.find_caveats(each))
    return place_points(pair, points, tuple(caveats))


def place_points(pair: Pair, points: Sequence[Point], caveats: tuple[str, ...] = ()) -> Front:
    """The front of points from any source. With a caveat, all of them are undecided."""
    unsurpassed = [point for point in points if not any(_surpasses(pair, other, point) for other in points)]
    return Front(
        *pair,
        tuple(_place(pair, point, points, known=not caveats) for point in points),
        tuple(point.name for point in sorted(unsurpassed, key=lambda point: _rank_utility(pair[1], point))),
        caveats,
    )


def _rank_utility(utility: Quantity, point: Point) -> float:
    return point.utility.value if utility.better == "higher" else -point.utility.value


def _surpasses(pair: Pair, one: Point, other: Point) -> bool:
    """Whether one is better in a quantity and not worse in the other, whatever the intervals are."""
    both = list(zip(pair, (one.attack, one.utility), (other.attack, other.utility), strict=True))
    better = any(quantity.is_better(first, second) for quantity, first, second in both)
    return better and not any(quantity.is_better(second, first) for quantity, first, second in both)


def _place(pair: Pair, point: Point, points: Sequence[Point], *, known: bool) -> Place:
    if not known or point.attack.interval is None or point.utility.interval is None:
        return Place(point, Standing.OPEN)
    behind, unclear = [], []
    for other in (each for each in points if each is not point):
        if _is_clearly_better(pair, other, point) and not _is_worse(pair, other, point):
            behind.append(other.name)
        elif not _is_clearly_better(pair, point, other):
            unclear.append(other.name)
    standing = Standing.BEHIND if behind else Standing.OPEN if unclear else Standing.ON
    return Place(point, standing, tuple(behind or unclear))


def _is_clearly_better(pair: Pair, one: Point, other: Point) -> bool:
    """Whether one is better in any of the two quantities, by more than noise."""
    return any(map(Quantity.is_clearly_better, pair, one.compared, other.compared))


def _is_worse(pair: Pair, one: Point, other: Point) -> bool:
    """Whether the value of one is worse in any of the two quantities. Chance is as good as chance."""
    return any(
        quantity.is_better(second, first)
        for quantity, first, second, chance in zip(
            pair, one.compared, other.compared, zip(one.chance, other.chance, strict=True), strict=True
        )
        if None in chance
    )


def tell_front(front: Front) -> list[str]:
    """The front in plain language. Only what intervals support is stated."""
    names = f"{front.attack.title} and {front.utility.title}"
    if len(front.places) < 2:
        return [f"There is no front of {names}: only one obfuscation has both."]
    if front.caveats:
        return [f"No conclusion is drawn about the front of {names}. {' '.join(front.caveats)}"]
    if not front.has_intervals:
        return [f"No conclusion is drawn about the front of {names}: not every value has an interval."]
    lines = []
    if found := [place.name for place in front.select(Standing.ON)]:
        lines.append(
            f"{join_names(found)} {_be(found)} on the Pareto front of {names}: every other obfuscation is clearly "
            "worse in at least one of the two."
        )
    for place in front.select(Standing.BEHIND):
        rivals = f"{join_names(place.rivals)} {_be(place.rivals)}"
        lines.append(
            f"{place.name} is behind the front: {rivals} clearly better in one of the two, and not worse in the other."
        )
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
