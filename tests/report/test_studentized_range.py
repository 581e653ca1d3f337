import numpy as np
import pytest
from scipy import stats

from textveil.lab.report.anova import compute_survival, find_critical


@pytest.mark.parametrize("groups", [2, 3, 30, 72])
@pytest.mark.parametrize("freedom", [1, 2, 7, 60, 900])
def test_probabilities_are_those_of_scipy(groups, freedom):
    values = np.array([0.0, 0.4, 2.0, 5.0, 9.0, 40.0])
    expected = [stats.studentized_range.sf(value, groups, freedom) for value in values]
    np.testing.assert_allclose(compute_survival(values, groups, freedom), expected, atol=2e-8)


@pytest.mark.parametrize(("groups", "freedom"), [(2, 1), (5, 10), (30, 29), (36, 385)])
def test_the_critical_value_is_exceeded_with_its_probability(groups, freedom):
    critical = find_critical(0.05, groups, freedom)
    assert stats.studentized_range.sf(critical, groups, freedom) == pytest.approx(0.05, abs=2e-7)
