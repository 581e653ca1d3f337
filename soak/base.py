"""A part of the soak, and the loop that gives inputs to it."""

from __future__ import annotations

import json
import math
import time
from abc import ABC, abstractmethod
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.strategies import SearchStrategy

from soak.mutation import make_marker
from soak.report import BATCH, Finding, Report
from soak.watching import Watcher

DRAWN = 128
"""One batch of this many is drawn by hypothesis, which takes several times as long as a seeded random generator."""
RUNNING = "running.json"
"""The batch that is running: where a crash of the process itself is found."""


class Part(ABC):
    """One kind of input, and its use.

    Args:
        folder: A folder for the files of this part.
    """

    name: ClassVar[str]
    seconds: ClassVar[float] = 10.0
    """The limit of processor time of an input."""
    batch: ClassVar[int] = BATCH
    quotes_settings: ClassVar[bool] = False
    """Whether the causes of an error may quote the file, because it holds settings and no documents."""

    on_disk: ClassVar[bool] = False
    """Whether its files belong on a disk. Those of most parts are in memory, if the system has such a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.label = self.name
        """The name under which the last input is counted."""
        self.uses = 1
        """The number of inputs that the last one counts as."""

    def close(self) -> None:  # noqa: B027 # few parts need it
        """End what was started."""

    def strategy(self, marker: str) -> SearchStrategy[Any] | None:
        """The inputs as hypothesis draws them; ``None`` if there are only random ones."""
        return None

    @abstractmethod
    def draw(self, random: Random, marker: str) -> Any:
        """A random input."""

    @abstractmethod
    def use(self, given: Any, marker: str) -> None:
        """Use an input.

        Raises:
            BrokenPromiseError: The result is wrong.
            TextveilError: The input was refused, as it should be.
        """


def run_part(part: Part, report: Report, *, seed: int, seconds: float, inputs: int | None = None) -> None:
    """Give batches of inputs to a part, with consecutive seeds, until the time or the inputs are used up."""
    started, used = time.monotonic(), time.process_time()
    report.folder.mkdir(parents=True, exist_ok=True)
    while time.monotonic() - started < seconds and (inputs is None or inputs > 0):
        (report.folder / RUNNING).write_text(json.dumps({"seed": seed, **report.as_dict()}), encoding="utf-8")
        size = part.batch if inputs is None else min(part.batch, inputs)
        run_batch(part, report, seed=seed, size=size, ends=started + seconds)
        inputs = None if inputs is None else inputs - size
        seed += 1
    report.seconds[part.name] += time.monotonic() - started  # type: ignore[assignment]
    report.processor[part.name] += time.process_time() - used  # type: ignore[assignment]


def run_batch(part: Part, report: Report, *, seed: int, size: int, ends: float = math.inf) -> None:
    """Use the inputs of one seed: drawn by hypothesis if it is a multiple of :data:`DRAWN`, at random otherwise."""
    marker = make_marker(Random(seed))
    with Watcher(marker, seconds=part.seconds, causes=not part.quotes_settings) as watcher:
        number = 0

        def use(given: Any) -> None:
            nonlocal number
            problem = watcher.watch(lambda: part.use(given, marker))
            report.inputs[part.label] += part.uses
            if problem is not None:
                report.add(Finding(part.name, seed, number, *problem), given)
            number += 1

        strategy = None if seed % DRAWN else part.strategy(marker)
        if strategy is not None:
            _explore(strategy, use, seed, size)
            return
        random = Random(seed)
        for _ in range(size):
            if time.monotonic() >= ends:
                return
            use(part.draw(random, marker))


def _explore(strategy: SearchStrategy[Any], use: Any, seed: int, size: int) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @hypothesis.given(strategy)
    def explore(given: Any) -> None:
        use(given)

    explore()
