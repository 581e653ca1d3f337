"""Classifiers for attackers and tasks: one file each, and the registry that names them."""

from textveil.lab.metrics.classifiers.base import Classifier, Fitted
from textveil.registry import Registry

CLASSIFIERS: Registry[type[Classifier]] = Registry("classifier", Classifier)
"""The classifiers by name, each a kind of ``Classifier``."""
CLASSIFIERS.register("linear", "textveil.lab.metrics.classifiers.linear:Linear")
CLASSIFIERS.register("transformer", "textveil.lab.metrics.classifiers.transformer:Transformer")
CLASSIFIERS.register("stylometry", "textveil.lab.metrics.classifiers.stylometry:Stylometry")

__all__ = ["CLASSIFIERS", "Classifier", "Fitted"]
