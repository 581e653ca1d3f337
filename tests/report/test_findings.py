import json

import pytest

from tests.report.conftest import ROOT, make_records, repeat
from textveil.errors import InputError, UnknownNameError
from textveil.lab.report.figures import draw_all
from textveil.lab.report.findings import analyze
from textveil.lab.report.pages import tell
from textveil.lab.report.results import Results
from textveil.tables import read_records


def test_one_setting_has_no_name_and_nothing_over_all(records):
    findings = analyze(Results.from_records(records))
    (setting,) = findings.settings
    assert (setting.name, setting.file_part, setting.prefix) == ("", "", "")
    assert findings.overall is None
    assert [effect.name for effect in setting.one_way] == ["decomposition", "distribution"]


def test_profiles_are_analyzed_one_by_one(example):
    strict, paper = example.settings
    assert (strict.name, strict.file_part, strict.prefix) == ("profile strict", "_profile_strict", "Profile strict: ")
    assert len(strict.results.frame) == len(paper.results.frame) == 54
    assert strict.anova.residual_degrees_of_freedom == 54 - 1 - 2 - 2 - 1 - 2 - 4
    assert strict.clear_effect is None
    assert paper.clear_effect is not None


def test_mechanisms_are_compared_if_nothing_else_varies():
    records = make_records(
        lambda dataset, level, _, __, mechanism: dataset + level + 0.1 * mechanism + 0.001 * dataset * mechanism,
        decompositions=("words",),
        distributions=("uniform",),
        mechanism=("madlib", "exponential", "fluent", "own"),
    )
    findings = analyze(Results.from_records(records))
    (setting,) = findings.settings
    assert setting.anova["mechanism"].significant
    assert setting.recommendations[0].best.combination == "words + own"
    assert list(draw_all(findings)) == ["heat_map", "levels_mechanism", "combinations"]


def test_findings_are_plain_data(example):
    found = json.loads(json.dumps(example.as_dict(), allow_nan=False))
    assert found["cells"] == 108
    assert found["groups"][0] == {"dataset": "letters", "level": "high", "epsilon": 4.0, "draw": None, "target": ""}
    paper = found["settings"][1]
    assert paper["setting"] == "profile paper"
    assert paper["pairs"] == 36
    assert len(paper["significant_pairs"]) == 14
    assert paper["combinations"]["pos + yake"]["clear_share"] == pytest.approx(0.45)
    assert paper["recommendations"][0]["sentence"].startswith("For trade-off, choose pos + yake (45.0% of its words")
    assert len(found["advantages"]) == 6


def test_the_response_is_chosen(example):
    findings = analyze(example.results, response="perplexity")
    assert findings.settings[0].anova.response == "perplexity"
    with pytest.raises(UnknownNameError, match="Did you mean 'perplexity'"):
        analyze(example.results, response="perplexty")


def make_half_constant():
    """Two profiles, the first of which has the same gain everywhere."""
    return make_records(
        lambda *place: 0.25 if not place[4] else 0.1 * place[2] + 0.03 * place[3] * place[0] + 0.2 * place[1],
        profile=("strict", "paper"),
    )


def test_a_setting_in_which_nothing_varies_is_left_out_of_the_tests():
    findings = analyze(Results.from_records(make_half_constant()))
    strict, paper = findings.settings
    assert (strict.tested, paper.tested) == (False, True)
    assert not strict.anova.effects
    assert not any(recommendation.evident for recommendation in strict.recommendations)
    assert tell("pairs", strict)[0].startswith(
        "Not tested. The values of relative gain are the same for all combinations"
    )
    assert [line.split(":")[0] for line in tell("gaps", findings)] == ["Profile paper", "All settings together"]
    assert json.loads(json.dumps(findings.as_dict(), allow_nan=False))["settings"][0]["tested"] is False


def test_where_nothing_varies_in_any_setting_nothing_is_tested():
    records = make_records(lambda *place: 0.1 + place[1], profile=("strict", "paper"))
    findings = analyze(Results.from_records(records))
    assert not any(setting.tested for setting in findings.settings)
    assert findings.overall is None


def test_settings_never_share_the_names_of_their_files():
    profiles = ("st-rict", "st rict", "st rict 2")
    records = make_records(lambda *place: sum(place) + place[0] * place[2] * 0.1, profile=profiles)
    ends = [setting.file_part for setting in analyze(Results.from_records(records)).settings]
    assert ends == ["_profile_st_rict", "_profile_st_rict_2", "_profile_st_rict_2_2"]


