"""Deniability of single words: how likely a word stays, how many others it may become, how often it is guessed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from textveil.budget import Budget
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.deniability import DRAWS, Estimate, Replacements
from textveil.draft import refuse_draft
from textveil.errors import ParameterError
from textveil.lab.attacks.channels import Channel, ExactChannel
from textveil.lab.attacks.inversion import Attacker
from textveil.methods.mechanisms import Mechanism, Request
from textveil.methods.mechanisms.exponential import Exponential
from textveil.methods.mechanisms.fluent import Fluent
from textveil.methods.mechanisms.returns import LARGEST_RATE
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.text.documents import Chunk, Document
from textveil.text.stopwords import ENGLISH
from textveil.threads import in_threads

BLOCK = 64
"""Candidates and released entries that are compared at a time."""
BOUNDS = 1024
"""Candidates whose sums are bounded at a time."""
RIVALS = 4
"""The best candidates for each of them whose sums are computed."""
NEGLECTED = 0.01
"""The least likely replacements of a word are not attacked, up to this probability in total."""


@dataclass(frozen=True, slots=True)
class WordDeniability:
    """What an observer can conclude about a word."""

    word: str
    known: bool
    """Whether the vocabulary has the word."""
    stays: Estimate
    """N_w: the probability that the word replaces itself."""
    others: Estimate
    """S_w: the number of other entries that replace it with a probability of more than 1 %."""
    guessed: Estimate
    """The probability that an attacker guesses the word from its replacement.

    The attacker knows the mechanism, the share and the frequencies of words, and guesses the most likely word by Bayes'
    rule. The likelihood of a mechanism without a closed form is approximate, so a better attacker may exist.
    """

    def as_dict(self) -> dict[str, Any]:
        """The word as JSON can hold it."""
        values = {name: getattr(self, name)._asdict() for name in ("stays", "others", "guessed")}
        return {"word": self.word, "known": self.known, **values}


def measure_deniability(
    obfuscator: Obfuscator, words: Sequence[str], *, share: float, draws: int = DRAWS
) -> list[WordDeniability]:
    """Measure the deniability of words, each at the same share.

    Values are exact for mechanisms with a closed form, except that the guesses leave out replacements with a total
    probability of ``NEGLECTED``. For other mechanisms, the intervals are those of Clopper and Pearson, with 95 %.

    A word that the profile releases in clear, such as a plain stopword, stays for certain.

    Args:
        obfuscator: The obfuscator.
        words: Words, or entries of several words.
        share: The share of each word.
        draws: The number of draws for each word, for a mechanism without a closed form.

    Raises:
        ParameterError: A word is not a word, or the share is not positive.
    """
    refuse_draft(obfuscator.draft_share, "Deniability")
    if not 0 < share < np.inf:
        raise ParameterError(f"`share` must be positive and finite. Got {share!r} instead.")
    if draws < 1:
        raise ParameterError(f"`draws` must be a whole number of at least 1. Got {draws!r} instead.")
    keys = [_read_key(word, number) for number, word in enumerate(words, start=1)]
    mechanism = obfuscator.mechanism
    rows = np.array([mechanism.vectors.find(key) for key in keys], dtype=np.int64)
    spelled = obfuscator.planner.place_unknown([key for key, row in zip(keys, rows, strict=True) if row == UNKNOWN])
    replacements = Replacements(mechanism, rows, share, spelled=spelled, draws=draws)
    found = zip(
        replacements.find_stays(), replacements.count_others(), _measure_guesses(obfuscator, replacements), strict=True
    )
    return [
        WordDeniability(word, row != UNKNOWN, *(_IN_CLEAR if _is_released(obfuscator, word, share) else estimates))
        for word, row, estimates in zip(words, rows.tolist(), found, strict=True)
    ]


_IN_CLEAR = (Estimate.exactly(1.0), Estimate.exactly(0.0), Estimate.exactly(1.0))
"""What is known of a word in clear: it stays, becomes no other, and is no secret."""


def _is_released(obfuscator: Obfuscator, word: str, share: float) -> bool:
    """Whether the profile releases a word in clear."""
    plan, _ = obfuscator.plan(word, Budget(epsilon=share))
    return not any(planned.outcome.is_chosen for planned in plan.chunks)


def _read_key(word: str, number: int) -> str:
    """A word as vocabularies spell it."""
    document = Document.parse(word)
    if not document.words:
        raise ParameterError(f"Argument {number} of `words` has no word. Give words of letters or digits.")
    return document.key(Chunk(0, len(document.words)))


def _measure_guesses(obfuscator: Obfuscator, replacements: Replacements) -> list[Estimate]:
    """The probability that the attacker guesses each word; it is 0 for an unknown one."""
    columns = _choose_columns(replacements.probabilities)
    released = obfuscator.mechanism.space.writable[columns]
    channel, share = _build_channel(obfuscator), replacements.share
    if isinstance(channel, ExactChannel):
        find_guessed = _Contest(channel, released, share).find_won
    else:
        find_guessed = partial(np.equal, _guess(channel, released, share))
    found = []
    for row, probabilities in zip(replacements.rows.tolist(), replacements.probabilities, strict=True):
        success, drawn = 0.0, replacements.draws
        if row != UNKNOWN:
            success = float(probabilities[columns][find_guessed(row)].sum())
        exact = row == UNKNOWN or drawn is None
        found.append(Estimate.exactly(success) if exact else Estimate.from_draws(success, drawn or 0))
    return found


def _build_channel(obfuscator: Obfuscator) -> Channel:
    """What an attacker who knows everything about an obfuscator except its noise knows of the first chunk of a text."""
    mechanism, decomposition = obfuscator.mechanism, obfuscator.terms.decomposition["name"]
    keeps_stopwords = obfuscator.stopwords == "keep"
    channel = Attacker(obfuscator.bundle, decomposition, mechanism, keeps_stopwords=keeps_stopwords).channel
    if not isinstance(mechanism, Fluent):
        return channel
    start = np.full((1, mechanism.prior.order - 1), UNKNOWN)
    return ExactChannel(mechanism, channel.log_prior, mechanism.log_base(start)[0])


def _guess(channel: Channel, released: RowNumbers, share: float) -> RowNumbers:
    """The first guess for every released entry."""
    shares, contexts = np.full(len(released), share), np.empty((len(released), 0), dtype=np.int64)
    channel.prepare(shares, contexts)

    parts = np.split(np.arange(len(released)), range(BLOCK, len(released), BLOCK))
    return np.concatenate(
        [channel.log_posterior(released[part], shares[part], contexts[part]).argmax(axis=1) for part in parts]
    )


class _Contest:
    """Finds the released entries for which a word is the first guess of an attacker who knows all probabilities.

    The posterior of a candidate needs its normalizing sum, over all writable entries. Only few of these sums are
    computed: a lower bound of the sum bounds the posterior from above, and mostly this is below that of the word. The
    sum is computed for the best candidates above it, and each of them may beat the word for many released entries.

    Args:
        channel: The posterior.
        released: The rows of the released entries.
        share: The share of each.
    """

    def __init__(self, channel: ExactChannel, released: RowNumbers, share: float) -> None:
        self._channel, self._share = channel, share
        self._released = channel.points[released]
        self._computed = np.zeros(len(channel.points), dtype=bool)
        everyone = np.arange(len(channel.points))
        self._sums = np.concatenate(list(self._in_blocks(channel.bound_sums, everyone, BOUNDS)))
        """The logarithms of normalizing sums, or their lower bounds if they are not computed."""

    def find_won(self, row: int) -> npt.NDArray[np.bool_]:
        """For every released entry, whether a candidate is the first guess."""
        self._compute(np.array([row]))
        own = self._score(np.array([row]), slice(None))[:, 0]
        won = np.ones(len(own), dtype=bool)
        checked = np.zeros(len(own), dtype=bool)
        self._strike(won, own, np.setdiff1d(np.flatnonzero(self._computed), [row]))
        while len(places := np.flatnonzero(won & ~checked)[:BLOCK]) and not self._computed.all():
            left = np.flatnonzero(~self._computed)
            bounds = self._score(left, places)
            above = bounds.max(axis=1) > own[places]
            checked[places[~above]] = True
            best = np.argpartition(-bounds[above], min(RIVALS, len(left)) - 1, axis=1)[:, :RIVALS]
            rivals = left[np.unique(best)]
            self._compute(rivals)
            self._strike(won, own, rivals)
        return won

    def _score(self, candidates: RowNumbers, places: RowNumbers | slice) -> Floats:
        """The logarithms of posteriors of candidates (columns), or upper bounds, for released entries (rows)."""
        scores = self._channel.measure(candidates, self._released[places])
        scores *= -self._share / 2
        scores += self._channel.log_prior[candidates] - self._sums[candidates]
        return scores

    def _compute(self, candidates: RowNumbers) -> None:
        """Compute the sums of candidates."""
        missing = candidates[~self._computed[candidates]]
        for part, sums in zip(_cut(missing), self._in_blocks(self._channel.sum_up, missing), strict=True):
            self._sums[part] = sums
        self._computed[missing] = True

    def _strike(self, won: npt.NDArray[np.bool_], own: Floats, rivals: RowNumbers) -> None:
        """Strike out the released entries for which one of these candidates is more likely."""
        for rival_part in _cut(rivals):
            places = np.flatnonzero(won)
            won[places] = self._score(rival_part, places).max(axis=1) <= own[places]

    def _in_blocks(self, compute: Callable[..., Floats], candidates: RowNumbers, size: int = BLOCK) -> Iterator[Floats]:
        return in_threads(compute, ((part, self._share, self._channel.log_base) for part in _cut(candidates, size)))


def _cut(rows: RowNumbers, size: int = BLOCK) -> Iterator[RowNumbers]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _choose_columns(probabilities: Floats) -> RowNumbers:
    """The entries that matter: those that make up nearly all of the probability for each word."""
    order = np.argsort(-probabilities, axis=1)
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    needed = (sums < 1 - NEGLECTED).sum(axis=1) + 1
    chosen = [row[:number] for row, number in zip(order, needed, strict=True)]
    columns: RowNumbers = np.unique(np.concatenate(chosen))
    return columns


WORDS = 200
"""Words that are drawn for each point, by their frequency."""
POINTS = 12
"""The number of epsilons. They are the multiples of a tenth of the share at which half of the words return."""
REVISION = 1
"""Changes whenever the curve is computed in another way."""


def describe_meaning(obfuscator: Obfuscator) -> dict[str, Any]:
    """What an epsilon per word means for a mechanism and the words of a bundle: a curve of twelve points.

    Words are drawn by their frequency, without stopwords that are kept. ``stays`` is the mean probability that a word
    replaces itself. ``guessed`` is the mean success of an attacker by Bayes' rule over the whole vocabulary, who knows
    the mechanism, the epsilon and the frequencies of words. With a closed form, both are exact but for the draw of
    words, and of one replacement for each; with a language model, each word is the first of a text. For other
    mechanisms, both are shares of the draws, and the attacker is approximate.

    The curve depends on no text. It is computed once and cached.

    Raises:
        ParameterError: Texts are drafted first, so that a word is perturbed twice.
    """
    refuse_draft(obfuscator.draft_share, "The meaning of an epsilon")
    mechanism, decomposition = obfuscator.mechanism, obfuscator.terms.decomposition["name"]
    name = json.dumps(["meaning", REVISION, mechanism.as_dict(), obfuscator.stopwords], sort_keys=True)
    return obfuscator.bundle.find_figures(decomposition, name, lambda: _compute(obfuscator, decomposition))


def _compute(obfuscator: Obfuscator, decomposition: str) -> dict[str, Any]:
    words = _draw_words(obfuscator, decomposition, keeps_stopwords=obfuscator.stopwords == "keep")
    step = float(f"{obfuscator.find_share(LARGEST_RATE) / 10:.3g}")
    method, measure = "simulated", _measure
    if isinstance(obfuscator.mechanism, Exponential):
        method, measure = "exact", _measure_exactly
    points = [
        {"epsilon_per_word": round(share, 6), "stays": round(stays, 4), "guessed": round(guessed, 4)}
        for share, stays, guessed in measure(obfuscator, words, step * np.arange(1.0, POINTS + 1))
    ]
    return {"method": method, "words": len(words), "points": points}


def _draw_words(obfuscator: Obfuscator, decomposition: str, *, keeps_stopwords: bool) -> RowNumbers:
    """Rows of words by their frequency; the same ones each time."""
    vectors, counts = obfuscator.mechanism.vectors, obfuscator.bundle.counts(decomposition)
    seen = np.ones(len(vectors)) if counts is None else np.asarray(counts, dtype=np.float64)
    weights = np.zeros(len(vectors))
    weights[vectors.writable] = seen[vectors.writable]
    if keeps_stopwords:
        weights[[ENGLISH.issuperset(entry.split("_")) for entry in vectors.entries]] = 0.0
    if not weights.any():
        weights[vectors.writable] = 1.0
    drawn: RowNumbers = SeededRandomness(0).stream(0).choice(len(vectors), WORDS, p=weights / weights.sum())
    return drawn


def _release(mechanism: Mechanism, words: RowNumbers, share: float) -> RowNumbers:
    """One replacement for each word, as if it were a text of its own; the same ones each time."""
    streams = SeededRandomness(1)
    return np.concatenate(
        mechanism.perturb(
            [
                Request(words[number : number + 1], np.array([share]), streams.stream(number))
                for number in range(len(words))
            ]
        )
    )


def _measure(obfuscator: Obfuscator, words: RowNumbers, shares: Floats) -> Iterator[tuple[float, float, float]]:
    """At every share, the shares of words that stay and that are guessed in draws."""
    channel = _build_channel(obfuscator)
    for share in shares.tolist():
        released = _release(obfuscator.mechanism, words, share)
        yield share, float(np.mean(released == words)), float(np.mean(_guess(channel, released, share) == words))


def _measure_exactly(obfuscator: Obfuscator, words: RowNumbers, shares: Floats) -> Iterator[tuple[float, float, float]]:
    """At every share, the mean probabilities that a word stays, and that the best guess is right."""
    channel, contexts = cast("ExactChannel", _build_channel(obfuscator)), np.empty((len(words), 0), dtype=np.int64)
    channel.prepare(shares, contexts)
    own = channel.log_base[np.searchsorted(obfuscator.mechanism.space.writable, words)]
    for share in shares.tolist():
        repeated = np.full(len(words), share)
        released = _release(obfuscator.mechanism, words, share)
        posterior = channel.log_posterior(released, repeated, contexts)
        best = 1 / np.exp(posterior - posterior.max(axis=1, keepdims=True)).sum(axis=1)
        stays = np.exp(own - channel.log_sums(np.array([share]))[0, words])
        yield share, float(stays.mean()), float(best.mean())
