import pytest

from tests.metrics.making import make_comparison, make_contender, make_evaluation, make_measurement
from textveil.errors import InputError, ParameterError, UnknownNameError
from textveil.lab.compare.comparison import Comparison, Contender, check_names, compare, is_clearly_better
from textveil.lab.metrics import Evaluator
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import ADAPTIVE, SIMILARITY, STATIC, STRONGEST, TASK


def hide(texts, every):
    """The texts without every n-th word."""
    return [" ".join(word for place, word in enumerate(text.split()) if place % every) for text in texts]


def test_the_values_are_those_of_an_evaluation_of_each(dataset, rows):
    obfuscations = {"half": hide(rows[0], 2), "third": hide(rows[0], 3)}
    metrics = ["attribute", "downstream"]
    stages = []
    comparison = compare(dataset, obfuscations, metrics, progress=lambda stage, *_: stages.append(stage))
    assert [contender.name for contender in comparison.contenders] == ["half", "third"]
    assert comparison.texts == 60
    evaluator = Evaluator(dataset, metrics)
    for contender in comparison.contenders:
        alone = evaluator.measure(obfuscations[contender.name])
        assert contender.evaluation.as_dict() == alone.as_dict()
    assert {stage.partition(": ")[0] for stage in stages} == {"half", "third"}  # progress says which one it is about
    assert set(comparison.as_dict()["obfuscations"]) == {"half", "third"}


@pytest.mark.parametrize(
    ("name", "setting", "level"),
    [("madlib@10", "madlib", "10"), ("madlib", "madlib", ""), ("a@b@c", "a@b", "c"), ("@10", "@10", "")],
)
def test_a_name_has_a_setting_and_a_level(name, setting, level):
    contender = Contender(name, make_evaluation())
    assert (contender.setting, contender.level) == (setting, level)


def test_numbers_are_ordered_by_size_then_levels_by_protection_and_others_as_given():
    names = ["m@100", "m@low", "m@z", "m@9", "m@20", "m@medium", "other", "m@high", "m@nan"]
    settings = make_comparison(dict.fromkeys(names, (0.5, 0.5))).settings
    assert [each.level for each in settings["m"]] == ["9", "20", "100", "high", "medium", "low", "z", "nan"]
    assert list(settings) == ["m", "other"]


def test_the_best_is_marked_only_if_it_is_clearly_better_than_another():
    comparison = make_comparison({"a": (0.3, 0.6), "b": (0.32, 0.6), "c": (0.6, 0.6)})
    a, b, c = comparison.contenders
    assert comparison.find_best(ADAPTIVE) is a
    assert not is_clearly_better(a, b, ADAPTIVE)
    assert is_clearly_better(a, c, ADAPTIVE)
    assert comparison.find_best(TASK) is None  # all are equal
    assert make_comparison({"a": (0.3, 0.6), "c": (0.6, 0.6)}, half=0.2).find_best(ADAPTIVE) is None


def test_attackers_at_chance_are_all_alike():
    comparison = make_comparison({"low": (0.05, 0.6), "high": (0.27, 0.6), "above": (0.6, 0.6)}, half=0.01)
    low, high, above = comparison.contenders
    assert not is_clearly_better(low, high, ADAPTIVE)  # their intervals do not overlap, but both learned nothing
    assert is_clearly_better(low, above, ADAPTIVE)
    assert is_clearly_better(high, above, ADAPTIVE)


def test_nothing_is_best_where_a_caveat_forbids_it():
    comparison = make_comparison({"a": (0.3, 0.6), "c": (0.6, 0.6)}, caveats=("Only 5 test texts.",))
    assert comparison.find_best(ADAPTIVE) is None
    assert comparison.caveats == {"attribute": ("Only 5 test texts.",)}


def test_values_are_told_from_chance_and_from_originals():
    comparison = make_comparison({"nothing": (0.27, 0.5), "some": (0.5, 0.5), "all": (0.9, 0.5)})
    assert [comparison.is_chance(each, ADAPTIVE) for each in comparison.contenders] == [True, False, False]
    assert [comparison.is_original(each, ADAPTIVE) for each in comparison.contenders] == [False, False, True]
    assert comparison.read_reference(ADAPTIVE, Reference.MAJORITY).value == pytest.approx(0.13)


