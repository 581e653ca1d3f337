"""Calibration: from a target, such as a share of unchanged words, to an epsilon per word."""

from textveil.calibration.calibration import Calibration
from textveil.calibration.search import calibrate
from textveil.calibration.targets import TARGETS, Target

__all__ = ["TARGETS", "Calibration", "Target", "calibrate"]
