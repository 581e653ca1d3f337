import math

import pandas as pd
import pytest
from scipy.stats import t

from tests.report.conftest import make_records
from textveil.errors import UnknownNameError
from textveil.lab.compare.front import Standing
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.findings import average_draws, find_frontiers, list_settings
from textveil.lab.report.results import Results

SIMILARITY, PERPLEXITY = METRIC_COLUMNS["cosine_similarity"], METRIC_COLUMNS["perplexity"]


def make_results(half=0.01, change=lambda row: row, **axes):
    """Two data sets whose attack and similarity rise with the level. The second mechanism is attacked less."""
    records = make_records(lambda *_: 0.1, decompositions=("words",), distributions=("uniform",), **axes)
    rows = []
    for record in records:
        level, late = ("high", "low").index(record["level"]), record.get("mechanism") == "fluent"
        attack, similar = 0.4 + 0.2 * level - 0.1 * late, 0.5 + 0.2 * level
        row = {**record, "adaptive_f1": attack + 0.1 * (record["dataset"] == "b"), "cosine_similarity": similar}
        if half is not None:
            for name in ("adaptive_f1", "cosine_similarity"):
                row |= {f"{name}_low": row[name] - half, f"{name}_high": row[name] + half}
        rows.append(change(row))
    return Results.from_records([row for row in rows if row])


MECHANISMS = {"mechanism": ("madlib", "fluent")}


def test_a_point_is_the_mean_over_data_sets_and_the_front_has_the_better_setting():
    (frontier,) = find_frontiers(make_results(**MECHANISMS))
    assert frontier.against == "madlib"
    points = {place.name: place for place in frontier.front.places}
    assert list(points) == ["madlib, high", "madlib, low", "fluent, high", "fluent, low"]
    assert points["madlib, high"].attack.value == pytest.approx(0.45)
    assert points["madlib, high"].attack.interval == pytest.approx((0.44, 0.46))
    assert {name: place.standing for name, place in points.items()} == {
        "madlib, high": Standing.BEHIND,
        "madlib, low": Standing.BEHIND,
        "fluent, high": Standing.ON,
        "fluent, low": Standing.ON,
    }
    (area,) = frontier.areas
    assert area.value == pytest.approx(0.1)  # the slope is 1
    assert area.verdict == 1


def test_another_setting_can_be_compared_with():
    (frontier,) = find_frontiers(make_results(**MECHANISMS), "fluent")
    assert frontier.areas[0].value == pytest.approx(-0.1)
    with pytest.raises(UnknownNameError):
        find_frontiers(make_results(**MECHANISMS), "vickrey")


def test_without_intervals_nothing_is_decided():
    (frontier,) = find_frontiers(make_results(half=None, **MECHANISMS))
    assert {place.standing for place in frontier.front.places} == {Standing.OPEN}
    assert frontier.front.by_value == ("fluent, high", "fluent, low")
    assert frontier.areas[0].interval is None


def test_without_an_attack_or_a_utility_there_are_no_curves(records):
    assert find_frontiers(Results.from_records(records)) == ()


def test_a_data_set_that_lacks_a_level_is_left_out_and_said():
    def drop(row):
        return {} if row["dataset"] == "b" and row["level"] == "high" else row

    (frontier,) = find_frontiers(make_results(change=drop, **MECHANISMS))
    assert frontier.front.places[0].attack.value == pytest.approx(0.4)  # of the other data set alone
    assert frontier.front.places[1].attack.value == pytest.approx(0.6)
    assert frontier.notes == ("Left out, because of a caveat or a missing level: b at level low.",)


def test_a_data_set_without_the_metric_is_left_out():
    def empty(row):
        return {name: value for name, value in row.items() if row["dataset"] == "a" or not name.startswith("adaptive")}

    results = make_results(change=lambda row: {"adaptive_f1": None} | empty(row), **MECHANISMS)
    (frontier,) = find_frontiers(results)
    assert frontier.front.places[0].attack.value == pytest.approx(0.4)


def test_a_caveat_leaves_out_its_data_set_or_forbids_a_conclusion():
    def doubt(datasets):
        return lambda row: {**row, "adaptive_f1_caveats": "Few texts." if row["dataset"] in datasets else None}

    (frontier,) = find_frontiers(make_results(change=doubt("a"), **MECHANISMS))
    assert frontier.front.places[0].attack.value == pytest.approx(0.5)
    assert frontier.front.caveats == ()
    assert "a at level high" in frontier.notes[0]
    (frontier,) = find_frontiers(make_results(change=doubt("ab"), **MECHANISMS))
    assert frontier.front.caveats == ("Few texts.",)
    assert {place.standing for place in frontier.front.places} == {Standing.OPEN}


