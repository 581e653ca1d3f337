"""Calibration: from a target, such as a share of unchanged words, to an epsilon per word."""

from textveil.lab.calibration.calibration import TARGETS, Calibration, Target
from textveil.lab.calibration.search import calibrate

__all__ = ["TARGETS", "Calibration", "Target", "calibrate"]
