"""The search for an epsilon per word that meets targets: bisection on confidence bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from numbers import Real
from statistics import NormalDist
from typing import Any

from textveil.errors import InputError, ParameterError, TargetError
from textveil.lab.calibration.calibration import (
    EXACT,
    GIVEN,
    LOG_RATIO,
    TARGETS,
    UTILITY,
    Calibration,
    Point,
    Reading,
    Sample,
    Target,
    check_targets,
    describe_settings,
)
from textveil.lab.metrics import Dataset, Evaluator, Measurement
from textveil.lab.metrics.classification import FOLDS, SEEDS
from textveil.lab.metrics.uncertainty import SHARE
from textveil.methods.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE
from textveil.obfuscator import Obfuscator
from textveil.progress import Progress, ignore_progress

CONFIDENCE = 0.95
SHIPPED = "everyday"
"""The name of the texts that ship with textveil."""
STEPS = 7
"""Bisections. Seven of them find epsilon to about five percent."""
LEAST_TEXTS = 20
_LOWEST, _HIGHEST = 1 / 32, 4.0
"""The searched range: from this part of the share at which hardly any word returns, to this multiple of the largest."""
_CROSS_VALIDATED = {"split": FOLDS, "seeds": SEEDS[:1]}
"""The options of classifiers, so that every text is tested."""
_ROUNDING = 1e-9
_CLOSE = 1.02
"""Bisection ends when two epsilons differ by less than this factor."""
_NORMAL = NormalDist()
_HINTS = {
    **dict.fromkeys((UTILITY, "similarity"), " The largest share limits it: see `largest_share`."),
    "unchanged": " Kept stopwords are unchanged: use the target unchanged-content, or `stopwords='perturb'`.",
}


def widen(value: float, end: float, texts: int, risk: float) -> float:
    """Move the end of a 95 % interval to where the true value lies beyond it with at most a stated risk.

    The distance of the end is multiplied by the ratio of two quantiles: that of Student's t, corrected for the variance
    of a bootstrap over few texts (Hesterberg 2015), and that of the normal distribution.

    Args:
        value: The value.
        end: An end of its 95 % bootstrap interval.
        texts: The number of texts.
        risk: The probability that the true value may lie beyond the bound.

    >>> round(widen(0.2, 0.25, texts=10_000, risk=0.025), 4)
    0.25
    >>> round(widen(0.2, 0.25, texts=30, risk=0.005), 4)
    0.2715
    """
    correction = math.sqrt(texts / (texts - 1)) * find_quantile(1 - risk, texts - 1)
    return value + (end - value) * correction / _NORMAL.inv_cdf((1 + SHARE) / 2)


def find_quantile(level: float, degrees: int) -> float:
    """The quantile of Student's t: the expansion of Abramowitz and Stegun (26.7.5), for five degrees or more.

    >>> [round(find_quantile(0.995, degrees), 2) for degrees in (5, 29, 1000)]
    [4.03, 2.76, 2.58]
    """
    z, v = _NORMAL.inv_cdf(level), degrees
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )


def read_shipped_texts() -> list[str]:
    """Sixty short everyday texts, written for textveil. They are public."""
    return files("textveil.lab.calibration").joinpath(f"{SHIPPED}.txt").read_text(encoding="utf-8").splitlines()


def find_largest_share(obfuscator: Obfuscator, targets: Mapping[str, float]) -> float:
    """The largest share that the targets allow: with a log-ratio, its quotient by the cap of the mechanism.

    Raises:
        TargetError: There is a log-ratio, and the mechanism has no cap.
    """
    level = check_targets(targets).get(TARGETS[LOG_RATIO])
    if level is None:
        return obfuscator.largest_share
    mechanism = obfuscator.terms.mechanism
    if not mechanism["cap"]:
        raise TargetError(
            f"The target {LOG_RATIO} needs a mechanism with a cap. Without one, the ratio of distant words has no "
            f"limit. The mechanism {mechanism['name']!r} has none. Use `mechanism='exponential'`, and set its `cap`."
        )
    return min(obfuscator.largest_share, level / float(mechanism["cap"]))


def calibrate(
    obfuscator: Obfuscator,
    targets: Mapping[str, float],
    texts: Sequence[str | None] | None = None,
    *,
    attribute: Sequence[str | None] | None = None,
    labels: Mapping[str, Sequence[str | None]] | None = None,
    confidence: float = CONFIDENCE,
    progress: Progress = ignore_progress,
) -> Calibration:
    """Find the epsilon per word that meets some targets.

    A target is met if its confidence bound is on the safe side. The risk is divided by the number of epsilons that may
    be tried and by the number of targets. So all bounds hold at the same time, with the stated confidence, for other
    texts of the same kind.

    Args:
        obfuscator: The obfuscator. With a seed, the result can be repeated.
        targets: Levels by name, such as ``{"unchanged-content": 0.2}``; see ``TARGETS``.
        texts: A sample of the texts. The epsilon then depends on them. By default, texts that ship with textveil.
        attribute: The attribute of every text, for the target ``adaptive``.
        labels: The labels of every text by task, for the target ``utility``. It is met if all tasks meet it.
        confidence: The probability that the targets are met.
        progress: Receives progress reports.

    Returns:
        The largest such epsilon; with a target for utility, the smallest.

    Raises:
        TargetError: A target cannot be met, or targets contradict each other.
    """
    wanted = check_targets(targets)
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0.5 <= confidence < 1:
        raise ParameterError(f"`confidence` must be at least 0.5 and less than 1. Got {confidence!r} instead.")
    if obfuscator.ledger is not None:
        raise ParameterError("A calibration releases nothing. Use an obfuscator without a `ledger`.")
    share = find_largest_share(obfuscator, targets)
    if obfuscator.largest_share > share * (1 + _ROUNDING):
        raise ParameterError(f"The target {LOG_RATIO} needs `largest_share={share!r}`, or less.")
    described = partial(
        Calibration,
        targets={target.name: level for target, level in wanted.items()},
        largest_share=obfuscator.terms.largest_share,
        settings=describe_settings(obfuscator.terms),
    )
    measured = {target: level for target, level in wanted.items() if target.metric is not None}
    if not measured:
        return described(epsilon_per_word=share, confidence=1.0, sample=Sample(EXACT, 0))
    datasets = _choose_texts(texts, attribute, labels, measured)
    curve = _Curve(obfuscator, datasets, measured, 1 - confidence, progress)
    limit = math.inf if len(measured) == len(wanted) else share
    chosen = _search(curve, measured, *_find_range(obfuscator, limit))
    return described(
        epsilon_per_word=chosen.epsilon_per_word,
        confidence=confidence,
        sample=Sample(SHIPPED if texts is None else GIVEN, datasets[0].size),
        curve=tuple(curve.points),
        caveats=tuple(curve.caveats),
    )


def _choose_texts(
    texts: Sequence[str | None] | None,
    attribute: Sequence[str | None] | None,
    labels: Mapping[str, Sequence[str | None]] | None,
    targets: Mapping[Target, float],
) -> list[Dataset]:
    """The texts that have words, with their attribute and label if they are needed: a data set for each label."""
    for name, parameter, given in (("adaptive", "attribute", attribute), (UTILITY, "labels", labels)):
        if TARGETS[name] in targets and (texts is None or not given):
            raise ParameterError(f"The target {name} needs texts of your own, and classes to infer. Set `{parameter}`.")
    if TARGETS["adaptive"] not in targets:
        attribute = None
    tasks: Iterable[Sequence[str | None] | None] = (labels or {}).values() if TARGETS[UTILITY] in targets else ()
    datasets = []
    for label in tasks or [None]:
        found = Dataset(read_shipped_texts() if texts is None else texts, label=label, attribute=attribute)
        for problem in found.problems.values():
            raise InputError(problem)
        if len(found.rows) < LEAST_TEXTS:
            raise InputError(f"A calibration needs at least {LEAST_TEXTS} texts with words. Got {len(found.rows)}.")
        kept = [None if each is None else [each[row] for row in found.rows] for each in (label, attribute)]
        datasets.append(Dataset(list(found.originals), label=kept[0], attribute=kept[1]))
    return datasets


def _find_range(obfuscator: Obfuscator, limit: float) -> tuple[float, float]:
    """The epsilons between which to search. With a log-ratio, no more than the largest share is of use."""
    hidden, half = obfuscator.find_share(SMALLEST_RATE), obfuscator.find_share(LARGEST_RATE)
    low, high = _LOWEST * hidden, _HIGHEST * min(half, obfuscator.largest_share)
    return min(low, limit / 2), min(high, limit)


class _Curve:
    """The readings at every epsilon that was tried.

    Args:
        obfuscator: The obfuscator.
        datasets: The texts, with each of the labels. Other targets are measured on the first.
        targets: The targets that are measured, with their levels.
        risk: The probability that any bound may fail.
        progress: Receives progress reports.
    """

    def __init__(
        self,
        obfuscator: Obfuscator,
        datasets: Sequence[Dataset],
        targets: Mapping[Target, float],
        risk: float,
        progress: Progress,
    ) -> None:
        self._obfuscator = obfuscator
        self._texts = datasets[0].originals
        self._targets = targets
        directions = len({target.floor for target in targets})
        self.trials = 2 + STEPS * directions
        self._risk = risk / (self.trials * (len(targets) + len(datasets) - 1))
        metrics = list(dict.fromkeys(str(target.metric) for target in targets))
        options: dict[str, dict[str, Any]] = {
            name: _CROSS_VALIDATED for name in metrics if name in ("attribute", "downstream")
        }
        if "inversion" in metrics:
            options["inversion"] = {"bundle": obfuscator.bundle}
        self._evaluators = [Evaluator(datasets[0], metrics, options)]
        self._evaluators += [
            Evaluator(other, ["downstream"], {"downstream": _CROSS_VALIDATED}) for other in datasets[1:]
        ]
        self._progress = progress
        self._points: dict[float, Point] = {}
        self.caveats: list[str] = []

    @property
    def points(self) -> list[Point]:
        """All points, by epsilon."""
        return [self._points[epsilon] for epsilon in sorted(self._points)]

    def at(self, epsilon: float) -> Point:
        """The point at an epsilon, which is rounded down to three digits: what is tried is what is reported."""
        power = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
        rounded = float(f"{math.floor(epsilon / power) * power:.6g}")
        if rounded not in self._points:
            self._progress("calibrating", len(self._points), len(self._points) / self.trials)
            self._points[rounded] = self._measure(rounded)
        return self._points[rounded]

    def _measure(self, epsilon: float) -> Point:
        results = list(
            self._obfuscator.obfuscate_all(self._texts, epsilon_per_word=epsilon, length="own", first_document=0)
        )
        texts = [result.text for result in results]
        found = [each.measure(texts, obfuscations=results).measurements for each in self._evaluators]
        readings = {}
        for target, level in self._targets.items():
            name = str(target.metric)
            read = [self._read(target, level, each[name]) for each in found if name in each]
            readings[target.name] = (min if target.floor else max)(read, key=lambda reading: reading.bound)
        return Point(epsilon, readings)

    def _read(self, target: Target, level: float, measurement: Measurement) -> Reading:
        value, end = target.read(measurement)
        used = int(measurement.details[target.tests]) if target.tests else len(self._texts)
        bound = 0.0 if target.floor else 1.0  # the worst value, if the texts cannot show how they differ
        if end is not None and used > 1:
            bound = min(1.0, max(0.0, widen(value, end, used, self._risk)))
        self.caveats += [caveat for caveat in measurement.caveats if caveat not in self.caveats]
        return Reading(value, bound, bound >= level if target.floor else bound <= level)


def _search(curve: _Curve, targets: Mapping[Target, float], low: float, high: float) -> Point:
    ceilings = [target for target in targets if not target.floor]
    floors = [target for target in targets if target.floor]
    bottom, top = curve.at(low), curve.at(high)
    for target in targets:
        _check_reachable(target, targets[target], top if target.floor else bottom, curve.points)
    if ceilings and not _meets(top, ceilings):
        _bisect(curve, lambda point: _meets(point, ceilings), bottom.epsilon_per_word, top.epsilon_per_word)
    if floors and not _meets(bottom, floors):
        _bisect(curve, lambda point: _meets(point, floors), top.epsilon_per_word, bottom.epsilon_per_word)
    # Below the first epsilon that fails, even if noise lets a larger one pass.
    limit = min((point.epsilon_per_word for point in curve.points if not _meets(point, ceilings)), default=math.inf)
    safe = [point for point in curve.points if point.epsilon_per_word < limit]
    meeting = [point for point in safe if _meets(point, floors)]
    if not meeting:
        raise _contradict(safe[-1], curve, ceilings, floors)
    return meeting[0] if floors else meeting[-1]


def _meets(point: Point, targets: Sequence[Target]) -> bool:
    return all(point.readings[target.name].met for target in targets)


def _bisect(curve: _Curve, passes: Callable[[Point], bool], good: float, bad: float) -> None:
    """Halve the range between an epsilon that passes and one that does not, on a logarithmic scale."""
    for _ in range(STEPS):
        if max(good, bad) < _CLOSE * min(good, bad):
            return
        middle = curve.at(math.sqrt(good * bad))
        if passes(middle):
            good = middle.epsilon_per_word
        else:
            bad = middle.epsilon_per_word


def _check_reachable(target: Target, level: float, extreme: Point, curve: Sequence[Point]) -> None:
    reading = extreme.readings[target.name]
    if reading.met:
        return
    where, side, towards = ("largest", "at least", math.floor) if target.floor else ("smallest", "at most", math.ceil)
    hint = _HINTS.get(target.name, "")
    raise TargetError(
        f"The target {target.name}={level:g} cannot be met. At the {where} epsilon per word, "
        f"{extreme.epsilon_per_word:g}, it is {reading.value:.3f}, and {side} {reading.bound:.3f} with confidence. "
        f"{target.name}={towards(1000 * reading.bound) / 1000:g} can be met. More texts give closer bounds.{hint}",
        curve,
    )


def _contradict(safest: Point, curve: _Curve, ceilings: Sequence[Target], floors: Sequence[Target]) -> TargetError:
    useful = next(point for point in curve.points if _meets(point, floors))
    upper, lower = (", ".join(target.name for target in each) for each in (ceilings, floors))
    reached = ", ".join(f"{target.name}={safest.readings[target.name].bound:.3f}" for target in floors)
    return TargetError(
        f"The targets contradict each other. Up to {safest.epsilon_per_word:g} per word, {upper} can be met. From "
        f"{useful.epsilon_per_word:g} on, {lower} can be met. At {safest.epsilon_per_word:g}, {reached} can be met.",
        curve.points,
    )