def test_attackers_at_chance_are_equal():
    def at_chance(row):
        return row | {"attribute_chance": 0.9, "attribute_chance_low": 0.85, "attribute_chance_high": 0.95}

    (frontier,) = find_frontiers(make_results(change=at_chance, **MECHANISMS))
    standing = {place.name: place.standing for place in frontier.front.places}
    assert standing["fluent, high"] is Standing.BEHIND  # the low level is more similar
    assert standing["madlib, low"] is standing["fluent, low"] is Standing.OPEN


def test_names_have_the_factors_that_vary():
    results = make_results(**MECHANISMS, profile=("strict", "proven"))
    assert list(list_settings(results)) == [
        "madlib under strict",
        "madlib under proven",
        "fluent under strict",
        "fluent under proven",
    ]
    assert list(list_settings(make_results())) == ["words + uniform"]


def rows_of(values, dataset="a", **more):
    return [{"dataset": dataset, "cosine_similarity": value, **more} for value in values]


def test_several_draws_have_a_t_interval_of_the_noise():
    value, interval = average_draws(rows_of([0.4, 0.5, 0.6]), SIMILARITY)
    half = t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert value == pytest.approx(0.5)
    assert interval == pytest.approx((0.5 - half, 0.5 + half))


def test_data_sets_differ_without_being_noise():
    alike = rows_of([0.2] * 3) + rows_of([0.8] * 3, "b")
    assert average_draws(alike, SIMILARITY) == (pytest.approx(0.5), pytest.approx((0.5, 0.5)))
    noisy = rows_of([0.1, 0.2, 0.3]) + rows_of([0.7, 0.8, 0.9], "b")
    half = t.ppf(0.975, 4) * math.sqrt(0.01 / 3 + 0.01 / 3) / 2
    assert average_draws(noisy, SIMILARITY).interval == pytest.approx((0.5 - half, 0.5 + half))


def test_noise_and_texts_add_up_as_squares_and_draws_do_not_make_texts_more():
    texts = {"cosine_similarity_low": 0.46, "cosine_similarity_high": 0.54}
    assert average_draws(rows_of([0.5, 0.5], **texts), SIMILARITY).interval == pytest.approx((0.46, 0.54))
    low, high = average_draws(rows_of([0.4, 0.5, 0.6], **texts), SIMILARITY).interval
    half = math.hypot(0.04, t.ppf(0.975, 2) * 0.1 / math.sqrt(3))
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))


def test_too_few_draws_without_an_interval_have_none():
    assert average_draws(rows_of([0.5]), SIMILARITY) == (0.5, None)
    assert average_draws(rows_of([0.4, 0.6]), SIMILARITY) == (0.5, None)  # from -0.8 to 1.8 otherwise


def test_no_interval_leaves_the_possible_range():
    rows = [{"dataset": "a", "adaptive_f1": value} for value in (0.1, 0.5, 0.9)]
    assert average_draws(rows, METRIC_COLUMNS["adaptive_f1"]).interval == (0.0, 1.0)


def test_the_interval_of_perplexity_is_one_of_ratios():
    rows = [{"dataset": "a", "perplexity": value} for value in (25, 125, 225)]
    value, (low, high) = average_draws(rows, PERPLEXITY)
    assert value == 125
    assert low > 1  # a symmetric interval would not be
    assert low * high == pytest.approx(125**2)


def test_draws_are_rows_of_their_own():
    results = make_results(half=None, **MECHANISMS)
    draws = [results.rows.assign(draw=draw) for draw in (1, 2, 3)]
    for draw, rows in enumerate(draws):
        rows["cosine_similarity"] += 0.02 * draw
    (frontier,) = find_frontiers(Results(pd.concat(draws, ignore_index=True)))
    place = frontier.front.places[0]
    assert place.utility.value == pytest.approx(0.52)
    assert place.utility.interval.low < 0.52 < place.utility.interval.high


def test_a_calibrated_level_has_the_epsilon_of_its_setting():
    def calibrate(row):
        epsilon = 5.0 if row["mechanism"] == "madlib" else 20.0
        return row | {"epsilon": epsilon * (1 + (row["level"] == "low")), "level_target": f"rate {row['level']}"}

    (frontier,) = find_frontiers(make_results(change=calibrate, **MECHANISMS))
    assert [place.epsilon for place in frontier.front.places] == pytest.approx([5, 10, 20, 40])
