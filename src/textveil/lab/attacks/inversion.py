"""Inversion: the share of chunks that an attacker who knows the mechanism guesses, one by one and in whole texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.entries import Entries
from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.certificate import Terms
from textveil.errors import InputError, ParameterError
from textveil.lab.attacks.channels import Slot, build_channel, decode
from textveil.lab.metrics.base import Case, Measurement, Metric, Need, Reading
from textveil.lab.metrics.dataset import SAMPLE_SEED
from textveil.lab.metrics.uncertainty import bootstrap_ratio, describe_few
from textveil.methods.mechanisms import MECHANISMS, Mechanism
from textveil.progress import Progress, ignore_progress
from textveil.randomness import SeededRandomness
from textveil.registry import Option
from textveil.results import Obfuscation
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

LARGEST_SAMPLE = 2_000
"""The number of chunks to attack. If there are more, texts are drawn until they have as many."""
GUESSES = 10
BLOCK = 128
"""Chunks to attack at a time."""
CANDIDATES = 40
"""The candidates of a chunk that whole texts are decoded from."""
_SMALLEST_REST = 1e-12

Hits: TypeAlias = npt.NDArray[np.bool_]


class Released(NamedTuple):
    """The chunks of a text as rows of the vocabulary."""

    true: RowNumbers
    """The original of each chunk; ``UNKNOWN`` outside the vocabulary."""
    released: RowNumbers
    """What the output has instead; for a chunk in clear, the same."""
    shares: Floats
    replaced: RowNumbers
    """The positions of the chunks that the mechanism replaced."""

    def pick(self, reach: int) -> tuple[RowNumbers, RowNumbers, Floats, RowNumbers]:
        """The replaced chunks: their originals, what was released, their shares, and the rows released before."""
        places = self.replaced
        padded = np.concatenate([np.full(reach, UNKNOWN), self.released])
        contexts: RowNumbers = padded[places[:, None] + np.arange(reach)]
        return self.true[places], self.released[places], self.shares[places], contexts


class Guesses(NamedTuple):
    """The most likely candidates of every chunk, the best one first."""

    rows: RowNumbers
    evidence: Floats
    """The logarithm of the posterior without the frequency of the entry, which a language model knows, too.

    It is the log-likelihood, up to a constant for the chunk. Where stopwords are kept, they have less.
    """
    rest: Floats
    """The logarithm of the posterior of all other candidates together, up to the same constant."""


class Attacker:
    """Guesses original chunks from their replacements, by Bayes' rule over the public vocabulary.

    The prior of an entry is its count in the bundle's corpus plus one. Without counts the prior is uniform. Where
    stopwords are kept, the prior of a stopword is that of an entry without occurrences. The posterior is exact for
    mechanisms with a closed form, and else calibrated by simulation; see :mod:`textveil.lab.attacks.channels`.

    Args:
        bundle: The bundle.
        decomposition: The decomposition.
        mechanism: The mechanism, as a certificate names it.
        keeps_stopwords: Whether stopwords are kept.
    """

    def __init__(self, bundle: Bundle, decomposition: str, mechanism: Mechanism, *, keeps_stopwords: bool) -> None:
        vectors = mechanism.vectors
        counts = bundle.counts(decomposition)
        seen = np.zeros(len(vectors)) if counts is None else np.asarray(counts, dtype=np.float64)
        self.log_frequencies = np.log((seen + 1) / (seen + 1).sum())
        if keeps_stopwords:
            seen = np.where(_find_stopwords(vectors.entries), 0, seen)
        self._prior = np.log(seen + 1)
        self.channel = build_channel(mechanism, self._prior, bundle, decomposition)

    def guess_by_prior(self) -> RowNumbers:
        """The rows of the most frequent candidates, best guess first."""
        guesses: RowNumbers = np.argsort(-self._prior, kind="stable")[:GUESSES]
        return guesses

    def attack(
        self, released: RowNumbers, shares: Floats, contexts: RowNumbers, progress: Progress = ignore_progress
    ) -> Guesses:
        """The most likely candidates for every chunk.

        Args:
            released: The row that was released for each chunk.
            shares: The share of each chunk.
            contexts: The rows released before each chunk, the last one last.
            progress: Receives progress reports.
        """
        self.channel.prepare(shares, contexts)
        found = []
        for start in range(0, len(released), BLOCK):
            part = slice(start, start + BLOCK)
            found.append(self._rank(self.channel.log_posterior(released[part], shares[part], contexts[part])))
            done = min(part.stop, len(released))
            progress("inversion", done, done / len(released))
        return Guesses(*map(np.concatenate, zip(*found, strict=True)))

    def _rank(self, posterior: Floats) -> Guesses:
        wanted = min(max(GUESSES, CANDIDATES), posterior.shape[1])
        best = np.argpartition(-posterior, wanted - 1, axis=1)[:, :wanted]
        values = np.take_along_axis(posterior, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        rows: RowNumbers = np.take_along_axis(best, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        largest = values[:, :1]
        missing = np.exp(posterior - largest).sum(axis=1) - np.exp(values - largest).sum(axis=1)
        rest = np.log(np.maximum(missing, _SMALLEST_REST)) + largest[:, 0]
        return Guesses(rows, values - self.log_frequencies[rows], rest)


class Inversion(Metric):
    """The share of chunks that the attacker guesses, with its first guess and with its first ten.

    They are compared with guesses by the prior alone, and with repeating the released word. If the bundle has a
    language model, a second attacker decodes whole texts with it. The attack targets the chunks that the mechanism
    replaced. A chunk that is not in the vocabulary is never guessed.

    Args:
        options: The ``bundle`` of the obfuscation, the ``sample`` of chunks and its ``seed``.
    """

    name = "inversion"
    needs: ClassVar[tuple[Need, ...]] = (Need.CHUNKS,)

    options = (
        Option(
            "bundle",
            object,
            DEFAULT_BUNDLE,
            "The bundle of the obfuscation.",
            changes_results=False,  # its files do, and they are recorded
        ),
        Option(
            "sample",
            int,
            LARGEST_SAMPLE,
            "The number of chunks to attack. Texts are drawn until they have as many.",
            least=1,
        ),
        Option("seed", int, SAMPLE_SEED, "The seed of the sample.", least=0),
    )
    bundle: Bundle
    sample: int
    seed: int

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(self.bundle, Bundle):
            self.bundle = Bundle.load(self.bundle)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The bundle, whose vocabulary and counts the attacker knows."""
        return {"name": self.bundle.manifest.name, "sha256": self.bundle.hash}

    def measure(self, case: Case) -> Measurement:
        """Attack the chunks, or those of a sample of the texts."""
        obfuscations = case.obfuscations or ()
        terms = obfuscations[0].certificate.terms
        self._check(terms)
        decomposition = terms.decomposition["name"]
        prior, chosen = self.bundle.prior(decomposition), MECHANISMS.load(terms.mechanism["name"])
        parts = [prior] if chosen.uses_prior else []
        mechanism = chosen(self.bundle.vectors(decomposition), *parts, **terms.mechanism["options"])
        attacker = Attacker(self.bundle, decomposition, mechanism, keeps_stopwords=terms.stopwords == "keep")
        texts = self._draw(collect(obfuscations, mechanism.vectors))
        picked = (text.pick(0 if prior is None else prior.order - 1) for text in texts)
        true, released, shares, contexts = map(np.concatenate, zip(*picked, strict=True))
        total = len(true)
        guesses = attacker.attack(released, shares, contexts, case.progress)
        right, by_prior = guesses.rows[:, :GUESSES] == true[:, None], attacker.guess_by_prior()
        hits = {
            "top_1": right[:, 0],
            "top_10": right.any(axis=1),
            "repeated": released == true,
            "prior_top_1": true == by_prior[0],
            "prior_top_10": np.isin(true, by_prior),
        }
        if prior is not None:
            hits["decoded"] = _decode(texts, guesses, prior, attacker.log_frequencies) == true
        sizes = [len(text.replaced) for text in texts]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        values = {
            name: Reading(float(found.mean()), bootstrap_ratio(np.bincount(owners, found, len(sizes)), sizes))
            for name, found in hits.items()
        }
        return self.report(
            _tell(values), values, caveats=describe_few(len(texts), "attacked texts"), chunks=total, texts=len(texts)
        )

    def _check(self, terms: Terms) -> None:
        if terms.bundle["sha256"] != self.bundle.hash:
            raise ParameterError(
                f"The texts were obfuscated with another bundle: {terms.bundle['name']} {terms.bundle['version']}. "
                "Set `bundle` to that one."
            )
        if terms.draft_share is not None:
            raise InputError(
                "The attacker knows mechanisms of one round, and these texts were drafted first. Remove inversion from "
                "`metrics`."
            )

    def _draw(self, texts: Sequence[Released]) -> list[Released]:
        """The texts to attack: in random order, until they have enough chunks."""
        attacked = [text for text in texts if len(text.replaced)]
        if not attacked:
            raise InputError(
                "The mechanism replaced no chunk, so there is nothing to invert. Remove inversion from `metrics`."
            )
        order = SeededRandomness(self.seed).stream(0).permutation(len(attacked))
        before = np.cumsum([0, *(len(attacked[number].replaced) for number in order[:-1])])
        return [attacked[number] for number in order[before < self.sample]]


