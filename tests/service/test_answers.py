import pytest

from textveil.budget import Budget
from textveil.errors import BudgetError, BundleError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.obfuscator import Obfuscator
from textveil.service.answers import decompose, distribute, find_rows
from textveil.service.models import DecomposeAnswer, DistributeAnswer


def test_the_shares_are_those_of_the_obfuscator(tiny):
    text = "The plot of Alpha was good, and THE music bad."
    uniform = DISTRIBUTORS.load("uniform")()
    answer = distribute(text, 12.0, [uniform], profile="strict", stopwords=None)
    DistributeAnswer.model_validate(answer)
    words = answer["distributions"]["uniform"]["words"]
    plan, _ = Obfuscator(tiny, largest_share=99).plan(text, Budget(12.0))
    assert [word["share"] for word in words] == list(plan.shares)
    assert words[7]["share"] > 0  # THE is no plain stopword
    answer = distribute("to @the", 12.0, [uniform], profile="strict", stopwords=None)
    assert [word["share"] for word in answer["distributions"]["uniform"]["words"]] == [0.0, 12.0]  # @the is a code


def test_a_text_without_words_has_no_shares():
    assert distribute("?!", 1.0, [DISTRIBUTORS.load("uniform")()], profile="strict", stopwords=None) == {
        "distributions": {"uniform": {"description": "uniform", "words": []}}
    }
    with pytest.raises(BudgetError):
        distribute("a", 0.0, [], profile="strict", stopwords=None)


def test_decompositions_that_a_bundle_lacks_are_explained(tiny):
    def find(name):
        return DECOMPOSERS.load(name)(tiny)

    answer = decompose("good film", None, find)
    DecomposeAnswer.model_validate(answer)
    assert [chunk["text"] for chunk in answer["decompositions"]["words"]] == ["good", "film"]
    assert "pmi" in answer["unavailable"]
    with pytest.raises(BundleError):
        decompose("good film", ["pmi"], find)


def test_the_rows_of_replacements(tiny):
    obfuscator = Obfuscator(tiny, seed=3, largest_share=1.0)
    result = obfuscator.obfuscate("alpha beta gamma delta epsilon zeta eta theta", epsilon=1)
    vectors = obfuscator.mechanism.vectors
    rows = find_rows(vectors, result)
    assert [vectors.entries[row].replace("_", " ") for row in rows] == [chunk.replacement for chunk in result.chunks]
