"""Part-of-speech tags and phrases: NLTK's perceptron and bigram taggers, applied to many sentences at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np

from textveil.errors import InputError
from textveil.registry import Option, unknown_name
from textveil.storage.atomic import hash_files
from textveil.text.matching import Array

TAGGERS = ("textveil", "nltk")
"""The names of the part-of-speech taggers."""
TAGGER_OPTION = Option(
    "tagger",
    str,
    TAGGERS[0],
    "Part-of-speech tagger: textveil (trained on lowercase words without punctuation) or nltk (NLTK's own).",
    choices=TAGGERS,
)
"""The option of every method that uses parts of speech."""
TABLES = Path(__file__).with_name("pos.npz")

_START, _END = ("-START-", "-START2-"), ("-END-", "-END2-")
_SCALE = 1000  # NLTK rounds weights to three decimals, so as integers they add up without rounding errors
_GROUP = 100000
"""The approximate number of words that are tagged at once."""


@dataclass(frozen=True)
class PerceptronTagger:
    """NLTK's averaged perceptron: it tags from left to right by the sum of the weights of a word's features.

    Attributes:
        tags: The tags, in order.
        features: The names of the features, in the notation of NLTK.
        weights: A row per feature and a final row of zeros; a weight per tag, in thousandths.
        fixed: The number of the tag of every word that always has the same tag.
    """

    tags: tuple[str, ...]
    features: tuple[str, ...]
    weights: Array
    fixed: Mapping[str, int]

    @classmethod
    def of(
        cls, weights: Mapping[str, Mapping[str, float]], fixed: Mapping[str, str], tags: Sequence[str]
    ) -> PerceptronTagger:
        """Convert a tagger that NLTK has trained: its weights, its tag dictionary and its classes."""
        tags = tuple(sorted(tags))
        numbers = {tag: number for number, tag in enumerate(tags)}
        features = tuple(sorted(feature for feature, row in weights.items() if row))
        table = np.zeros((len(features) + 1, len(tags)), dtype=np.int32)
        for row, feature in zip(table, features, strict=False):
            for tag, weight in weights[feature].items():
                row[numbers[tag]] = round(weight * _SCALE)
        return cls(tags, features, table, {word: numbers[tag] for word, tag in fixed.items()})

    @classmethod
    def load_nltk(cls, folder: Path) -> PerceptronTagger:
        """Read the files of NLTK's own English tagger."""
        names = (f"averaged_perceptron_tagger_eng.{part}.json" for part in ("weights", "tagdict", "classes"))
        try:
            return cls.of(*(json.loads((folder / name).read_bytes()) for name in names))
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            from textveil.resources import install_command

            raise InputError(
                f"{str(folder)!r} does not contain NLTK's tagger, or its files are damaged. Install it again: "
                f"{install_command('nltk-tagger', force=True)}"
            ) from error

    def tag(self, words: Sequence[str], lengths: Sequence[int]) -> Array:
        """The number of every word's tag; ``words`` are those of sentences with these ``lengths``."""
        groups = [
            self._tag_group(words[start:stop], lengths[first:last]) for first, last, start, stop in _group(lengths)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *groups])

    def _tag_group(self, words: Sequence[str], lengths: Sequence[int]) -> Array:
        edges = list(accumulate(lengths, initial=0))
        padded = chain.from_iterable((*_START, *words[start:stop], *_END) for start, stop in pairwise(edges))
        numbers: dict[str, int] = {}  # features of a word alone are looked up once per distinct word
        row = np.array([numbers.setdefault(word, len(numbers)) for word in padded], dtype=np.int64)
        real = np.arange(len(words)) + np.repeat(2 + 4 * np.arange(len(lengths)), lengths)
        seen = list(map(_normalize, numbers))
        scores = self._score_words(list(numbers), seen, row, real)
        fixed = np.array([self.fixed.get(word, -1) for word in numbers], dtype=np.int64)[row[real]]
        pairs = np.array([self._pair_numbers.get(word, -1) for word in seen], dtype=np.int64)[row[real]]
        tags = np.empty(len(words), dtype=np.int64)
        # The numbers after the last tag stand for the two positions before a sentence.
        last = np.full(len(lengths), len(self.tags))
        second = np.full(len(lengths), len(self.tags) + 1)
        for sentences, places in _step_through(lengths):
            before, before2 = last[sentences], second[sentences]
            found = scores[places] + self._tag_weights[before, before2]
            found += self.weights[self._pairs[pairs[places], before]]
            best = len(self.tags) - 1 - np.argmax(found[:, ::-1], axis=1)  # ties go to the last tag in the alphabet
            tags[places] = np.where(fixed[places] >= 0, fixed[places], best)
            second[sentences], last[sentences] = before, tags[places]
        return tags

    def _score_words(self, words: Sequence[str], seen: Sequence[str], row: Array, real: Array) -> Array:
        """The sums of the weights of all features that do not depend on tags.

        Args:
            words: Distinct words.
            seen: The same words, normalized.
            row: The words of the text by their numbers, with padding before and after every sentence.
            real: The positions in ``row`` that are not padding.
        """
        scores = self._weights_of("i word", seen)[row[real]]
        scores += self._weights_of("i suffix", [word[-3:] for word in words])[row[real]]
        scores += self._weights_of("i pref1", [word[:1] for word in words])[row[real]]
        scores += self.weights[self._rows.get("bias", -1)]
        for place, name in ((-2, "i-2 word"), (-1, "i-1 word"), (1, "i+1 word"), (2, "i+2 word")):
            scores += self._weights_of(name, seen)[row[real + place]]
        for place, name in ((-1, "i-1 suffix"), (1, "i+1 suffix")):
            scores += self._weights_of(name, [word[-3:] for word in seen])[row[real + place]]
        return scores

    def _weights_of(self, name: str, values: Sequence[str]) -> Array:
        """The weights of one kind of feature for every value; zeros for a value that was not in the training data."""
        return self.weights[[self._rows.get(f"{name} {value}", -1) for value in values]]

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row number of every feature."""
        return dict(zip(self.features, range(len(self.features)), strict=True))

    @cached_property
    def _tag_weights(self) -> Array:
        """What the two tags before a word add, by the tag before and the one before that."""
        before = [*self.tags, *_START]
        pairs = self._weights_of("i tag+i-2 tag", [f"{tag} {tag2}" for tag in before for tag2 in before])
        pairs = pairs.reshape(len(before), len(before), len(self.tags))
        return pairs + self._weights_of("i-1 tag", before)[:, None] + self._weights_of("i-2 tag", before)[None, :]

    @cached_property
    def _pair_numbers(self) -> dict[str, int]:
        """The words that have features together with the tag before them."""
        words = dict.fromkeys(word for _, _, word in self._pair_features())
        return dict(zip(words, range(len(words)), strict=True))

    @cached_property
    def _pairs(self) -> Array:
        """The row of the feature of a word and the tag before it; the last row stands for all other words."""
        before = {tag: number for number, tag in enumerate((*self.tags, *_START))}
        rows = np.full((len(self._pair_numbers) + 1, len(before)), -1, dtype=np.int64)
        for row, tag, word in self._pair_features():
            rows[self._pair_numbers[word], before[tag]] = row
        return rows

    def _pair_features(self) -> Iterator[tuple[int, str, str]]:
        prefix = "i-1 tag+i word "
        for row, feature in enumerate(self.features):
            if feature.startswith(prefix):
                tag, _, word = feature.removeprefix(prefix).partition(" ")
                yield row, tag, word


@dataclass(frozen=True)
class PhraseTagger:
    """A tagger, and NLTK's bigram tagger over its tags, which decides whether a word begins or continues a phrase.

    Attributes:
        tagger: Gives every word its part of speech.
        chunk_tags: IOB tags, such as ``B-NP``, ``I-NP``, ``O``.
        table: The chunk tag of a word, by the chunk tag of the previous word (last row: none) and its own tag.
    """

    tagger: PerceptronTagger
    chunk_tags: tuple[str, ...]
    table: Array

    def tag(self, words: Sequence[str], lengths: Sequence[int]) -> tuple[Array, Array]:
        """The numbers of every word's tag and chunk tag; ``words`` are those of sentences with these ``lengths``."""
        tags = self.tagger.tag(words, lengths)
        chunk_tags = np.empty(len(words), dtype=np.int64)
        last = np.full(len(lengths), -1)
        for sentences, places in _step_through(lengths):
            chunk_tags[places] = last[sentences] = self.table[last[sentences], tags[places]]
        return tags, chunk_tags

    def begin_phrases(self, words: Sequence[str], lengths: Sequence[int]) -> Array:
        """A mark for every word that begins a phrase or is outside all phrases; the other words continue a phrase."""
        _, chunk_tags = self.tag(words, lengths)
        kinds = np.array([tag.partition("-")[2] for tag in self.chunk_tags])
        inside = np.array([tag.startswith("I-") for tag in self.chunk_tags])
        begins = ~inside[chunk_tags]
        begins[1:] |= kinds[chunk_tags[1:]] != kinds[chunk_tags[:-1]]
        begins[list(accumulate(lengths, initial=0))[:-1]] = True
        return begins

    def with_tagger(self, tagger: PerceptronTagger) -> PhraseTagger:
        """The same table for the tags of another tagger; a tag without a column is outside all phrases."""
        outside = np.full((len(self.table), 1), self.chunk_tags.index("O"), dtype=self.table.dtype)
        columns = [self.tagger.tags.index(tag) if tag in self.tagger.tags else -1 for tag in tagger.tags]
        return PhraseTagger(tagger, self.chunk_tags, np.hstack([self.table, outside])[:, columns])

    @classmethod
    def load(cls, path: Path) -> PhraseTagger:
        """Read a file written by ``save``."""
        import zipfile

        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                tags, features = _unpack(arrays["tags"]), _unpack(arrays["features"])
                weights = np.zeros((len(features) + 1, len(tags)), dtype=np.int32)
                weights[np.repeat(np.arange(len(features)), arrays["rows"]), arrays["columns"]] = arrays["weights"]
                fixed = zip(_unpack(arrays["fixed_words"]), arrays["fixed_tags"].tolist(), strict=True)
                tagger = PerceptronTagger(tags, features, weights, dict(fixed))
                return cls(tagger, _unpack(arrays["chunk_tags"]), arrays["table"].astype(np.int64))
        except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{str(path)!r} does not contain the tables of a tagger. Reinstall textveil.") from error


