import json

import pytest

from tests.analysis.conftest import make_records
from textveil.analysis import Results, analyze
from textveil.analysis.wording import tell_effects, tell_gaps, tell_pairs
from textveil.errors import ParameterError, UnknownNameError


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


def test_findings_are_plain_data(example):
    found = json.loads(json.dumps(example.as_dict(), allow_nan=False))
    assert found["cells"] == 108
    assert found["groups"][0] == {"dataset": "letters", "level": "high", "epsilon": 4.0}
    paper = found["settings"][1]
    assert paper["setting"] == "profile paper"
    assert paper["pairs"] == 36
    assert len(paper["significant_pairs"]) == 14
    assert paper["combinations"]["pos + yake"]["clear_share"] == pytest.approx(0.45)
    assert paper["recommendations"][0]["sentence"].startswith("For trade-off, choose pos + yake.")
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
    assert not strict.recommendations
    assert tell_pairs(strict.comparisons) == tell_effects(strict)
    assert tell_effects(strict).startswith("Not tested: the response is the same for all combinations")
    assert [line.split(":")[0] for line in tell_gaps(findings)] == ["Profile paper"]
    assert json.loads(json.dumps(findings.as_dict(), allow_nan=False))["settings"][0]["tested"] is False


def test_where_nothing_varies_in_any_setting_there_is_no_analysis():
    records = make_records(lambda *place: 0.1 + place[1], profile=("strict", "paper"))
    with pytest.raises(ParameterError, match="the same for all combinations in every data set and level"):
        analyze(Results.from_records(records))


def test_settings_never_share_the_names_of_their_files():
    profiles = ("st-rict", "st rict", "st rict 2")
    records = make_records(lambda *place: sum(place) + place[0] * place[2] * 0.1, profile=profiles)
    ends = [setting.file_part for setting in analyze(Results.from_records(records)).settings]
    assert ends == ["_profile_st_rict", "_profile_st_rict_2", "_profile_st_rict_2_2"]


def test_what_says_nothing_is_refused(records):
    with pytest.raises(ParameterError, match="One data set at one level"):
        analyze(Results.from_records(records[:4]))
