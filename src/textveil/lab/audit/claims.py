"""Claims: the bound that is claimed for a pair of texts, and whether the claim covers the pair at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np

from textveil.budget import Budget
from textveil.bundles.bundle import SINGLE_WORDS
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.errors import BundleError, InputError
from textveil.methods.mechanisms import Mechanism, Request
from textveil.methods.mechanisms.base import ASKED, NO_GUARANTEE
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.methods.mechanisms.sampling import PRECISION
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome
from textveil.planning import Plan
from textveil.text.documents import Chunk, spoken
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_spans, find_words

MOST_WORDS = 400
"""The number of words among which near and far ones are searched: the first ones of the vocabulary."""
SHORTEST = 3
MADE_UP = ("zorblat", "quixnar", "vemblor", "druxly", "fnorpit", "gwizzle", "plumvok", "skrantz")
"""Words of no language, of which a vocabulary lacks some."""
NUMBERS = ("1987", "2041")
PHONE_NUMBERS = ("555-0134", "555-0178")
TOLERANCE = 2 * PRECISION
"""The rounding error of a log-ratio for each word: both probabilities have a relative error of ``PRECISION``."""
_OTHER_LENGTH = "the numbers of words differ"
_OTHER_GAPS = "the texts between words differ"
_ACCENTS = {"a": "à", "e": "é", "i": "í", "o": "ö", "u": "ü", "n": "ñ", "c": "ç", "y": "ý"}
_FULL_WIDTH = 0xFF41 - ord("a")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that an audit tries to tell apart by the answers to them."""

    kind: str
    """What makes the pair hard, such as ``known and unknown word``."""
    first: str = field(repr=False)
    second: str = field(repr=False)

    @property
    def words_that_differ(self) -> int:
        """The number of places with different words.

        >>> Pair("", "one word", "another word").words_that_differ, Pair("", "a b c", "a").words_that_differ
        (1, 2)
        """
        first, second = ([text[start:stop] for start, stop in find_spans(text)] for text in (self.first, self.second))
        differ = sum(one != two for one, two in zip(first, second, strict=False))
        return differ + abs(len(first) - len(second))


class _Words:
    """The words of a vocabulary that pairs are made of."""

    def __init__(self, space: Vectors) -> None:
        self._space = space
        entries, writable = space.entries, set(space.writable.tolist())
        simple = [row for row, entry in enumerate(entries) if len(entry) >= SHORTEST and _is_simple(entry)]
        content = [row for row in simple if row in writable and entries[row] not in ENGLISH][:MOST_WORDS]
        if len(content) < 8:
            raise BundleError("An audit needs a vocabulary with at least 8 words that are not stopwords.")
        self.near, self.far = self._find_extremes(np.array(content))
        used = {*self.near, *self.far}
        self.others = [entries[row] for row in content if entries[row] not in used]
        self.stopword = next((entries[row] for row in simple if entries[row] in ENGLISH), "the")
        self.name = next((entries[row] for row in simple if row not in writable), None)
        self.unknown = [word for word in MADE_UP if word not in space][:2]
        several = [spoken(entry) for row, entry in enumerate(entries) if "_" in entry and row in writable]
        self.expressions = [words for words in several if not ENGLISH.intersection(find_words(words))][:2]

    def _find_extremes(self, rows: RowNumbers) -> tuple[tuple[str, str], tuple[str, str]]:
        """The two nearest words that are apart, and the two farthest."""
        points = self._space.take(rows).astype(np.float64)
        squares = np.einsum("ij,ij->i", points, points)
        distances = squares[:, None] + squares - 2 * points @ points.T
        apart = np.where(distances > 1e-9 * distances.max(), distances, np.inf)
        found = []
        for place in (apart.argmin(), distances.argmax()):
            one, two = divmod(int(place), len(rows))
            found.append((self._space.entries[int(rows[one])], self._space.entries[int(rows[two])]))
        return found[0], found[1]


