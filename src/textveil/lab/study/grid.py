"""The grid of a study: its cells, which are pure data with a stable id."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Literal

from textveil.budget import Budget
from textveil.lab.study.datasets import DatasetInfo
from textveil.lab.study.study import CalibratedLevel, Study
from textveil.profiles import Form, load_profile

_NOT_IN_ID = ("level",)
"""Fields that do not change the texts of a cell."""
_DEFAULTS = {"draw": 1, "draft_share": None, "form": None}
"""Fields that earlier versions did not have. With these values they are not part of the id, which stays the same."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The software and files of this machine that the texts of cells depend on.

    A method is described by its options, its model and its versions, as JSON.

    Args:
        bundle: The SHA-256 of the bundle.
        decompositions: The description of each decomposition, by name.
        distributions: The description of each distribution, by name.
        mechanisms: The description of each mechanism that has options in the study, by name.
        levels: The epsilon per word of calibrated levels: by level, by decomposition and by mechanism.
    """

    bundle: str
    decompositions: Mapping[str, str]
    distributions: Mapping[str, str]
    mechanisms: Mapping[str, str]
    levels: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    def describe(self, decomposition: str, distribution: str, mechanism: str) -> tuple[str, ...]:
        """The descriptions of the methods of a cell."""
        found = (self.decompositions[decomposition], self.distributions[distribution])
        return (*found, self.mechanisms[mechanism]) if mechanism in self.mechanisms else found


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
    """The epsilon per word times the average length: the budget of every document, or that of an average one."""
    epsilon_per_word: float
    length: str
    """``own`` or ``average``: the length that the epsilon per word is multiplied by."""
    largest_share: float | Literal["inf"] | None
    """The largest share of a chunk; ``None`` takes the default of the profile. JSON has no infinite number."""
    seed: int | None
    """The seed of the study. The noise of every cell differs."""
    texts: str
    """The SHA-256 of the originals."""
    bundle: str
    """Its SHA-256."""
    methods: tuple[str, ...]
    """The methods with their options, models and versions, as :meth:`Environment.describe` returns them."""
    draw: int = 1
    """The number of the draw of noise. Cells that differ in nothing else are repetitions."""
    draft_share: float | None = None
    """The part of a budget that buys a draft; ``None`` takes the default of the obfuscator."""
    form: Form | None = None
    """How texts are written; ``None`` is the form that earlier versions wrote."""

    @property
    def id(self) -> str:
        """A hash of everything that determines the texts. Studies that share a cell share its id."""
        return hashlib.sha256(self._key.encode()).hexdigest()[:16]

    @property
    def noise_seed(self) -> int | None:
        """The seed of this cell's noise. No two cells share it, so that their errors are independent."""
        if self.seed is None:
            return None
        return int.from_bytes(hashlib.sha256(f"noise of {self._key}".encode()).digest()[:8], "little")

    @property
    def _key(self) -> str:
        return json.dumps(
            {
                name: value
                for name, value in asdict(self).items()
                if name not in _NOT_IN_ID and (name not in _DEFAULTS or value != _DEFAULTS[name])
            }
        )

    def __str__(self) -> str:
        names = (self.dataset, self.level, self.decomposition, self.distribution, self.mechanism, self.profile)
        return " / ".join((*names, f"draw {self.draw}") if self.draw > 1 else names)


def expand(study: Study, datasets: Mapping[str, DatasetInfo], environment: Environment) -> list[Cell]:
    """All cells of a study, ordered by draw, by data set, then by level.

    The first draw of all combinations comes before the second of any, so that an unfinished study can be compared.

    Args:
        study: The study.
        datasets: Its data sets that were read. The others have no cells yet.
        environment: The software and files of this machine.
    """
    chosen = [name for name in study.datasets if name in datasets]
    factors = (chosen, study.levels, study.decompositions, study.distributions, study.mechanisms, study.profiles)
    return [
        _make_cell(study, datasets[str(names[0])], environment, draw, *map(str, names))
        for draw in range(1, study.draws + 1)
        for names in product(*factors)
    ]


def _make_cell(study: Study, dataset: DatasetInfo, environment: Environment, draw: int, *names: str) -> Cell:
    name, level, decomposition, distribution, mechanism, profile = names
    settings = study.choose_settings(study.bundle, load_profile(profile))
    rules, wanted = settings.rules, study.levels[level]
    epsilon = environment.levels[level][decomposition][mechanism] if isinstance(wanted, CalibratedLevel) else wanted
    form = rules.choose_form(settings.form)
    return Cell(
        name,
        level,
        decomposition,
        distribution,
        mechanism,
        profile,
        stopwords=rules.choose_stopwords(settings.stopwords),
        epsilon=epsilon * dataset.average_length,
        epsilon_per_word=epsilon,
        length=str(rules.choose_budget(Budget(epsilon_per_word=epsilon, length=study.length)).length),
        largest_share="inf" if settings.largest_share == math.inf else settings.largest_share,
        seed=study.seed,
        texts=dataset.texts_sha256,
        bundle=environment.bundle,
        methods=environment.describe(decomposition, distribution, mechanism),
        draw=draw,
        draft_share=settings.draft_share,
        form=None if form == rules.earlier_form else form,
    )
