"""What every distributor promises; a new one is tested by being registered."""

import pytest

from textveil.distribution import DISTRIBUTORS
from textveil.text import Document

TEXTS = ["", "word", "The film was good, the plot bad.", "naïve café_42 word word", "the of and"]


@pytest.fixture(params=list(DISTRIBUTORS), scope="module")
def distributor(request):
    return DISTRIBUTORS.load(request.param)()


def test_every_word_has_a_score(distributor):
    documents = [Document.parse(text) for text in TEXTS]
    scores = distributor.score(documents)
    assert [len(row) for row in scores] == [len(document.words) for document in documents]
    assert all(score is None or isinstance(score, float) for row in scores for score in row)


def test_scores_do_not_depend_on_the_batch(distributor):
    documents = [Document.parse(text) for text in TEXTS]
    together = distributor.score(documents)
    assert [distributor.score([document])[0] for document in documents] == together


def test_data_independence_is_true_where_it_is_said(distributor):
    documents = [Document.parse(text) for text in ("the film was good", "naïve café_42 word word", "of of of of")]
    scores = distributor.score(documents)
    if distributor.data_independent:
        assert scores[0] == scores[1] == scores[2]


def test_the_name_is_the_registered_one(distributor):
    assert DISTRIBUTORS.load(distributor.name) is type(distributor)


def test_uniform_has_its_name_in_the_research_code():
    assert DISTRIBUTORS.load("baseline") is DISTRIBUTORS.load("uniform")