def test_pairs_and_quantities_are_those_that_were_measured():
    comparison = make_comparison({"a": (0.3, 0.6)})
    assert comparison.pairs == ((STRONGEST, TASK), (STATIC, TASK))  # the adaptive attacker is the strongest
    assert SIMILARITY not in comparison.quantities
    similar = Contender("b", make_evaluation(make_measurement("similarity", cosine=0.7)))
    both = Comparison((*comparison.contenders, similar))
    assert both.pairs == ((STRONGEST, TASK), (STATIC, TASK), (STRONGEST, SIMILARITY))
    assert Comparison((similar,)).pairs == ()


def test_pairs_with_caveats_come_last():
    task = make_measurement("downstream", ("The label cannot be learned.",), f1=0.3)
    attribute, similarity = make_measurement("attribute", adaptive=0.5), make_measurement("similarity", cosine=0.7)
    comparison = Comparison((Contender("a", make_evaluation(attribute, task, similarity)),))
    assert comparison.pairs == ((STRONGEST, SIMILARITY), (STRONGEST, TASK))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "nothing to compare"),
        (["a", "b", "a"], "Obfuscations 1 and 3 have the same name, 'a'. Give each its own name"),
        (["a", " "], "name of obfuscation 2"),
        (["a\nb"], "name of obfuscation 1"),
        (["chance"], "'chance' is the name of a reference"),
        (["originals"], "'originals' is the name of a reference"),
        (["a@"], "An obfuscation of 'a' has no level. Name every level of a setting as in 'a@10'"),
        (["a", "a@10"], "An obfuscation of 'a' has no level"),
        (["a@10", "a@ "], "An obfuscation of 'a' has no level"),
    ],
)
def test_names_that_are_not_valid(names, message):
    with pytest.raises(ParameterError, match=message):
        check_names(names)


def test_other_rows_are_refused_by_name_before_anything_is_measured(dataset, rows):
    with pytest.raises(InputError, match="short: There are 60 originals and 59 obfuscated texts"):
        compare(dataset, {"fine": hide(rows[0], 2), "short": rows[0][:-1]}, ["attribute"])
    with pytest.raises(ParameterError, match="numbers: The obfuscated text of row 1 must be a string"):
        compare(dataset, {"numbers": [1] * 60}, ["attribute"])
    with pytest.raises(ParameterError, match="mapping of names to texts. Got list"):
        compare(dataset, [rows[0]])


def test_the_originals_are_refused(dataset, rows):
    with pytest.raises(InputError, match="The texts of 'same' are the originals, without any change"):
        compare(dataset, {"same": list(rows[0])}, ["attribute"])


def test_metrics_that_need_a_certificate_are_refused_or_explained(dataset, rows):
    with pytest.raises(ParameterError, match="inversion: It needs the certificate .* Remove it from `metrics`"):
        compare(dataset, {"half": hide(rows[0], 2)}, ["attribute", "inversion"])
    with pytest.raises(UnknownNameError):
        compare(dataset, {"half": hide(rows[0], 2)}, ["nonsense"])
    contender = Contender("a", make_evaluation(not_measured={"inversion": "Set `certificate`.", "similarity": "x"}))
    other = Contender("b", make_evaluation(not_measured={"similarity": "y", "perplexity": "z"}))
    reasons = Comparison((contender, other)).not_measured
    assert reasons["perplexity"] == "z"  # also what only one of them lacks
    assert "which a comparison does not use" in reasons["inversion"]
    assert reasons["similarity"] == "x"


def test_json_has_references_with_intervals():
    found = Comparison((make_contender("a", 0.5, 0.6),)).as_dict()
    assert found["references"]["attribute.adaptive"]["chance"] == {
        "value": 0.25,
        "interval": [pytest.approx(0.22), pytest.approx(0.28)],
    }
    assert found["references"]["attribute.adaptive"]["majority"]["interval"] is None
