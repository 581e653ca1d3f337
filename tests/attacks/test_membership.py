from dataclasses import replace

import numpy as np
import pytest

from textveil.errors import ParameterError
from textveil.lab.attacks.membership import Membership, choose_members
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classifiers import Classifier
from textveil.lab.metrics.dataset import Classes
from textveil.randomness import SeededRandomness


def make_case(size=120):
    """Texts of random words with random labels: only a model that memorizes its texts knows them."""
    generator = SeededRandomness(6).stream(0)
    texts = [" ".join(f"w{word}" for word in generator.integers(0, 60, 12)) for _ in range(size)]
    dataset = Dataset(texts, label=["good", "bad"] * (size // 2))
    return Case(dataset, dataset.pair(texts))


def test_members_of_a_model_of_originals_are_recognized():
    found = Membership().measure(make_case())
    assert found.values["auc"] == found.values["baseline"] > 0.7
    assert found.values["chance"] == 0.5
    assert found.intervals["auc"].low > 0.65
    assert found.caveats == ()


def test_a_model_of_unrelated_texts_reveals_nothing():
    case = make_case()
    other = replace(case, obfuscated=case.dataset.pair(list(case.originals)[::-1]))
    found = Membership().measure(other)
    assert found.values["auc"] == pytest.approx(0.5, abs=0.1)
    assert found.values["baseline"] > 0.7
    low, high = found.intervals["auc"]
    assert low < 0.5 < high


def test_an_attack_that_fails_on_originals_allows_no_conclusion():
    dataset = Dataset(["soup of the day", "tea of the day"] * 60, label=["good", "bad"] * 60)
    found = Membership().measure(Case(dataset, dataset.originals))
    assert found.values["baseline"] == 0.5  # members and others are the same texts
    (caveat,) = found.caveats
    assert caveat.startswith("The attack fails without obfuscation, too: AUC 0.500 (0.4")
    assert "near chance" in caveat


def test_all_values_by_a_plain_computation():
    from sklearn.metrics import roc_auc_score

    from textveil.lab.metrics.classifiers.linear import Linear

    case = make_case(60)
    other = replace(case, obfuscated=case.dataset.pair([f"{text} more" for text in case.originals]))
    classes, aucs = case.dataset.label, []
    for seed in (42, 43):
        members = choose_members(classes, seed)
        fitted = Linear().fit(other.obfuscated, np.flatnonzero(members), classes, seed=seed)
        weights = fitted.weigh_classes(case.originals, np.arange(60))
        aucs.append(roc_auc_score(members, [row[code] for row, code in zip(weights, classes.codes, strict=True)]))
    found = Membership(seeds=[42, 43]).measure(other)
    assert found.values["auc"] == pytest.approx(np.mean(aucs))
    assert found.details["seeds"] == {"42": pytest.approx(aucs[0]), "43": pytest.approx(aucs[1])}


def test_half_of_every_class_are_members():
    classes = Classes.of(["a"] * 10 + ["b"] * 5, range(15), "label")
    members = choose_members(classes, 42)
    assert (members[:10].sum(), members[10:].sum()) == (5, 2)
    assert members.tolist() == choose_members(classes, 42).tolist()
    assert members.tolist() != choose_members(classes, 43).tolist()


def test_models_of_originals_are_trained_once(monkeypatch):
    from textveil.lab.metrics.classifiers.linear import Linear

    fitted = []
    fit = Linear.fit
    monkeypatch.setattr(
        Linear, "fit", lambda self, texts, *rest, **how: fitted.append(texts.hash) or fit(self, texts, *rest, **how)
    )
    case = make_case(40)
    metric = Membership(seeds=[1, 2])
    for ending in ("more", "less"):
        metric.measure(replace(case, obfuscated=case.dataset.pair([f"{text} {ending}" for text in case.originals])))
    assert fitted.count(case.originals.hash) == 2
    assert len(fitted) == 6


def test_confidences_are_cached_in_a_folder(tmp_path, monkeypatch):
    texts = list(make_case(40).originals)

    def measure():
        dataset = Dataset(texts, label=["good", "bad"] * 20, folder=tmp_path)
        return Membership(seeds=[1]).measure(Case(dataset, dataset.pair([f"{text} more" for text in texts])))

    first = measure()
    monkeypatch.setattr("textveil.lab.metrics.classifiers.linear.Linear.fit", lambda *_, **__: pytest.fail("again"))
    assert measure() == first
    assert first.caveats == ("Only 40 texts: too few for a conclusion, which needs at least 50.",)


def test_a_classifier_without_probabilities():
    class Silent(Classifier):
        name = "silent"

        def fit(self, texts, rows, classes, *, seed, progress=None):
            pytest.fail("trained")

    for silent in (Silent(), "stylometry"):
        with pytest.raises(ParameterError, match="gives no probabilities. Set `classifier` of membership to linear"):
            Membership(classifier=silent)


def test_a_transformer_is_refused_before_it_is_trained(make_encoder):
    with pytest.raises(ParameterError, match="'transformer' gives no probabilities"):
        Membership(classifier="transformer", classifier_options={"model": make_encoder()})


def test_a_fixed_split_is_refused_since_members_are_drawn_for_every_seed():
    with pytest.raises(ParameterError, match="`split`"):
        Membership(split="fixed")
