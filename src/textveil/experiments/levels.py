"""Calibrated levels: their epsilon per word for every decomposition and mechanism of a study."""

from __future__ import annotations

from collections.abc import Mapping

from textveil.bundles.bundle import Bundle
from textveil.errors import StudyError
from textveil.experiments.study import CalibratedLevel, Level, Study
from textveil.obfuscation import Obfuscator
from textveil.privacy.profiles import PAPER

MEDIAN = "0.5"
"""The quantile of the distance between two typical words, as bundles spell it."""


def find_epsilons(study: Study, bundle: Bundle) -> dict[str, dict[str, dict[str, float]]]:
    """The epsilon per word of calibrated levels: by level, by decomposition and by mechanism.

    It depends on nothing else. The figures of the bundle cache what is simulated, so only the first time is slow.

    Raises:
        StudyError: Two levels have the same epsilon per word for a decomposition and a mechanism.
    """
    calibrated = [name for name, level in study.levels.items() if isinstance(level, CalibratedLevel)]
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in calibrated}
    for decomposition in study.decompositions if calibrated else ():
        for mechanism, options in study.mechanisms.items():
            obfuscator = Obfuscator(
                bundle,
                decomposition=decomposition,
                decomposition_options=study.decompositions[decomposition],
                mechanism=mechanism,
                mechanism_options=options,
                profile=PAPER.name,  # takes all mechanisms, and needs no largest share
            )
            epsilons = {name: find_epsilon(level, obfuscator) for name, level in study.levels.items()}
            _check_different(epsilons, f"{decomposition} and {mechanism}")
            for name in calibrated:
                found[name].setdefault(decomposition, {})[mechanism] = epsilons[name]
    return found


def find_epsilon(level: Level, obfuscator: Obfuscator) -> float:
    """The epsilon per word of a level, for the mechanism and the vectors of an obfuscator."""
    if not isinstance(level, CalibratedLevel):
        return level
    if level.unchanged is not None:
        return obfuscator.find_share(level.unchanged)
    typical = float(obfuscator.terms.distance["pairs"].get(MEDIAN, 0.0))
    return float(level.bound or 0.0) / (typical or 1.0)  # all entries may be at the same place


def _check_different(epsilons: Mapping[str, float], methods: str) -> None:
    names: dict[float, str] = {}
    for name, epsilon in epsilons.items():
        if (same := names.setdefault(epsilon, name)) != name:
            raise StudyError(
                f"With {methods}, the levels {same!r} and {name!r} have the same epsilon per word, {epsilon:g}. Remove "
                "one of them, or set them farther apart."
            )
