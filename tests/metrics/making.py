"""Evaluations and comparisons with given values."""

from __future__ import annotations

from textveil.lab.compare.comparison import Comparison, Contender
from textveil.lab.metrics import Evaluation, Interval, Measurement


def make_measurement(metric: str, caveats: tuple[str, ...] = (), **values) -> Measurement:
    """A measurement. A value is a number, or a number with the two ends of its interval."""
    numbers = {name: value[0] if isinstance(value, tuple) else value for name, value in values.items()}
    intervals = {name: Interval(*value[1:]) for name, value in values.items() if isinstance(value, tuple)}
    return Measurement(
        metric, f"{metric} (model)", numbers, "A line.", {}, {"package": "1.0"}, intervals, tuple(caveats)
    )


def make_evaluation(*measurements: Measurement, not_measured=None, texts: int = 600) -> Evaluation:
    return Evaluation(texts, 2, {each.metric: each for each in measurements}, not_measured or {})


def around(value: float, half: float = 0.03) -> tuple[float, float, float]:
    """A value with an interval around it."""
    return value, value - half, value + half


def make_contender(name: str, attack: float, task: float, half: float = 0.03, caveats=()) -> Contender:
    """An obfuscation with an attacker and a task, whose intervals have the same width."""
    attribute = make_measurement(
        "attribute",
        caveats,
        static=around(attack - 0.05, half),
        adaptive=around(attack, half),
        baseline=around(0.93, 0.02),
        chance=around(0.25, 0.03),
        majority=0.13,
    )
    task_measured = make_measurement("downstream", f1=around(task, half), original=around(0.8, 0.02), majority=0.17)
    return Contender(name, make_evaluation(attribute, task_measured))


def make_comparison(points: dict[str, tuple[float, float]], half: float = 0.03, caveats=()) -> Comparison:
    """A comparison of obfuscations by attack and task."""
    return Comparison(tuple(make_contender(name, *point, half, caveats) for name, point in points.items()))
