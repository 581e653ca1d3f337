"""Deniability of single words: how likely a word stays, how many others it may become, how often it is guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.errors import ParameterError
from textveil.evaluation.channels import ExactChannel
from textveil.evaluation.inversion import Attacker
from textveil.language.text import Chunk, Document
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Budget
from textveil.privacy.replacements import DRAWS, Estimate, Replacements
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
        values = {name: getattr(self, name).as_dict() for name in ("stays", "others", "guessed")}
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
    obfuscator.refuse_draft("Deniability")
    if not 0 < share < np.inf:
        raise ParameterError(f"`share` must be positive and finite. Got {share!r} instead.")
    if draws < 1:
        raise ParameterError(f"`draws` must be a whole number of at least 1. Got {draws!r} instead.")
    keys = [_read_key(word, number) for number, word in enumerate(words, start=1)]
    mechanism = obfuscator.mechanism
    rows = np.array([mechanism.vectors.find(key) for key in keys], dtype=np.int64)
    spelled = obfuscator.place_unknown([key for key, row in zip(keys, rows, strict=True) if row == UNKNOWN])
    replacements = Replacements(mechanism, rows, share, spelled=spelled, draws=draws)
    found = zip(
        words,
        (rows != UNKNOWN).tolist(),
        replacements.find_stays(),
        replacements.count_others(),
        _measure_guesses(obfuscator, replacements),
        strict=True,
    )
    measured = [WordDeniability(*values) for values in found]
    return [
        WordDeniability(word.word, word.known, *_IN_CLEAR) if _is_released(obfuscator, word.word, share) else word
        for word in measured
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
    mechanism, bundle = obfuscator.mechanism, obfuscator.bundle
    decomposition = obfuscator.terms.decomposition["name"]
    attacker = Attacker(bundle, decomposition, mechanism, keeps_stopwords=obfuscator.stopwords == "keep")
    columns = _choose_columns(replacements.probabilities)
    released: RowNumbers = mechanism.space.writable[columns]
    prior = bundle.prior(decomposition)
    context = np.full(0 if prior is None else prior.order - 1, UNKNOWN)
    find_guessed = (
        _Contest(attacker.channel, released, replacements.share, context).find_won
        if isinstance(attacker.channel, ExactChannel)
        else partial(np.equal, _guess_all(attacker, released, replacements.share, context))
    )
    found = []
    for row, probabilities in zip(replacements.rows.tolist(), replacements.probabilities, strict=True):
        success = float(probabilities[columns][find_guessed(row)].sum()) if row != UNKNOWN else 0.0
        drawn = replacements.draws if row != UNKNOWN else None
        found.append(Estimate.exactly(success) if drawn is None else Estimate.from_draws(success, drawn))
    return found


def _guess_all(attacker: Attacker, released: RowNumbers, share: float, context: RowNumbers) -> RowNumbers:
    """The first guess for every released entry."""
    contexts = np.tile(context, (len(released), 1))
    guesses: RowNumbers = attacker.attack(released, np.full(len(released), share), contexts).rows[:, 0]
    return guesses


class _Contest:
    """Finds the released entries for which a word is the first guess of an attacker who knows all probabilities.

    The posterior of a candidate needs its normalizing sum, over all writable entries. Only few of these sums are
    computed: a lower bound of the sum bounds the posterior from above, and mostly this is below that of the word. The
    sum is computed for the best candidates above it, and each of them may beat the word for many released entries.

    Args:
        channel: The posterior.
        released: The rows of the released entries.
        share: The share of each.
        context: The rows released before.
    """

    def __init__(self, channel: ExactChannel, released: RowNumbers, share: float, context: RowNumbers) -> None:
        self._channel, self._share, self._context = channel, share, context
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
        for part, sums in zip(_cut(missing), self._in_blocks(self._channel.log_sums, missing), strict=True):
            self._sums[part] = sums
        self._computed[missing] = True

    def _strike(self, won: npt.NDArray[np.bool_], own: Floats, rivals: RowNumbers) -> None:
        """Strike out the released entries for which one of these candidates is more likely."""
        for rival_part in _cut(rivals):
            places = np.flatnonzero(won)
            won[places] = self._score(rival_part, places).max(axis=1) <= own[places]

    def _in_blocks(self, compute: Callable[..., Floats], candidates: RowNumbers, size: int = BLOCK) -> Iterator[Floats]:
        return in_threads(compute, ((part, self._share, self._context) for part in _cut(candidates, size)))


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
