"""The contracts of methods, as checks that the author of a plugin can run."""

from textveil.testing.checks import Check, build_small_bundle
from textveil.testing.suites import (
    check_classifier,
    check_decomposer,
    check_distributor,
    check_mechanism,
    check_metric,
    list_checks,
    parametrize_with_checks,
)

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
