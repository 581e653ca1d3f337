"""Allocation: any scores and any budget. There is no text, so the marker plays no role."""

from __future__ import annotations

import math
import struct
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from soak.base import Part
from soak.watching import BrokenPromiseError
from textveil.methods.distribution.allocation import Missing, allocate

CONSTANTS = (0.0, -0.0, 1e-300, 1e300, 5e-324, 3.0)
MISSING: tuple[Missing, ...] = ("mean", "zero")


class Task(NamedTuple):
    """The arguments of an allocation."""

    words: list[tuple[float | None, bool]]
    budget: float
    invert: bool
    missing: Missing
    filler: float


class Allocation(Part):
    """Divides budgets."""

    name = "allocation"
    seconds = 2.0

    def strategy(self, marker: str) -> st.SearchStrategy[Task]:
        """Drawn numbers of all sizes."""
        words = st.lists(st.tuples(st.one_of(st.none(), st.floats()), st.booleans()), max_size=30)
        return st.builds(Task, words, st.floats(), st.booleans(), st.sampled_from(MISSING), st.floats())

    def draw(self, random: Random, marker: str) -> Task:
        """Random numbers, some of them made of random bits."""

        def number() -> float:
            chance = random.random()
            if chance < 0.05:
                return float(struct.unpack("d", random.randbytes(8))[0])
            if chance < 0.5:
                return chance if chance < 0.2 else random.gauss(0, 1)
            return CONSTANTS[int(chance * 1000) % len(CONSTANTS)]

        words = [
            (None if random.random() < 0.1 else number(), random.random() < 0.8) for _ in range(random.randrange(60))
        ]
        budget = random.choice((1.0, 1e-200, 1e300, 10 * random.random(), number()))
        return Task(words, budget, random.random() < 0.5, random.choice(MISSING), random.choice((0.0, 1.0, number())))

    def use(self, given: Task, marker: str) -> None:
        """Divide the budget, and add up the shares."""
        scores = [score for score, _ in given.words]
        takes_part = [takes for _, takes in given.words]
        shares = allocate(
            scores, takes_part, budget=given.budget, invert=given.invert, missing=given.missing, filler=given.filler
        )
        if len(shares) != len(scores) or not all(math.isfinite(share) and share >= 0 for share in shares):
            raise BrokenPromiseError("a share is missing, negative or not finite")
        if any(share for share, takes in zip(shares, takes_part, strict=True) if not takes):
            raise BrokenPromiseError("a word that takes no part has a share")
        if not any(takes_part):
            return
        if not math.isclose(math.fsum(share / given.budget for share in shares), 1, rel_tol=1e-9):
            raise BrokenPromiseError("shares do not add up to the budget")
        if given.missing == "mean" and not all(shares[place] > 0 for place, takes in enumerate(takes_part) if takes):
            raise BrokenPromiseError("a word that takes part has no share")
