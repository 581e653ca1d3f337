import numpy as np
import pytest

from tests.distribution.plain import attribute_plainly, load_plainly
from textveil.errors import ParameterError, ResourceError
from textveil.methods.distribution import gradients
from textveil.methods.distribution.allocation import allocate
from textveil.methods.distribution.gradients import DENSEST, PAPER_STEPS, STEPS, Gradients, place_steps
from textveil.text.documents import Document
from textveil.text.stopwords import ENGLISH

TEXTS = ["word", "The naïve waiter's café_42 was naïve!", "Don't panic: the film was good; the plot bad.", "", "!?"]
CONVERGED = 50
"""More steps move less than a ten-thousandth of the budget of the texts below."""


def parse(texts):
    return list(map(Document.parse, texts))


def place_evenly(steps):
    """Gauss-Legendre quadrature between 0 and 1, without a change of the variable."""
    places, weights = np.polynomial.legendre.leggauss(steps)
    return tuple(zip((places + 1) / 2, weights / 2, strict=True))


def test_with_the_same_steps_it_is_what_captum_gives(minilm, monkeypatch):
    monkeypatch.setattr(gradients, "place_steps", place_evenly)
    documents = parse(TEXTS)
    distributor = Gradients(model=minilm, steps=12)
    model, tokenizer = load_plainly(minilm)
    for document, row in zip(documents, distributor.score(documents), strict=True):
        expected, _ = attribute_plainly(model, tokenizer, document, 12)
        assert row == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_with_many_steps_it_is_what_captum_gives_for_another_encoder(gte_small):
    documents = parse(TEXTS[:3])
    model, tokenizer = load_plainly(gte_small)
    for document, row in zip(documents, Gradients(model=gte_small, steps=CONVERGED).score(documents), strict=True):
        expected, _ = attribute_plainly(model, tokenizer, document, CONVERGED)
        assert row == pytest.approx(expected, rel=0.03)  # either misses up to 1.2 % of a score


def test_more_steps_come_nearer(minilm, real_texts):
    documents = parse([" ".join(text.split()[:12]) for text in real_texts[:3]])
    few, many, converged = (
        np.concatenate(Gradients(model=minilm, steps=steps).score(documents)) for steps in (2, 20, CONVERGED)
    )
    assert np.abs(many - converged).mean() < np.abs(few - converged).mean() / 2


def test_scores_do_not_depend_on_batch_or_order(minilm):
    documents = parse([*TEXTS, "one two three", "a longer text that is not as short as the others are"])
    expected = Gradients(model=minilm, steps=5, batch_size=1).score(documents)
    for batch_size in (3, 20):  # also more than fit into a pass through the encoder
        scores = Gradients(model=minilm, steps=5, batch_size=batch_size).score(documents[::-1])[::-1]
        for row, other in zip(scores, expected, strict=True):
            assert row == pytest.approx(other, rel=1e-3, abs=1e-5)


def share(minilm, texts, steps, *, stopwords):
    """The shares of the words of each text, of a budget of one."""
    documents = parse(texts)
    scores = Gradients(model=minilm, steps=steps).score(documents)
    takes_part = [[stopwords or word not in ENGLISH for word in document.words] for document in documents]
    pairs = zip(scores, takes_part, strict=True)
    return [np.array(allocate(row, takes, budget=1.0, invert=True)) for row, takes in pairs]


def move(shares, others):
    """The share of the budget of each text that is elsewhere."""
    return [abs(row - other).sum() / 2 for row, other in zip(shares, others, strict=True)]


def test_the_default_moves_less_than_a_hundredth_of_any_budget_if_stopwords_are_kept(minilm, real_texts):
    texts = [" ".join(text.split()[:60]) for text in real_texts[:300:100]]
    moved = move(*(share(minilm, texts, steps, stopwords=False) for steps in (STEPS, 20)))
    assert np.mean(moved) <= 0.005
    assert max(moved) <= 0.01


def test_twenty_steps_are_enough_for_short_texts_with_stopwords(minilm, real_texts):
    texts = [" ".join(text.split()[:15]) for text in real_texts[:300:100]]
    some, many = (share(minilm, texts, steps, stopwords=True) for steps in (20, CONVERGED))
    assert max(move(some, many)) <= 0.01


def test_dense_steps_move_less_of_the_budget_than_even_ones(minilm, real_texts, monkeypatch):
    texts = [" ".join(text.split()[:15]) for text in real_texts[:300:30]]
    many, dense = (share(minilm, texts, steps, stopwords=False) for steps in (20, STEPS))
    monkeypatch.setattr(gradients, "place_steps", place_evenly)
    assert np.mean(move(dense, many)) < np.mean(move(share(minilm, texts, STEPS, stopwords=False), many)) / 1.5


@pytest.mark.parametrize("steps", [1, 2, STEPS, PAPER_STEPS])
def test_steps_lie_between_the_baseline_and_the_text_and_most_are_near_the_densest_place(steps):
    places, weights = np.array(place_steps(steps)).T
    assert (np.diff(places, prepend=0.0, append=1.0) > 0).all()
    assert (weights > 0).all()
    if steps >= STEPS:
        assert sum(weights) == pytest.approx(1, abs=1e-4)
        assert sum(weights * places**3) == pytest.approx(1 / 4, abs=1e-3)
        assert np.mean(abs(places - DENSEST) < 0.25) > 0.5


def test_the_default_has_fewer_steps_than_the_paper():
    assert STEPS < PAPER_STEPS == 50


def test_a_long_text_is_read_in_windows(make_encoder):
    encoder = make_encoder(max_position_embeddings=40)
    document = Document.parse("the film was very good and the plot was rather bad " * 30)
    distributor = Gradients(model=encoder, steps=3)
    (scores,) = distributor.score([document])
    assert len(scores) == 330
    assert None not in scores


def test_a_broken_encoder(make_encoder):
    with pytest.raises(ResourceError, match="returns values that are not finite"):
        Gradients(model=make_encoder(weights=float("nan")), steps=2).score(parse(["some words"]))


@pytest.mark.parametrize("steps", [0, -1, 2.5, "many", True])
def test_steps_are_a_count(make_encoder, steps):
    with pytest.raises(ParameterError, match="`steps` of gradients must be a whole number of at least 1"):
        Gradients(model=make_encoder(), steps=steps)


def test_the_description_tells_the_steps(minilm):
    assert Gradients(model=minilm, steps=7).description.endswith(", steps 7)")
