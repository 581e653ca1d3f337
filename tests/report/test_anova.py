import math

import pytest
from scipy import stats

from tests.report.conftest import make_records, repeat
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.anova import compare_alone, compare_datasets, compare_factors
from textveil.lab.report.results import Results

GAIN = METRIC_COLUMNS["relative_gain"]


def results_of(gain, **options) -> Results:
    return Results.from_records(make_records(gain, **options))


def test_sums_of_squares_by_hand():
    """Two by two by two groups; deviations are chosen so that every mean can be worked out on paper."""
    noise = iter([1, -1, -1, 1, -1, 1, 1, -1])  # sums to nothing for every factor
    results = results_of(
        lambda dataset, level, decomposition, distribution: (
            10 * dataset + 6 * decomposition + 4 * distribution + 2 * decomposition * distribution + next(noise)
        ),
        levels=("high",),
    )
    anova = compare_factors(results, GAIN)
    # Half of an effect's size, squared, eight times: 8 * 5**2, 8 * 3.5**2, 8 * 2.5**2, 8 * 0.5**2.
    sums = {effect.name: effect.sum_of_squares for effect in anova.effects}
    assert sums == pytest.approx(
        {"dataset": 200, "decomposition": 98, "distribution": 50, "decomposition x distribution": 2}
    )
    assert {effect.degrees_of_freedom for effect in anova.effects} == {1}
    assert anova.residual_sum_of_squares == pytest.approx(8)
    assert anova.residual_degrees_of_freedom == 3
    effect = anova["decomposition"]
    assert effect.f_statistic == pytest.approx(98 / (8 / 3))
    assert effect.p_value == pytest.approx(stats.f.sf(98 / (8 / 3), 1, 3))
    assert effect.partial_eta_squared == pytest.approx(98 / 106)
    assert effect.significant == (effect.p_value < 0.05)
    assert anova["decomposition x distribution"].factors == ("decomposition", "distribution")
    with pytest.raises(KeyError):
        anova["level"]


def test_a_one_way_test_takes_groups_as_blocks():
    """The F of randomised blocks, worked out from its definition."""
    values = {"words": [1.0, 4.0, 2.0], "pmi": [2.0, 6.0, 3.5], "pos": [4.0, 6.5, 5.0]}
    results = results_of(
        lambda dataset, _level, decomposition, _: list(values.values())[decomposition][dataset],
        datasets=("a", "b", "c"), levels=("high",), decompositions=tuple(values), distributions=("uniform",),
    )  # fmt: skip
    grand = sum(map(sum, values.values())) / 9
    methods = 3 * sum((sum(row) / 3 - grand) ** 2 for row in values.values())
    blocks = 3 * sum((sum(column) / 3 - grand) ** 2 for column in zip(*values.values(), strict=True))
    total = sum((value - grand) ** 2 for row in values.values() for value in row)
    (effect,) = compare_alone(results, GAIN)
    assert effect.factors == ("decomposition",)
    assert effect.f_statistic == pytest.approx((methods / 2) / ((total - methods - blocks) / 4))
    assert compare_factors(results, GAIN)["decomposition"] == effect


def test_more_factors_come_in_where_they_vary(example):
    assert example.overall is not None
    assert [effect.name for effect in example.overall.effects] == [
        "decomposition",
        "distribution",
        "profile",
        "dataset",
        "level",
        "decomposition x distribution",
        "decomposition x profile",
        "distribution x profile",
    ]
    freedom = sum(effect.degrees_of_freedom for effect in example.overall.effects)
    assert freedom + example.overall.residual_degrees_of_freedom == 107


def test_the_effects_that_were_put_into_the_example_are_found(example):
    strict, paper = example.settings
    assert strict.anova["decomposition"].significant
    assert not strict.anova["distribution"].significant
    assert paper.anova["decomposition"].significant
    assert paper.anova["distribution"].significant
    assert example.overall["distribution x profile"].significant
    assert not example.overall["decomposition x distribution"].significant


