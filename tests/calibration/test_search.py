import math
from itertools import pairwise

import numpy as np
import pytest

from textveil.errors import InputError, ParameterError, TargetError
from textveil.lab.calibration import calibrate
from textveil.lab.calibration.search import STEPS, find_largest_share, find_quantile, read_shipped_texts, widen
from textveil.lab.metrics import Dataset, Evaluator
from textveil.lab.metrics.uncertainty import bootstrap_mean
from textveil.ledger import Ledger
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

from .conftest import draw_texts


@pytest.fixture(scope="module")
def obfuscator(tiny):
    return Obfuscator(tiny, seed=1, largest_share=math.inf)


def measure(obfuscator, texts, epsilon, metric="overlap", value="unchanged_content"):
    results = list(obfuscator.obfuscate_all(texts, epsilon_per_word=epsilon))
    options = {"inversion": {"bundle": obfuscator.bundle}} if metric == "inversion" else {}
    evaluator = Evaluator(Dataset(texts), [metric], options)
    return evaluator.measure([each.text for each in results], obfuscations=results).value(metric, value)


def check_on_other_texts(tiny, seed) -> bool:
    """Whether a calibration on some texts holds for others, with other noise."""
    made = Obfuscator(tiny, seed=seed, largest_share=math.inf)
    found = calibrate(made, {"unchanged-content": 0.4}, draw_texts(60, seed + 100))
    other = Obfuscator(tiny, seed=1000 + seed, largest_share=math.inf)
    value = measure(other, draw_texts(1000, seed + 500), found.epsilon_per_word)
    assert value > 0.2  # it is not far too careful
    return value <= 0.4


def test_the_epsilon_that_was_found_meets_the_target_on_other_texts(tiny):
    assert check_on_other_texts(tiny, seed=0)
    assert check_on_other_texts(tiny, seed=1)


@pytest.mark.slow
def test_calibrations_hold_as_often_as_they_say(tiny):
    """Of forty calibrations with a confidence of 95 %, more than six would fail by chance once in 200 times."""
    assert sum(not check_on_other_texts(tiny, seed) for seed in range(2, 42)) <= 6


def test_the_answer_is_a_point_that_was_tried_and_the_next_one_fails(obfuscator, texts):
    found = calibrate(obfuscator, {"unchanged-content": 0.4}, texts)
    assert found.point.readings["unchanged-content"].bound <= 0.4
    met = [point.readings["unchanged-content"].met for point in found.curve]
    assert met == sorted(met, reverse=True)
    after = found.curve[met.index(False)].epsilon_per_word
    assert found.epsilon_per_word < after < 1.3 * found.epsilon_per_word
    assert len(found.curve) <= 2 + STEPS
    assert all(one.epsilon_per_word < other.epsilon_per_word for one, other in pairwise(found.curve))


def test_with_a_seed_a_calibration_can_be_repeated(tiny, texts):
    one, other = (
        calibrate(Obfuscator(tiny, seed=3, largest_share=math.inf), {"unchanged-content": 0.4}, texts) for _ in range(2)
    )
    assert one == other


def test_more_confidence_gives_a_smaller_epsilon(obfuscator, texts):
    careful, bold = (
        calibrate(obfuscator, {"unchanged-content": 0.4}, texts, confidence=level) for level in (0.9999, 0.6)
    )
    assert careful.epsilon_per_word < bold.epsilon_per_word


def test_inversion_is_calibrated_against_the_attacker(obfuscator, texts):
    found = calibrate(obfuscator, {"inversion": 0.4}, texts)
    value = measure(obfuscator, draw_texts(300, 9), found.epsilon_per_word, "inversion", "top_1")
    assert 0.15 < value <= 0.4


def test_several_targets_are_met_together(obfuscator, texts):
    alone = calibrate(obfuscator, {"inversion": 0.3}, texts)
    both = calibrate(obfuscator, {"inversion": 0.3, "unchanged-content": 0.9}, texts)
    assert both.epsilon_per_word == pytest.approx(alone.epsilon_per_word, rel=0.2)
    assert all(reading.met for reading in both.point.readings.values())


@pytest.mark.slow
def test_an_adaptive_attacker_is_held_at_its_target(tiny):
    """Two authors with words of their own."""
    own = ["plot actor plot actor"] * 200 + ["film music film music"] * 200
    texts = [f"{text} {words}" for text, words in zip(draw_texts(400, 5), own, strict=True)]
    attribute = ["a"] * 200 + ["b"] * 200
    found = calibrate(Obfuscator(tiny, seed=1, largest_share=math.inf), {"adaptive": 0.85}, texts, attribute=attribute)
    values = [point.readings["adaptive"].value for point in found.curve]
    assert values[0] < 0.75
    assert values[-1] > 0.9  # with little noise, the attacker wins
    assert found.point.readings["adaptive"].bound <= 0.85


