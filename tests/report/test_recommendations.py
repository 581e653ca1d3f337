import re

import pytest

from tests.report.conftest import make_records
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.anova import compare_factors
from textveil.lab.report.findings import analyze, recommend
from textveil.lab.report.results import Results

GAIN = METRIC_COLUMNS["relative_gain"]


def recommend_for(records, response="relative_gain"):
    results = Results.from_records(records)
    return recommend(results, results.choose_metric(response))


def count_words(records, clear):
    """Rows with counts of a hundred words, of which some were released in clear."""
    counts = {"words_drawn": 0, "words_kept_stopword": 0, "words_kept_no_share": 0}
    return [
        {**record, **counts, "words_perturbed": 100 - clear(record), "words_kept_unknown": clear(record)}
        for record in records
    ]


def test_the_best_is_named_with_what_it_beats():
    records = make_records(lambda *place: 5 * place[2] + place[3] + 0.01 * place[0] * place[2])
    (found,) = recommend_for(records)
    assert (found.purpose, found.best.combination) == ("trade-off", "pos + yake")
    assert found.sentence == (
        "For trade-off, choose pos + yake (words in clear unknown). Its relative gain is 6.005. It is "
        "significantly better than all others."
    )


def test_nothing_hinges_on_words_in_clear_that_one_data_set_does_not_count():
    records = make_records(lambda *place: 5 * place[2] + [0, 0.1, -0.1, 0.05][place[0] + place[2]] * place[3])
    counted = count_words(records, clear=lambda record: 5 if record["distribution"] == "yake" else 9)
    (known,) = recommend_for(counted)
    assert "of which pos + yake (5.0% of its words in clear) releases the fewest words" in known.sentence
    partly = [
        {name: "" if name.startswith("words_") and row["dataset"] == "b" else value for name, value in row.items()}
        for row in counted
    ]
    (unknown,) = recommend_for(partly)
    assert unknown.best.combination == known.best.combination
    assert unknown.best.clear_share is None
    assert "(words in clear unknown)" in unknown.sentence
    assert "fewest words in clear" not in unknown.sentence


def test_utility_is_recommended_from_the_data_sets_that_have_all_parts():
    records = make_records(lambda *place: 0.0)
    rows = [
        {**row, "utility_f1": 0.5 + 0.1 * (row["decomposition"] == "pos"), "cosine_similarity": 0.4 + place % 3 / 900}
        for place, row in enumerate(records)
    ]
    rows = [{**row, "cosine_similarity": "" if row["dataset"] == "b" else row["cosine_similarity"]} for row in rows]
    found = {each.purpose: each for each in recommend_for(rows)}["utility"]
    assert "Excluded, because it lacks values: b, level high; b, level low." in found.sentence


def test_a_difference_by_chance_is_neither_recommended_nor_narrated():
    records = make_records(lambda *place: 0.01 * place[2] + [0, 5, -5, 1][place[0] + place[2]] * place[3])
    (found,) = recommend_for(records)
    assert not found.evident
    assert found.best is None
    assert found.sentence == (
        "For trade-off, no combination is recommended. By the relative gain, no combination is significantly better "
        "than another."
    )


def test_a_factor_that_matters_does_not_make_a_combination_the_best(example):
    strict = example.settings[0]
    assert not strict.comparisons.significant
    assert not any(found.evident for found in strict.recommendations[:1])


def test_controls_are_no_evidence(records):
    rows = make_records(lambda *place: 9 * place[1] + [0, 5, -5, 1][place[0] + place[2]] * 0.1 * place[3])
    results = Results.from_records(rows)
    assert compare_factors(results, GAIN)["level"].significant


def make_useful(noise=0.0):
    """One combination has the best utility, another the best protection. Noise varies between data sets and levels."""
    records = make_records(lambda *place: place[0] + place[1] * 2 + place[2] * place[3])
    for number, record in enumerate(records):
        own = record["decomposition"], record["distribution"]
        jitter = noise * [3, -2, 1, -1, 2, -3, -1, 1, -2, 3, -1, 2, 1, -3, 2, -2][number] + 0.001 * (number % 3)
        record |= {"pi_remaining": 0.1, "adaptive_f1": 0.5, "utility_f1": 0.5 + jitter}
        record |= {"cosine_similarity": 0.5 + 0.3 * (own == ("pos", "yake"))}
        record |= {"static_f1": 0.6 - 0.3 * (own == ("pos", "uniform")) - jitter}
    return records


