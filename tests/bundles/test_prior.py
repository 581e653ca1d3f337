"""The n-gram prior: a distribution in every context, also after rounding, and refused if its files are not one."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.bundles.test_bundle import rewrite
from tests.conftest import ENTRIES, random_matrix
from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import MANIFEST, Bundle
from textveil.bundles.prior import Ngrams, PriorTable, compress_prior, read_prior
from textveil.errors import BundleError, ParameterError

V = 40


def make_tables(seed=3, entries=V, order=3):
    """The log-probabilities of all n-grams of a random model, of which some have an n-gram of their own."""
    generator = np.random.default_rng(seed)
    unigrams = generator.dirichlet(np.full(entries, 0.3)) + 1e-4
    unigrams /= unigrams.sum()
    levels = []
    for length in range(2, order + 1):
        contexts = np.sort(generator.choice(entries ** (length - 1), size=30, replace=False))
        keys, logs = [], []
        for context in contexts:
            size = generator.integers(1, entries - 2)
            columns = np.sort(generator.choice(entries, size=size, replace=False))
            shares = generator.dirichlet(np.full(size + 1, 0.5))[:-1] + 1e-5
            keys.append(context * entries + columns)
            logs.append(np.log(shares / (shares.sum() + 0.01)))
        levels.append(Ngrams(np.concatenate(keys), np.concatenate(logs)))
    return np.log(unigrams), levels


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def bundle(tables, tmp_path_factory):
    entries = [f"w{number}" for number in range(V)]
    table = VectorTable(entries, random_matrix(V, 6), prior=PriorTable(compress_prior(*tables), {"perplexity": 12.5}))
    folder = tmp_path_factory.mktemp("prior") / "bundle"
    return build_bundle(folder, {"words": table}, name="b", version="1", corpus="none", license="MIT")


@pytest.fixture(scope="module")
def prior(bundle):
    return bundle.prior("words")


def all_contexts():
    rows = np.arange(-1, V)
    return np.array([(first, second) for first in rows for second in rows])


def test_every_context_has_a_proper_distribution_without_zeros(prior):
    logs = prior.log_probabilities(all_contexts())
    assert logs.dtype == np.float32
    assert logs.shape == ((V + 1) ** 2, V)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs.astype(np.float64)).sum(axis=1), 1, atol=1e-5)


def test_the_longest_ngram_decides_and_rounding_changes_little(prior, tables):
    _, levels = tables
    bigrams, trigrams = (dict(zip(level.keys.tolist(), level.log_probabilities, strict=True)) for level in levels)
    logs = prior.log_probabilities(all_contexts())
    step = np.ptp(np.concatenate([level.log_probabilities for level in levels])) / 255
    compared = 0
    for (first, second), row in zip(all_contexts(), logs, strict=True):
        for column in range(V):
            if first >= 0 and second >= 0 and (key := (first * V + second) * V + column) in trigrams:
                expected = trigrams[key]
            elif (
                second >= 0
                and second * V + column in bigrams
                and not any(key // V == first * V + second for key in trigrams)
            ):
                expected = bigrams[second * V + column]
            else:
                continue
            compared += 1
            assert abs(row[column] - expected) <= step + 1e-5
    assert compared > 1000


def test_entries_without_an_ngram_share_the_rest_like_in_the_shorter_context(prior, tables):
    _, (bigrams, _) = tables
    context = int(bigrams.keys[0]) // V
    others = np.setdiff1d(np.arange(V), bigrams.keys[bigrams.keys // V == context] % V)
    plain = prior.log_probabilities(np.array([[-1, -1]]))[0]
    after = prior.log_probabilities(np.array([[-1, context]]))[0]
    assert np.ptp((after - plain)[others]) < 1e-5
    np.testing.assert_allclose(plain, tables[0], atol=1e-6)


def test_an_unknown_word_ends_the_context(prior, tables):
    _, (_, trigrams) = tables
    first, second = divmod(int(trigrams.keys[0]) // V, V)
    whole, cut, nothing, none = prior.log_probabilities(
        np.array([[first, second], [-1, second], [first, -1], [-1, -1]])
    )
    assert not np.allclose(whole, cut)
    np.testing.assert_array_equal(nothing, none)
    np.testing.assert_array_equal(cut, prior.shorten(2).log_probabilities(np.array([[second]]))[0])


def test_a_restricted_prior_has_the_same_numbers_in_fewer_columns(prior):
    rows = np.array([0, 3, 4, 17, 39])
    restricted = prior.restrict(rows)
    contexts = all_contexts()
    np.testing.assert_array_equal(restricted.log_probabilities(contexts), prior.log_probabilities(contexts)[:, rows])
    assert (restricted.order, restricted.entries, restricted.columns) == (3, V, 5)
    assert restricted.identity == prior.identity
    columns = np.arange(len(contexts)) % 5
    np.testing.assert_array_equal(restricted.score(contexts, columns), prior.score(contexts, rows[columns]))


def test_a_restriction_to_entries_without_ngrams_has_back_off_probabilities_only():
    arrays = compress_prior(np.log(np.full(4, 0.25)), [Ngrams(np.array([1]), np.log(np.array([0.7])))])
    whole = read_prior(lambda name, _: arrays[name], entries=4, order=2, identity={})
    contexts = np.array([[0], [1]])
    rest = whole.restrict(np.array([2, 3]))
    np.testing.assert_allclose(np.exp(rest.log_probabilities(contexts)), [[0.1, 0.1], [0.25, 0.25]], rtol=1e-5)
    np.testing.assert_allclose(np.exp(rest.score(contexts, np.array([1, 0]))), [0.1, 0.25], rtol=1e-5)


def test_a_context_beyond_the_stored_ones_is_not_taken_for_one_of_them():
    entries = 300
    unigrams = np.log(np.full(entries, 1 / entries))
    pair, triple = np.array([7 * entries + 3]), np.array([(7 * entries + 3) * entries + 5])
    arrays = compress_prior(unigrams, [Ngrams(pair, np.log([0.5])), Ngrams(triple, np.log([0.9]))])
    prior = read_prior(lambda name, _: arrays[name], entries=entries, order=3, identity={})
    stored = 7 * entries + 3
    beyond = divmod(stored + (1 << 16), entries)  # the same in two bytes
    assert beyond[0] < entries
    logs = prior.log_probabilities(np.array([beyond, (7, 3)]))
    assert logs[1, 5] == pytest.approx(np.log(0.9), abs=1e-3)
    assert logs[0, 5] == pytest.approx(np.log(1 / entries), abs=1e-3)


def test_filling_a_buffer_does_not_depend_on_the_batch(prior):
    contexts = all_contexts()[::7]
    whole = prior.log_probabilities(contexts)
    buffer = np.full((2, V), np.nan, dtype=np.float32)
    for row in range(len(contexts)):
        prior.fill(contexts[row : row + 1], buffer[1:])
        np.testing.assert_array_equal(buffer[1], whole[row])
    assert np.isnan(buffer[0]).all()


def test_scores_of_single_entries_are_those_of_whole_rows(prior):
    contexts = all_contexts()
    logs = prior.log_probabilities(contexts)
    for column in (0, 7, V - 1):
        scores = prior.score(contexts, np.full(len(contexts), column))
        np.testing.assert_allclose(scores, logs[:, column], atol=1e-5)


def test_perplexity_by_hand(prior):
    documents = [np.array([3, 5, -1, 8, 2]), np.array([7]), np.array([], dtype=np.int64), np.array([-1])]
    pairs = [((-1, -1), 3), ((-1, 3), 5), ((5, -1), 8), ((-1, 8), 2), ((-1, -1), 7)]
    logs = [prior.log_probabilities(np.array([context]))[0, row] for context, row in pairs]
    assert prior.perplexity(documents) == pytest.approx(np.exp(-np.mean(logs)), rel=1e-5)
    assert np.isnan(prior.perplexity([]))
    assert np.isnan(prior.perplexity([np.array([-1, -1])]))


def test_bad_arguments_are_refused(prior):
    for rows in ([], [3, 2], [3, 3], [-1, 2], [0, V]):
        with pytest.raises(ParameterError, match="`rows` must be ascending numbers from 0 to 39"):
            prior.restrict(np.array(rows, dtype=np.int64))
    for contexts in ([[1]], [[1, 2, 3]], [1, 2]):
        with pytest.raises(ParameterError, match="has 2 entries"):
            prior.log_probabilities(np.array(contexts))
    for contexts in ([[0, V]], [[-2, 0]]):
        with pytest.raises(ParameterError, match="rows from 0 to 39, or -1"):
            prior.log_probabilities(np.array(contexts))
    restricted = prior.restrict(np.array([1, 2]))
    for use in (lambda: restricted.restrict(np.array([0])), lambda: restricted.perplexity([np.array([1])])):
        with pytest.raises(ParameterError, match="Use the prior|Restrict the prior"):
            use()


def test_a_context_with_all_entries_keeps_a_proper_distribution():
    unigrams = np.log(np.array([0.5, 0.3, 0.2]))
    shares = np.array([0.9899, 0.01, 0.0001, 0.4, 0.599])
    arrays = compress_prior(unigrams, [Ngrams(np.array([0, 1, 2, 3, 4]), np.log(shares))])
    made = read_prior(lambda name, _: arrays[name], entries=3, order=2, identity={})
    sums = np.exp(made.log_probabilities(np.array([[0], [1], [2]])).astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-5)


def test_a_vocabulary_of_one_entry_has_no_ngrams():
    arrays = compress_prior(np.zeros(1), [Ngrams(np.array([0]), np.zeros(1)), Ngrams(np.array([0]), np.zeros(1))])
    assert list(arrays) == ["unigrams"]


def test_a_prior_without_ngrams_is_its_unigrams(tmp_path):
    empty = Ngrams(np.zeros(0, dtype=np.int64), np.zeros(0))
    unigrams = np.log(np.full(len(ENTRIES), 1 / len(ENTRIES)))
    table = VectorTable(ENTRIES, random_matrix(len(ENTRIES), 4), prior=PriorTable(compress_prior(unigrams, [empty])))
    built = build_bundle(tmp_path / "b", {"words": table}, name="b", version="1", corpus="none", license="MIT")
    prior = built.prior("words")
    assert (prior.order, prior.ngrams) == (1, {})
    np.testing.assert_allclose(prior.log_probabilities(np.zeros((2, 0), dtype=np.int64)), [unigrams] * 2, rtol=1e-6)


def test_the_manifest_describes_the_prior_and_its_files_identify_it(bundle, prior, tables, tiny):
    described = bundle.manifest.parts["words"]["prior"]
    assert described["ngrams"] == {"2": len(tables[1][0].keys), "3": len(tables[1][1].keys)} == prior.ngrams
    assert (described["order"], described["perplexity"]) == (3, 12.5)
    assert prior.identity["name"] == "prior"
    assert len(prior.identity["sha256"]) == 64
    assert bundle.prior("words") is prior
    assert tiny.prior("words") is None
    files = [name for name in bundle.manifest.files if "prior" in name]
    assert len(files) == 12
    assert bundle.verify() == sorted(bundle.manifest.files)


@pytest.fixture
def copied(bundle, tmp_path):
    return Path(shutil.copytree(bundle.folder, tmp_path / "copy"))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("unigrams", lambda array: array + 1, "do not sum to 1"),
        ("unigrams", lambda array: np.full_like(array, np.nan), "not finite"),
        ("unigrams", lambda array: array.astype(np.float64), "not finite"),
        ("unigrams", lambda array: array[:-1], "40 is expected"),
        ("values", lambda array: -array, "not log-probabilities"),
        ("values", lambda array: array[:100], "256 is expected"),
        ("2_contexts", lambda array: array[::-1], "contexts that are not valid"),
        ("2_contexts", lambda array: array + V, "contexts that are not valid"),
        ("3_contexts", lambda array: array.astype(np.int64), "contexts that are not valid"),
        ("2_offsets", lambda array: np.minimum(array, 5), "offsets that do not fit"),
        (
            "2_offsets",
            lambda array: np.append(array[:-1], array[-1] + 1).astype(array.dtype),
            "offsets that do not fit",
        ),
        ("3_offsets", lambda array: np.append([1], array[1:]).astype(array.dtype), "offsets that do not fit"),
        ("3_backoffs", lambda array: np.full_like(array, np.inf), "factors that are not finite"),
        ("3_backoffs", lambda array: array[1:], "30 is expected"),
        ("3_entries", lambda array: array[::-1], "not in order"),
        ("3_entries", lambda array: np.append(array[:-1], V).astype(array.dtype), "not in order"),
        ("3_codes", lambda array: array.astype(np.uint16), "codes of another type"),
        ("3_codes", lambda array: array[1:], "is expected"),
    ],
)
def test_arrays_that_are_not_a_prior_are_refused(copied, name, change, message):
    path = copied / "words" / f"prior_{name}.npy"
    np.save(path, np.ascontiguousarray(change(np.load(path))))
    with pytest.raises(BundleError, match="is not what its manifest says|is expected"):
        Bundle.load(copied).prior("words")
    rewrite(copied)
    with pytest.raises(BundleError, match=message):
        Bundle.load(copied).prior("words")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("order", 2, "ngrams of the prior"),
        ("order", 5, "no valid prior"),
        ("order", True, "no valid prior"),
        ("order", None, "no valid prior"),
        ("ngrams", {"2": 1, "3": 1}, "ngrams of the prior"),
        ("vocabulary", "0" * 64, "belongs to another vocabulary"),
    ],
)
def test_false_statements_about_a_prior_are_refused(copied, field, value, message):
    parts = json.loads((copied / MANIFEST).read_text(encoding="utf-8"))["parts"]
    parts["words"]["prior"][field] = value
    rewrite(copied, parts=parts)
    with pytest.raises(BundleError, match=message):
        Bundle.load(copied).prior("words")


def test_verification_finds_probabilities_that_do_not_sum_to_one(copied):
    path = copied / "words" / "prior_3_backoffs.npy"
    backoffs = np.load(path)
    backoffs[7] += 0.01
    np.save(path, backoffs)
    rewrite(copied)
    changed = Bundle.load(copied)
    changed.prior("words")  # a prior of any numbers is safe to use
    with pytest.raises(BundleError, match="do not sum to 1"):
        changed.verify()