def test_interactions_of_methods_and_data_sets(records):
    """The distribution is better by 0.01 on one data set, and by 0.014 on the other: 16 * 0.001 ** 2."""
    results = Results.from_records(records)
    anova = compare_datasets(results, GAIN)
    names = [effect.name for effect in anova.effects]
    assert names[-2:] == ["decomposition x dataset", "distribution x dataset"]
    assert anova["distribution x dataset"].sum_of_squares == pytest.approx(16 * 0.001**2)
    assert anova["distribution x dataset"].title == "distribution x data set"
    assert anova["decomposition x dataset"].sum_of_squares == pytest.approx(0, abs=1e-12)
    plain = compare_factors(results, GAIN)
    assert anova.residual_degrees_of_freedom == plain.residual_degrees_of_freedom - 2
    assert [effect.name for effect in plain.effects] == names[:-2]  # the table of the paper is the same


def test_one_data_set_has_no_interactions_with_it():
    results = results_of(lambda *place: sum(place) + 0.1 * place[1] * place[2], datasets=("a",))
    assert compare_datasets(results, GAIN) is None


def test_the_published_table(published):
    """F up to the rounding of the published results to three decimals; the rest to the printed precision."""
    anova = published.settings[0].anova
    printed = {
        "decomposition": (0.0214, 4, 5.57, 3.32e-04),
        "distribution": (0.0191, 5, 3.97, 2.10e-03),
        "dataset": (0.0370, 1, 38.44, 5.42e-09),
        "level": (0.3173, 2, 165.01, 2.67e-38),
        "decomposition x distribution": (0.0122, 20, 0.63, 8.83e-01),
    }
    assert [effect.name for effect in anova.effects] == list(printed)
    for effect in anova.effects:
        squares, freedom, f_statistic, p_value = printed[effect.name]
        assert effect.sum_of_squares == pytest.approx(squares, abs=1.01e-4)
        assert effect.degrees_of_freedom == freedom
        assert effect.f_statistic == pytest.approx(f_statistic, rel=0.004, abs=0.01)
        assert math.log10(effect.p_value) == pytest.approx(math.log10(p_value), abs=0.03)
    assert (anova.residual_sum_of_squares, anova.residual_degrees_of_freedom) == (pytest.approx(0.1414, abs=1e-4), 147)
    assert round(anova["decomposition"].partial_eta_squared, 3) == 0.132
    assert round(anova["distribution"].partial_eta_squared, 3) == 0.119


def test_statsmodels_is_named_where_it_is_missing(records, monkeypatch):
    import sys

    from textveil.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "statsmodels.formula.api", None)
    with pytest.raises(MissingExtraError, match=r"textveil\[analyze\]"):
        compare_factors(Results.from_records(records), GAIN)


def test_draws_do_not_count_as_data_sets(records):
    """The same values repeated exactly tell nothing new, so neither F nor p may change."""
    once = compare_factors(Results.from_records(records), GAIN)
    repeated = compare_factors(Results.from_records(repeat(records, noise=0.0)), GAIN)
    for effect in once.effects:
        found = repeated[effect.name]
        assert found.f_statistic == pytest.approx(effect.f_statistic)
        assert found.p_value == pytest.approx(effect.p_value)
        assert found.sum_of_squares == pytest.approx(3 * effect.sum_of_squares)
    assert repeated.residual_degrees_of_freedom == once.residual_degrees_of_freedom
    assert (repeated.noise.degrees_of_freedom, repeated.noise.share) == (32, pytest.approx(0.0, abs=1e-9))


def test_noise_is_measured_within_cells(records):
    rows = repeat(records, draws=2, noise=0.0)
    for place, row in enumerate(rows):
        row["relative_gain"] += 0.01 if place < 16 else -0.01
    noise = compare_factors(Results.from_records(rows), GAIN).noise
    assert noise.sum_of_squares == pytest.approx(32 * 0.01**2)
    assert noise.degrees_of_freedom == 16
    assert noise.std == pytest.approx(0.01 * 2**0.5)


def test_a_residual_that_is_noise_alone_is_told_from_one_that_is_not():
    def flat(*_):
        return 0.0

    alone = compare_factors(Results.from_records(repeat(make_records(flat), noise=1.0)), GAIN).noise
    assert alone.explains_residual
    assert alone.share > 0.3

    def mixed(dataset, level, decomposition, distribution):
        return float((dataset + level + decomposition + distribution) % 2)

    more = compare_factors(Results.from_records(repeat(make_records(mixed), noise=0.01)), GAIN).noise
    assert not more.explains_residual
    assert more.share < 0.01
