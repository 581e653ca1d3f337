import numpy as np
import pytest
from scipy import special, stats

from tests.mechanisms.priors import TablePrior
from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.errors import BundleError, ParameterError
from textveil.methods.mechanisms import Request, exponential
from textveil.methods.mechanisms.base import ASKED
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.randomness import SeededRandomness

ENTRIES = 12


@pytest.fixture(scope="module")
def vectors():
    matrix = np.random.default_rng(4).normal(size=(ENTRIES, 3)).astype(np.float32)
    return Vectors([f"w{chr(97 + number)}" for number in range(ENTRIES)], matrix, excluded=["wb"])


def ask(rows, share=1.0, *, document=0, **others):
    return Request(np.array(rows), np.full(len(rows), float(share)), SeededRandomness(2).stream(document), **others)


def test_a_constant_prior_makes_it_the_exponential_mechanism(vectors):
    requests = [[3, 4, UNKNOWN, 0] * 9, [7], []]
    plain = Exponential(vectors).perturb([ask(rows, document=n) for n, rows in enumerate(requests)])
    for mechanism in (
        Fluent(vectors, TablePrior.constant(ENTRIES)),
        Fluent(vectors, TablePrior.random(ENTRIES), weight=0),
    ):
        fluent = mechanism.perturb([ask(rows, document=n) for n, rows in enumerate(requests)])
        for one, other in zip(plain, fluent, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make", [Exponential, lambda vectors: Fluent(vectors, TablePrior.random(ENTRIES))])
def test_the_texts_do_not_depend_on_how_many_chunks_are_measured_or_drawn_together(vectors, make, monkeypatch):
    spelled = np.random.default_rng(1).normal(size=(9, 3))
    requests = [[3, 4, UNKNOWN, 0] * 9, [7, 3], [], [4]]
    texts = []
    for measured, drawn in [(1, 1), (7, 2), (40, 3), (1000, 1000)]:
        monkeypatch.setattr(exponential, "MEASURED_DISTANCES", measured * len(vectors.writable))
        monkeypatch.setattr(exponential, "DRAWN_PROBABILITIES", drawn * len(vectors.writable))
        monkeypatch.setattr(exponential, "DRAWN_CHUNKS", 1)
        asked = [ask(rows, document=number) for number, rows in enumerate(requests)]
        chosen = make(vectors).perturb([asked[0]._replace(spelled=spelled), *asked[1:]])
        texts.append([rows.tolist() for rows in chosen])
    assert all(text == texts[0] for text in texts)


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_draws_follow_prior_and_distance(vectors, weight):
    """Against a plain transcription of two steps: all pairs of outputs, by the chain rule."""
    prior, share, draws = TablePrior.random(ENTRIES), 1.5, 8_000
    mechanism = Fluent(vectors, prior, weight=weight, cap=2.0)
    requests = [ask([3, 8], share, document=number) for number in range(draws)]
    chosen = np.array(mechanism.perturb(requests))
    observed = np.bincount(chosen[:, 0] * ENTRIES + chosen[:, 1], minlength=ENTRIES**2)
    places = vectors.matrix.astype(float)
    allowed = np.isin(np.arange(ENTRIES), vectors.writable)

    def step(row, context):
        distances = np.minimum(np.linalg.norm(places - places[row], axis=1), 2.0)
        return special.softmax(np.where(allowed, weight * prior.table[context] - share * distances / 2, -np.inf))

    first = step(3, -1)
    expected = draws * np.concatenate([first[entry] * step(8, entry) for entry in range(ENTRIES)])
    likely = expected >= 5
    pairs = [*zip(observed[likely], expected[likely], strict=True), (observed[~likely].sum(), expected[~likely].sum())]
    assert stats.chisquare(*zip(*pairs, strict=True)).pvalue > 1e-4


def test_kept_chunks_are_context(vectors):
    """After wc the prior allows nothing but wd, after any other entry nothing but we."""
    table = np.full((ENTRIES + 1, ENTRIES), 1e-9)
    table[:, 4] = 1
    table[2, 4], table[2, 3] = 1e-9, 1
    mechanism = Fluent(vectors, TablePrior(table))
    context = np.array([2, ASKED, ASKED, 7, ASKED, 2, ASKED, UNKNOWN, ASKED])
    (chosen,) = mechanism.perturb([ask([0] * 5, 0.1, context=context)])
    assert chosen.tolist() == [3, 4, 4, 3, 4]


def test_nothing_after_a_chunk_has_an_influence(vectors):
    """The context is what was written before: other inputs later leave earlier answers as they are."""
    mechanism = Fluent(vectors, TablePrior.random(ENTRIES))
    first, second = (mechanism.perturb([ask([1, 2, 3, *rest])])[0] for rest in ([4, 5], [9, 10]))
    np.testing.assert_array_equal(first[:3], second[:3])


def test_kept_chunks_alone_decide_no_more_than_their_text(vectors):
    """Two documents with the same kept chunks and other private ones differ by the bound at most, given the context."""
    mechanism = Fluent(vectors, TablePrior.random(ENTRIES))
    contexts = np.full((2, 1), 7)
    places = vectors.place(np.array([3, 8]))
    for share in (0.0, 1.0, 10.0):
        logs = mechanism.log_channel(places, np.full(2, share), contexts)
        assert np.abs(logs[0] - logs[1]).max() <= share * np.linalg.norm(places[0] - places[1]) + 1e-6


def test_unknown_chunks_of_several_documents_are_placed_by_their_spelling(vectors):
    mechanism = Fluent(vectors, TablePrior.constant(ENTRIES))
    spelled = vectors.matrix[[5, 9]].astype(float)
    requests = [
        ask([UNKNOWN, 2, UNKNOWN], 1e7, spelled=spelled),
        ask([3], 1e7, document=1, spelled=np.empty((0, 3))),
        ask([UNKNOWN], 1e7, document=2, spelled=spelled[1:]),
    ]
    assert [rows.tolist() for rows in mechanism.perturb(requests)] == [[5, 2, 9], [3], [9]]


def test_a_bundle_without_a_prior_is_told_the_command(vectors):
    with pytest.raises(BundleError, match="textveil prepare prior CORPUS --bundle BUNDLE --output NEW"):
        Fluent(vectors, None)


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf"), "much"])
def test_a_weight_must_be_a_number_of_at_least_zero(vectors, weight):
    with pytest.raises(ParameterError, match="`weight` of fluent must be a number from 0 to 1000"):
        Fluent(vectors, TablePrior.constant(ENTRIES), weight=weight)


def test_the_record_names_the_prior(vectors):
    record = Fluent(vectors, TablePrior.constant(ENTRIES), cap=3).as_dict()
    assert record["model"] == {"name": "prior", "sha256": "0" * 64}
    assert record["options"] == {"dimensions": None, "cap": 3.0, "weight": 1.0}


def test_a_prior_of_another_vocabulary_is_refused(vectors):
    with pytest.raises(ParameterError, match=r"`prior` is one of 5 entries.*has 12"):
        Fluent(vectors, TablePrior.constant(5))