def test_a_task_keeps_its_share_of_the_f1(tiny):
    """Two classes with words of their own. The second task cannot be learned better than the first."""
    own = ["plot actor plot actor"] * 60 + ["film music film music"] * 60
    texts = [f"{text} {words}" for text, words in zip(draw_texts(120, 5), own, strict=True)]
    labels = {"topic": ["a"] * 60 + ["b"] * 60}
    found = calibrate(Obfuscator(tiny, seed=1, largest_share=math.inf), {"utility": 0.8}, texts, labels=labels)
    values = [point.readings["utility"].value for point in found.curve]
    assert values[0] < 0.8 < values[-1]
    reading = found.point.readings["utility"]
    assert 0.8 <= reading.bound < reading.value
    both = {**labels, "same": labels["topic"][::-1]}
    more = calibrate(Obfuscator(tiny, seed=1, largest_share=math.inf), {"utility": 0.8}, texts, labels=both)
    assert more.epsilon_per_word >= found.epsilon_per_word  # as both must be met, with the same confidence


def test_utility_needs_a_label(obfuscator, texts):
    with pytest.raises(ParameterError, match="The target utility needs texts of your own.*Set `labels`"):
        calibrate(obfuscator, {"utility": 0.9}, texts)
    with pytest.raises(InputError, match="All texts have the same label"):
        calibrate(obfuscator, {"utility": 0.9}, texts, labels={"stars": ["a"] * len(texts)})


def test_adaptive_needs_an_attribute(obfuscator, texts):
    with pytest.raises(ParameterError, match="Set `attribute`"):
        calibrate(obfuscator, {"adaptive": 0.5}, texts)
    with pytest.raises(InputError, match="All texts have the same attribute"):
        calibrate(obfuscator, {"adaptive": 0.5}, texts, attribute=["a"] * len(texts))


@pytest.fixture
def without_encoder(monkeypatch):
    """Measures similarity by the share of unchanged words, so that no encoder is needed."""
    from dataclasses import replace

    from textveil.lab.calibration import search
    from textveil.lab.calibration.calibration import TARGETS

    changed = {**TARGETS, "similarity": replace(TARGETS["similarity"], metric="overlap", values=("rouge_l",))}
    monkeypatch.setattr("textveil.lab.calibration.calibration.TARGETS", changed)
    monkeypatch.setattr(search, "TARGETS", changed)


def test_a_utility_is_met_with_the_smallest_epsilon(obfuscator, texts, without_encoder):
    found = calibrate(obfuscator, {"similarity": 0.5}, texts)
    met = [point.readings["similarity"].met for point in found.curve]
    assert met == sorted(met)
    assert found.point == found.curve[met.index(True)]
    assert found.point.readings["similarity"].bound >= 0.5


def test_a_privacy_and_a_utility_are_met_together_if_they_can_be(obfuscator, texts, without_encoder):
    found = calibrate(obfuscator, {"similarity": 0.3, "unchanged-content": 0.7}, texts)
    assert all(reading.met for reading in found.point.readings.values())


def test_targets_that_contradict_each_other_are_said_to(obfuscator, texts, without_encoder):
    with pytest.raises(
        TargetError, match="contradict each other. Up to .* unchanged-content can be met. From"
    ) as raised:
        calibrate(obfuscator, {"similarity": 0.8, "unchanged-content": 0.2}, texts)
    assert len(raised.value.curve) > STEPS


def test_an_unreachable_target_is_said_to_be_so_with_what_is_reachable(tiny, texts):
    kept = [f"the {text} of the and" for text in texts]
    obfuscator = Obfuscator(tiny, seed=1, largest_share=math.inf)
    with pytest.raises(
        TargetError, match=r"unchanged=0.05 cannot be met.*unchanged=0\.\d+ can be met.*stopwords"
    ) as raised:
        calibrate(obfuscator, {"unchanged": 0.05}, kept)
    level = float(str(raised.value).split("unchanged=")[2].split()[0])
    found = calibrate(obfuscator, {"unchanged": level}, kept)
    assert found.point.readings["unchanged"].bound <= level


def test_a_utility_that_the_largest_share_prevents_is_unreachable(tiny, texts, without_encoder):
    with pytest.raises(TargetError, match="similarity=0.9 cannot be met. At the largest epsilon"):
        calibrate(Obfuscator(tiny, seed=1), {"similarity": 0.9}, texts)


def test_a_log_ratio_is_exact_and_needs_no_texts(tiny):
    given = Obfuscator(tiny, mechanism="exponential", mechanism_options={"cap": 2.0}, largest_share=math.inf)
    share = find_largest_share(given, {"log-ratio": 5})
    assert share == 2.5
    with pytest.raises(ParameterError, match="`largest_share=2.5`"):
        calibrate(given, {"log-ratio": 5})
    limited = Obfuscator(tiny, mechanism="exponential", mechanism_options={"cap": 2.0}, largest_share=share)
    found = calibrate(limited, {"log-ratio": 5})
    assert (found.epsilon_per_word, found.largest_share, found.curve) == (2.5, 2.5, ())
    result = limited.obfuscate("alpha beta gamma", epsilon_per_word=100)
    assert result.certificate.bounds["words"] <= 5.0 * (1 + 1e-9)


