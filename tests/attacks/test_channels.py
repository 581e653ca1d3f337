import numpy as np
import pytest

from tests.mechanisms.priors import TablePrior
from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.lab.attacks import channels
from textveil.lab.attacks.channels import (
    INTERPOLATION_ERROR,
    NODES,
    ExactChannel,
    FluentChannel,
    SimulatedChannel,
    build_channel,
)
from textveil.methods.mechanisms import MECHANISMS, Request
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.methods.mechanisms.madlib import Madlib
from textveil.randomness import SeededRandomness
from textveil.storage import computed as figures
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

ENTRIES = 60


def make_vectors(dimensions=8, entries=ENTRIES):
    matrix = np.random.default_rng(5).normal(size=(entries, dimensions)).astype(np.float32)
    return Vectors([f"w{number}" for number in range(entries)], matrix, excluded=["w3", "w7"])


@pytest.fixture(scope="module")
def vectors():
    return make_vectors()


@pytest.fixture(scope="module")
def log_prior():
    return np.log(np.random.default_rng(6).gamma(0.5, size=ENTRIES) + 1e-3)


def normalize(logs):
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def apply_bayes(mechanism, log_prior, released, shares, contexts=None):
    """The posterior of all entries, one released entry and one candidate after the other."""
    columns = np.searchsorted(mechanism.space.writable, released)
    posterior = np.empty((len(released), ENTRIES))
    for number, (column, share) in enumerate(zip(columns, shares, strict=True)):
        points = mechanism.space.place(np.arange(ENTRIES))
        others = () if contexts is None else (np.repeat(contexts[number : number + 1], ENTRIES, axis=0),)
        channel = mechanism.log_channel(points, np.full(ENTRIES, share), *others)
        posterior[number] = log_prior + channel[:, column]
    return normalize(posterior)


@pytest.mark.parametrize("options", [{}, {"cap": 3.0}, {"dimensions": 3}])
@pytest.mark.parametrize(
    "distinct",
    [[4.0], [0.0, 2.0], [0.01, 0.02, 1, 1.001, 3, 8, 49, 50], np.geomspace(0.01, 50, 12)],
    ids=["one", "two", "badly spread", "many"],
)
def test_the_posterior_of_the_exponential_mechanism_is_exact(vectors, log_prior, options, distinct):
    mechanism = Exponential(vectors, **options)
    channel = ExactChannel(mechanism, log_prior)
    released = mechanism.space.writable[np.arange(30)]
    shares = np.resize(np.array(distinct, dtype=float), 30)
    contexts = np.empty((30, 0), int)
    channel.prepare(shares, contexts)
    found = normalize(channel.log_posterior(released, shares, contexts))
    expected = apply_bayes(mechanism, log_prior, released, shares)
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("low", [0.0, 0.01, 20.0])
@pytest.mark.parametrize("dimensions", [2, 8])
def test_between_many_shares_sums_are_interpolated(log_prior, low, dimensions):
    mechanism = Exponential(make_vectors(dimensions))
    channel = ExactChannel(mechanism, log_prior)
    shares = np.linspace(low, 50, 2 * NODES)
    released = np.resize(mechanism.space.writable, len(shares))
    contexts = np.empty((len(shares), 0), int)
    channel.prepare(shares, contexts)
    found = normalize(channel.log_posterior(released, shares, contexts))
    expected = apply_bayes(mechanism, log_prior, released, shares)
    likely = expected > -30
    assert np.abs(found - expected)[likely].max() < INTERPOLATION_ERROR


@pytest.mark.parametrize("options", [{}, {"cap": 3.0}, {"weight": 2.5, "dimensions": 3}, {"weight": 0.0}])
def test_the_posterior_of_the_fluent_mechanism_is_exact(vectors, log_prior, options):
    mechanism = Fluent(vectors, TablePrior.random(ENTRIES), **options)
    channel = FluentChannel(mechanism, log_prior)
    released = mechanism.space.writable[np.arange(40)]
    shares = np.geomspace(0.01, 50, 40)
    contexts = np.arange(40)[:, None] - 1  # the first one is at the beginning of a text
    assert contexts[0, 0] == UNKNOWN
    channel.prepare(shares, contexts)
    found = normalize(channel.log_posterior(released, shares, contexts))
    expected = apply_bayes(mechanism, log_prior, released, shares, contexts)
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("share", [1.0, 3.0, 9.0])
def test_a_shortlist_has_the_best_candidates(vectors, log_prior, share, monkeypatch):
    """Sums are computed for a fifth of the candidates. The first guess is never lost, and the tenth hardly ever."""
    monkeypatch.setattr(channels, "SHORTLIST", 30)
    monkeypatch.setattr(channels, "LIKELY", 15)
    monkeypatch.setattr(channels, "COMPUTED", 12)
    mechanism = Fluent(vectors, TablePrior.random(ENTRIES))
    released = mechanism.space.writable[np.arange(50)]
    shares, contexts = np.full(50, share), np.arange(50)[:, None]
    channel = FluentChannel(mechanism, log_prior)
    found = channel.log_posterior(released, shares, contexts)
    expected = apply_bayes(mechanism, log_prior, released, shares, contexts)
    assert (np.isfinite(found).sum(axis=1) == 30).all()
    np.testing.assert_array_equal(found.argmax(axis=1), expected.argmax(axis=1))
    kept = [
        len(set(row[:5]) & set(true[:5])) for row, true in zip(np.argsort(-found), np.argsort(-expected), strict=True)
    ]
    assert np.mean(kept) > 4.7


