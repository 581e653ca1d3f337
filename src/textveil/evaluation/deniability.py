"""Deniability of single words: how likely a word stays, how many others it may become, how often it is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.errors import ParameterError
from textveil.evaluation.inversion import Attacker
from textveil.language.text import Chunk, Document
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Budget
from textveil.privacy.replacements import DRAWS, Estimate, Replacements

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
    contexts = np.full((len(released), 0 if prior is None else prior.order - 1), UNKNOWN)
    guesses = attacker.attack(released, np.full(len(released), replacements.share), contexts).rows[:, 0]
    found = []
    for row, probabilities in zip(replacements.rows.tolist(), replacements.probabilities, strict=True):
        success = float(probabilities[columns][guesses == row].sum())
        drawn = replacements.draws if row != UNKNOWN else None
        found.append(Estimate.exactly(success) if drawn is None else Estimate.from_draws(success, drawn))
    return found


def _choose_columns(probabilities: Floats) -> RowNumbers:
    """The entries that matter: those that make up nearly all of the probability for each word."""
    order = np.argsort(-probabilities, axis=1)
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    needed = (sums < 1 - NEGLECTED).sum(axis=1) + 1
    chosen = [row[:number] for row, number in zip(order, needed, strict=True)]
    columns: RowNumbers = np.unique(np.concatenate(chosen))
    return columns