def test_a_log_ratio_limits_the_search_for_other_targets(tiny, texts):
    limited = Obfuscator(tiny, seed=1, mechanism="exponential", mechanism_options={"cap": 2.0}, largest_share=0.5)
    found = calibrate(limited, {"log-ratio": 1, "unchanged-content": 0.9}, texts)
    assert found.epsilon_per_word == 0.5


def test_a_mechanism_without_a_cap_has_no_log_ratio(obfuscator):
    with pytest.raises(TargetError, match="'madlib' has none. Use `mechanism='exponential'`, and set its `cap`"):
        calibrate(obfuscator, {"log-ratio": 10})


@pytest.mark.parametrize("confidence", [0.4, 1.0, math.nan, True])
def test_a_confidence_is_a_probability(obfuscator, confidence):
    with pytest.raises(ParameterError, match="`confidence`"):
        calibrate(obfuscator, {"inversion": 0.5}, confidence=confidence)


def test_too_few_texts_are_refused(obfuscator, texts):
    with pytest.raises(InputError, match="at least 20 texts with words. Got 19"):
        calibrate(obfuscator, {"unchanged-content": 0.4}, [*texts[:19], "", None, "!"])


def test_texts_without_words_are_left_out(obfuscator, texts):
    found = calibrate(obfuscator, {"unchanged-content": 0.4}, ["", None, *texts])
    assert found == calibrate(obfuscator, {"unchanged-content": 0.4}, texts)


def test_a_calibration_is_not_charged(tiny, tmp_path, texts):
    with pytest.raises(ParameterError, match="without a `ledger`"):
        calibrate(Obfuscator(tiny, ledger=Ledger(tmp_path / "spent.db")), {"unchanged-content": 0.4}, texts)


def test_the_texts_that_ship_are_many_and_ordinary():
    shipped = read_shipped_texts()
    assert len(set(shipped)) == len(shipped) >= 50
    lengths = [len(find_words(text)) for text in shipped]
    assert min(lengths) >= 12
    content = [word for text in shipped for word in find_words(text) if word not in ENGLISH]
    assert len(set(content)) > 400


def test_the_origin_of_the_texts_is_recorded(obfuscator, texts):
    own = calibrate(obfuscator, {"unchanged-content": 0.4}, texts)
    assert (own.sample.origin, own.sample.texts, own.sample.data_dependent) == ("given", 60, True)


@pytest.mark.slow
def test_a_calibration_on_reviews_holds_for_other_reviews(real_texts):
    short = [" ".join(text.split()[:30]) for text in real_texts]
    made, other = short[::2][:150], short[1::2][:300]
    found = calibrate(Obfuscator(seed=1), {"unchanged-content": 0.2}, made)
    assert 0.1 < measure(Obfuscator(seed=2), other, found.epsilon_per_word) <= 0.2
    shipped = calibrate(Obfuscator(seed=1), {"unchanged-content": 0.2})
    assert shipped.sample.origin == "everyday"
    assert shipped.epsilon_per_word == pytest.approx(found.epsilon_per_word, rel=0.15)


@pytest.mark.parametrize(
    ("level", "degrees", "quantile"),
    [(0.95, 10, 1.8125), (0.99, 19, 2.5395), (0.995, 59, 2.6618), (0.9995, 30, 3.6460), (0.5, 20, 0.0)],
)
def test_quantiles_are_those_of_tables(level, degrees, quantile):
    assert find_quantile(level, degrees) == pytest.approx(quantile, abs=0.002)


def test_a_smaller_risk_and_fewer_texts_move_the_bound_away():
    assert widen(0.2, 0.25, 50, 0.001) > widen(0.2, 0.25, 50, 0.01) > 0.25
    assert widen(0.2, 0.25, 20, 0.01) > widen(0.2, 0.25, 200, 0.01)
    assert widen(0.2, 0.15, 50, 0.001) < 0.15  # a lower bound moves down


@pytest.mark.parametrize("texts", [20, 60])
def test_a_bound_fails_no_more_often_than_stated(texts):
    """Of 200 upper bounds with a risk of 5 %, 10 may fail; more than 20 would happen by chance once in a thousand."""
    stream = SeededRandomness(texts).stream(0)
    failed = 0
    for _ in range(200):
        shares = stream.binomial(12, 0.3, size=texts) / 12
        interval = bootstrap_mean(shares)
        failed += widen(float(np.mean(shares)), interval.high, texts, 0.05) < 0.3
    assert failed <= 20
