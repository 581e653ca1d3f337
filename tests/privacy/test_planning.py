import math

import pytest

from textveil.budget import Budget
from textveil.methods.decomposition.words import Words
from textveil.methods.distribution.uniform import Uniform
from textveil.methods.mechanisms.madlib import Madlib
from textveil.outcomes import Outcome
from textveil.planning import Planner
from textveil.profiles import PAPER, STRICT
from textveil.text.documents import Chunk, Document


def build(tiny, decomposer=None, **options):
    settings = {"profile": STRICT, "stopwords": "keep", "largest_share": math.inf, "draft_share": None, **options}
    return Planner(decomposer or Words(tiny), Uniform(), Madlib(tiny.vectors("words")), **settings)


def plan(planner, text, epsilon=6.0):
    (found,) = planner.plan([Document.parse(text)], Budget(epsilon))
    return found


@pytest.mark.parametrize(("profile", "unknown"), [(STRICT, Outcome.DRAWN), (PAPER, Outcome.KEPT_UNKNOWN)])
def test_every_word_has_a_share_and_an_outcome(tiny, profile, unknown):
    found = plan(build(tiny, profile=profile), "the alpha xyzzy beta")
    assert [planned.outcome for planned in found.chunks] == [
        Outcome.KEPT_STOPWORD,
        Outcome.PERTURBED,
        unknown,
        Outcome.PERTURBED,
    ]
    assert [planned.share for planned in found.chunks] == [0, 2, 2, 2]


def test_no_share_passes_the_largest_one(tiny):
    found = plan(build(tiny, largest_share=1.5), "alpha beta")
    assert [(planned.share, planned.given) for planned in found.chunks] == [(1.5, 3), (1.5, 3)]


def test_a_code_is_one_chunk(tiny):
    found = plan(build(tiny), "alpha bo@xy.org")
    assert [planned.chunk for planned in found.chunks] == [Chunk(0, 1), Chunk(1, 4)]


def test_a_decomposer_that_leaves_out_words_is_stopped(tiny):
    class Forgetful(Words):
        def decompose(self, documents):
            return [list(chunks)[1:] for chunks in super().decompose(documents)]

    with pytest.raises(RuntimeError):
        plan(build(tiny, Forgetful(tiny)), "alpha beta")
