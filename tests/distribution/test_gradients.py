import numpy as np
import pytest

from tests.distribution.plain import attribute_plainly, load_plainly
from textveil.distribution.allocation import allocate
from textveil.distribution.gradients import PAPER_STEPS, STEPS, Gradients
from textveil.errors import ParameterError, ResourceError
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document

TEXTS = ["word", "The naïve waiter's café_42 was naïve!", "Don't panic: the film was good; the plot bad.", "", "!?"]
CONVERGED = 100
"""Three times as many steps move less than a millionth of the budget of the texts below."""


def parse(texts):
    return list(map(Document.parse, texts))


def test_it_is_what_captum_gives(minilm):
    documents = parse(TEXTS)
    distributor = Gradients(model=minilm, steps=12)
    scores, deltas = distributor.score(documents), distributor.measure_convergence(documents)
    model, tokenizer = load_plainly(minilm)
    for document, row, delta in zip(documents, scores, deltas, strict=True):
        expected, missed = attribute_plainly(model, tokenizer, document, 12)
        assert row == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert delta == pytest.approx(abs(missed), abs=1e-4)


def test_it_is_what_captum_gives_for_another_encoder(gte_small):
    documents = parse(TEXTS[:3])
    model, tokenizer = load_plainly(gte_small)
    for document, row in zip(documents, Gradients(model=gte_small, steps=8).score(documents), strict=True):
        assert row == pytest.approx(attribute_plainly(model, tokenizer, document, 8)[0], rel=1e-3, abs=1e-5)


def test_more_steps_come_nearer(minilm, real_texts):
    documents = parse([" ".join(text.split()[:12]) for text in real_texts[:3]])
    few, many = (np.mean(Gradients(model=minilm, steps=steps).measure_convergence(documents)) for steps in (2, 20))
    assert many < few / 2


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


def test_the_default_moves_a_hundredth_of_the_budget_if_stopwords_are_kept(minilm, real_texts):
    texts = [" ".join(text.split()[:60]) for text in real_texts[:300:100]]
    moved = move(*(share(minilm, texts, steps, stopwords=False) for steps in (STEPS, PAPER_STEPS)))
    assert np.mean(moved) <= 0.01
    assert max(moved) <= 0.02


def test_twenty_steps_are_enough_for_short_texts_with_stopwords(minilm, real_texts):
    texts = [" ".join(text.split()[:15]) for text in real_texts[:300:100]]
    some, papers, many = (share(minilm, texts, steps, stopwords=True) for steps in (20, PAPER_STEPS, CONVERGED))
    assert max(move(some, many)) <= 0.01
    assert max(move(papers, many)) <= 0.001


def test_the_default_has_fewer_steps_than_the_paper():
    assert STEPS < PAPER_STEPS == 50


def test_a_long_text_is_read_in_windows(make_encoder):
    encoder = make_encoder(max_position_embeddings=40)
    document = Document.parse("the film was very good and the plot was rather bad " * 30)
    distributor = Gradients(model=encoder, steps=3)
    (scores,) = distributor.score([document])
    assert len(scores) == 330
    assert None not in scores
    (delta,) = distributor.measure_convergence([document])
    assert delta >= 0


def test_a_broken_encoder(make_encoder):
    with pytest.raises(ResourceError, match="returns values that are not finite"):
        Gradients(model=make_encoder(weights=float("nan")), steps=2).score(parse(["some words"]))


@pytest.mark.parametrize("steps", [0, -1, 2.5, "many", True])
def test_steps_are_a_count(make_encoder, steps):
    with pytest.raises(ParameterError, match="`steps` of gradients must be a whole number of at least 1"):
        Gradients(model=make_encoder(), steps=steps)


def test_the_description_tells_the_steps(minilm):
    assert Gradients(model=minilm, steps=7).description.endswith(", steps 7)")
