"""Suites: all checks of a method, to run at once or as tests of pytest."""

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
from textveil.testing.checks import Check
from textveil.testing.classifiers import list_classifier_checks
from textveil.testing.decomposers import list_decomposer_checks
from textveil.testing.distributors import list_distributor_checks
from textveil.testing.mechanisms import list_mechanism_checks
from textveil.testing.metrics import list_metric_checks

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


def _run(method: type[Method], options: dict[str, Any]) -> None:
    for check in list_checks(method, **options):
        check()


def check_decomposer(method: type[Decomposer], **options: Any) -> None:
    """Run all checks of a decomposer: :func:`list_checks` explains the options.

    Raises:
        ContractError: The decomposer does not keep its contract.
    """
    _run(method, options)


def check_distributor(method: type[Distributor], **options: Any) -> None:
    """Run all checks of a distributor: :func:`list_checks` explains the options.

    Raises:
        ContractError: The distributor does not keep its contract.
    """
    _run(method, options)


def check_mechanism(method: type[Mechanism], **options: Any) -> None:
    """Run all checks of a mechanism: :func:`list_checks` explains the options.

    Raises:
        ContractError: The mechanism does not keep its contract.
    """
    _run(method, options)


def check_metric(method: type[Metric], **options: Any) -> None:
    """Run all checks of a metric: :func:`list_checks` explains the options.

    Raises:
        ContractError: The metric does not keep its contract.
    """
    _run(method, options)


def check_classifier(method: type[Classifier], **options: Any) -> None:
    """Run all checks of a classifier: :func:`list_checks` explains the options.

    Raises:
        ContractError: The classifier does not keep its contract.
    """
    _run(method, options)