@cache
def load_phrase_tagger(tagger: str) -> PhraseTagger:
    """The tables that ship with textveil, or the same phrases over the tags of NLTK's tagger, which is a resource."""
    if tagger not in TAGGERS:
        raise unknown_name("tagger", tagger, TAGGERS)
    phrases = PhraseTagger.load(TABLES)
    if tagger == TAGGERS[0]:
        return phrases
    from textveil.resources import find

    return phrases.with_tagger(PerceptronTagger.load_nltk(find("nltk-tagger")))


def identify_tagger(tagger: str) -> dict[str, str] | None:
    """NLTK's tagger as a certificate records it; ``None`` for our own, which comes with textveil."""
    if tagger == TAGGERS[0]:
        return None
    from textveil.resources import find

    return {"name": "nltk-tagger", "sha256": hash_files(sorted(find("nltk-tagger").glob("*.json")))}


def _normalize(word: str) -> str:
    """The form of a word in features: the rule of NLTK, without its case for hyphens, which words never have."""
    if word in _START or word in _END:
        return word
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[:1].isdigit() else word.lower()


def _group(lengths: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Groups of sentences that are tagged together: a range of sentences and a range of words for each."""
    first = start = stop = 0
    for number, length in enumerate(lengths):
        if stop > start and stop + length - start > _GROUP:
            yield first, number, start, stop
            first, start = number, stop
        stop += length
    if stop > start:
        yield first, len(lengths), start, stop


def _step_through(lengths: Sequence[int]) -> Iterator[tuple[Array, Array]]:
    """Step through all sentences in parallel, one word per step: the sentences with a word left, and its positions."""
    sizes = np.array(lengths, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    longest_first = np.argsort(-sizes, kind="stable")
    for step in range(int(sizes.max(initial=0))):
        sentences = longest_first[: np.searchsorted(-sizes[longest_first], -step, side="left")]
        yield sentences, starts[sentences] + step


def _unpack(packed: Array) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\n"))
