"""The contract of distributors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.distribution.allocation import allocate
from textveil.obfuscator import Obfuscator
from textveil.testing.checks import Check, bind, check_name, check_options, check_record, expect, name_checks
from textveil.text.documents import Document
from textveil.text.stopwords import ENGLISH

TEXTS = (
    "",
    "word",
    "The film was good, the plot bad.",
    "naïve café_42 word word",
    "the of and",
    "a\x00b\ud800 🙂 東京",
)
ALIKE = ("the film was good", "naïve café_42 word word", "of of of of")
"""Texts with as many words."""
FEW_WORDS = ("the of and", "the of and film", "same same same", "word")
RELATIVE, ABSOLUTE = 1e-3, 1e-5
"""How far scores of a text may differ between batches: encoders compute with rounded numbers."""
BUDGET = 50.0


def check_every_word_has_a_score(distributor: Distributor, texts: Sequence[str] = TEXTS) -> None:
    """Every word of every document has a score: a float, or ``None``."""
    documents = [Document.parse(text) for text in texts]
    scores = distributor.score(documents)
    expect(len(scores) == len(documents), distributor, "it does not answer every document")
    sizes = [len(row) for row in scores] == [len(document.words) for document in documents]
    expect(sizes, distributor, "a document has more or fewer scores than words")
    for score in (score for row in scores for score in row):
        valid = score is None or (isinstance(score, float) and math.isfinite(score))
        expect(valid, distributor, "a score is neither a finite float nor None")


def check_scores_do_not_depend_on_the_batch(
    distributor: Distributor, texts: Sequence[str] = TEXTS, absolute: float = ABSOLUTE
) -> None:
    """A document has the same scores alone and among others."""
    documents = [Document.parse(text) for text in texts]
    for document, expected in zip(documents, distributor.score(documents), strict=True):
        (alone,) = distributor.score([document])
        for score, other in zip(alone, expected, strict=True):
            same = score is other or (
                score is not None
                and other is not None
                and math.isclose(score, other, rel_tol=RELATIVE, abs_tol=absolute)
            )
            expect(same, distributor, "the scores of a document depend on the others in its batch")


def check_scores_are_the_same_twice(distributor: Distributor, texts: Sequence[str] = TEXTS) -> None:
    """The same documents have the same scores."""
    documents = [Document.parse(text) for text in texts]
    expect(distributor.score(documents) == distributor.score(documents), distributor, "its scores change")


def check_no_documents_have_no_scores(distributor: Distributor) -> None:
    """No documents have no scores."""
    expect(distributor.score([]) == [], distributor, "no documents have scores")


def check_data_independence_is_true(distributor: Distributor, texts: Sequence[str] = ALIKE) -> None:
    """Where it is said that scores depend on the number of words alone, they do."""
    first, *others = distributor.score([Document.parse(text) for text in texts])
    same = all(scores == first for scores in others)
    breach = "it says `data_independent`, and its scores depend on the words"
    expect(same or not distributor.data_independent, distributor, breach)


def check_the_budget_is_spent(distributor: Distributor, texts: Sequence[str] = FEW_WORDS) -> None:
    """The shares of words sum to the budget where there is a word for it, and stopwords get none."""
    for document in map(Document.parse, texts):
        (scores,) = distributor.score([document])
        takes_part = [word not in ENGLISH for word in document.words]
        for missing in ("mean", "zero"):
            shares = allocate(scores, takes_part, budget=5.0, invert=distributor.invert, missing=missing)
            spent = math.isclose(math.fsum(shares), 5.0 if any(takes_part) else 0.0, rel_tol=1e-9)
            expect(spent, distributor, "the shares do not sum to the budget")
            kept = [share for share, takes in zip(shares, takes_part, strict=True) if not takes]
            expect(not any(kept), distributor, "a stopword gets a share")


def check_shares_of_chunks_sum_to_the_budget(
    distributor: Distributor,
    texts: Sequence[str] = TEXTS[1:4],
    decompositions: Iterable[str] = ("words", "pmi"),
    bundle: Bundle | None = None,
) -> None:
    """The shares of chunks sum to the budget, and none is negative."""
    chosen = Bundle.load() if bundle is None else bundle
    for decomposition in decompositions:
        obfuscator = Obfuscator(
            chosen, decomposition=decomposition, distribution=distributor, largest_share=math.inf, seed=1
        )
        for result in obfuscator.obfuscate_all(texts, epsilon=BUDGET):
            spent = math.isclose(math.fsum(chunk.share for chunk in result.chunks), BUDGET, rel_tol=1e-9)
            expect(spent, distributor, "the shares of chunks do not sum to the budget")
            expect(all(chunk.share >= 0 for chunk in result.chunks), distributor, "a share is negative")


def list_distributor_checks(method: type[Distributor], *, absolute: float = ABSOLUTE, **options: Any) -> list[Check]:
    """All checks of a distributor.

    Args:
        method: The class.
        absolute: How far scores may differ between batches, in absolute terms.
        options: Options to build it with.
    """
    distributor = method(**options)
    own = {name: DISTRIBUTORS.load(name) for name in DISTRIBUTORS}
    return name_checks(
        method.name,
        [
            bind(check_every_word_has_a_score, distributor),
            bind(check_scores_do_not_depend_on_the_batch, distributor, TEXTS, absolute),
            bind(check_scores_are_the_same_twice, distributor),
            bind(check_no_documents_have_no_scores, distributor),
            bind(check_data_independence_is_true, distributor),
            bind(check_the_budget_is_spent, distributor),
            bind(check_shares_of_chunks_sum_to_the_budget, distributor),
            bind(check_record, distributor),
            bind(check_options, distributor, lambda **given: method(**{**options, **given})),
            bind(check_name, distributor, DISTRIBUTORS.list_plugins(), own),
        ],
    )
