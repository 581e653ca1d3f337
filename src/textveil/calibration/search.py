"""The search for an epsilon per word that meets targets: bisection on confidence bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from numbers import Real

from textveil.calibration.bounds import widen
from textveil.calibration.calibration import EXACT, GIVEN, Calibration, Point, Reading, Sample, describe_settings
from textveil.calibration.targets import LOG_RATIO, TARGETS, Target, check_targets
from textveil.errors import InputError, ParameterError, TargetError
from textveil.evaluation import Dataset, Evaluator
from textveil.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE
from textveil.obfuscation import Obfuscator
from textveil.progress import Progress, ignore_progress

CONFIDENCE = 0.95
SHIPPED = "everyday"
"""The name of the texts that ship with textveil."""
STEPS = 7
"""Bisections. Seven of them find epsilon to about five percent."""
LEAST_TEXTS = 20
_LOWEST, _HIGHEST = 1 / 32, 4.0
"""The searched range: from this part of the share at which hardly any word returns, to this multiple of the largest."""
_ROUNDING = 1e-9
_CLOSE = 1.02
"""Bisection ends when two epsilons differ by less than this factor."""


def read_shipped_texts() -> list[str]:
    """Sixty short everyday texts, written for textveil. They are public."""
    return files("textveil.calibration").joinpath(f"{SHIPPED}.txt").read_text(encoding="utf-8").splitlines()


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
    levels = {target.name: level for target, level in wanted.items()}
    limit, settings = obfuscator.terms.largest_share, describe_settings(obfuscator.terms)
    measured = {target: level for target, level in wanted.items() if target.metric is not None}
    if not measured:
        return Calibration(levels, share, limit, 1.0, settings, Sample(EXACT, 0))
    dataset = _choose_texts(texts, attribute, needs_attribute=TARGETS["adaptive"] in measured)
    curve = _Curve(obfuscator, dataset, measured, 1 - confidence, progress)
    chosen = _search(curve, measured, *_find_range(obfuscator, share if LOG_RATIO in levels else math.inf))
    sample = Sample(SHIPPED if texts is None else GIVEN, dataset.size)
    return Calibration(
        levels, chosen.epsilon_per_word, limit, confidence, settings, sample, tuple(curve.points), tuple(curve.caveats)
    )


def _choose_texts(
    texts: Sequence[str | None] | None, attribute: Sequence[str | None] | None, *, needs_attribute: bool
) -> Dataset:
    """The texts that have words, with their attribute if it is needed."""
    if needs_attribute and (texts is None or attribute is None):
        raise ParameterError(
            "The target adaptive needs your own texts, and an attribute that the attacker infers. Set `attribute`."
        )
    found = Dataset(read_shipped_texts() if texts is None else texts, attribute=attribute if needs_attribute else None)
    if problem := found.problems.get("attribute"):
        raise InputError(problem)
    if len(found.rows) < LEAST_TEXTS:
        raise InputError(f"A calibration needs at least {LEAST_TEXTS} texts with words. Got {len(found.rows)}.")
    chosen = None if attribute is None or not needs_attribute else [attribute[row] for row in found.rows]
    return Dataset(list(found.originals), attribute=chosen)


def _find_range(obfuscator: Obfuscator, limit: float) -> tuple[float, float]:
    """The epsilons between which to search. With a log-ratio, no more than the largest share is of use."""
    hidden, half = obfuscator.find_share(SMALLEST_RATE), obfuscator.find_share(LARGEST_RATE)
    low, high = _LOWEST * hidden, _HIGHEST * min(half, obfuscator.largest_share)
    return min(low, limit / 2), min(high, limit)


class _Curve:
    """The readings at every epsilon that was tried.

    Args:
        obfuscator: The obfuscator.
        dataset: The texts.
        targets: The targets that are measured, with their levels.
        risk: The probability that any bound may fail.
        progress: Receives progress reports.
    """

    def __init__(
        self, obfuscator: Obfuscator, dataset: Dataset, targets: Mapping[Target, float], risk: float, progress: Progress
    ) -> None:
        self._obfuscator = obfuscator
        self._dataset = dataset
        self._targets = targets
        directions = len({target.floor for target in targets})
        self.trials = 2 + STEPS * directions
        self._risk = risk / (self.trials * len(targets))
        metrics = list(dict.fromkeys(str(target.metric) for target in targets))
        options = {"inversion": {"bundle": obfuscator.bundle}} if "inversion" in metrics else {}
        self._evaluator = Evaluator(dataset, metrics, options)
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
        texts = self._dataset.originals
        results = list(self._obfuscator.obfuscate_all(texts, epsilon_per_word=epsilon, length="own", first_document=0))
        evaluation = self._evaluator.measure([result.text for result in results], obfuscations=results)
        readings = {}
        for target, level in self._targets.items():
            measurement = evaluation.measurements[str(target.metric)]
            value, end = target.read(measurement)
            used = int(measurement.details[target.tests]) if target.tests else len(texts)
            bound = self._bound(value, end, used, floor=target.floor)
            readings[target.name] = Reading(value, bound, bound >= level if target.floor else bound <= level)
            self.caveats += [caveat for caveat in measurement.caveats if caveat not in self.caveats]
        return Point(epsilon, readings)

    def _bound(self, value: float, end: float | None, texts: int, *, floor: bool) -> float:
        """The confidence bound of a value; the worst value there is if the texts cannot show how they differ."""
        if end is None or texts < 2:
            return 0.0 if floor else 1.0
        return min(1.0, max(0.0, widen(value, end, texts, self._risk)))


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
    where = "largest" if target.floor else "smallest"
    side = "at least" if target.floor else "at most"
    reachable = math.floor(1000 * reading.bound) / 1000 if target.floor else math.ceil(1000 * reading.bound) / 1000
    hint = {
        "unchanged": " Kept stopwords are unchanged: use the target unchanged-content, or `stopwords='perturb'`.",
        "similarity": " The largest share limits it: see `largest_share`.",
    }.get(target.name, "")
    raise TargetError(
        f"The target {target.name}={level:g} cannot be met. At the {where} epsilon per word, "
        f"{extreme.epsilon_per_word:g}, it is {reading.value:.3f}, and {side} {reading.bound:.3f} with confidence. "
        f"{target.name}={reachable:g} can be met. More texts give closer bounds.{hint}",
        curve,
    )


def _contradict(safest: Point, curve: _Curve, ceilings: Sequence[Target], floors: Sequence[Target]) -> TargetError:
    useful = next(point for point in curve.points if _meets(point, floors))
    named = [", ".join(target.name for target in each) for each in (ceilings, floors)]
    reached = ", ".join(f"{target.name}={safest.readings[target.name].bound:.3f}" for target in floors)
    return TargetError(
        f"The targets contradict each other. Up to {safest.epsilon_per_word:g} per word, {named[0]} can be met. From "
        f"{useful.epsilon_per_word:g} on, {named[1]} can be met. At {safest.epsilon_per_word:g}, {reached} can be met.",
        curve.points,
    )