def test_utility_and_privacy_where_tests_support_them():
    _, utility, privacy = recommend_for(make_useful())
    assert (utility.purpose, utility.best.combination) == ("utility", "pos + yake")
    assert "Its mean of utility F1 and similarity is 0.65" in utility.reason
    assert (privacy.purpose, privacy.best.combination) == ("privacy", "pos + uniform")


def test_utility_and_privacy_are_not_recommended_where_differences_are_noise():
    _, utility, privacy = recommend_for(make_useful(noise=0.09))
    assert not utility.evident
    assert not privacy.evident


def test_another_response_is_followed_in_its_own_direction(records):
    rows = [{**record, "perplexity": 100 * record["relative_gain"]} for record in records]
    (found,) = recommend_for(rows, "perplexity")
    assert (found.purpose, found.best.combination) == ("perplexity", "words + uniform")


def test_every_combination_is_named_with_its_own_words_in_clear():
    """The best and its safest equal are named in one text: each with its own share."""
    clear = {("pos", "yake"): 64, ("words", "yake"): 34, ("pos", "uniform"): 20, ("words", "uniform"): 1}
    records = make_records(lambda *place: place[3] + 0.001 * place[2] + 0.02 * (place[0] - place[1]) * place[2])
    rows = count_words(records, lambda record: clear[record["decomposition"], record["distribution"]])
    (found,) = recommend_for(rows)
    named = re.findall(r"(\w+) \+ (\w+) \((\d+)\.0% of its words in clear\)", found.sentence)
    assert len(named) == 2
    for decomposition, distribution, share in named:
        assert clear[decomposition, distribution] == int(share)


def test_words_in_clear_are_in_the_sentence_of_the_choice(example):
    _, paper = (setting.recommendations for setting in example.settings)
    for found in paper:
        if found.best is not None:
            assert re.match(r"For [\w-]+, choose [^.]*\((\d+\.\d% of its|no) words in clear\)\.", found.sentence)
    assert paper[0].best.combination == "pos + yake"
    assert paper[0].best.clear_share == pytest.approx(0.45)
    assert "(45.0% of its words in clear)" in paper[0].sentence.split(". ")[0]


def test_a_gain_below_zero_is_not_praised():
    records = make_records(lambda *place: 5 * place[2] + place[3] + 0.01 * place[0] * place[2] - 9)
    assert "Even so, no more utility than exposure is left." in recommend_for(records)[0].sentence


CAVEATS = ["only 12 test texts", "the baseline is near chance"]


@pytest.mark.parametrize("caveat", CAVEATS)
def test_nothing_is_recommended_from_cells_with_caveats(caveat):
    records = [{**record, "relative_gain_caveats": caveat} for record in make_useful()]
    found, utility, _ = recommend_for(records)
    assert not found.evident
    assert "Every data set and level has a caveat." in found.sentence
    assert caveat in found.sentence
    assert utility.evident  # the caveat concerns relative gain alone


def test_caveats_of_a_part_count_for_the_whole():
    records = [{**record, "static_f1_caveats": "few rows"} for record in make_useful()]
    found, utility, privacy = recommend_for(records)
    assert (found.evident, utility.evident, privacy.evident) == (False, True, False)


def test_a_data_set_with_caveats_does_not_count():
    """Without the data set a, another combination is the best."""
    records = make_records(
        lambda dataset, level, decomposition, _: (1 if dataset == 0 else -0.9) * decomposition + 0.001 * level**2,
        distributions=("yake",),
        levels=("high", "medium", "low"),
    )
    for place, record in enumerate(records):
        record["relative_gain"] += 0.0001 * (place % 5)
    (of_all,) = recommend_for(records)
    marked = [{**row, "relative_gain_caveats": "few rows" if row["dataset"] == "a" else ""} for row in records]
    (found,) = recommend_for(marked)
    assert of_all.best is None  # the data sets contradict each other
    assert found.best.combination == "words + yake"
    left_out = "a, level high; a, level medium; a, level low (few rows)."
    assert found.sentence.endswith(f"Excluded from this recommendation: {left_out}")


def test_the_published_choices(published):
    """The paper names the first and the last; for utility it goes by the downstream task alone."""
    trade_off, utility, privacy = published.settings[0].recommendations
    assert (trade_off.best.combination, round(trade_off.best.score, 3)) == ("pos + attention", 0.236)
    assert utility.evident
    assert privacy.best.combination == "llr + keybert"
    assert "(words in clear unknown)" in utility.sentence


def test_a_single_combination_of_one_factor_is_enough():
    findings = analyze(
        Results.from_records(make_records(lambda *place: sum(place) + place[0] * place[2] * 0.1, distributions=("ic",)))
    )
    assert findings.settings[0].recommendations[0].best.combination == "pos + ic"
