"""Evaluation of an obfuscation: privacy, utility and their trade-off."""

from textveil.lab.metrics.base import Case, Interval, Measurement, Metric, Need
from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn
from textveil.lab.metrics.dataset import Dataset
from textveil.lab.metrics.evaluator import Evaluation, Evaluator
from textveil.lab.metrics.registry import METRICS, list_metrics
from textveil.lab.metrics.trade_off import relative_gain

__all__ = [
    "CLASSIFIERS",
    "METRICS",
    "METRIC_COLUMNS",
    "Case",
    "Classifier",
    "Dataset",
    "Evaluation",
    "Evaluator",
    "Interval",
    "Measurement",
    "Metric",
    "MetricColumn",
    "Need",
    "list_metrics",
    "relative_gain",
]
