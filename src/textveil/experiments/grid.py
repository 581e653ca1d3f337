"""The grid of a study: cells that are pure data, each with an id that stays the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from textveil.experiments.datasets import Description
from textveil.experiments.study import Study
from textveil.privacy.profiles import load_profile

_NOT_IN_ID = ("level",)
"""What a cell is called by, and its texts do not depend on."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the texts of cells depend on beside what a study names: software and files, as they are here.

    Args:
        bundle: The SHA-256 of the bundle.
        methods: What a certificate calls each decomposition and distribution, with its options, models and versions.
    """

    bundle: str
    methods: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination, with everything that determines its texts."""

    dataset: str
    level: str
    decomposition: str
    distribution: str
    mechanism: str
    profile: str
    stopwords: str
    epsilon: float
    """The budget of a document."""
    seed: int | None
    """The study's; every cell has other noise."""
    texts: str
    """The SHA-256 of the originals."""
    bundle: str
    """Its SHA-256."""
    methods: tuple[str, ...]
    """Decomposition and distribution with their options, models and versions."""

    @property
    def id(self) -> str:
        """A hash of all that determines the texts: the same for every study that has this cell."""
        return hashlib.sha256(self._key.encode()).hexdigest()[:16]

    @property
    def noise_seed(self) -> int | None:
        """What the noise of this cell is drawn with: no two cells share it, so that their errors are independent."""
        if self.seed is None:
            return None
        return int.from_bytes(hashlib.sha256(f"noise of {self._key}".encode()).digest()[:8], "little")

    @property
    def _key(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if name not in _NOT_IN_ID})

    def __str__(self) -> str:
        return " / ".join(
            (self.dataset, self.level, self.decomposition, self.distribution, self.mechanism, self.profile)
        )


def expand(study: Study, datasets: Mapping[str, Description], environment: Environment) -> list[Cell]:
    """All cells of a study, those of a data set and a level together.

    Args:
        study: The study.
        datasets: What is known of its data sets, as far as they are prepared; others have no cells yet.
        environment: Software and files.
    """
    chosen = (name for name in study.datasets if name in datasets)
    factors = (chosen, study.levels, study.decompositions, study.distributions, study.mechanisms, study.profiles)
    return [_make_cell(study, datasets[str(names[0])], environment, *map(str, names)) for names in product(*factors)]


def _make_cell(study: Study, dataset: Description, environment: Environment, *names: str) -> Cell:
    name, level, decomposition, distribution, mechanism, profile = names
    return Cell(
        name,
        level,
        decomposition,
        distribution,
        mechanism,
        profile,
        stopwords=load_profile(profile).choose_stopwords(study.stopwords),
        epsilon=study.levels[level] * dataset.average_length,
        seed=study.seed,
        texts=dataset.texts_sha256,
        bundle=environment.bundle,
        methods=(environment.methods[decomposition], environment.methods[distribution]),
    )


def read_cell(values: Mapping[str, Any]) -> Cell:
    """The cell that ``dataclasses.asdict`` gave, from JSON."""
    return Cell(**{**values, "methods": tuple(values["methods"])})
