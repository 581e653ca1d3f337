import itertools
import math
from functools import cache

import numpy as np
import pytest

from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import Ngrams, PriorTable, compress_prior
from textveil.bundles.vectors import UNKNOWN
from textveil.errors import InputError, ParameterError
from textveil.lab.attacks.inversion import Attacker, Inversion, Released, _find_stopwords, collect
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.methods.mechanisms import MECHANISMS, Request
from textveil.methods.mechanisms.madlib import Madlib
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.text.stopwords import ENGLISH


@cache
def load_shipped():
    """The shipped bundle, loaded once."""
    return Bundle.load("en")


def measure(texts, epsilon, *, bundle=None, largest_share=math.inf, obfuscation=None, **options):
    bundle = bundle or load_shipped()
    settings = {"mechanism": "madlib", **(obfuscation or {})}  # fluent is attacked word by word, which takes long
    obfuscator = Obfuscator(bundle=bundle, largest_share=largest_share, seed=1, **settings)
    results = list(obfuscator.obfuscate_all(texts, epsilon=epsilon))
    dataset = Dataset(texts)
    case = Case(dataset, dataset.pair([result.text for result in results]), None, results)
    return Inversion(bundle=bundle, **options).measure(case)


TEXTS = ["a good film with a bad plot", "the actor in that scene", "music, music and a story"] * 20


def test_a_large_budget_reveals_every_chunk_and_a_small_one_none():
    large = measure(TEXTS, 5000).values
    assert large["top_1"] == large["top_10"] == 1
    small = measure(TEXTS, 0.001).values
    assert small["top_1"] == small["prior_top_1"]
    assert small["top_10"] == small["prior_top_10"] < 0.5


def test_names_do_not_crowd_out_the_released_word_of_a_fluent_text():
    """At a huge share a name becomes its nearest word for certain, so that only the frequencies tell them apart."""
    obfuscator = Obfuscator(load_shipped(), mechanism="fluent", decomposition="pmi", largest_share=math.inf)
    attacker = Attacker(obfuscator.bundle, "pmi", obfuscator.mechanism, keeps_stopwords=True)
    find = obfuscator.mechanism.vectors.find
    released, contexts = np.array([find("actor")]), np.array([[UNKNOWN, find("the")]])
    assert attacker.attack(released, np.array([2500.0]), contexts).rows[0, 0] == find("actor")


def test_the_largest_share_protects_from_a_large_budget():
    limited = measure(TEXTS, 5000, largest_share=None).values
    assert 0.3 < limited["top_1"] < 0.9


def test_ten_guesses_are_better_than_one():
    middle = measure(TEXTS, 60).values
    assert 0 < middle["top_1"] < middle["top_10"] < 1
    assert middle["top_10"] > middle["prior_top_10"]


def write_bundle(folder, *table, **options):
    tables = {"words": VectorTable(*table, **options)}
    return build_bundle(folder / "bundle", tables, name="made", version="1", corpus="none", license="MIT")


@pytest.fixture
def make_attacker(tmp_path):
    numbers = itertools.count()

    def make(entries, matrix, counts, *, mechanism=Madlib, keeps_stopwords=True):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        bundle = write_bundle(folder, entries, matrix, counts=counts)
        return Attacker(bundle, "words", mechanism(bundle.vectors("words")), keeps_stopwords=keeps_stopwords)

    return make


def first_guesses(attacker, released, share):
    released = np.array(released)
    return attacker.attack(released, np.full(len(released), float(share)), np.empty((len(released), 0), int)).rows[:, 0]


def test_the_prior_is_the_frequency_of_words(make_attacker):
    entries, matrix = ["the", "tea", "rare", "often"], 5 * np.eye(4, dtype=np.float32)
    counts = np.array([900, 20, 1, 300])
    kept = make_attacker(entries, matrix, counts)
    assert kept.guess_by_prior().tolist() == [3, 1, 2, 0]
    all_perturbed = make_attacker(entries, matrix, counts, keeps_stopwords=False)
    assert all_perturbed.guess_by_prior().tolist() == [0, 3, 1, 2]
    # Without a share the replacement reveals nothing. With a large share it reveals everything.
    assert first_guesses(kept, [2], 0.0) == 3
    assert first_guesses(kept, [2], 99.0) == 2
    alike = make_attacker(entries, matrix, None)
    assert first_guesses(alike, [2], 1.0) == 2


@pytest.mark.parametrize("decomposition", ["words", "pmi"])
def test_stopwords_are_entries_of_stopwords_only(decomposition):
    entries = load_shipped().vectors(decomposition).entries
    expected = [all(word in ENGLISH for word in entry.split("_")) for entry in entries]
    assert _find_stopwords(entries).tolist() == expected
    assert any("_" in entry for entry, stops in zip(entries, expected, strict=True) if stops)


