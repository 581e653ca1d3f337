"""The cell runner: what it loads, and the keys of its values."""

from __future__ import annotations

import json

import pytest

from textveil.errors import BundleError, StudyError
from textveil.lab.metrics import METRICS
from textveil.lab.study import cell_runner as levels
from textveil.lab.study.cell_runner import describe_error, find_epsilon, find_epsilons
from textveil.lab.study.study import CalibratedLevel, Study
from textveil.methods.mechanisms.returns import draw_entries, measure_returns
from textveil.obfuscator import Obfuscator


def keys(experiment):
    with experiment.store.locked():
        return experiment.runner.find_keys(experiment.read_datasets()["reviews"])


def test_a_key_covers_everything_that_a_value_depends_on(make_study, values):
    metrics = {"downstream": {}, "attribute": {}, "clear_text": {}}
    first = keys(make_study(metrics=metrics))
    assert set(first) == set(metrics)
    seeds = keys(make_study(metrics=metrics, seeds=[1]))
    assert (seeds["clear_text"], seeds["downstream"] != first["downstream"]) == (first["clear_text"], True)
    other = {"reviews": {**values["datasets"]["reviews"], "attribute": "stars"}}
    attribute = keys(make_study(metrics=metrics, datasets=other))
    assert (attribute["downstream"], attribute["attribute"] != first["attribute"]) == (first["downstream"], True)
    assert keys(make_study(metrics={"clear_text": {"words": 3}}))["clear_text"] != first["clear_text"]


def test_a_key_covers_what_a_metric_reads_only_if_it_is_given(make_study, values):
    def find_key(**attribute):
        columns = {name: values["datasets"]["reviews"][name] for name in ("path", "label")}
        metrics = {"linkage": {"attackers": ["words"]}}
        return keys(make_study(metrics=metrics, datasets={"reviews": {**columns, **attribute}}))["linkage"]

    assert len({find_key(), find_key(attribute="author"), find_key(attribute="stars")}) == 3


def test_a_study_without_a_largest_share_spends_the_whole_budget(make_study, local, tmp_path):
    def find_budget(**changes):
        experiment = make_study(
            metrics={"clear_text": {}}, distributions=["uniform"], profiles=["strict"], levels={"low": 9e3}, **changes
        )
        assert [state.failures for state in experiment.run(local)] == [()]
        (path,) = experiment.store.folder.glob("texts/*.json")
        return json.loads(path.read_bytes())["certificate"]["budget"]

    limited = find_budget()
    assert limited["largest_share"] > 0
    assert limited["largest_spent"] < limited["largest_budget"]
    lifted = find_budget(folder=tmp_path / "lifted", largest_share="inf")
    assert lifted["largest_share"] is None
    assert lifted["largest_spent"] == pytest.approx(lifted["largest_budget"])


def test_the_key_of_a_trade_off_covers_the_metrics_it_is_computed_from(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("trade_off"), "after", ("downstream",))
    metrics = {"downstream": {}, "trade_off": {}}
    first, second = (keys(make_study(metrics=metrics, seeds=seeds)) for seeds in ([1], [2]))
    assert first["trade_off"] != second["trade_off"]


def test_the_key_of_a_trade_off_covers_everything_that_its_verdict_names(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("trade_off"), "after", ("downstream",))

    def find_key(**others):
        return keys(make_study(metrics={"downstream": {}, **others, "trade_off": {}}))["trade_off"]

    chosen = [{}, {"linkage": {"attackers": ["words"]}}, {"linkage": {"attackers": ["shape"]}}, {"clear_text": {}}]
    assert len({find_key(**others) for others in chosen}) == len(chosen)
    assert find_key(overlap={}) == find_key()  # which no verdict reads


def test_a_verdict_is_drawn_again_after_a_metric_that_it_reads(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("trade_off"), "after", ("downstream",))
    metrics = {"trade_off": {}, "clear_text": {}, "overlap": {}, "downstream": {}}
    experiment = make_study(metrics=metrics)
    found = keys(experiment)
    assert experiment.runner._add_dependent(["clear_text"], found) == ["clear_text", "trade_off"]
    assert experiment.runner._add_dependent(["overlap"], found) == ["overlap"]


def test_metrics_that_are_computed_from_others_come_last(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("clear_text"), "after", ("downstream",))
    runner = make_study(metrics={"clear_text": {}, "downstream": {}}).runner
    assert list(runner.metrics) == ["downstream", "clear_text"]


