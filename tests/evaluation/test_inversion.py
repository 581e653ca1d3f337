import math

import numpy as np
import pytest

from textveil.bundles.vectors import Vectors
from textveil.errors import InputError, ParameterError
from textveil.evaluation import Dataset
from textveil.evaluation.base import Case
from textveil.evaluation.inversion import Attacker, Inversion, collect, log_likelihood
from textveil.mechanisms import Request
from textveil.mechanisms.madlib import Madlib
from textveil.obfuscation import Obfuscator
from textveil.randomness import SeededRandomness


def measure(texts, epsilon, *, bundle=None, largest_share=math.inf, **options):
    obfuscator = Obfuscator(**({} if bundle is None else {"bundle": bundle}), largest_share=largest_share, seed=1)
    results = list(obfuscator.obfuscate_all(texts, epsilon=epsilon))
    dataset = Dataset(texts)
    case = Case(dataset, dataset.pair([result.text for result in results]), None, results)
    return Inversion(**({} if bundle is None else {"bundle": bundle}), **options).measure(case)


TEXTS = ["a good film with a bad plot", "the actor in that scene", "music, music and a story"] * 20


def test_a_large_budget_reveals_every_chunk_and_a_small_one_none():
    large = measure(TEXTS, 5000).values
    assert large["top_1"] == large["top_10"] == 1
    small = measure(TEXTS, 0.001).values
    assert small["top_1"] == small["prior_top_1"]
    assert small["top_10"] == small["prior_top_10"] < 0.5


def test_the_largest_share_protects_from_a_large_budget():
    limited = measure(TEXTS, 5000, largest_share=None).values
    assert 0.3 < limited["top_1"] < 0.9


def test_ten_guesses_are_better_than_one():
    middle = measure(TEXTS, 60).values
    assert 0 < middle["top_1"] < middle["top_10"] < 1
    assert middle["top_10"] > middle["prior_top_10"]


def test_the_prior_is_the_frequency_of_words():
    vectors = Vectors(["the", "tea", "rare", "often"], np.eye(4, dtype=np.float32))
    counts = np.array([900, 20, 1, 300])
    kept = Attacker(vectors, counts, keeps_stopwords=True)
    assert kept.guess_by_prior().tolist() == [3, 1, 2]
    assert Attacker(vectors, counts, keeps_stopwords=False).guess_by_prior().tolist() == [0, 3, 1, 2]
    # Without a share the replacement reveals nothing. With a large share it reveals everything.
    assert kept.guess(np.array([2]), np.array([0.0]))[0].tolist() == [3, 1, 2]
    assert kept.guess(np.array([2]), np.array([99.0]))[0, 0] == 2
    alike = Attacker(vectors, None, keeps_stopwords=True)
    assert alike.guess(np.array([2]), np.array([0.1]))[0, 0] == 2


@pytest.mark.parametrize("distance", [0.5, 3.0, 40.0])
def test_the_likelihood_between_its_limits(distance):
    dimensions = 50

    def at(share):
        return float(log_likelihood(np.array([distance**2]), np.array([share]), dimensions)[0])

    assert at(0.0) == 0
    assert at(1e-3) == pytest.approx(-((1e-3 * distance) ** 2) / (2 * dimensions), rel=1e-3)
    assert at(1e6) == pytest.approx(-1e6 * distance + dimensions, rel=1e-3)
    assert at(1.0) > at(2.0) > at(4.0)


@pytest.mark.parametrize("share", [3.0, 8.0])
def test_it_is_almost_as_good_as_the_true_posterior(share):
    """The true posterior, from draws of the mechanism, is the best that can be; ours may lose a tenth of it."""
    generator = SeededRandomness(2).stream(0)
    entries = [f"w{number}" for number in range(60)]
    vectors = Vectors(entries, generator.standard_normal((60, 20)).astype(np.float32))
    prior = generator.gamma(0.5, size=60)
    prior /= prior.sum()
    draws = 4000
    mechanism = Madlib(vectors)
    likelihood = np.empty((60, 60))
    for row in range(60):
        request = Request(np.full(draws, row), np.full(draws, share), SeededRandomness(3).stream(row))
        (chosen,) = mechanism.perturb([request])
        likelihood[row] = np.bincount(chosen, minlength=60) / draws
    joint = prior[:, None] * likelihood
    best = joint.max(axis=0).sum()
    attacker = Attacker(vectors, (prior * 1e9).astype(np.int64), keeps_stopwords=True)
    guesses = attacker.guess(np.arange(60), np.full(60, share))[:, 0]
    found = joint[guesses, np.arange(60)].sum()
    assert found >= 0.9 * best
    assert found > prior.max()


def test_replaced_chunks_are_attacked():
    obfuscator = Obfuscator(decomposition="words", profile="paper", seed=1)
    results = list(obfuscator.obfuscate_all(["the tea of Grzybowski was good"], epsilon=50))
    vectors = obfuscator.bundle.vectors("words")
    found = collect(results, vectors)
    assert [vectors.entries[row] for row in found.true] == ["tea", "good"]
    assert found.shares.tolist() == [chunk.share for chunk in results[0].chunks if chunk.replacement]
    strict = Obfuscator(decomposition="words", seed=1)
    drawn = collect(list(strict.obfuscate_all(["the tea of Grzybowski"], epsilon=50)), vectors)
    assert drawn.true.tolist() == [vectors.find("tea"), -1]


def test_multiword_expressions_are_attacked():
    obfuscator = Obfuscator(decomposition="pmi", largest_share=math.inf, seed=1)
    results = list(obfuscator.obfuscate_all(["the box office hit of a week"], epsilon=9000))
    vectors = obfuscator.bundle.vectors("pmi")
    found = collect(results, vectors)
    assert "box_office" in [vectors.entries[row] for row in found.true]
    known = found.true >= 0
    assert (found.true == found.released)[known].all()


def test_a_sample_of_the_chunks():
    found = measure(TEXTS, 60, sample=30)
    assert found.details["chunks"] == 30
    assert found.values != measure(TEXTS, 60, sample=31).values


def test_wrong_calls(tiny):
    with pytest.raises(ParameterError, match="`sample` of inversion must be a whole number of at least 1"):
        Inversion(sample=0)
    with pytest.raises(InputError, match="The mechanism replaced no chunk"):
        measure(["the and of"], 50)
    results = list(Obfuscator(seed=1).obfuscate_all(["tea"], epsilon=50))
    dataset = Dataset(["tea"])
    with pytest.raises(ParameterError, match="another bundle: en .*`bundle`"):
        Inversion(bundle=tiny).measure(Case(dataset, dataset.pair(["tea"]), None, results))


def test_the_record_has_the_bundle_and_the_sample(tiny):
    metric = Inversion(bundle=tiny, sample=7)
    assert metric.as_dict() == {
        "name": "inversion",
        "options": {"sample": 7, "seed": 42},
        "model": {"name": "tiny", "sha256": tiny.hash},
    }
    assert metric.description == f"inversion (tiny {tiny.hash[:12]}, sample 7)"


def test_a_bundle_without_counts(tiny):
    found = measure(["a good film", "bad music"] * 5, 900, bundle=tiny)
    assert found.values["top_1"] == 1
