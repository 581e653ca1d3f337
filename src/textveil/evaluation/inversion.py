"""Inversion: the share of chunks that an attacker who knows the mechanism guesses, one by one and in whole texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.errors import InputError, ParameterError
from textveil.evaluation.base import Case, Measurement, Metric, Need
from textveil.evaluation.channels import Channel, build_channel
from textveil.evaluation.decoding import Slot, decode
from textveil.evaluation.texts import SAMPLE_SEED
from textveil.language.stopwords import ENGLISH
from textveil.language.text import spoken
from textveil.language.words import find_words
from textveil.mechanisms import MECHANISMS, Mechanism
from textveil.privacy.certificate import Terms
from textveil.privacy.results import Obfuscation
from textveil.randomness import SeededRandomness
from textveil.registry import Option

LARGEST_SAMPLE = 2_000
"""The number of chunks to attack. From more, a sample of texts is drawn."""
GUESSES = 10
BLOCK = 128
"""Chunks to attack at a time."""
CANDIDATES = 40
"""The candidates of a chunk that whole texts are decoded from."""


@dataclass(frozen=True, slots=True)
class Released:
    """The chunks of a text as rows of the vocabulary."""

    true: RowNumbers
    """The original of each chunk; ``UNKNOWN`` outside the vocabulary."""
    released: RowNumbers
    """What the output has instead; for a chunk in clear, the same."""
    shares: Floats
    replaced: RowNumbers
    """The positions of the chunks that the mechanism replaced."""

    def find_contexts(self, reach: int) -> RowNumbers:
        """The rows released before each replaced chunk, the last one last."""
        padded = np.concatenate([np.full(reach, UNKNOWN), self.released])
        places = self.replaced[:, None] + np.arange(reach)
        contexts: RowNumbers = padded[places]
        return contexts


class Attacker:
    """Guesses original chunks from their replacements, by Bayes' rule over the public vocabulary.

    The prior of an entry is its count in the bundle's corpus plus one. Without counts the prior is uniform. Where
    stopwords are kept, the prior of a stopword is that of an entry without occurrences. The posterior is exact for
    mechanisms with a closed form, and else calibrated by simulation; see :mod:`textveil.evaluation.channels`.

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
        self._language = np.log(seen + 1)
        if keeps_stopwords:
            seen = np.where([_is_stopword(entry) for entry in vectors.entries], 0, seen)
        self._prior = np.log(seen + 1)
        self.channel: Channel = build_channel(mechanism, np.arange(len(vectors)), self._prior, bundle, decomposition)

    def guess_by_prior(self) -> RowNumbers:
        """The rows of the most frequent candidates, best guess first."""
        guesses: RowNumbers = np.argsort(-self._prior, kind="stable")[:GUESSES]
        return guesses

    def attack(self, released: RowNumbers, shares: Floats, contexts: RowNumbers) -> tuple[RowNumbers, Floats]:
        """The rows of the most likely candidates for every chunk, best guess first, and the evidence for each.

        The evidence is the logarithm of the posterior without the frequency of the entry, which the language model
        knows. So it is the log-likelihood, and where stopwords are kept, stopwords have little.
        """
        posterior = self.channel.log_posterior(released, shares, contexts)
        wanted = min(max(GUESSES, CANDIDATES), posterior.shape[1])
        best = np.argpartition(-posterior, wanted - 1, axis=1)[:, :wanted]
        values = np.take_along_axis(posterior, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        rows: RowNumbers = np.take_along_axis(best, order, axis=1)
        evidence: Floats = np.take_along_axis(values, order, axis=1) - self._language[rows]
        return rows, evidence


class Inversion(Metric):
    """The share of chunks that the attacker guesses, with its first guess and with its first ten.

    It is compared with guesses by the prior alone, and with repeating the released word. If the bundle has a language
    model, a second attacker decodes whole texts with it. The attack targets the chunks that the mechanism replaced. A
    chunk that is not in the vocabulary is never guessed.

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
        Option("sample", int, LARGEST_SAMPLE, "The largest number of chunks to attack.", least=1),
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
        mechanism, prior = self._rebuild(terms), self.bundle.prior(decomposition)
        attacker = Attacker(self.bundle, decomposition, mechanism, keeps_stopwords=terms.stopwords == "keep")
        texts = self._draw(collect(obfuscations, mechanism.vectors))
        found = _Found.empty()
        total = sum(len(text.replaced) for text in texts)
        attacker.channel.prepare(np.concatenate([text.shares[text.replaced] for text in texts]))
        for batch in _batch(texts):
            case.progress("inversion", len(found.true), len(found.true) / total)
            found.add(_attack(attacker, batch, prior))
        values = found.summarize(attacker.guess_by_prior())
        return self.report(_tell(values), values, chunks=total, texts=len(texts))

    def _rebuild(self, terms: Terms) -> Mechanism:
        """The mechanism that a certificate names."""
        decomposition, chosen = terms.decomposition["name"], MECHANISMS.load(terms.mechanism["name"])
        options = dict(terms.mechanism["options"])
        parts = [self.bundle.vectors(decomposition)]
        return chosen(*parts, *([self.bundle.prior(decomposition)] if chosen.uses_prior else []), **options)

    def _check(self, terms: Terms) -> None:
        if terms.bundle["sha256"] != self.bundle.hash:
            raise ParameterError(
                f"The texts were obfuscated with another bundle: {terms.bundle['name']} {terms.bundle['version']}. "
                "Set `bundle` to that one."
            )

    def _draw(self, texts: Sequence[Released]) -> list[Released]:
        """The texts to attack: in random order, until they have enough chunks."""
        attacked = [text for text in texts if len(text.replaced)]
        if not attacked:
            raise InputError(
                "The mechanism replaced no chunk, so there is nothing to invert. Remove inversion from `metrics`."
            )
        drawn: list[Released] = []
        left = self.sample
        for number in SeededRandomness(self.seed).stream(0).permutation(len(attacked)):
            if left <= 0:
                break
            drawn.append(attacked[number])
            left -= len(attacked[number].replaced)
        return drawn


@dataclass(slots=True)
class _Found:
    """The guesses for the chunks that were attacked so far."""

    true: RowNumbers
    released: RowNumbers
    guesses: RowNumbers
    decoded: RowNumbers | None

    @classmethod
    def empty(cls) -> _Found:
        return cls(np.empty(0, int), np.empty(0, int), np.empty((0, GUESSES), int), None)

    def add(self, other: _Found) -> None:
        """Count in further chunks."""
        if other.decoded is not None:
            before = np.empty(0, int) if self.decoded is None else self.decoded
            self.decoded = np.concatenate([before, other.decoded])
        self.true = np.concatenate([self.true, other.true])
        self.released = np.concatenate([self.released, other.released])
        width = other.guesses.shape[1]
        self.guesses = np.concatenate([self.guesses[:, :width].reshape(-1, width), other.guesses])

    def summarize(self, by_prior: RowNumbers) -> dict[str, float]:
        """The shares of chunks that are guessed right."""
        right = self.guesses == self.true[:, None]
        values = {
            "top_1": float(right[:, 0].mean()),
            "top_10": float(right.any(axis=1).mean()),
            "repeated": float(np.mean(self.released == self.true)),
            "prior_top_1": float(np.mean(self.true == by_prior[0])),
            "prior_top_10": float(np.mean(np.isin(self.true, by_prior))),
        }
        if self.decoded is not None:
            values["decoded"] = float(np.mean(self.decoded == self.true))
        return values


def _attack(attacker: Attacker, texts: Sequence[Released], prior: NgramPrior | None) -> _Found:
    """The guesses for the chunks of some texts."""
    reach = 0 if prior is None else prior.order - 1
    released = np.concatenate([text.released[text.replaced] for text in texts])
    rows, likelihoods = attacker.attack(
        released,
        np.concatenate([text.shares[text.replaced] for text in texts]),
        np.concatenate([text.find_contexts(reach) for text in texts]),
    )
    true = np.concatenate([text.true[text.replaced] for text in texts])
    found = _Found(true, released, rows[:, :GUESSES], None)
    if prior is not None:
        decoded, start = [], 0
        for text in texts:
            part = slice(start, start + len(text.replaced))
            decoded.append(decode(list(_slots(text, rows[part], likelihoods[part])), prior)[text.replaced])
            start = part.stop
        found.decoded = np.concatenate(decoded)
    return found


def _slots(text: Released, rows: RowNumbers, likelihoods: Floats) -> Iterator[Slot]:
    """The places of a text, for decoding: candidates for replaced chunks, and the chunks in clear."""
    candidates = iter(zip(rows, likelihoods, strict=True))
    replaced = set(text.replaced.tolist())
    for position, row in enumerate(text.released):
        if position in replaced:
            yield Slot(*next(candidates))
        else:
            yield Slot(np.array([row]), np.zeros(1))


def _batch(texts: Sequence[Released]) -> Iterator[list[Released]]:
    """The texts in groups of about as many chunks as are attacked at a time."""
    batch: list[Released] = []
    for text in texts:
        batch.append(text)
        if sum(len(each.replaced) for each in batch) >= BLOCK:
            yield batch
            batch = []
    if batch:
        yield batch


def _tell(values: Mapping[str, float]) -> str:
    """The values in plain language."""
    line = (
        f"An attacker who knows the mechanism recovers {values['top_1']:.1%} of the chunks with one guess and "
        f"{values['top_10']:.1%} with ten. From word frequencies alone it recovers {values['prior_top_1']:.1%} and "
        f"{values['prior_top_10']:.1%}. {values['repeated']:.1%} of the chunks returned."
    )
    if "decoded" in values:
        line += f" An attacker who also knows the language and reads whole texts recovers {values['decoded']:.1%}."
    return line


def collect(obfuscations: Sequence[Obfuscation], vectors: Vectors) -> list[Released]:
    """The chunks of every text, as rows of the vocabulary."""
    written = {spoken(vectors.entries[row]): row for row in vectors.writable.tolist()}
    texts = []
    for obfuscation in obfuscations:
        true = [vectors.find("_".join(find_words(chunk.original))) for chunk in obfuscation.chunks]
        released = [
            row if chunk.replacement is None else written[chunk.replacement]
            for chunk, row in zip(obfuscation.chunks, true, strict=True)
        ]
        replaced = [number for number, chunk in enumerate(obfuscation.chunks) if chunk.replacement is not None]
        texts.append(
            Released(
                np.array(true, dtype=np.int64),
                np.array(released, dtype=np.int64),
                np.array([chunk.share for chunk in obfuscation.chunks], dtype=np.float64),
                np.array(replaced, dtype=np.int64),
            )
        )
    return texts


def _is_stopword(entry: str) -> bool:
    return all(word in ENGLISH for word in entry.split("_"))
