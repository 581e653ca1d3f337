"""The contracts of methods, as checks that the author of a plugin can run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from textveil.errors import ParameterError
from textveil.extras import require
from textveil.lab.metrics import Metric
from textveil.lab.metrics.classifiers import Classifier
from textveil.methods.decomposition import Decomposer
from textveil.methods.distribution import Distributor
from textveil.methods.mechanisms import Mechanism
from textveil.registry import Method
from textveil.testing.checks import Check, build_small_bundle
from textveil.testing.lab import list_classifier_checks, list_metric_checks
from textveil.testing.methods import list_decomposer_checks, list_distributor_checks, list_mechanism_checks

_SUITES: dict[type[Method], Callable[..., list[Check]]] = {
    Decomposer: list_decomposer_checks,
    Distributor: list_distributor_checks,
    Mechanism: list_mechanism_checks,
    Metric: list_metric_checks,
    Classifier: list_classifier_checks,
}


def list_checks(method: type[Method], **options: Any) -> list[Check]:
    """All checks of a method. Calling one of them runs it.

    Args:
        method: The class of a decomposer, a distributor, a mechanism, a metric or a classifier.
        options: Options to build it with; and the ``bundle`` of a decomposer, or the ``case`` of a metric.
    """
    for kind, suite in _SUITES.items():
        if isinstance(method, type) and issubclass(method, kind):
            return suite(method, **options)
    kinds = ", ".join(kind.__name__ for kind in _SUITES)
    raise ParameterError(f"`method` must be a subclass of one of these: {kinds}.")


def parametrize_with_checks(methods: Iterable[type[Method]]) -> Callable[[Callable[..., Any]], Any]:
    """Make a test of pytest from every check of some methods. The test gets a ``check`` and calls it.

    Example:
        ``@parametrize_with_checks([MyMechanism])`` above ``def test_contract(check): check()``.
    """
    pytest = require("pytest", extra="dev")
    checks = [check for method in methods for check in list_checks(method)]
    decorate: Callable[[Callable[..., Any]], Any] = pytest.mark.parametrize("check", checks, ids=str)
    return decorate


def check_method(method: type[Method], **options: Any) -> None:
    """Run all checks of a method: :func:`list_checks` explains the options.

    Raises:
        ContractError: The method does not keep its contract.
    """
    for check in list_checks(method, **options):
        check()


check_decomposer = check_distributor = check_mechanism = check_metric = check_classifier = check_method

__all__ = [
    "Check",
    "build_small_bundle",
    "check_classifier",
    "check_decomposer",
    "check_distributor",
    "check_mechanism",
    "check_metric",
    "list_checks",
    "parametrize_with_checks",
]
