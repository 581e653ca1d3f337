"""The contract of mechanisms."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms import MECHANISMS, Mechanism, Request
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.proportions import bound_above, bound_below
from textveil.randomness import SeededRandomness
from textveil.testing.checks import (
    Check,
    bind,
    build_small_bundle,
    check_name,
    check_options,
    check_record,
    expect,
    name_checks,
)

SHARES = (0.0, 1e-300, 0.1, 5.0, 1e6, 1e300)
HUGE = 1e6
"""A share at which a word stays."""
DRAWS = 2000
"""Draws for each input, in the test of a bound by draws."""
RISK = 1e-9
"""The probability that a draw refutes a bound that holds, for each output."""


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

    @property
    def is_proved(self) -> bool:
        """Whether the mechanism has a guarantee."""
        return self.method.guarantee != NO_GUARANTEE


def ask(
    rows: Sequence[int] | RowNumbers,
    shares: Sequence[float] | Floats,
    *,
    document: int = 0,
    seed: int = 1,
    **others: Any,
) -> Request:
    """A request for a document with its own noise."""
    stream = SeededRandomness(seed).stream(document)
    return Request(np.array(rows, dtype=np.int64), np.array(shares, dtype=float), stream, **others)


def answer_batch(mechanism: Mechanism) -> list[RowNumbers]:
    """The answers for a batch of documents of several lengths."""
    return mechanism.perturb([ask(*each, document=number) for number, each in enumerate(_BATCH)])


_BATCH = [([n % 30] * n, [0.5] * n) for n in (3, 0, 17, 1, 40)]


def check_answers_are_writable(case: MechanismCase) -> None:
    """Every answer is a writable entry, for every share and every input."""
    mechanism = case.build()
    writable = set(mechanism.vectors.writable.tolist())
    unwritable = sorted(set(range(len(case.vectors))) - writable)[:1]
    for row in (0, 5, *unwritable, UNKNOWN):
        (answer,) = mechanism.perturb([ask([row] * len(SHARES), SHARES)])
        expect(len(answer) == len(SHARES), mechanism, "it does not answer every chunk")
        expect(set(answer.tolist()) <= writable, mechanism, "an answer is not writable")


def check_the_stream_decides_the_answer(case: MechanismCase) -> None:
    """The same noise gives the same answer, and other noise another one."""
    mechanism = case.build()
    rows, shares = [1, 2, 3, UNKNOWN] * 5, [1.0, 2.0, 0.0, 3.0] * 5
    first, second, other = (mechanism.perturb([ask(rows, shares, seed=seed)])[0].tolist() for seed in (1, 1, 2))
    expect(first == second, mechanism, "the same stream of noise gives another answer")
    expect(first != other, mechanism, "another stream of noise gives the same answer")


def check_answers_do_not_depend_on_the_batch(case: MechanismCase) -> None:
    """A document has the same answer alone and among others."""
    mechanism = case.build()
    together = answer_batch(mechanism)
    expect(len(together) == len(_BATCH), mechanism, "it does not answer every document")
    for number, (request, expected) in enumerate(zip(_BATCH, together, strict=True)):
        (alone,) = mechanism.perturb([ask(*request, document=number)])
        breach = "the answer for a document depends on the others in its batch"
        expect(alone.tolist() == expected.tolist(), mechanism, breach)


def check_no_request_has_no_answer(case: MechanismCase) -> None:
    """No documents have no answers, and a document without chunks has an empty one."""
    mechanism = case.build()
    expect(mechanism.perturb([]) == [], mechanism, "no documents have answers")
    (answer,) = mechanism.perturb([ask([], [])])
    expect(len(answer) == 0, mechanism, "a document without chunks has answers")


def check_without_a_share_the_input_does_not_matter(case: MechanismCase) -> None:
    """At the share 0, the answer does not depend on the input, and it varies."""
    mechanism = case.build()
    first, *others = (mechanism.perturb([ask([row] * 300, [0.0] * 300)])[0] for row in (0, 7, 20, UNKNOWN))
    same = all(answer.tolist() == first.tolist() for answer in others)
    expect(same, mechanism, "without a share, the answer depends on the input")
    expect(len(set(first.tolist())) > 5, mechanism, "without a share, few entries are chosen")


def check_a_huge_share_keeps_a_word(case: MechanismCase) -> None:
    """At a huge share, a writable entry stays."""
    mechanism = case.build()
    rows = mechanism.vectors.writable
    (answer,) = mechanism.perturb([ask(rows, np.full(len(rows), HUGE))])
    expect(answer.tolist() == rows.tolist(), mechanism, "a huge share does not keep a word")


def check_an_unknown_chunk_is_where_its_spelling_says(case: MechanismCase) -> None:
    """An unknown chunk with a position is perturbed from there."""
    mechanism = case.build()
    there = mechanism.vectors.writable[4]
    place = mechanism.vectors.matrix[there][None].astype(float)
    request = ask([UNKNOWN, 0, UNKNOWN], [HUGE] * 3, spelled=np.concatenate([place, place]))
    (answer,) = mechanism.perturb([request])
    expect(answer[[0, 2]].tolist() == [there] * 2, mechanism, "the positions of unknown chunks are ignored")


def check_fewer_dimensions_project_all_vectors(case: MechanismCase) -> None:
    """With fewer dimensions, words still stay at a huge share; a number that there is not is refused."""
    mechanism = case.build(dimensions=2)
    expect(mechanism.space.dimensions == 2, mechanism, "`dimensions` does not project the vectors")
    expect(mechanism.as_dict()["options"].get("dimensions") == 2, mechanism, "its record lacks `dimensions`")
    rows = mechanism.vectors.writable
    (answer,) = mechanism.perturb([ask(rows, np.full(len(rows), 1e9))])
    expect(answer.tolist() == rows.tolist(), mechanism, "with fewer dimensions, a huge share does not keep a word")
    for wrong in (0, -1, 100_000, 2.5, float("nan")):
        try:
            case.build(dimensions=wrong)
        except ParameterError:
            continue
        expect(condition=False, method=mechanism, breach="it takes a wrong number of `dimensions`")


def check_a_draft_has_the_answers(case: MechanismCase) -> None:
    """A draft has the answers that the mechanism gives, and the shares."""
    mechanism = case.build()
    requests = [([1, 2, UNKNOWN, 3], [0.5] * 4), ([], []), ([7] * 600, [9.0] * 600)]
    drafts = mechanism.draft([ask(*each, document=number) for number, each in enumerate(requests)])
    answers = mechanism.perturb([ask(*each, document=number) for number, each in enumerate(requests)])
    for draft, expected, (_, shares) in zip(drafts, answers, requests, strict=True):
        expect(draft.rows.tolist() == expected.tolist(), mechanism, "a draft has other answers")
        expect(draft.shares.tolist() == shares, mechanism, "a draft has other shares")
    expect(mechanism.draft([]) == [], mechanism, "no documents have drafts")


def check_a_draft_guides_by_its_share(case: MechanismCase) -> None:
    """A draft with a huge share decides, and one with nearly none does not."""
    mechanism = case.build()
    rows = np.resize(mechanism.vectors.writable, 60)
    (sure,) = mechanism.draft([ask(rows, np.full(60, HUGE))])
    for share in (0.0, 1e-300, 0.1):
        (answer,) = mechanism.perturb([ask([5] * 60, [share] * 60, draft=sure)])
        expect(answer.tolist() == rows.tolist(), mechanism, "a draft with a huge share does not decide")
    (unsure,) = mechanism.draft([ask(rows, np.full(60, 1e-9))])
    (answer,) = mechanism.perturb([ask([5] * 60, [HUGE] * 60, draft=unsure)])
    expect(set(answer.tolist()) == {5}, mechanism, "a draft with nearly no share decides")


def check_the_draft_of_a_chunk_has_the_shares_of_its_words(case: MechanismCase) -> None:
    """The draft of words becomes one of chunks, whose shares are sums."""
    mechanism = case.build()
    (draft,) = mechanism.draft([ask([1, 2, 3, 4], [1e6, 2e6, 3e6, 4e6])])
    joined = mechanism.regroup(draft, np.array([0, 1, 3]), np.array([1, 9, 4]))
    expect(joined.shares.tolist() == [1e6, 5e6, 4e6], mechanism, "the draft of a chunk has other shares than its words")
    expect(joined.rows.tolist() == [1, 9, 4], mechanism, "the draft of a chunk has another entry")
    (answer,) = mechanism.perturb([ask([7, 7, 7], [0.1] * 3, draft=joined)])
    expect(answer.tolist() == [1, 9, 4], mechanism, "the draft of chunks does not guide")
    (empty,) = mechanism.draft([ask([], [])])
    none = np.empty(0, dtype=np.int64)
    expect(len(mechanism.regroup(empty, none, none).shares) == 0, mechanism, "an empty draft has shares")


def check_a_mechanism_is_rebuilt_with_its_options(case: MechanismCase) -> None:
    """The same mechanism on other vectors has the same options."""
    few = case.build(dimensions=3)
    again = few.rebuild(case.vectors.limit_to_words())
    expect(again.as_dict() == few.as_dict(), few, "`rebuild` changes its options")


def check_no_ratio_refutes_the_bound(case: MechanismCase) -> None:
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
                expect(kept, mechanism, f"at the share {share:.3g}, draws refute exp(share * distance)")


def check_no_log_ratio_passes_the_bound(
    case: MechanismCase, shares: Sequence[float] = (0.0, 0.3, 2.0, 25.0), contexts: Sequence[int | None] = (None,)
) -> None:
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
    capped = distances if mechanism.cap is None else np.minimum(distances, mechanism.cap)
    for share in shares:
        for context in contexts:
            given = () if context is None else (np.full((len(places), 1), context),)
            logs = log_channel(places, np.full(len(places), share), *given)
            expect(np.allclose(np.exp(logs).sum(axis=1), 1), mechanism, "the probabilities of an input do not sum to 1")
            ratios = np.abs(logs[:, None] - logs[None]).max(axis=2)
            kept = (ratios <= share * capped + 1e-5 * (1 + share)).all()
            expect(kept, mechanism, f"at the share {share:g}, a log-ratio passes share * distance")
        bound = np.inf if mechanism.cap is None else share * mechanism.cap
        expect(mechanism.bound(share) == bound, mechanism, "`bound` is not share * cap")


ALL = (
    check_answers_are_writable,
    check_the_stream_decides_the_answer,
    check_answers_do_not_depend_on_the_batch,
    check_no_request_has_no_answer,
)
"""Checks of every mechanism."""
PROVED = (
    check_without_a_share_the_input_does_not_matter,
    check_a_huge_share_keeps_a_word,
    check_an_unknown_chunk_is_where_its_spelling_says,
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
    vectors, prior = _build_parts()
    case = MechanismCase(method, vectors, prior, options)
    mechanism = case.build()
    own = {name: MECHANISMS.load(name) for name in MECHANISMS}
    return name_checks(
        method.name,
        [
            *(bind(check, case) for check in (*ALL, *(PROVED if case.is_proved else ()))),
            bind(check_record, mechanism),
            bind(check_options, mechanism, case.build),
            bind(check_name, mechanism, MECHANISMS.list_plugins(), own),
        ],
    )


@cache
def _build_parts() -> tuple[Vectors, Any]:
    """The vectors and the language model of a small bundle, which is read into memory and removed."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = build_small_bundle(Path(folder) / "bundle", prior=True)
        return bundle.vectors("words"), bundle.prior("words")