def _decode(texts: Sequence[Released], guesses: Guesses, prior: NgramPrior, log_frequencies: Floats) -> RowNumbers:
    """The rows of all replaced chunks, as the attacker decodes whole texts."""
    ends = np.cumsum([len(text.replaced) for text in texts])[:-1]
    found = zip(texts, *(np.split(column, ends) for column in guesses), strict=True)
    return np.concatenate(
        [decode(_place(text, Guesses(*parts)), prior, log_frequencies)[text.replaced] for text, *parts in found]
    )


def _place(text: Released, guesses: Guesses) -> list[Slot]:
    """The places of a text: candidates for the replaced chunks, and the chunks in clear."""
    slots = [Slot(np.array([row]), np.zeros(1)) for row in text.released]
    for position, rows, evidence, rest in zip(text.replaced, *guesses, strict=True):
        slots[position] = Slot(np.append(rows, UNKNOWN), np.append(evidence, rest))
    return slots


def _tell(values: Mapping[str, Reading]) -> str:
    """The values in plain language."""
    shown = {name: f"{each.value:.1%}" for name, each in values.items()}
    decoded = f"; by reading whole texts {shown['decoded']}" if "decoded" in shown else ""
    return (
        f"An attacker who knows the mechanism recovers {shown['top_1']} of the chunks with one guess and "
        f"{shown['top_10']} with ten{decoded}. By word frequencies alone it is {shown['prior_top_1']} and "
        f"{shown['prior_top_10']}. {shown['repeated']} of the chunks returned."
    )


