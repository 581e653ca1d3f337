import math

import pytest

from tests.metrics.making import make_evaluation, make_measurement
from textveil.lab.metrics import METRIC_COLUMNS, METRICS, Interval
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import (
    ADAPTIVE,
    ATTACKS,
    IDENTIFIERS,
    INVERSION,
    LINKAGE,
    PERPLEXITY,
    QUANTITIES,
    STRONGEST,
    STUDY_ATTACKS,
    TASK,
    TOKENS,
    UTILITIES,
    Reading,
    is_chance,
    join_readings,
)


@pytest.fixture
def evaluation():
    attribute = make_measurement(
        "attribute", static=(0.5, 0.4, 0.6), adaptive=0.3, baseline=0.9, chance=(0.1, 0.05, 0.15), majority=0.02
    )
    return make_evaluation(attribute, make_measurement("identifiers", remaining=math.nan))


def test_the_strongest_attacker_is_the_one_with_the_highest_f1_and_keeps_its_interval(evaluation):
    assert STRONGEST.read(evaluation) == Reading(0.5, Interval(0.4, 0.6))
    assert ADAPTIVE.read(evaluation) == Reading(0.3, None)


def test_what_was_not_measured_or_is_not_a_number_is_not_read(evaluation):
    assert TASK.read(evaluation) is None
    assert IDENTIFIERS.read(evaluation) is None
    assert TASK.read_reference(evaluation, Reference.ORIGINALS) is None
    assert INVERSION.read_reference(evaluation, Reference.ORIGINALS) is None


def test_references_are_read_by_name_or_follow_from_the_definition(evaluation):
    assert ADAPTIVE.read_reference(evaluation, Reference.ORIGINALS) == Reading(0.9)
    assert ADAPTIVE.read_reference(evaluation, Reference.CHANCE) == Reading(0.1, Interval(0.05, 0.15))
    assert ADAPTIVE.read_reference(evaluation, Reference.MAJORITY) == Reading(0.02)
    assert IDENTIFIERS.read_reference(evaluation, Reference.ORIGINALS) == Reading(1.0, Interval(1.0, 1.0))
    inversion = make_evaluation(make_measurement("inversion", top_1=0.2, prior_top_1=0.05))
    assert INVERSION.read_reference(inversion, Reference.CHANCE) == Reading(0.05)


@pytest.mark.parametrize(
    ("one", "other", "attack", "task"),
    [
        (Reading(0.2, Interval(0.1, 0.3)), Reading(0.5, Interval(0.4, 0.6)), True, False),
        (Reading(0.5, Interval(0.4, 0.6)), Reading(0.2, Interval(0.1, 0.3)), False, True),
        (Reading(0.2, Interval(0.1, 0.3)), Reading(0.4, Interval(0.3, 0.5)), False, False),  # they touch
        (Reading(0.2), Reading(0.9, Interval(0.8, 1.0)), False, False),  # without an interval, nothing is clear
    ],
)
def test_a_value_is_clearly_better_only_if_intervals_do_not_overlap(one, other, attack, task):
    assert ADAPTIVE.is_clearly_better(one, other) is attack
    assert TASK.is_clearly_better(one, other) is task


def test_a_value_within_the_interval_of_chance_is_chance_and_one_above_it_is_not():
    chance = Reading(0.1, Interval(0.07, 0.13))
    assert is_chance(Reading(0.104), chance)
    assert not is_chance(Reading(0.14), chance)


def test_joined_references_cover_all_intervals():
    readings = [Reading(0.1, Interval(0.0, 0.2)), Reading(0.3, Interval(0.1, 0.4))]
    value, interval = join_readings(readings)
    assert value == pytest.approx(0.2)
    assert interval == Interval(0.0, 0.4)
    assert join_readings([*readings, Reading(0.2)]).interval is None
    assert join_readings([]) is None


STYLE_MEASURED = make_measurement(
    "stylometry", ("Only 17 test texts.",), adaptive=(0.7, 0.6, 0.8), baseline=0.75, chance=(0.2, 0.1, 0.3)
)


