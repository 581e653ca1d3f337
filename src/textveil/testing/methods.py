"""The contracts of decomposers, distributors and mechanisms."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.distribution.allocation import Missing, allocate
from textveil.methods.mechanisms import MECHANISMS, Mechanism, Request
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.obfuscator import Obfuscator
from textveil.proportions import bound_above, bound_below
from textveil.randomness import SeededRandomness
from textveil.testing.checks import Check, Statements, build_small_bundle, list_common, list_of
from textveil.text.documents import Document
from textveil.text.sentences import find_sentences
from textveil.text.stopwords import CONTRACTIONS, ENGLISH

TEXTS = (
    "",
    " ?! ",
    "word",
    "The film was good. The plot, though, was not; it was of no use!",
    "People all over the world don't live in New York City, the United States of America.",
    "Mr. Smith can't, won’t and didn't. O'clock? It's 5 o'clock...",
    "naïve café_42 word word\n\nA new paragraph (in brackets), and so on",
    "a\x00b\ud800 🙂 東京 the\tof\nand",
    "well-known state-of-the-art ideas, up-to-date",
    "don.\nt don.T of of of of U.S. N.Y.C. e.g. i.e.",
    "It was all of it, and in the end it was not for us.",
)
ENDLESS = ("a.b", "word. ", "word\n\n", "? ", ". . ", "Don't. ", "don.\nt don.T ", "don" + "." * 450 + "t ")
"""Pieces that would make a splitter read everything again and again."""
LONG = 50_000


def check_chunks_partition_the_words(decomposer: Decomposer, texts: Sequence[str]) -> Statements:
    """The chunks have all words once, in order; none is empty; written as they are, they are the same text."""
    for text in texts:
        document = Document.parse(text)
        (chunks,) = decomposer.decompose([document])
        ends = [0, *(chunk.stop for chunk in chunks)]
        yield [chunk.start for chunk in chunks] == ends[:-1], "a chunk does not begin where one ends"
        yield ends[-1] == len(document.words), "the last chunk does not end with the last word"
        yield all(chunk.size > 0 for chunk in chunks), "a chunk is empty"
        again = document.assemble(map(document.span, chunks), [document.written(chunk) for chunk in chunks])
        yield again == text, "the chunks do not lead back to the text"


def check_chunks_do_not_depend_on_the_batch(decomposer: Decomposer, texts: Sequence[str]) -> Statements:
    """A document has the same chunks alone and among others, now and again."""
    together = decomposer.decompose(list(map(Document.parse, texts)))
    yield len(together) == len(texts), "it does not answer every document"
    alone = [decomposer.decompose([Document.parse(text)])[0] for text in texts]
    yield together == alone, "the chunks of a document depend on the others in its batch"


def check_sentences_and_stopwords_bound_chunks(decomposer: Decomposer, texts: Sequence[str]) -> Statements:
    """No chunk crosses the end of a sentence, and only a contraction of several words has a stopword at its edges."""
    for document in map(Document.parse, texts):
        begins = {start for start, _ in find_sentences(document)}
        for chunk in decomposer.decompose([document])[0]:
            inside = range(chunk.start + 1, chunk.stop)
            yield begins.isdisjoint(inside), "a chunk reaches across the end of a sentence"
            words = document.words[chunk.start : chunk.stop]
            edged = chunk.size > 1 and not ENGLISH.isdisjoint((words[0], words[-1]))
            yield not edged or words in CONTRACTIONS, "a chunk has a stopword at its edge"


def check_data_independence_is_true(decomposer: Decomposer, texts: Sequence[str]) -> Statements:
    """Where it is said that chunks depend on the number of words alone, they do."""
    found = decomposer.decompose([Document.parse(text) for text in texts])
    longest = max(found, key=len, default=[])
    same = all(chunks == longest[: len(chunks)] for chunks in found)
    yield same or not decomposer.data_independent, "it says `data_independent`, and its chunks depend on the words"


def check_nothing_comes_of_nothing(decomposer: Decomposer) -> Statements:
    """No documents have no chunks, and neither have documents without words."""
    yield decomposer.decompose([]) == [], "no documents have chunks"
    empty = [Document.parse(""), Document.parse(" ?! ")]
    yield decomposer.decompose(empty) == [[], []], "a document without words has chunks"


def check_long_texts_come_to_an_end(decomposer: Decomposer) -> Statements:
    """Long texts of one repeated piece are split, too."""
    return check_chunks_partition_the_words(decomposer, [piece * (LONG // len(piece)) for piece in ENDLESS])


ON_TEXTS = (
    check_chunks_partition_the_words,
    check_chunks_do_not_depend_on_the_batch,
    check_sentences_and_stopwords_bound_chunks,
    check_data_independence_is_true,
)
"""Checks that hold for any texts."""


def list_decomposer_checks(method: type[Decomposer], bundle: Bundle | None = None, **options: Any) -> list[Check]:
    """All checks of a decomposer.

    Args:
        method: The class.
        bundle: A bundle with everything that it needs; by default the one that ships with textveil.
        options: Options to build it with.
    """
    build = partial(method, Bundle.load() if bundle is None else bundle, **options)
    decomposer = build()
    return [
        *list_of(decomposer, ON_TEXTS, decomposer, TEXTS),
        *list_of(decomposer, [check_nothing_comes_of_nothing, check_long_texts_come_to_an_end], decomposer),
        *list_common(decomposer, build, DECOMPOSERS),
    ]


SCORED = (
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


def check_every_word_has_a_score(distributor: Distributor) -> Statements:
    """Every word of every document has a score: a float, or ``None``; no documents have none."""
    documents = list(map(Document.parse, SCORED))
    scores = distributor.score(documents)
    yield len(scores) == len(documents), "it does not answer every document"
    sizes = [len(row) for row in scores] == [len(document.words) for document in documents]
    yield sizes, "a document has more or fewer scores than words"
    for score in chain.from_iterable(scores):
        valid = score is None or (isinstance(score, float) and math.isfinite(score))
        yield valid, "a score is neither a finite float nor None"
    yield distributor.score([]) == [], "no documents have scores"


def check_scores_do_not_depend_on_the_batch(distributor: Distributor, absolute: float = ABSOLUTE) -> Statements:
    """A document has the same scores alone and among others, and among the same others twice."""
    documents = list(map(Document.parse, SCORED))
    together = distributor.score(documents)
    yield distributor.score(documents) == together, "its scores change"
    for document, expected in zip(documents, together, strict=True):
        (alone,) = distributor.score([document])
        for score, other in zip(alone, expected, strict=True):
            same = score is other
            if score is not None and other is not None:
                same = math.isclose(score, other, rel_tol=RELATIVE, abs_tol=absolute)
            yield same, "the scores of a document depend on the others in its batch"


def check_scores_are_data_independent(distributor: Distributor) -> Statements:
    """Where it is said that scores depend on the number of words alone, they do."""
    first, *others = distributor.score(list(map(Document.parse, ALIKE)))
    same = all(scores == first for scores in others)
    yield same or not distributor.data_independent, "it says `data_independent`, and its scores depend on the words"


def check_the_budget_is_spent(distributor: Distributor) -> Statements:
    """The shares of words sum to the budget where there is a word for it, and stopwords get none."""
    ways: tuple[Missing, ...] = ("mean", "zero")
    for document, missing in product(map(Document.parse, FEW_WORDS), ways):
        (scores,) = distributor.score([document])
        takes_part = [word not in ENGLISH for word in document.words]
        shares = allocate(scores, takes_part, budget=5.0, invert=distributor.invert, missing=missing)
        spent = math.isclose(math.fsum(shares), 5.0 if any(takes_part) else 0.0, rel_tol=1e-9)
        yield spent, "the shares do not sum to the budget"
        kept = [share for share, takes in zip(shares, takes_part, strict=True) if not takes]
        yield not any(kept), "a stopword gets a share"


def check_shares_of_chunks_sum_to_the_budget(
    distributor: Distributor, texts: Sequence[str] = SCORED[1:4], decompositions: Iterable[str] = ("words", "pmi")
) -> Statements:
    """The shares of chunks sum to the budget, and none is negative."""
    for decomposition in decompositions:
        obfuscator = Obfuscator(decomposition=decomposition, distribution=distributor, largest_share=math.inf, seed=1)
        for result in obfuscator.obfuscate_all(texts, epsilon=BUDGET):
            spent = math.isclose(math.fsum(chunk.share for chunk in result.chunks), BUDGET, rel_tol=1e-9)
            yield spent, "the shares of chunks do not sum to the budget"
            yield all(chunk.share >= 0 for chunk in result.chunks), "a share is negative"


def list_distributor_checks(method: type[Distributor], *, absolute: float = ABSOLUTE, **options: Any) -> list[Check]:
    """All checks of a distributor.

    Args:
        method: The class.
        absolute: How far scores may differ between batches, in absolute terms.
        options: Options to build it with.
    """
    build = partial(method, **options)
    distributor = build()
    others = (check_scores_are_data_independent, check_the_budget_is_spent, check_shares_of_chunks_sum_to_the_budget)
    return [
        *list_of(distributor, [check_every_word_has_a_score], distributor),
        *list_of(distributor, [check_scores_do_not_depend_on_the_batch], distributor, absolute),
        *list_of(distributor, others, distributor),
        *list_common(distributor, build, DISTRIBUTORS),
    ]


SHARES = (0.0, 1e-300, 0.1, 5.0, 1e6, 1e300)
HUGE = 1e6
"""A share at which a word stays."""
DRAWS = 2000
"""Draws for each input, in the test of a bound by draws."""
RISK = 1e-9
"""The probability that a draw refutes a bound that holds, for each output."""
BATCH = [([n % 30] * n, [0.5] * n) for n in (3, 0, 17, 1, 40)]
"""The rows and shares of documents of several lengths."""


@dataclass(frozen=True)
class MechanismCase:
    """A mechanism to check, and what it is built from.

    Args:
        method: The class.
        vectors: The vectors, which have some writable entries.
        prior: The language model for a mechanism that takes one.
        options: Options to build it with.
    """

    method: type[Mechanism]
    vectors: Vectors
    prior: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self, **options: Any) -> Mechanism:
        """The mechanism, with further options."""
        parts = (self.vectors, self.prior) if self.method.uses_prior else (self.vectors,)
        return self.method(*parts, **{**self.options, **options})


def ask(
    rows: Sequence[int] | RowNumbers, shares: Sequence[float] | Floats, document: int = 0, seed: int = 1, **others: Any
) -> Request:
    """A request for a document with its own noise."""
    stream = SeededRandomness(seed).stream(document)
    return Request(np.array(rows, dtype=np.int64), np.array(shares, dtype=float), stream, **others)


def answer(mechanism: Mechanism, rows: Sequence[int] | RowNumbers, share: float, **others: Any) -> list[int]:
    """The answer for one document whose chunks all have this share."""
    found: list[int] = mechanism.perturb([ask(rows, [share] * len(rows), **others)])[0].tolist()
    return found


def answer_batch(mechanism: Mechanism) -> list[RowNumbers]:
    """The answers for a batch of documents of several lengths."""
    return mechanism.perturb([ask(*each, document=number) for number, each in enumerate(BATCH)])


def check_answers_are_writable(case: MechanismCase) -> Statements:
    """Every answer is a writable entry, for every share and every input."""
    mechanism = case.build()
    writable = set(mechanism.vectors.writable.tolist())
    unwritable = sorted(set(range(len(case.vectors))) - writable)[:1]
    for row in (0, 5, *unwritable, UNKNOWN):
        (found,) = mechanism.perturb([ask([row] * len(SHARES), SHARES)])
        yield len(found) == len(SHARES), "it does not answer every chunk"
        yield set(found.tolist()) <= writable, "an answer is not writable"


def check_the_stream_decides_the_answer(case: MechanismCase) -> Statements:
    """The same noise gives the same answer, and other noise another one."""
    mechanism = case.build()
    rows, shares = [1, 2, 3, UNKNOWN] * 5, [1.0, 2.0, 0.0, 3.0] * 5
    first, second, other = (mechanism.perturb([ask(rows, shares, seed=seed)])[0].tolist() for seed in (1, 1, 2))
    yield first == second, "the same stream of noise gives another answer"
    yield first != other, "another stream of noise gives the same answer"


def check_answers_do_not_depend_on_the_batch(case: MechanismCase) -> Statements:
    """A document has the same answer alone and among others; none have none."""
    mechanism = case.build()
    together = answer_batch(mechanism)
    yield len(together) == len(BATCH), "it does not answer every document"
    for number, (request, expected) in enumerate(zip(BATCH, together, strict=True)):
        (alone,) = mechanism.perturb([ask(*request, document=number)])
        yield alone.tolist() == expected.tolist(), "the answer for a document depends on the others in its batch"
    yield mechanism.perturb([]) == [], "no documents have answers"


def check_without_a_share_the_input_does_not_matter(case: MechanismCase) -> Statements:
    """At the share 0, the answer does not depend on the input, and it varies."""
    mechanism = case.build()
    first, *others = (answer(mechanism, [row] * 300, 0.0) for row in (0, 7, 20, UNKNOWN))
    yield all(found == first for found in others), "without a share, the answer depends on the input"
    yield len(set(first)) > 5, "without a share, few entries are chosen"


def check_a_huge_share_keeps_a_word(case: MechanismCase) -> Statements:
    """At a huge share, a writable entry stays, and so does an unknown chunk that is spelled like one."""
    mechanism = case.build()
    rows = mechanism.vectors.writable
    yield answer(mechanism, rows, HUGE) == rows.tolist(), "a huge share does not keep a word"
    place = mechanism.vectors.matrix[rows[4]][None].astype(float)
    found = answer(mechanism, [UNKNOWN, 0, UNKNOWN], HUGE, spelled=np.concatenate([place, place]))
    yield found[::2] == [rows[4]] * 2, "the positions of unknown chunks are ignored"


def check_fewer_dimensions_project_all_vectors(case: MechanismCase) -> Statements:
    """With fewer dimensions, words still stay at a huge share; a number that there is not is refused."""
    mechanism = case.build(dimensions=2)
    yield mechanism.space.dimensions == 2, "`dimensions` does not project the vectors"
    yield mechanism.as_dict()["options"].get("dimensions") == 2, "its record lacks `dimensions`"
    rows = mechanism.vectors.writable
    yield answer(mechanism, rows, 1e9) == rows.tolist(), "with fewer dimensions, a huge share does not keep a word"
    for wrong in (0, -1, 100_000, 2.5, float("nan")):
        try:
            case.build(dimensions=wrong)
        except ParameterError:
            continue
        yield False, "it takes a wrong number of `dimensions`"


def check_a_draft_has_the_answers(case: MechanismCase) -> Statements:
    """A draft has the answers that the mechanism gives, and the shares."""
    mechanism = case.build()
    requests = [([1, 2, UNKNOWN, 3], [0.5] * 4), ([], []), ([7] * 600, [9.0] * 600)]
    drafts = mechanism.draft([ask(*each, document=number) for number, each in enumerate(requests)])
    answers = mechanism.perturb([ask(*each, document=number) for number, each in enumerate(requests)])
    for draft, expected, (_, shares) in zip(drafts, answers, requests, strict=True):
        yield draft.rows.tolist() == expected.tolist(), "a draft has other answers"
        yield draft.shares.tolist() == shares, "a draft has other shares"
    yield mechanism.draft([]) == [], "no documents have drafts"


def check_a_draft_guides_by_its_share(case: MechanismCase) -> Statements:
    """A draft with a huge share decides, and one with nearly none does not."""
    mechanism = case.build()
    rows = np.resize(mechanism.vectors.writable, 60)
    sure, unsure = (mechanism.draft([ask(rows, np.full(60, share))])[0] for share in (HUGE, 1e-9))
    for share in (0.0, 1e-300, 0.1):
        found = answer(mechanism, [5] * 60, share, draft=sure)
        yield found == rows.tolist(), "a draft with a huge share does not decide"
    found = answer(mechanism, [5] * 60, HUGE, draft=unsure)
    yield set(found) == {5}, "a draft with nearly no share decides"


def check_the_draft_of_a_chunk_has_the_shares_of_its_words(case: MechanismCase) -> Statements:
    """The draft of words becomes one of chunks, whose shares are sums."""
    mechanism = case.build()
    (draft,) = mechanism.draft([ask([1, 2, 3, 4], [1e6, 2e6, 3e6, 4e6])])
    joined = mechanism.regroup(draft, np.array([0, 1, 3]), np.array([1, 9, 4]))
    yield joined.shares.tolist() == [1e6, 5e6, 4e6], "the draft of a chunk has other shares than its words"
    yield joined.rows.tolist() == [1, 9, 4], "the draft of a chunk has another entry"
    yield answer(mechanism, [7, 7, 7], 0.1, draft=joined) == [1, 9, 4], "the draft of chunks does not guide"
    (empty,) = mechanism.draft([ask([], [])])
    none = np.empty(0, dtype=np.int64)
    yield len(mechanism.regroup(empty, none, none).shares) == 0, "an empty draft has shares"


def check_a_mechanism_is_rebuilt_with_its_options(case: MechanismCase) -> Statements:
    """The same mechanism on other vectors has the same options."""
    few = case.build(dimensions=3)
    again = few.rebuild(case.vectors.limit_to_words())
    yield again.as_dict() == few.as_dict(), "`rebuild` changes its options"


def check_no_ratio_refutes_the_bound(case: MechanismCase) -> Statements:
    """No probability, as far as draws tell, differs by more than exp(share * distance) between two inputs.

    Lower and upper confidence bounds are compared, so a mechanism that keeps its bound hardly ever fails. One that
    breaks it by little may pass.
    """
    mechanism = case.build()
    space = mechanism.space
    first, second = space.writable[:2].tolist()
    distance = float(np.linalg.norm(space.matrix[first].astype(float) - space.matrix[second].astype(float)))
    for share in (0.5 / distance, 2.0 / distance):
        counts = []
        for row in (first, second):
            requests = [ask([row], [share], document=number, seed=row + 11) for number in range(DRAWS)]
            drawn = np.concatenate(mechanism.perturb(requests))
            counts.append(np.bincount(drawn, minlength=len(case.vectors)))
        for one, other in (counts, counts[::-1]):
            for row in np.flatnonzero(one > other).tolist():
                low, high = bound_below(int(one[row]), DRAWS, RISK), bound_above(int(other[row]), DRAWS, RISK)
                kept = low <= high * np.exp(share * distance)
                yield kept, f"at the share {share:.3g}, draws refute exp(share * distance)"


def check_no_log_ratio_passes_the_bound(
    case: MechanismCase, shares: Sequence[float] = (0.0, 0.3, 2.0, 25.0), contexts: Sequence[int | None] = (None,)
) -> Statements:
    """For a mechanism with a closed form: exact, over all pairs of inputs and all outputs.

    Args:
        case: The mechanism, with its options.
        shares: The shares to check.
        contexts: The last entry before the chunk, for a mechanism with a language model.
    """
    mechanism = case.build()
    log_channel = getattr(mechanism, "log_channel", None)
    if log_channel is None:
        return
    places = mechanism.space.place(np.array([UNKNOWN, *range(len(mechanism.vectors))]))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    cap = np.inf if mechanism.cap is None else mechanism.cap
    for share, context in product(shares, contexts):
        given = () if context is None else (np.full((len(places), 1), context),)
        logs = log_channel(places, np.full(len(places), share), *given)
        yield np.allclose(np.exp(logs).sum(axis=1), 1), "the probabilities of an input do not sum to 1"
        ratios = np.abs(logs[:, None] - logs[None]).max(axis=2)
        kept = (ratios <= share * np.minimum(distances, cap) + 1e-5 * (1 + share)).all()
        yield kept, f"at the share {share:g}, a log-ratio passes share * distance"
        bound = np.inf if mechanism.cap is None else share * cap
        yield mechanism.bound(share) == bound, "`bound` is not share * cap"


ALL = (
    check_answers_are_writable,
    check_the_stream_decides_the_answer,
    check_answers_do_not_depend_on_the_batch,
)
"""Checks of every mechanism."""
PROVED = (
    check_without_a_share_the_input_does_not_matter,
    check_a_huge_share_keeps_a_word,
    check_fewer_dimensions_project_all_vectors,
    check_a_draft_has_the_answers,
    check_a_draft_guides_by_its_share,
    check_the_draft_of_a_chunk_has_the_shares_of_its_words,
    check_a_mechanism_is_rebuilt_with_its_options,
    check_no_ratio_refutes_the_bound,
    check_no_log_ratio_passes_the_bound,
)
"""Checks of every mechanism that has a guarantee."""


def list_mechanism_checks(method: type[Mechanism], **options: Any) -> list[Check]:
    """All checks of a mechanism, on a small bundle.

    Args:
        method: The class.
        options: Options to build it with.
    """
    case = MechanismCase(method, *_build_parts(), options)
    mechanism = case.build()
    checks = [*ALL, *([] if method.guarantee == NO_GUARANTEE else PROVED)]
    return [*list_of(mechanism, checks, case), *list_common(mechanism, case.build, MECHANISMS)]


@cache
def _build_parts() -> tuple[Vectors, Any]:
    """The vectors and the language model of a small bundle, which is read into memory and removed."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = build_small_bundle(Path(folder) / "bundle", prior=True)
        return bundle.vectors("words"), bundle.prior("words")
