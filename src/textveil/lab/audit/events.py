"""Events: sets of answers that are likely for one text and unlikely for another, found on one sample of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import Floats

MOST_PLACES = 8
"""Words of an answer that are looked at one by one: the first ones."""
MOST_THRESHOLDS = 64
SMOOTHING = 0.5
"""Added to every count, so that no ratio is infinite."""
SHOWN = 3
"""Values of an event that its description names."""

Numbers: TypeAlias = npt.NDArray[np.int32]
"""The numbers of answers."""
Codes: TypeAlias = npt.NDArray[np.int64]
"""A row for every answer and a column for every property of it: the number of its value."""


PLACES = tuple(f"word {place + 1}" for place in range(MOST_PLACES))
PROPERTIES = (
    *PLACES,
    "the answer",
    "the number of words",
    "the number of repeated words",
    "the number of characters",
)
"""What can be seen in an answer."""
TOGETHER = "all words together"


def read_properties(answer: str) -> list[str]:
    """The value of every property of an answer.

    >>> read_properties("a b a")[:4], read_properties("a b a")[-4:]
    (['a', 'b', 'a', ''], ['a b a', '3', '1', '5'])
    """
    words = answer.split()
    placed = [*words[:MOST_PLACES], *[""] * (MOST_PLACES - len(words))]
    return [*placed, answer, str(len(words)), str(len(words) - len(set(words))), str(len(answer))]


class Coder:
    """Numbers answers and the values of their properties, so that they can be counted as arrays.

    Most answers come again. So a sample of answers is kept as their numbers, which takes little memory.
    """

    def __init__(self) -> None:
        self._values: list[dict[str, int]] = [{} for _ in PROPERTIES]
        self._answers: dict[str, int] = {}
        self._rows: list[list[int]] = []

    def encode(self, answers: Iterable[str]) -> Numbers:
        """The numbers of some answers."""
        return np.fromiter(map(self._number, answers), dtype=np.int32)

    def _number(self, answer: str) -> int:
        if answer not in self._answers:
            self._answers[answer] = len(self._rows)
            values = zip(self._values, read_properties(answer), strict=True)
            self._rows.append([known.setdefault(value, len(known)) for known, value in values])
        return self._answers[answer]

    def look_up(self, numbers: Numbers) -> Codes:
        """The values of all properties of the answers with these numbers."""
        distinct, places = np.unique(numbers, return_inverse=True)
        rows = np.array([self._rows[number] for number in distinct.tolist()], dtype=np.int64)
        codes: Codes = rows.reshape(-1, len(PROPERTIES))[places]
        return codes

    def sizes(self) -> list[int]:
        """The number of values of each property."""
        return [len(known) for known in self._values]

    def name(self, column: int, numbers: Sequence[int]) -> list[str]:
        """The values with these numbers."""
        names = list(self._values[column])
        return [names[number] for number in numbers]


@dataclass(frozen=True, slots=True)
class Event:
    """The answers whose score reaches a threshold."""

    columns: tuple[int, ...]
    """The properties whose scores are summed up."""
    tables: tuple[Floats, ...]
    """The score of each value of each of these properties; values that came later have none."""
    threshold: float

    def count(self, codes: Codes) -> int:
        """The number of answers in the event."""
        return int(np.count_nonzero(_score(codes, self.columns, self.tables) >= self.threshold))

    def describe(self, coder: Coder) -> str:
        """The event in words."""
        if len(self.columns) > 1:
            return f"{TOGETHER}: score of at least {self.threshold:.2f}"
        inside = np.flatnonzero(self.tables[0] >= self.threshold)
        order = inside[np.argsort(-self.tables[0][inside], kind="stable")]
        named = ", ".join(repr(value) for value in coder.name(self.columns[0], order[:SHOWN].tolist()))
        more = f" or {len(order) - SHOWN} others" if len(order) > SHOWN else ""
        return f"{PROPERTIES[self.columns[0]]} is {named}{more}"


def find_event(likely: Codes, unlikely: Codes, coder: Coder, deviations: float) -> Event:
    """The event that tells two texts apart best, as far as these samples show.

    The score of a value is the logarithm of the ratio of its frequencies in the first halves of both samples. The
    scores of all words of an answer are also summed up. On the second halves, the event is chosen whose ratio is
    largest, where both probabilities are taken as worse by some standard deviations. The samples are used for the
    choice only, so the choice cannot bias what another sample shows.

    Args:
        likely: Answers to the text for which the event is to be likely.
        unlikely: As many answers to the other one.
        coder: Has numbered their values.
        deviations: The number of standard deviations.
    """
    half = len(likely) // 2
    sizes = coder.sizes()
    tables = [
        _learn(likely[:half, column], unlikely[:half, column], sizes[column]) for column in range(len(PROPERTIES))
    ]
    vary = [column for column, size in enumerate(sizes) if size > 1] or [0]
    placed = tuple(column for column in vary if column < len(PLACES))
    families = [*((column,) for column in vary), *([placed] if len(placed) > 1 else [])]
    found = []
    for columns in families:
        chosen = tuple(tables[column] for column in columns)
        first, second = (_score(part[half:], columns, chosen) for part in (likely, unlikely))
        quality, threshold = _choose_threshold(first, second, deviations)
        found.append((quality, Event(columns, chosen, threshold)))
    return max(found, key=lambda pair: pair[0])[1]


def _learn(likely: Codes, unlikely: Codes, size: int) -> Floats:
    """The score of each value."""
    counts = [np.bincount(values, minlength=size) + SMOOTHING for values in (likely, unlikely)]
    scores: Floats = np.log(counts[0] / counts[1])
    return scores


def _score(codes: Codes, columns: Sequence[int], tables: Sequence[Floats]) -> Floats:
    """The sum of the scores of some properties of each answer."""
    total = np.zeros(len(codes))
    for column, table in zip(columns, tables, strict=True):
        values = codes[:, column]
        total += np.where(values < len(table), table[np.minimum(values, len(table) - 1)], 0.0)
    return total


def _choose_threshold(likely: Floats, unlikely: Floats, deviations: float) -> tuple[float, float]:
    """The cautious log-ratio of the best threshold, and the threshold."""
    candidates = np.unique(likely)
    if len(candidates) > MOST_THRESHOLDS:
        candidates = np.unique(np.quantile(likely, np.linspace(0, 1, MOST_THRESHOLDS), method="higher"))
    first, second = (
        len(scores) - np.searchsorted(np.sort(scores), candidates, side="left") for scores in (likely, unlikely)
    )
    # The root of a count has a standard deviation of one half, whatever the count.
    low = np.maximum(np.sqrt(first) - deviations / 2, 1e-3) ** 2
    high = (np.sqrt(second + 1) + deviations / 2) ** 2
    qualities: Any = np.log(low / high)
    best = int(qualities.argmax())
    return float(qualities[best]), float(candidates[best])
