import json
import math
from dataclasses import replace

import pytest

from textveil.errors import InputError, ParameterError, UnknownNameError
from textveil.lab.calibration import Calibration, calibrate
from textveil.lab.calibration.calibration import TARGETS, check_targets, describe_settings, parse_targets
from textveil.lab.metrics import METRICS
from textveil.obfuscator import Obfuscator

from ..metrics.making import make_measurement


@pytest.fixture(scope="module")
def found(tiny, texts):
    return calibrate(Obfuscator(tiny, seed=1), {"unchanged-content": 0.4}, texts)


def test_a_calibration_survives_its_file(found, tmp_path):
    found.write(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == found
    values = json.loads((tmp_path / "c.json").read_text())
    assert values["targets"] == {"unchanged-content": 0.4}
    assert values["texts"] == {"origin": "given", "texts": 60, "data_dependent": True}
    assert values["confidence"] == 0.95
    assert len(values["settings"]["bundle"]["sha256"]) == 64


def test_a_calibration_of_private_texts_is_as_private_as_they_are(found, tmp_path):
    (tmp_path / "in.csv").write_text("text\n")
    (tmp_path / "in.csv").chmod(0o600)
    found.write(tmp_path / "c.json", like=tmp_path / "in.csv")
    assert (tmp_path / "c.json").stat().st_mode & 0o777 == 0o600


def test_no_text_is_in_the_file(found, texts):
    assert texts[0].split()[0] not in json.dumps({**found.as_dict(), "settings": {}})


def test_the_same_settings_are_accepted_with_other_noise(found, tiny):
    found.check(Obfuscator(tiny).terms)


def test_a_calibration_without_a_form_is_of_an_earlier_version(found, tiny):
    earlier = replace(found, settings={name: value for name, value in found.settings.items() if name != "form"})
    earlier.check(Obfuscator(tiny, form="keep").terms)
    with pytest.raises(ParameterError, match="form .was keep, now plain"):
        earlier.check(Obfuscator(tiny).terms)


def test_other_methods_and_bundles_are_refused(found, tiny, make_bundle):
    others = {
        "mechanism .was madlib, now exponential": Obfuscator(tiny, mechanism="exponential"),
        "profile .was strict, now paper": Obfuscator(tiny, profile="paper"),
        "stopwords .was keep, now perturb": Obfuscator(tiny, stopwords="perturb"),
        "form .was plain, now keep": Obfuscator(tiny, form="keep"),
        "emoji .was drop, now keep": Obfuscator(tiny, form="keep", keep_emoji=True),
        "bundle .was tiny 1 ": Obfuscator(make_bundle(dimensions=7)),
        "dimensions": Obfuscator(tiny, mechanism_options={"dimensions": 5}),
    }
    for pattern, other in others.items():
        with pytest.raises(ParameterError, match=pattern):
            found.check(other.terms)


def test_a_larger_share_is_refused_and_a_smaller_one_is_not(found, tiny):
    with pytest.raises(ParameterError, match="Set `largest_share`"):
        found.check(Obfuscator(tiny, largest_share=math.inf).terms)
    found.check(Obfuscator(tiny, largest_share=found.largest_share / 2).terms)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a calibration"),
        ('{"certificate": 2}', "is not a calibration"),
        ('{"calibration": 9}', "has format 9"),
        ('{"calibration": 1}', "is incomplete or damaged"),
    ],
)
def test_files_that_are_no_calibrations_are_refused(tmp_path, content, problem):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(InputError, match=problem):
        Calibration.load(tmp_path / "c.json")
    with pytest.raises(InputError, match="cannot be read"):
        Calibration.load(tmp_path / "none.json")


@pytest.mark.parametrize("epsilon", [0, -1, "5", None, True])
def test_an_epsilon_that_is_no_positive_number_is_refused(found, tmp_path, epsilon):
    (tmp_path / "c.json").write_text(json.dumps({**found.as_dict(), "epsilon_per_word": epsilon}))
    with pytest.raises(InputError, match="damaged"):
        Calibration.load(tmp_path / "c.json")


def test_settings_are_what_json_gives_back(tiny):
    settings = describe_settings(Obfuscator(tiny).terms)
    assert json.loads(json.dumps(settings)) == settings


def test_every_target_is_measured_by_a_metric_that_exists():
    for target in TARGETS.values():
        assert target.metric is None or target.metric in METRICS


def test_an_unknown_target_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="no target 'unchangd'. Did you mean 'unchanged'?"):
        check_targets({"unchangd": 0.2})


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.2"])
def test_a_share_must_lie_between_0_and_1(level):
    with pytest.raises(ParameterError, match="inversion must be between 0 and 1"):
        check_targets({"inversion": level})


def test_a_log_ratio_may_be_any_positive_number():
    assert check_targets({"log_ratio": 10}) == {TARGETS["log-ratio"]: 10.0}
    for level in (0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="log-ratio must be positive and finite"):
            check_targets({"log-ratio": level})


def test_a_target_is_missing():
    with pytest.raises(ParameterError, match="A target is missing"):
        check_targets({})


@pytest.mark.parametrize("word", ["unchanged", "unchanged=", "=0.2", "unchanged=much", "unchanged=nan"])
def test_a_target_is_a_name_and_a_number(word):
    with pytest.raises(ParameterError):
        check_targets(parse_targets([word]))


def test_a_target_is_given_once():
    with pytest.raises(ParameterError, match="unchanged-content was given twice"):
        parse_targets(["unchanged-content=0.2", "unchanged_content=0.3"])


def test_the_unsafe_end_of_the_interval_is_read():
    assert TARGETS["similarity"].read(make_measurement("similarity", cosine=(0.5, 0.4, 0.6))) == (0.5, 0.4)
    assert TARGETS["unchanged"].read(make_measurement("overlap", unchanged=(0.5, 0.4, 0.6))) == (0.5, 0.6)


def test_the_stronger_of_two_attackers_counts():
    found = make_measurement("inversion", top_1=(0.2, 0.1, 0.35), decoded=(0.3, 0.25, 0.34))
    assert TARGETS["inversion"].read(found) == (0.3, 0.35)
    assert TARGETS["inversion"].read(make_measurement("inversion", top_1=(0.2, 0.1, 0.3))) == (0.2, 0.3)


def test_without_an_interval_there_is_no_end():
    assert TARGETS["unchanged"].read(make_measurement("overlap", unchanged=0.5)) == (0.5, None)