def _is_simple(entry: str) -> bool:
    return entry.isascii() and entry.isalpha() and entry.islower()


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file: two texts in each line, with a tab between them.

    Raises:
        InputError: The file cannot be read, or a line has not exactly one tab.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8. Convert it.") from error
    for number, line in enumerate(lines, start=1):
        if line.count("\t") != 1:
            raise InputError(f"Line {number} of {str(path)!r} has not exactly one tab. Write two texts in each line.")
    if not lines:
        raise InputError(f"{str(path)!r} has no pairs. Write two texts in each line, with a tab between them.")
    return [Pair(f"line {number}", *line.split("\t")) for number, line in enumerate(lines, start=1)]


def choose_pairs(space: Vectors) -> list[Pair]:
    """The pairs of an audit for a vocabulary; the same ones each time.

    Args:
        space: The vectors by whose distances words are near or far. All texts are made of their entries, of words that
            they lack, and of numbers.

    Raises:
        BundleError: The vocabulary has too few words.
    """
    words = _Words(space)
    (near, nearest), (far, farthest) = words.near, words.far
    one, two, three, *_ = words.others
    wide = "".join(chr(ord(letter) + _FULL_WIDTH) for letter in far)
    strange = []
    if len(words.unknown) == 2:
        strange = [Pair("known and unknown word", far, words.unknown[0]), Pair("two unknown words", *words.unknown)]
    return [
        Pair("near words", near, nearest),
        Pair("far words", far, farthest),
        Pair("same word, capitalized", far, far.capitalize()),
        Pair("same word, full-width letters", far, wide),
        Pair("plain and accented word", far, _add_accent(far)),
        *strange,
        Pair("stopword and content word", f"{one} {words.stopword}", f"{one} {far}"),
        Pair("capitalized stopword and content word", f"{one} {words.stopword.capitalize()}", f"{one} {far}"),
        *([Pair("name and no name", f"{words.name} {one}", f"{far} {one}")] if words.name else []),
        Pair("numbers", *NUMBERS),
        Pair("phone numbers", *PHONE_NUMBERS),
        *([Pair("expressions", *words.expressions)] if len(words.expressions) == 2 else []),
        Pair("one word of four", f"{far} {one} {two} {three}", f"{farthest} {one} {two} {three}"),
        Pair("all of three words", f"{near} {far} {one}", f"{nearest} {farthest} {two}"),
        Pair("words beside stopwords", f"the {near} was {one}", f"the {nearest} was {one}"),
        Pair("repeated word and two words", f"{near} {near}", f"{near} {nearest}"),
    ]


def _add_accent(word: str) -> str:
    """The word with an accent on its first letter that can have one."""
    for place, letter in enumerate(word):
        if letter in _ACCENTS:
            return f"{word[:place]}{_ACCENTS[letter]}{word[place + 1 :]}"
    return f"{word}\u0301"


def find_exact_ratio(mechanism: Mechanism, first: Request, second: Request) -> float | None:
    """The log-ratio of an answer to two texts, in the direction in which it is larger; ``None`` without a closed form.

    For ``exponential`` it is the largest log-ratio of all answers. For ``fluent``, the probabilities of a word depend
    on the words written before. The answer is then written from left to right, with the largest ratio at each word that
    differs and the likeliest entry at all others. So it is exact for this answer, and there may be worse ones.

    Args:
        mechanism: The mechanism.
        first: What it is asked for one text.
        second: What it is asked for a neighbor of that text, with the same shares.
    """
    if not isinstance(mechanism, Exponential):
        return None
    return max(_write_worst(mechanism, first, second), _write_worst(mechanism, second, first))


