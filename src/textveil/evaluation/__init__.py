"""Evaluation of an obfuscation: privacy, utility and their trade-off."""

from textveil.evaluation.base import Case, Interval, Measurement, Metric, Need
from textveil.evaluation.classifiers import CLASSIFIERS, Classifier
from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn
from textveil.evaluation.comparison import Comparison, compare
from textveil.evaluation.dataset import Dataset
from textveil.evaluation.deniability import WordDeniability, measure_deniability
from textveil.evaluation.evaluator import Evaluation, Evaluator
from textveil.evaluation.metrics import METRICS
from textveil.evaluation.trade_off import relative_gain

__all__ = [
    "CLASSIFIERS",
    "METRICS",
    "METRIC_COLUMNS",
    "Case",
    "Classifier",
    "Comparison",
    "Dataset",
    "Evaluation",
    "Evaluator",
    "Interval",
    "Measurement",
    "Metric",
    "MetricColumn",
    "Need",
    "WordDeniability",
    "compare",
    "measure_deniability",
    "relative_gain",
]
