from tests.analysis.conftest import make_records
from textveil.analysis import Results, analyze
from textveil.analysis.anova import compare_factors
from textveil.analysis.recommendations import recommend
from textveil.analysis.tukey import compare_pairs
from textveil.evaluation import METRIC_COLUMNS

GAIN = METRIC_COLUMNS["relative_gain"]


def recommend_for(records, response="relative_gain"):
    results = Results.from_records(records)
    metric = results.choose_metric(response)
    return recommend(results, metric, compare_factors(results, metric), compare_pairs(results, metric))


def test_the_best_is_named_with_the_next_and_what_it_beats():
    records = make_records(lambda *place: 5 * place[2] + place[3] + 0.01 * place[0] * place[2])
    (found,) = recommend_for(records)
    assert (found.purpose, found.combination) == ("trade-off", "pos + yake")
    assert found.sentence.startswith(
        "For trade-off, choose pos + yake. Its relative gain is 6.005 on average, followed by pos + uniform (5.005). "
    )
    assert found.sentence.endswith("It is significantly better than all others.")


def test_a_difference_by_chance_is_not_a_choice():
    records = make_records(lambda *place: 0.01 * place[2] + [0, 5, -5, 1][place[0] + place[2]] * place[3])
    (found,) = recommend_for(records)
    assert not found.evident
    assert found.headline == "no clear choice"
    assert found.sentence.startswith(
        f"For trade-off, no combination differs significantly from another; {found.combination} is nominally first. "
    )
    assert found.explanation == f"N{found.sentence.removeprefix('For trade-off, n')}"


def test_a_factor_that_matters_is_evidence_even_where_no_pair_differs(example):
    strict = example.settings[0]
    assert not strict.comparisons.significant
    assert strict.anova.finds_choice
    assert "None of the 8 others is significantly worse." in strict.recommendations[0].sentence
    assert strict.recommendations[0].sentence.startswith("For trade-off, choose")


def test_controls_are_no_evidence(records):
    rows = make_records(lambda *place: 9 * place[1] + [0, 5, -5, 1][place[0] + place[2]] * 0.1 * place[3])
    results = Results.from_records(rows)
    assert compare_factors(results, GAIN)["level"].significant
    assert not compare_factors(results, GAIN).finds_choice


def test_utility_and_privacy_where_they_are_measured():
    better = {"utility_f1": ("words", "yake"), "cosine_similarity": ("pos", "yake"), "static_f1": ("pos", "uniform")}
    records = make_records(lambda *place: place[0] + place[1] * 2 + place[2] * place[3])
    for record in records:
        own = record["decomposition"], record["distribution"]
        record |= {"pi_remaining": 0.1, "adaptive_f1": 0.5}
        record |= {"utility_f1": 0.5 + 0.1 * (own == better["utility_f1"])}
        record |= {"cosine_similarity": 0.5 + 0.3 * (own == better["cosine_similarity"])}
        record |= {"static_f1": 0.6 - 0.3 * (own == better["static_f1"])}
    _, utility, privacy = recommend_for(records)
    assert (utility.purpose, utility.combination) == ("utility", "pos + yake")
    assert "is 0.650 on average" in utility.reason
    assert utility.reason.endswith("By utility F1 alone, words + yake is best (60.0%).")
    assert (privacy.purpose, privacy.combination) == ("privacy", "pos + uniform")
    assert "is 0.300 on average" in privacy.reason


def test_another_response_is_followed_in_its_own_direction(records):
    rows = [{**record, "perplexity": 100 * record["relative_gain"]} for record in records]
    (found,) = recommend_for(rows, "perplexity")
    assert (found.purpose, found.combination) == ("perplexity", "words + uniform")


def test_words_in_clear_are_reported(example):
    strict, paper = (setting.recommendations[0] for setting in example.settings)
    assert strict.reason.endswith("Of its words, without stopwords, none were released in clear.")
    assert paper.combination == "pos + yake"
    assert paper.reason.endswith("Of its words, without stopwords, 45.0% were released in clear.")


def test_the_published_choices(published):
    """The paper names these; for utility it goes by the downstream task alone."""
    trade_off, utility, privacy = published.settings[0].recommendations
    assert (trade_off.combination, round(trade_off.score, 3)) == ("pos + attention", 0.236)
    assert "pmi + yake is best (88.2%)" in utility.reason
    assert privacy.combination == "llr + keybert"


def test_a_single_combination_of_one_factor_is_enough():
    findings = analyze(
        Results.from_records(make_records(lambda *place: sum(place) + place[0] * place[2] * 0.1, distributions=("ic",)))
    )
    assert findings.settings[0].recommendations[0].combination == "pos + ic"