def test_one_data_set_at_one_level_has_findings_that_say_why_nothing_was_tested(records):
    findings = analyze(Results.from_records(records[:4]))
    (setting,) = findings.settings
    assert not setting.tested
    assert setting.obstacle.startswith("One data set at one level (a, level high) does not separate effects")
    assert setting.recommendations[0].sentence.startswith("For trade-off, no combination is recommended.")
    found = json.loads(json.dumps(findings.as_dict(), allow_nan=False))
    assert found["settings"][0]["obstacle"] == setting.obstacle
    assert found["settings"][0]["combinations"]["pos + yake"]["relative_gain"] == pytest.approx(0.14)


@pytest.mark.parametrize("response", ["inversion_top_1", "clear_text_released", "clear_share", "perplexity_median"])
def test_every_value_of_a_study_can_be_the_response(records, response):
    counts = {"words_drawn": 0, "words_kept_stopword": 5, "words_kept_unknown": 2}
    rows = [
        {**row, **counts, "words_perturbed": 10 + place, "words_kept_no_share": place % 3}
        | {"inversion_top_1": 0.1 + place % 5 / 90, "inversion_prior_top_1": 0.05, "perplexity_median": 5 + place % 7}
        | {"clear_text_released": 0.2 + place % 4 / 70}
        for place, row in enumerate(records)
    ]
    findings = analyze(Results.from_records(rows), response=response)
    assert findings.settings[0].tested
    assert findings.response.name == response
    draw_all(findings)


def test_a_data_set_without_the_response_is_excluded(records):
    rows = [
        {**row, "inversion_top_1": place % 5 / 9 if row["dataset"] == "a" else ""} for place, row in enumerate(records)
    ]
    findings = analyze(Results.from_records(rows), response="inversion_top_1")
    alone = analyze(Results.from_records([row for row in rows if row["dataset"] == "a"]), response="inversion_top_1")
    assert {group.dataset for group in findings.results.groups} == {"a"}
    assert findings.settings[0].anova == alone.settings[0].anova
    assert [(each["metric"], each["dataset"], each["level"]) for each in findings.as_dict()["missing"]] == [
        ("inversion_top_1", "b", "high"),
        ("inversion_top_1", "b", "low"),
    ]
    draw_all(findings)


def test_a_cell_without_the_response_excludes_its_data_set_and_level(records):
    rows = [{**row, "perplexity_median": 5 + place % 7 if place else ""} for place, row in enumerate(records)]
    findings = analyze(Results.from_records(rows), response="perplexity_median")
    assert [str(group) for group in findings.results.groups] == ["a, level low", "b, level high", "b, level low"]
    assert [str(each) for each in findings.results.missing] == ["a, level high (1 of 4 cells)"]


def test_a_response_that_every_data_set_lacks_in_some_cells_is_refused(records):
    rows = [{**row, "perplexity": 5 if place % 4 else ""} for place, row in enumerate(records)]
    with pytest.raises(
        InputError, match=r"lacks the response 'perplexity' in some cells: a, level high \(1 of 4 cells\)"
    ):
        analyze(Results.from_records(rows), response="perplexity")


def test_results_with_one_draw_are_found_as_before(example):
    records = read_records(ROOT / "examples/results.csv")
    numbered = analyze(Results.from_records([{**record, "draw": 1} for record in records]))
    assert numbered.as_dict() == example.as_dict()
    strict, paper = example.settings
    assert strict.anova.noise is paper.anova.noise is None
    effect = paper.anova["distribution"]  # as it was found before results had draws
    assert effect.f_statistic == pytest.approx(19.737685597906985, rel=1e-9)
    assert effect.sum_of_squares == pytest.approx(0.0038767937037037375, rel=1e-9)


def test_findings_of_several_draws_are_plain_data(records):
    found = analyze(Results.from_records(repeat(records))).as_dict()
    assert (found["cells"], found["draws"]) == (48, 3)
    (setting,) = json.loads(json.dumps(found))["settings"]
    assert setting["anova"]["noise"]["degrees_of_freedom"] == 32
    assert {"relative_gain", "relative_gain_noise_std", "relative_gain_noise_low"} <= set(
        setting["combinations"]["pos + yake"]
    )
