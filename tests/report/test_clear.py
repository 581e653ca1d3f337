import pytest

from tests.report.conftest import make_records
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.findings import measure_advantages, measure_clear_effect
from textveil.lab.report.results import Results

GAIN = METRIC_COLUMNS["relative_gain"]


def count_words(records, clear):
    """Rows with counts of a hundred words that are no stopwords, of which some were released in clear."""
    rows = []
    for record in records:
        share = clear(record)
        counts = {"perturbed": 100 - share, "drawn": 0, "kept_stopword": 70, "kept_unknown": share, "kept_no_share": 0}
        rows.append({**record, **{f"words_{name}": count for name, count in counts.items()}})
    return rows


@pytest.fixture
def two_profiles():
    """Under paper, pos is better by all of its words in clear; under strict it is better by a quarter of that."""
    records = make_records(
        lambda dataset, level, decomposition, distribution, profile: (
            dataset + level + decomposition * (0.02 if profile == 0 else 0.08)
        ),
        profile=("strict", "paper"),
    )
    return Results.from_records(
        count_words(records, lambda record: 30 * (record["decomposition"] == "pos") * (record["profile"] == "paper"))
    )


def test_an_advantage_is_over_the_mean_of_the_others(two_profiles):
    words, pos, uniform, _ = measure_advantages(two_profiles.split(), GAIN)
    assert (pos.factor, pos.method) == ("decomposition", "pos")
    assert pos.by_setting == pytest.approx({"profile strict": 0.02, "profile paper": 0.08})
    assert pos.clear_share == pytest.approx({"profile strict": 0.0, "profile paper": 0.3})
    assert words.by_setting == pytest.approx({"profile strict": -0.02, "profile paper": -0.08})
    assert uniform.by_setting == pytest.approx({"profile strict": 0.0, "profile paper": 0.0})


def test_less_is_an_advantage_where_less_is_better(records):
    rows = [{**record, "perplexity": record["relative_gain"]} for record in records]
    found = measure_advantages(Results.from_records(rows).split(), METRIC_COLUMNS["perplexity"])
    assert found[0].by_setting == pytest.approx({"": 0.03})
    assert found[0].clear_share == {}


def test_a_factor_that_does_not_vary_has_no_advantages():
    results = Results.from_records(make_records(lambda *place: sum(place), distributions=("yake",)))
    assert {advantage.factor for advantage in measure_advantages(results.split(), GAIN)} == {"decomposition"}


def test_the_effect_of_words_in_clear_by_hand(two_profiles):
    paper = two_profiles.split()["profile paper"]
    effect = measure_clear_effect(paper, GAIN)
    assert effect.slope == pytest.approx(0.08 / 30)  # per percent
    assert effect.explained == pytest.approx(1.0)
    assert measure_clear_effect(two_profiles.split()["profile strict"], GAIN) is None


def test_half_of_the_variance_is_explained_where_another_effect_is_as_large():
    records = make_records(lambda dataset, level, decomposition, distribution: dataset + decomposition + distribution)
    rows = count_words(records, lambda record: 40 * (record["decomposition"] == "pos"))
    effect = measure_clear_effect(Results.from_records(rows), GAIN)
    assert effect.explained == pytest.approx(0.5)
    assert effect.slope == pytest.approx(1 / 40)


def test_what_is_unknown_has_no_effect(records):
    assert measure_clear_effect(Results.from_records(records), GAIN) is None
