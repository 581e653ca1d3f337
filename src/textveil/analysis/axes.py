"""The axes of curves: linear and logarithmic scales, and round numbers on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from textveil.evaluation.areas import scale
from textveil.evaluation.quantities import Quantity, Reading


@dataclass(frozen=True, slots=True)
class Scale:
    """The linear or logarithmic map from values to places on the drawing.

    Args:
        low: The lowest value, or its logarithm.
        high: The highest value, or its logarithm.
        first: The place of the lowest value.
        last: The place of the highest value.
        log: Whether it is logarithmic.
    """

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value. A logarithmic scale puts values that are not positive at its low end."""
        placed = max(self.low, scale(value, self.log))
        return self.first + (placed - self.low) / (self.high - self.low) * (self.last - self.first)

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the scale."""
        if self.log:
            return find_log_ticks(math.exp(self.low), math.exp(self.high))
        return find_ticks(self.low, self.high)


def find_scale(quantity: Quantity, readings: Sequence[Reading], ends: tuple[float, float]) -> Scale:
    """The scale of an axis on which the last end is better."""
    log = quantity.logarithmic
    values = [value for reading in readings for value in (reading.value, *(reading.interval or ()))]
    placed = [scale(value, log) for value in values if value > 0 or not log]
    low, high = min(placed), max(placed)
    margin = 0.07 * (high - low) or 0.05 * abs(high) or 0.5
    first, last = ends if quantity.better == "higher" else ends[::-1]
    return Scale(low - margin, high + margin, first, last, log)


def find_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers between two values.

    >>> find_ticks(0.08, 0.93)
    [0.2, 0.4, 0.6, 0.8]
    """
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def find_log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two positive values, for a logarithmic axis.

    >>> find_log_ticks(80, 3000), find_log_ticks(110, 190)
    ([100, 200, 500, 1000, 2000], [120, 140, 160, 180])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10**power if power >= 0 else factor * 10.0**power for power in powers for factor in factors]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= most:
            break
    return inside if len(inside) > 1 else find_ticks(low, high)
