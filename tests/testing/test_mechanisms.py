import numpy as np
import pytest

from textveil.errors import ContractError
from textveil.methods.mechanisms.exponential import Exponential
from textveil.testing import mechanisms
from textveil.testing.mechanisms import MechanismCase


class Spendthrift(Exponential):
    """Spends ten times its share."""

    def _weigh_distances(self, points, shares, draft, measured=None):
        return super()._weigh_distances(points, shares * 10, draft, measured)


class Frozen(Exponential):
    """Always answers the same."""

    def perturb(self, requests):
        return [np.full(len(request.rows), self.space.writable[0]) for request in requests]


class Unwritable(Exponential):
    """Gives back what must not be written."""

    def perturb(self, requests):
        return [request.rows for request in requests]


@pytest.mark.parametrize(
    ("method", "check", "breach"),
    [
        (Spendthrift, mechanisms.check_no_log_ratio_passes_the_bound, "a log-ratio passes share"),
        (Spendthrift, mechanisms.check_no_ratio_refutes_the_bound, "draws refute"),
        (Frozen, mechanisms.check_the_stream_decides_the_answer, "another stream of noise gives the same answer"),
        (Frozen, mechanisms.check_without_a_share_the_input_does_not_matter, "few entries"),
        (Frozen, mechanisms.check_a_huge_share_keeps_a_word, "a huge share does not keep"),
        (Unwritable, mechanisms.check_answers_are_writable, "not writable"),
        (Unwritable, mechanisms.check_without_a_share_the_input_does_not_matter, "depends on the input"),
    ],
)
def test_breaches_are_found(tiny, method, check, breach):
    with pytest.raises(ContractError, match=breach):
        check(MechanismCase(method, tiny.vectors("words")))


def test_a_mechanism_without_a_guarantee_has_fewer_checks():
    class Modest(Exponential):
        name = "modest"
        guarantee = "none"

    assert len(mechanisms.list_mechanism_checks(Modest)) < len(mechanisms.list_mechanism_checks(Exponential))
