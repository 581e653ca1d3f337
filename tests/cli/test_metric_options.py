import pytest

from textveil.cli.evaluate import (
    MetricFlags,
    add_samples,
    choose_classifier,
    choose_encoders,
    flag,
    split_list,
    unit_of,
)
from textveil.errors import ParameterError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS


def test_a_flag_has_the_help_and_the_default_of_the_option():
    found = flag(METRICS, "attribute, downstream", "seeds")
    assert found.default == "--seeds"  # typer moves it to the declarations later
    assert found.help.startswith("For attribute, downstream: Seeds.")
    assert found.help.endswith("Default: 42,43,44.")
    assert flag(CLASSIFIERS, "transformer", "epochs").default == "--epochs"


def test_options_that_were_not_given_are_dropped():
    assert MetricFlags(truncate=True).choose_options(clear_text={"words": None}) == {"similarity": {"truncate": True}}
    both = MetricFlags(encoders="a,b", truncate=True, metrics="similarity").choose_options()
    assert both == {"similarity": {"models": ["a", "b"], "truncate": True}}


def test_a_list_is_comma_separated():
    assert split_list(" a, b ,,c", "--metrics") == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="--metrics is empty"):
        split_list(" , ", "--metrics")


def test_a_classifier_is_for_the_metrics_that_train_one():
    chosen = choose_classifier("transformer", {"epochs": 2, "model": None}, "1,2", ["attribute", "similarity"])
    assert chosen == {"attribute": {"classifier": "transformer", "classifier_options": {"epochs": 2}, "seeds": (1, 2)}}
    everywhere = choose_classifier(None, {}, "7", None)
    assert set(everywhere) == {"attribute", "downstream", "stylometry", "membership"}
    assert everywhere["stylometry"] == {"seeds": (7,)}
    assert choose_classifier(None, {}, "7", ["membership"]) == {"membership": {"seeds": (7,)}}
    with pytest.raises(ParameterError, match="--seeds must be comma-separated"):
        choose_classifier(None, {}, "one", None)
    with pytest.raises(ParameterError, match="epochs"):
        choose_classifier("linear", {"epochs": 2}, None, None)


def test_encoders_reach_every_metric_that_uses_one():
    assert choose_encoders(None, None) == {}
    assert choose_encoders("a,b", None) == {
        "similarity": {"models": ["a", "b"]},
        "token_similarity": {"model": "a"},
        "linkage": {"model": "a"},
    }
    assert choose_encoders("a", ["linkage", "attribute"]) == {"linkage": {"model": "a"}}
    assert choose_encoders("a", ["attribute"]) == {"similarity": {"models": ["a"]}}  # so that it is refused


def test_progress_counts_what_a_stage_works_on():
    assert [unit_of(stage) for stage in ("inversion", "fine-tuning", "similarity")] == ["chunks", "steps", "texts"]


def test_a_sample_is_added_to_the_options_of_its_metric():
    given = {"perplexity": {"model": "m"}}
    assert add_samples(given, ["perplexity=50", "cosine=9"]) == {
        "perplexity": {"model": "m", "sample": 50},
        "similarity": {"sample": 9},
    }
    assert add_samples(given, None) == given == {"perplexity": {"model": "m"}}


@pytest.mark.parametrize("sample", ["perplexity", "perplexity=", "perplexity=-1", "perplexity=many"])
def test_a_sample_is_a_metric_and_a_number(sample):
    with pytest.raises(ParameterError, match="--sample must be a metric and a number"):
        add_samples({}, [sample])


def test_a_metric_without_samples_is_refused():
    with pytest.raises(ParameterError, match="clear_text always reads all texts.*perplexity"):
        add_samples({}, ["clear_text=5"])
