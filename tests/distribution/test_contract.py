"""What every distributor promises; a new one is tested by being registered."""

import pytest

from textveil.errors import ResourceError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.distribution.caching import CachedDistributor
from textveil.testing.checks import run_check
from textveil.testing.methods import ABSOLUTE, check_shares_of_chunks_sum_to_the_budget, list_distributor_checks

OPTIONS = {"gradients": {"steps": 5}}  # it takes ten times as long with the default
FOUR_DIGITS = 1.01e-4  # KeyBERT rounds


@pytest.fixture(params=list(DISTRIBUTORS), scope="module")
def distributor(request):
    try:
        return DISTRIBUTORS.load(request.param)(**OPTIONS.get(request.param, {}))
    except ResourceError as error:
        pytest.skip(str(error))


def test_the_whole_contract(distributor):
    absolute = FOUR_DIGITS if distributor.name == "keybert" else ABSOLUTE
    for check in list_distributor_checks(type(distributor), absolute=absolute, **OPTIONS.get(distributor.name, {})):
        check()


def test_what_is_data_independent():
    assert {name for name in DISTRIBUTORS if DISTRIBUTORS.load(name).data_independent} == {"uniform"}


def test_the_name_is_the_registered_one(distributor):
    assert DISTRIBUTORS.load(distributor.name) is type(distributor)


def test_what_is_inverted():
    assert {name for name in DISTRIBUTORS if DISTRIBUTORS.load(name).invert} == {
        "attention", "gradients", "ic", "keybert"
    }  # fmt: skip


def check_shares(distributor, texts):
    """The shares of chunks sum to the budget, for every decomposition."""
    cached = CachedDistributor(distributor)
    run_check(cached, check_shares_of_chunks_sum_to_the_budget, cached, texts, DECOMPOSERS)


def test_shares_sum_to_the_budget(distributor, real_texts):
    check_shares(distributor, [" ".join(text.split()[:25]) for text in real_texts[::100]])


@pytest.mark.slow
def test_shares_sum_to_the_budget_on_many_documents(distributor, real_texts):
    texts = [" ".join(text.split()[:60]) for text in real_texts[::2]]
    assert len(texts) == 500
    check_shares(distributor, texts)