@pytest.mark.parametrize("share", [3.0, 8.0])
@pytest.mark.parametrize("name", ["madlib", "mahalanobis", "vickrey", "gumbel", "exponential"])
def test_it_is_almost_as_good_as_the_true_posterior(make_attacker, name, share):
    """The true posterior, from draws of the mechanism, is the best that can be; ours may lose a tenth of it."""
    generator = SeededRandomness(2).stream(0)
    entries = ["w" + chr(97 + number // 26) + chr(97 + number % 26) for number in range(60)]
    matrix = generator.standard_normal((60, 20)).astype(np.float32)
    prior = generator.gamma(0.5, size=60)
    prior /= prior.sum()
    attacker = make_attacker(entries, matrix, (prior * 1e9).astype(np.int64), mechanism=MECHANISMS.load(name))
    draws = 4000 if name != "gumbel" else 500
    mechanism = attacker.channel.mechanism
    likelihood = np.empty((60, 60))
    for row in range(60):
        request = Request(np.full(draws, row), np.full(draws, share), SeededRandomness(3).stream(row))
        (chosen,) = mechanism.perturb([request])
        likelihood[row] = np.bincount(chosen, minlength=60) / draws
    joint = prior[:, None] * likelihood
    best = joint.max(axis=0).sum()
    found = joint[first_guesses(attacker, np.arange(60), share), np.arange(60)].sum()
    assert found >= 0.9 * best
    assert found > prior.max()


def test_replaced_chunks_are_attacked():
    obfuscator = Obfuscator(load_shipped(), decomposition="words", profile="paper", seed=1)
    results = list(obfuscator.obfuscate_all(["the tea of Grzybowski was good"], epsilon=50))
    vectors = obfuscator.bundle.vectors("words")
    (found,) = collect(results, vectors)
    assert [vectors.entries[row] for row in found.true[found.replaced]] == ["tea", "good"]
    assert found.shares[found.replaced].tolist() == [chunk.share for chunk in results[0].chunks if chunk.replacement]
    in_clear = np.setdiff1d(np.arange(6), found.replaced)
    assert found.released[in_clear].tolist() == [vectors.find("the"), vectors.find("of"), UNKNOWN, vectors.find("was")]
    strict = Obfuscator(load_shipped(), decomposition="words", seed=1)
    (drawn,) = collect(list(strict.obfuscate_all(["the tea of Grzybowski"], epsilon=50)), vectors)
    assert drawn.true[drawn.replaced].tolist() == [vectors.find("tea"), UNKNOWN]


def test_multiword_expressions_are_attacked():
    obfuscator = Obfuscator(load_shipped(), decomposition="pmi", largest_share=math.inf, seed=1)
    results = list(obfuscator.obfuscate_all(["the box office hit of a week"], epsilon=9000))
    vectors = obfuscator.bundle.vectors("pmi")
    (found,) = collect(results, vectors)
    assert "box_office" in [vectors.entries[row] for row in found.true[found.replaced]]
    known = found.true >= 0
    assert (found.true == found.released)[known].all()


def test_contexts_are_the_entries_released_before():
    text = Released(np.array([5, 6, 7, 8]), np.array([1, 6, 3, 4]), np.zeros(4), np.array([0, 2, 3]))
    assert text.pick(2)[3].tolist() == [[UNKNOWN, UNKNOWN], [1, 6], [6, 3]]
    assert text.pick(0)[3].shape == (3, 0)


def test_contexts_are_those_that_the_mechanism_used(spoken_bundle, monkeypatch):
    """The attacker sees the released text only, and yet knows the base measure of every step."""
    obfuscator = Obfuscator(spoken_bundle, mechanism="fluent", stopwords="keep", seed=1)
    used = []
    fill = obfuscator.mechanism.log_base
    monkeypatch.setattr(obfuscator.mechanism, "log_base", lambda contexts: used.append(contexts) or fill(contexts))
    (result,) = obfuscator.obfuscate_all(["alpha the Grzybowski beta the of gamma delta"], epsilon=20)
    (found,) = collect([result], spoken_bundle.vectors("words"))
    np.testing.assert_array_equal(np.concatenate(used), found.pick(1)[3])


def test_a_sample_is_drawn_from_texts():
    texts = ["good film", "bad plot", "music and a story", "that scene of the actor"] * 10
    words = {"decomposition": "words"}
    found = measure(texts, 60, sample=31, obfuscation=words)
    assert found.details == {"chunks": 32, "texts": 16}  # of two chunks each, besides stopwords
    assert measure(texts, 60, sample=10_000, obfuscation=words).details == {"chunks": 80, "texts": 40}
    assert found.values != measure(texts, 60, sample=31, seed=1, obfuscation=words).values


WORDS = ("alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta", "the", "of")


@pytest.fixture(scope="module")
def spoken_bundle(tmp_path_factory):
    """A language in which every entry has one likely successor: the next one of ``WORDS``."""
    number = len(WORDS)
    rows = np.arange(number)
    bigrams = Ngrams(rows * number + (rows + 1) % number, np.full(number, np.log(0.9)))
    prior = PriorTable(compress_prior(np.full(number, -np.log(number)), [bigrams]))
    matrix = np.random.default_rng(2).standard_normal((number, 12)).astype(np.float32)
    return write_bundle(tmp_path_factory.mktemp("spoken"), WORDS, matrix, counts=np.full(number, 100), prior=prior)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_decoding_whole_texts_finds_more_words(spoken_bundle, name):
    """Under every mechanism, as its certificate describes it. The texts follow the language."""
    texts = [" ".join((WORDS * 3)[start : start + 12]) for start in range(10)] * 3  # two of ten words are stopwords
    options = {"dimensions": 8} | ({"cap": 6.0} if name in ("exponential", "fluent") else {})
    obfuscation = {"mechanism": name, "mechanism_options": options, "profile": "paper"}
    epsilon = 8 if name in ("exponential", "fluent") else 24
    found = measure(texts, epsilon, bundle=spoken_bundle, obfuscation=obfuscation)
    assert set(found.values) == {"top_1", "top_10", "repeated", "prior_top_1", "prior_top_10", "decoded"}
    assert found.values["decoded"] > found.values["top_1"] + 0.1
    assert found.values["top_10"] == 1  # of ten words


@pytest.mark.parametrize("profile", ["strict", "proven", "paper"])
@pytest.mark.parametrize("mechanism", ["madlib", "exponential", "fluent"])
def test_every_profile_can_be_attacked(spoken_bundle, profile, mechanism):
    texts = ["alpha beta gamma delta Grzybowski", "the alpha of the omega"] * 5
    obfuscation = {"mechanism": mechanism, "profile": profile, "decomposition": "words"}
    found = measure(texts, 20_000, bundle=spoken_bundle, obfuscation=obfuscation)
    known = 0.875 if profile == "strict" else found.values["repeated"]  # one word of eight is not in the vocabulary
    assert found.values["top_1"] == pytest.approx(known, abs=0.06)


def test_kept_stopwords_are_not_guessed_and_help_to_decode(spoken_bundle):
    """Only the prior changes the guess: without a share nothing else is known."""
    obfuscation = {"mechanism": "exponential", "stopwords": "keep"}
    found = measure(["theta the of alpha"] * 40, 0.001, bundle=spoken_bundle, obfuscation=obfuscation)
    assert found.values["decoded"] >= 0.5 > found.values["top_1"]


def test_wrong_calls(tiny):
    with pytest.raises(ParameterError, match="`sample` of inversion must be a whole number of at least 1"):
        Inversion(sample=0)
    with pytest.raises(InputError, match="The mechanism replaced no chunk"):
        measure(["the and of"], 50)
    results = list(Obfuscator(seed=1).obfuscate_all(["tea"], epsilon=50))
    dataset = Dataset(["tea"])
    with pytest.raises(ParameterError, match="another bundle: en .*`bundle`"):
        Inversion(bundle=tiny).measure(Case(dataset, dataset.pair(["tea"]), None, results))
    drafted = list(Obfuscator(profile="proven", draft_share=0.5, seed=1).obfuscate_all(["tea"], epsilon=50))
    with pytest.raises(InputError, match="these texts were drafted first"):
        Inversion().measure(Case(dataset, dataset.pair(["tea"]), None, drafted))


def test_the_record_has_the_bundle_and_the_sample(tiny):
    metric = Inversion(bundle=tiny, sample=7)
    assert metric.as_dict() == {
        "name": "inversion",
        "options": {"sample": 7, "seed": 42},
        "model": {"name": "tiny", "sha256": tiny.hash},
    }
    assert metric.description == f"inversion (tiny {tiny.hash[:12]}, sample 7)"


def test_a_bundle_without_counts_or_a_language_model(tiny):
    found = measure(["a good film", "bad music"] * 5, 900, bundle=tiny)
    assert "decoded" not in found.values
    assert found.values["top_1"] == 1


def test_few_attacked_texts_are_a_reason_to_draw_no_conclusion():
    many = measure(TEXTS, 60)
    assert many.caveats == ()
    few = measure(TEXTS, 60, sample=20)
    attacked = few.details["texts"]
    assert few.caveats == (f"Only {attacked} attacked texts: too few for a conclusion, which needs at least 50.",)