@pytest.mark.parametrize("alone", [False, True])
def test_an_attacker_of_another_metric_brings_its_own_references_and_caveats(evaluation, alone):
    others = () if alone else (evaluation.measurements["attribute"],)
    found = make_evaluation(*others, STYLE_MEASURED)
    assert STRONGEST.find_column(found).name == "stylometry_adaptive"
    assert STRONGEST.read(found) == Reading(0.7, Interval(0.6, 0.8))
    assert STRONGEST.read_reference(found, Reference.ORIGINALS) == Reading(0.75)
    assert STRONGEST.read_reference(found, Reference.CHANCE) == Reading(0.2, Interval(0.1, 0.3))
    assert STRONGEST.caveats(found) == ("Only 17 test texts.",)


def test_caveats_of_a_weaker_attacker_do_not_count(evaluation):
    weak = make_measurement("stylometry", ("Only 17 test texts.",), adaptive=0.2)
    assert STRONGEST.caveats(make_evaluation(evaluation.measurements["attribute"], weak)) == ()


def test_where_chance_is_known_exactly_the_interval_of_the_value_decides():
    assert is_chance(Reading(0.52, Interval(0.49, 0.55)), Reading(0.5))
    assert not is_chance(Reading(0.52, Interval(0.51, 0.55)), Reading(0.5))
    assert not is_chance(Reading(0.52), Reading(0.5))


@pytest.mark.parametrize("best", ["top_1", "decoded", "repeated"])
def test_an_inversion_is_read_by_its_best_attacker(best):
    values = {"top_1": 0.2, "decoded": 0.2, "repeated": 0.2, "prior_top_1": 0.05, best: (0.4, 0.3, 0.5)}
    found = make_evaluation(make_measurement("inversion", **values))
    assert INVERSION.read(found) == Reading(0.4, Interval(0.3, 0.5))
    assert INVERSION.read_reference(found, Reference.CHANCE) == Reading(0.05)


def test_originals_are_always_linked_and_unrelated_texts_have_the_token_similarity_of_chance():
    found = make_evaluation(
        make_measurement("linkage", top_1=0.2, chance_top_1=0.1),
        make_measurement("token_similarity", f1=0.8, unrelated=(0.6, 0.5, 0.7)),
    )
    assert LINKAGE.read_reference(found, Reference.ORIGINALS) == Reading(1.0, Interval(1.0, 1.0))
    assert TOKENS.read_reference(found, Reference.CHANCE) == Reading(0.6, Interval(0.5, 0.7))


def test_a_comparison_has_no_inversion_since_it_has_no_chunks():
    assert INVERSION not in (*QUANTITIES, *ATTACKS)


def test_everything_that_a_comparison_measures_and_tables_show_has_a_quantity():
    declared = {column for column in METRIC_COLUMNS.values() if not column.reference_of and not column.detail}
    without_chunks = {column for column in declared if column.metric != "inversion"}
    compared = {column for quantity in QUANTITIES for column in quantity.columns}
    assert without_chunks <= compared
    assert set(METRICS) - {"inversion"} == {column.metric for column in compared}


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.key)
def test_a_quantity_is_titled_and_shown_as_its_column_is_declared(quantity):
    (column,) = quantity.columns
    assert (quantity.title, quantity.better) == (column.title, column.better)
    assert quantity.show(0.52114) == column.show(0.52114)


def test_columns_of_one_quantity_have_the_same_unit_and_direction():
    for quantity in (STRONGEST, INVERSION):
        assert len({(column.percent, column.decimals, column.better) for column in quantity.columns}) == 1


def test_attacks_are_worse_if_higher():
    assert len({quantity.key for quantity in QUANTITIES}) == len(QUANTITIES)
    assert {quantity.better for quantity in ATTACKS} == {"lower"}
    assert {quantity.better for quantity in STUDY_ATTACKS} == {"lower"}
    assert {quantity for quantity in UTILITIES if quantity.better == "lower"} == {PERPLEXITY}
    assert {quantity for quantity in (*QUANTITIES, *ATTACKS) if quantity.logarithmic} == {PERPLEXITY}
