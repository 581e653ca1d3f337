"""What every distributor promises; a new one is tested by being registered."""

import math

import pytest

from textveil.bundles.bundle import Bundle
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.distribution.allocation import allocate
from textveil.distribution.caching import CachedDistributor
from textveil.errors import ParameterError, ResourceError
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document
from textveil.obfuscation import Obfuscator

TEXTS = [
    "",
    "word",
    "The film was good, the plot bad.",
    "naïve café_42 word word",
    "the of and",
    "a\x00b\ud800 🙂 東京",
]
TOLERANCE = {"rel": 1e-3, "abs": 1e-5}
OPTIONS = {"gradients": {"steps": 5}}  # it takes ten times as long with the default
FOUR_DIGITS = {"abs": 1.01e-4}  # KeyBERT rounds


@pytest.fixture(params=list(DISTRIBUTORS), scope="module")
def distributor(request):
    try:
        return DISTRIBUTORS.load(request.param)(**OPTIONS.get(request.param, {}))
    except ResourceError as error:
        pytest.skip(str(error))


def test_every_word_has_a_score(distributor):
    documents = [Document.parse(text) for text in TEXTS]
    scores = distributor.score(documents)
    assert [len(row) for row in scores] == [len(document.words) for document in documents]
    assert all(score is None or isinstance(score, float) for row in scores for score in row)


def test_scores_do_not_depend_on_the_batch(distributor):
    documents = [Document.parse(text) for text in TEXTS]
    together = distributor.score(documents)
    tolerance = FOUR_DIGITS if distributor.name == "keybert" else TOLERANCE
    for document, expected in zip(documents, together, strict=True):
        (alone,) = distributor.score([document])
        assert [score is None for score in alone] == [score is None for score in expected]
        given = [(score, other) for score, other in zip(alone, expected, strict=True) if score is not None]
        assert [score for score, _ in given] == pytest.approx([other for _, other in given], **tolerance)


def test_the_same_twice(distributor):
    documents = [Document.parse(text) for text in TEXTS]
    assert distributor.score(documents) == distributor.score(documents)


def test_no_documents(distributor):
    assert distributor.score([]) == []


def test_data_independence_is_true_where_it_is_said(distributor):
    documents = [Document.parse(text) for text in ("the film was good", "naïve café_42 word word", "of of of of")]
    scores = distributor.score(documents)
    assert distributor.data_independent == (scores[0] == scores[1] == scores[2])


def test_the_name_is_the_registered_one(distributor):
    assert DISTRIBUTORS.load(distributor.name) is type(distributor)


def test_a_certificate_tells_what_scores_depend_on(distributor):
    assert distributor.description.startswith(distributor.name)
    assert all(version[0].isdigit() for version in distributor.versions.values())


def test_an_option_that_there_is_not(distributor):
    with pytest.raises(
        ParameterError,
        match=f"the distribution '{distributor.name}'|The distribution '{distributor.name}' has no options",
    ):
        type(distributor)(color="red")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("baseline", "uniform"),
        ("attention_weights", "attention"),
        ("integrated_gradients", "gradients"),
        ("information_content", "ic"),
    ],
)
def test_names_in_the_research_code(alias, name):
    assert DISTRIBUTORS.load(alias) is DISTRIBUTORS.load(name)


def test_what_is_inverted():
    assert {name for name in DISTRIBUTORS if DISTRIBUTORS.load(name).invert} == {
        "attention", "gradients", "ic", "keybert"
    }  # fmt: skip


@pytest.mark.parametrize("missing", ["mean", "zero"])
@pytest.mark.parametrize("text", ["the of and", "the of and film", "same same same", "word"])
def test_the_budget_is_spent_where_there_is_a_word_for_it(distributor, missing, text):
    document = Document.parse(text)
    (scores,) = distributor.score([document])
    takes_part = [word not in ENGLISH for word in document.words]
    shares = allocate(scores, takes_part, budget=5.0, invert=distributor.invert, missing=missing)
    assert math.fsum(shares) == pytest.approx(5.0 if any(takes_part) else 0.0, rel=1e-9)
    assert all(share == 0 for share, takes in zip(shares, takes_part, strict=True) if not takes)


def check_shares(distributor, texts):
    """The shares of chunks sum to the budget, for every decomposition."""
    cached, bundle = CachedDistributor(distributor), Bundle.load()
    for decomposition in DECOMPOSERS:
        obfuscator = Obfuscator(
            bundle, decomposition=decomposition, distribution=cached, largest_share=math.inf, seed=1
        )
        for result in obfuscator.obfuscate_all(texts, epsilon=50.0):
            assert math.fsum(chunk.share for chunk in result.chunks) == pytest.approx(50.0, rel=1e-9)
            assert all(chunk.share >= 0 for chunk in result.chunks)


def test_shares_sum_to_the_budget(distributor, real_texts):
    check_shares(distributor, [" ".join(text.split()[:25]) for text in real_texts[::100]])


@pytest.mark.slow
def test_shares_sum_to_the_budget_on_many_documents(distributor, real_texts):
    texts = [" ".join(text.split()[:60]) for text in real_texts[::2]]
    assert len(texts) == 500
    check_shares(distributor, texts)