def test_an_option_of_the_wrong_kind_is_reported_before_anything_is_run(make_study, local):
    with pytest.raises(StudyError, match=r"inversion.*'many'"):
        make_study(metrics={"inversion": {"sample": "many"}}).run(local)


def test_scores_that_do_not_depend_on_the_text_are_not_cached(make_study):
    runner = make_study().runner
    plain = runner.distributors
    assert set(runner.environment.decompositions) == {"words"}
    assert set(runner.environment.distributions) == {"uniform", "yake"}
    assert runner.environment.mechanisms == {}
    assert "yake" in runner.environment.distributions["yake"]
    assert not runner.store.folder.exists()
    assert runner.cached_distributors["uniform"] is plain["uniform"]
    assert runner.cached_distributors["yake"] is not plain["yake"]
    assert runner.store.scores.exists()


def test_the_reason_of_an_unexpected_error_does_not_quote_its_message():
    try:
        raise KeyError("some secret text")
    except KeyError as error:
        said = describe_error(error)
    assert said.startswith("a KeyError in test_cell_runner.py, line ")
    assert "secret" not in said


def test_a_mechanism_with_a_language_model_gets_the_one_of_the_bundle(make_study, local, tiny_with_prior):
    study = {"distributions": ["uniform"], "mechanisms": {"fluent": {"weight": 0.5}}, "metrics": ["clear_text"]}
    experiment = make_study(bundle=str(tiny_with_prior.folder), **study)
    experiment.run(local)
    states = experiment.find_states()
    assert states
    assert all(state.finished and not state.failures for state in states)
    assert states[0].texts.certificate.terms.mechanism["options"]["weight"] == 0.5
    with pytest.raises(BundleError, match="textveil prepare prior"):
        make_study(**study).run(local)


def test_every_attacker_measures_the_originals(make_study):
    metrics = {"stylometry": {}, "linkage": {"attackers": ["words"]}, "membership": {}}
    experiment = make_study(metrics=metrics)
    with experiment.store.locked():
        experiment.read_datasets()
        assert experiment.runner.measure_originals("reviews", list(metrics)) == ()


@pytest.fixture
def study(values):
    def make(**changes):
        return Study.model_validate({**values, **changes})

    return make


def test_words_return_as_often_as_the_level_says(study, tiny):
    wanted = {"low": {"unchanged": 0.6}}
    found = find_epsilons(study(levels=wanted, mechanisms=["madlib", "exponential"]), tiny)["low"]["words"]
    assert found["madlib"] != found["exponential"]
    for name, epsilon in found.items():
        mechanism = Obfuscator(tiny, decomposition="words", mechanism=name).mechanism
        returned = measure_returns(mechanism, epsilon, draw_entries(mechanism, tiny.counts("words")))
        assert returned == pytest.approx(0.6, abs=0.05), name


def test_the_level_of_the_largest_rate_is_the_largest_share(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words")
    assert find_epsilon(CalibratedLevel(unchanged=0.5), obfuscator) == obfuscator.largest_share


def test_a_bound_is_that_of_two_words_at_the_median_distance(study, tiny):
    found = find_epsilons(study(levels={"low": {"bound": 20}}), tiny)
    median = tiny.distance("words")["pairs"]["0.5"]
    assert found == {"low": {"words": {"madlib": pytest.approx(20 / median)}}}


def test_a_bound_is_in_the_space_of_the_guarantee(study, tiny):
    mechanisms = {"madlib": {"dimensions": 2}}
    found = find_epsilons(study(levels={"low": {"bound": 20}}, mechanisms=mechanisms), tiny)
    obfuscator = Obfuscator(tiny, decomposition="words", mechanism_options={"dimensions": 2})
    assert found["low"]["words"]["madlib"] == 20 / obfuscator.terms.distance["pairs"]["0.5"]


def test_plain_numbers_need_no_obfuscator(study, tiny, monkeypatch):
    monkeypatch.setattr(levels, "Obfuscator", None)
    assert find_epsilons(study(), tiny) == {}


def test_levels_that_turn_out_equal_are_refused(study, tiny):
    epsilon = 20 / tiny.distance("words")["pairs"]["0.5"]
    with pytest.raises(StudyError, match=r"With words and madlib, the levels 'one' and 'two' have the same epsilon"):
        find_epsilons(study(levels={"one": epsilon, "two": {"bound": 20}}), tiny)
