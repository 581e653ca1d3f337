import json

import pytest

from textveil.analysis import Results, analyze
from textveil.errors import ParameterError, UnknownNameError


def test_one_setting_has_no_name_and_nothing_over_all(records):
    findings = analyze(Results.from_records(records))
    (setting,) = findings.settings
    assert (setting.name, setting.file_part, setting.prefix) == ("", "", "")
    assert findings.overall is None
    assert [effect.name for effect in setting.one_way] == ["decomposition", "distribution"]


def test_profiles_are_analysed_one_by_one(example):
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


def test_what_says_nothing_is_refused(records):
    with pytest.raises(ParameterError, match="One data set at one level"):
        analyze(Results.from_records(records[:4]))