@pytest.fixture(scope="module")
def shipped():
    bundle = Bundle.load("en")
    counts = bundle.counts("words")
    stopwords = [entry in ENGLISH for entry in bundle.vectors("words").entries]
    return bundle, np.log(np.where(stopwords, 0, counts) + 1.0)


def attack(mechanism, log_prior, bundle, true, share, seed=11):
    """The number of first guesses that are right, and of words that returned."""
    (released,) = mechanism.perturb([Request(true, np.full(len(true), share), SeededRandomness(seed).stream(0))])
    channel = SimulatedChannel(mechanism, log_prior, bundle, "words")
    guesses = [
        channel.log_posterior(part, np.full(len(part), share), np.empty((len(part), 0), int)).argmax(axis=1)
        for part in np.array_split(released, 8)
    ]
    return int((np.concatenate(guesses) == true).sum()), int((released == true).sum())


@pytest.mark.parametrize("share", [35.0, 45.0])
@pytest.mark.parametrize("name", ["madlib", pytest.param("mahalanobis", marks=pytest.mark.slow)])
def test_the_first_guess_is_as_good_as_repeating_the_word_on_the_shipped_vocabulary(shipped, name, share):
    bundle, log_prior = shipped
    mechanism = MECHANISMS.load(name)(bundle.vectors("words"))
    prior = np.exp(log_prior)
    true = SeededRandomness(99).stream(0).choice(len(prior), 1500, p=prior / prior.sum())
    right, returned = attack(mechanism, log_prior, bundle, true, share)
    assert right >= returned > 0


def test_the_first_guess_is_as_good_as_repeating_the_word_on_reviews(shipped, real_texts):
    bundle, log_prior = shipped
    vectors = bundle.vectors("words")
    rows = [vectors.find(word) for text in real_texts[:20] for word in find_words(text) if word not in ENGLISH]
    true = np.array([row for row in rows if row != UNKNOWN])[:1500]
    mechanism = Madlib(vectors)
    right, returned = attack(mechanism, log_prior, bundle, true, 45.0)
    assert right >= returned > 0


def test_a_calibration_is_cached_for_a_prior_and_shares_that_are_alike(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "WORTH_KEEPING", 0)
    monkeypatch.setenv(figures.VARIABLE, str(tmp_path))  # what other tests have simulated is not known here
    tiny = Bundle.load(tiny.folder)
    vectors = tiny.vectors("words")
    simulated = []
    simulate = SimulatedChannel._simulate
    monkeypatch.setattr(
        SimulatedChannel, "_simulate", lambda self, share: simulated.append(share) or simulate(self, share)
    )
    even = np.zeros(len(vectors))
    first = SimulatedChannel(Madlib(vectors), even, tiny, "words").calibrate(2.03)
    again = SimulatedChannel(Madlib(vectors), even, tiny, "words")
    assert again.calibrate(2.02) == again.calibrate(2.03) == first
    assert len(simulated) == 1
    again.calibrate(3.0)
    SimulatedChannel(Madlib(vectors), -np.arange(len(vectors)) / 9, tiny, "words").calibrate(2.03)
    SimulatedChannel(Madlib(vectors, dimensions=5), even, tiny, "words").calibrate(2.03)
    assert len(simulated) == 4
    again.calibrate(0.0)
    again.calibrate(1e300)
    assert len(simulated) == 4  # nothing, or everything, returns


@pytest.mark.parametrize("name", ["madlib", "mahalanobis", "gumbel", "vickrey"])
def test_extreme_shares(tiny, name):
    vectors = tiny.vectors("words")
    mechanism = MECHANISMS.load(name)(vectors)
    log_prior = np.log(np.arange(1.0, len(vectors) + 1))
    channel = SimulatedChannel(mechanism, log_prior, tiny, "words")
    released = vectors.writable[:5]
    nothing, everything = (
        channel.log_posterior(released, np.full(5, share), np.empty((5, 0), int)) for share in (0.0, 1e300)
    )
    assert np.isfinite(everything).all()
    if name == "madlib":
        np.testing.assert_array_equal(everything.argmax(axis=1), released)
    np.testing.assert_array_equal(nothing.argmax(axis=1), len(vectors) - 1)


@pytest.mark.parametrize(
    ("leads", "right", "returned"),
    [
        ([50.0, 3.0], [False, False], [True, True]),  # other guesses are never right, so all words are repeated
        ([5.0, -3.0, -3.0, -3.0], [True, False, False, False], [False, True, True, True]),
        ([5.0, 1.0, 2.0, 2.0], [True, False, False, False], [False, True, True, True]),
    ],
)
def test_the_bonus_is_raised_until_other_guesses_are_right_more_often(leads, right, returned):
    leads, right, returned = np.array(leads), np.array(right), np.array(returned)
    own = np.zeros(len(leads))
    true = np.where(returned, own, np.where(right, leads, -5.0))
    _, bonus = channels._fit_bonus(channels._Outcome(true, own, leads + 0.1, returned, leads, right))
    guessed = np.where(leads > bonus, right, returned)
    assert guessed.all()


def test_every_mechanism_has_a_channel(tiny):
    vectors = tiny.vectors("words")
    kinds = {name: FluentChannel if name == "fluent" else SimulatedChannel for name in MECHANISMS}
    kinds["exponential"] = ExactChannel
    for name, kind in kinds.items():
        chosen = MECHANISMS.load(name)
        mechanism = chosen(vectors, *([TablePrior.constant(len(vectors))] if chosen.uses_prior else []))
        assert type(build_channel(mechanism, np.zeros(len(vectors)), tiny, "words")) is kind
