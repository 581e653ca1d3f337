import pytest

from textveil.errors import ContractError
from textveil.methods.decomposition import Decomposer
from textveil.testing.decomposers import list_decomposer_checks
from textveil.text.documents import Chunk


class Whole(Decomposer):
    """One chunk for everything."""

    name = "whole"

    def decompose(self, documents):
        return [[Chunk(0, len(document.words))] for document in documents]


class Half(Decomposer):
    """Only the first half of the words."""

    name = "half"

    def decompose(self, documents):
        return [[Chunk(n, n + 1) for n in range(len(document.words) // 2)] for document in documents]


class Boastful(Half):
    """Looks at words, and says that it does not."""

    name = "boastful"
    data_independent = True

    def decompose(self, documents):
        return [[Chunk(0, 1 + len(d.text) % 2)] if d.words else [] for d in documents]


@pytest.mark.parametrize(
    ("method", "breaches"),
    [
        (
            Whole,
            {"a chunk is empty", "a chunk reaches across the end of a sentence", "a chunk has a stopword at its edge"},
        ),
        (Half, {"the last chunk does not end with the last word"}),
        (Boastful, {"it says `data_independent`, and its chunks depend on the words"}),
    ],
)
def test_breaches_are_found(tiny, method, breaches):
    found = set()
    for check in list_decomposer_checks(method, tiny):
        try:
            check()
        except (ContractError, IndexError) as error:
            found.add(str(error).partition("contract: ")[2].rstrip("."))
    assert found >= breaches