def collect(obfuscations: Sequence[Obfuscation], vectors: Vectors) -> list[Released]:
    """The chunks of every text, as rows of the vocabulary."""
    written, texts = vectors.spoken_rows, []
    for obfuscation in obfuscations:
        true = [vectors.find("_".join(find_words(chunk.original))) for chunk in obfuscation.chunks]
        released = [
            written[str(chunk.replacement)] if chunk.outcome.is_chosen else row if chunk.outcome.in_clear else UNKNOWN
            for chunk, row in zip(obfuscation.chunks, true, strict=True)
        ]
        replaced = [number for number, chunk in enumerate(obfuscation.chunks) if chunk.outcome.is_chosen]
        texts.append(
            Released(
                np.array(true, dtype=np.int64),
                np.array(released, dtype=np.int64),
                np.array([chunk.share for chunk in obfuscation.chunks], dtype=np.float64),
                np.array(replaced, dtype=np.int64),
            )
        )
    return texts


def _find_stopwords(entries: Entries) -> Hits:
    """Whether each entry consists of stopwords only. Entries of one word are found all at once."""
    found = np.zeros(len(entries), dtype=bool)
    found[entries.find_all(ENGLISH)] = True
    for row in np.flatnonzero(~entries.alphanumeric).tolist():
        found[row] = all(word in ENGLISH for word in entries[row].split("_"))
    return found
