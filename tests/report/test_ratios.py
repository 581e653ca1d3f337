import pytest

from tests.report.conftest import make_records
from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.report.ratios import ratio_at_equal
from textveil.lab.report.results import Results

RATES = {"madlib": 1.0, "fluent": 2.0}


@pytest.fixture(scope="module")
def results():
    """Utility is proportional to attack, at twice the rate for the second mechanism, and attack to epsilon."""
    rows = []
    axes = {"levels": ("1", "2", "3"), "decompositions": ("words",), "distributions": ("uniform",)}
    for row in make_records(lambda *_: 0.1, **axes, mechanism=tuple(RATES)):
        attack = 0.1 * int(row["level"])
        rate = RATES[row["mechanism"]]
        perplexity = 1000 / (rate * attack)
        rows.append(row | {"adaptive_f1": attack, "cosine_similarity": rate * attack, "perplexity": perplexity,
                           "epsilon": 10.0 * attack})  # fmt: skip
    return Results.from_records(rows)


def test_the_ratio_of_utilities_at_equal_attack_and_of_attacks_at_equal_utility(results):
    ratios = ratio_at_equal(results, "fluent", "madlib", "adaptive_f1", "cosine_similarity")
    assert (ratios.one, ratios.other) == ("fluent", "madlib")
    assert ratios.utility.value == pytest.approx(2)
    assert (ratios.utility.low, ratios.utility.high) == pytest.approx((0.1, 0.3))
    assert ratios.attack.value == pytest.approx(0.5)
    assert (ratios.attack.low, ratios.attack.high) == pytest.approx((0.2, 0.3))
    assert ratios.bound.value == pytest.approx(0.5, rel=0.05)  # straight between logarithms
    assert ratios.utility.interval is None  # the results have no intervals


def test_the_other_way_round_is_the_inverse(results):
    one, other = (ratio_at_equal(results, *names, "adaptive_f1", "cosine_similarity") for names in (
        ("fluent", "madlib"), ("madlib", "fluent")))  # fmt: skip
    assert one.attack.value * other.attack.value == pytest.approx(1)


def test_perplexity_is_compared_on_its_logarithm(results):
    ratios = ratio_at_equal(results, "fluent", "madlib", "adaptive_f1", "perplexity")
    assert ratios.utility.value == pytest.approx(0.5)
    assert ratios.attack.value == pytest.approx(0.5, rel=0.05)  # attack is straight over the logarithm
    assert (ratios.attack.low, ratios.attack.high) == pytest.approx((1000 / 0.3, 1000 / 0.2))


def test_a_setting_can_be_given_by_its_factors(results):
    ratios = ratio_at_equal(results, {"mechanism": "fluent"}, "madlib", "adaptive_f1", "cosine_similarity")
    assert ratios.one == "fluent"
    with pytest.raises(ParameterError, match="fits 2 settings"):
        ratio_at_equal(results, {"decomposition": "words"}, "madlib", "adaptive_f1", "cosine_similarity")
    with pytest.raises(UnknownNameError):
        ratio_at_equal(results, "fluet", "madlib", "adaptive_f1", "cosine_similarity")
    with pytest.raises(UnknownNameError):
        ratio_at_equal(results, "fluent", "madlib", "static_f1", "cosine_similarity")


def test_without_a_common_range_or_epsilons_there_is_no_ratio():
    rows = []
    for row in make_records(lambda *_: 0.1, decompositions=("words",), mechanism=tuple(RATES)):
        late = 0.4 * (row["mechanism"] == "fluent") + 0.1 * (row["level"] == "low")
        rows.append(row | {"adaptive_f1": 0.1 + late, "cosine_similarity": 0.3})
    results = Results.from_records([row for row in rows if row["distribution"] == "uniform"])
    ratios = ratio_at_equal(results, "fluent", "madlib", "adaptive_f1", "cosine_similarity")
    assert ratios.utility is None
    assert ratios.bound is None
    assert ratios.attack is not None  # the utility is the same