def _write_worst(mechanism: Exponential, likely: Request, unlikely: Request) -> float:
    """The log-ratio of the worst answer: likely for one text, unlikely for the other."""
    places = [mechanism.place(request, slice(None)) for request in (likely, unlikely)]
    written = np.full(len(likely.rows), ASKED) if likely.context is None else likely.context.copy()
    asked = np.flatnonzero(written == ASKED)
    total = 0.0
    for step, place in enumerate(asked):
        points = np.stack([place_of[step] for place_of in places])
        logs = _channel(mechanism, points, float(likely.shares[step]), written[:place])
        ratios = logs[0] - logs[1]
        differ = bool((points[0] != points[1]).any())
        chosen = int(ratios.argmax() if differ else logs[0].argmax())
        total += float(ratios[chosen]) if differ else 0.0
        written[place] = mechanism.space.writable[chosen]
    return total


def _channel(mechanism: Exponential, points: Floats, share: float, before: RowNumbers) -> Floats:
    """The log-probabilities of all entries at two points, after what was written before."""
    shares = np.full(len(points), share)
    if not isinstance(mechanism, Fluent):
        return mechanism.log_channel(points, shares)
    reach = mechanism.prior.order - 1
    context = np.concatenate([np.full(reach, UNKNOWN), before])[len(before) :]
    return mechanism.log_channel(points, shares, np.tile(context, (len(points), 1)))


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed for a pair."""

    bound: float
    """The claimed upper bound of the log-ratio of the probabilities of any answer; infinite if nothing is claimed."""
    not_covered: str | None = None
    """The reason why the claim does not cover the pair; ``None`` if it does."""
    exact: float | None = None
    """The log-ratio of an answer, computed from the probabilities of a mechanism with a closed form."""


Claims: TypeAlias = Callable[[Pair], Claim]
"""States the claim for a pair."""


def claim_per_word(bound: float) -> Claims:
    """The same bound for any two words: local differential privacy. The words of a text add up.

    >>> claim_per_word(2.0)(Pair("", "one word", "other words")).bound
    4.0
    """

    def claim(pair: Pair) -> Claim:
        if len(find_words(pair.first)) != len(find_words(pair.second)):
            return Claim(math.inf, not_covered=_OTHER_LENGTH)
        if pair.words_that_differ == 0:
            return Claim(math.inf, not_covered=_OTHER_GAPS)
        return Claim(bound * pair.words_that_differ)

    return claim


def claim_by_distance(space: Vectors, epsilon: float) -> Claims:
    """Epsilon times the distance of two words: metric privacy. The words of a text add up.

    Args:
        space: The vectors. A word that they lack is at their center.
        epsilon: The budget of a word.
    """

    def claim(pair: Pair) -> Claim:
        first, second = (find_words(text) for text in (pair.first, pair.second))
        if len(first) != len(second):
            return Claim(math.inf, not_covered=_OTHER_LENGTH)
        places = [space.place(np.array([space.find(word) for word in words])) for words in (first, second)]
        return Claim(epsilon * float(np.linalg.norm(places[0] - places[1], axis=1).sum()))

    return claim


class ObfuscatorClaims:
    """The claims of an obfuscator: those of its profile and its mechanism, for the shares that it plans.

    Args:
        obfuscator: The obfuscator.
        budget: The budget of each text.
    """

    def __init__(self, obfuscator: Obfuscator, budget: Budget) -> None:
        self._obfuscator = obfuscator
        self._budget = budget

    def __call__(self, pair: Pair) -> Claim:
        """The claim for a pair."""
        if self._obfuscator.draft_share is not None:
            return self._claim_after_draft(pair, self._obfuscator.draft_share)
        first, second = (self._obfuscator.plan(text, self._budget) for text in (pair.first, pair.second))
        if reason := self._find_difference(first[0], second[0]):
            return Claim(math.inf, not_covered=reason)
        mechanism = self._obfuscator.mechanism
        if mechanism.guarantee == NO_GUARANTEE:
            return Claim(math.inf)
        bound = float((first[1].shares * _measure(mechanism, first[1], second[1])).sum())
        return Claim(bound, exact=find_exact_ratio(mechanism, first[1], second[1]))

    def _claim_after_draft(self, pair: Pair, draft_share: float) -> Claim:
        """The claim whatever the draft: the refinement may spend its part on the words that differ most."""
        texts = [find_words(text) for text in (pair.first, pair.second)]
        number = len(texts[0])
        if number != len(texts[1]):
            return Claim(math.inf, not_covered=_OTHER_LENGTH)
        mechanism, largest = self._obfuscator.mechanism, self._obfuscator.largest_share
        if mechanism.guarantee == NO_GUARANTEE:
            return Claim(math.inf)
        distances = _measure(mechanism, *(self._ask(words) for words in texts))
        if self._obfuscator.terms.decomposition["name"] not in SINGLE_WORDS:
            if mechanism.cap is None:
                return Claim(math.inf, not_covered="a draft may join words to chunks of any distance")
            distances = np.full(number, mechanism.cap)  # of chunks with these words
        epsilon = self._obfuscator.profile.choose_budget(self._budget).of(number)
        draft = draft_share * min(epsilon / max(number, 1), largest)
        bound, rest = draft * float(distances.sum()), (1 - draft_share) * epsilon
        for distance in sorted(distances.tolist(), reverse=True):
            share = min(rest, largest - draft)
            bound, rest = bound + share * distance, rest - share
        return Claim(bound)

    def _ask(self, words: Sequence[str]) -> Request:
        """The request for single words, without shares."""
        rows = np.array([self._obfuscator.mechanism.vectors.find(word) for word in words], dtype=np.int64)
        spelled = self._obfuscator.planner.place_unknown(
            [word for word in words if word not in self._obfuscator.mechanism.vectors]
        )
        return Request(rows, np.zeros(len(rows)), self._obfuscator.randomness.stream(0), spelled)

    def _find_difference(self, first: Plan, second: Plan) -> str | None:
        """The reason why two texts are not neighbors in the sense of the profile; ``None`` if they are."""
        if len(first.document.words) != len(second.document.words):
            return _OTHER_LENGTH
        if self._obfuscator.profile.public_allocation:
            return None  # chunks and shares depend on nothing but the number of words
        keeps_form = self._obfuscator.terms.form == "keep"
        if [planned.chunk for planned in first.chunks] != [planned.chunk for planned in second.chunks]:
            return "the chunks differ"
        if _read_kept(first, keeps_form=keeps_form) != _read_kept(second, keeps_form=keeps_form):
            return "the kept words differ"
        if [planned.share for planned in first.chunks] != [planned.share for planned in second.chunks]:
            return "the shares differ"
        return _OTHER_GAPS if keeps_form and _read_gaps(first) != _read_gaps(second) else None


def _read_kept(plan: Plan, *, keeps_form: bool) -> list[tuple[Outcome, str] | None]:
    """The chunks that are released in clear, as the text writes them or in lowercase; ``None`` for all others."""

    def write(chunk: Chunk) -> str:
        return plan.document.text[slice(*plan.span(chunk))] if keeps_form else plan.document.key(chunk)

    return [None if planned.outcome.is_chosen else (planned.outcome, write(planned.chunk)) for planned in plan.chunks]


def _read_gaps(plan: Plan) -> list[str]:
    """The texts before, between and after chunks."""
    spans = [plan.span(planned.chunk) for planned in plan.chunks]
    starts, stops = [0, *(stop for _, stop in spans)], [*(start for start, _ in spans), len(plan.document.text)]
    return [plan.document.text[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _measure(mechanism: Mechanism, first: Request, second: Request) -> Floats:
    """The distances of the chunks of two neighbors, limited by the cap."""
    places = [mechanism.place(request, slice(None)) for request in (first, second)]
    distances: Floats = np.linalg.norm(places[0] - places[1], axis=1)
    return distances if mechanism.cap is None else np.minimum(distances, mechanism.cap)
