"""Re-identification by linkage: how often an attacker matches an obfuscated text with its original."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.errors import MissingExtraError, ParameterError, ResourceError
from textveil.evaluation.base import EXTRA, Case, Interval, Measurement, Metric, Need, identify
from textveil.evaluation.dataset import Codes
from textveil.evaluation.encoding import ENCODER_OPTION, PACKAGES, CachedEncoder, normalize_rows, read_versions
from textveil.evaluation.ranking import AUC_BY_CHANCE, count_above, find_share_by_chance
from textveil.evaluation.texts import SAMPLE_SEED, Texts
from textveil.evaluation.uncertainty import bootstrap_ratio, describe_few, show_bounds, show_interval
from textveil.extras import require, require_version
from textveil.language.words import find_spans, find_words
from textveil.models.encoders import DEFAULT_ENCODER
from textveil.models.files import DEVICE_OPTION, ModelFiles
from textveil.models.files import EXTRA as NEURAL
from textveil.randomness import SeededRandomness
from textveil.registry import Option
from textveil.storage.score_cache import hash_text

ATTACKERS = ("words", "shape", "encoder")
GUESSES = 10
SAMPLE = 10_000
BLOCK = 256
"""Obfuscated texts to compare with all originals at a time."""
LONGEST_SHAPE = 3
"""The largest number of consecutive marks of a feature of the shape."""


class Linkage(Metric):
    """How often an attacker who has the originals finds the one that belongs to an obfuscated text.

    Every obfuscated text is compared with all originals. An attacker compares words (cosine of TF-IDF), the shape
    (punctuation and the number of words) or sentence embeddings (an encoder). The values are those of the attacker with
    the highest success: the share of texts whose original it names first (``top_1``) or among the first ten
    (``top_10``), and the probability that it ranks the right original above another one (``auc``). Ties are broken at
    random, so the values are expectations. Chance is 1/N for N originals.

    If an attribute is given, such as the author, the attacker also names its value: the one whose other originals are
    most similar on average. The text's own original is left out. Every value of the attribute counts the same, so
    chance is 1 divided by their number.

    Args:
        options: The ``attackers``, the encoder (``model``), the ``sample`` of texts, and the ``device``.
    """

    name = "linkage"
    uses: ClassVar[tuple[Need, ...]] = (Need.ATTRIBUTE,)

    options = (
        Option(
            "attackers",
            object,
            None,
            f"What attackers compare: {', '.join(ATTACKERS)}. By default all, without the encoder if it is not there.",
        ),
        ENCODER_OPTION,
        Option("sample", int, SAMPLE, "The largest number of texts, always the same ones.", least=2),
        DEVICE_OPTION,
    )
    attackers: Sequence[str] | None
    model: str
    sample: int
    device: str | None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        require_version("scikit-learn", extra=EXTRA)
        given = ATTACKERS if self.attackers is None else self.attackers
        if isinstance(given, str) or not isinstance(given, Sequence) or not given or set(given) - set(ATTACKERS):
            raise ParameterError(f"`attackers` of linkage must be a list of some of: {', '.join(ATTACKERS)}.")
        self.files: ModelFiles | None = None
        if "encoder" in given:
            try:
                self.files = _find_encoder(self.model)
            except (MissingExtraError, ResourceError):
                if self.attackers is not None or self.model != DEFAULT_ENCODER:
                    raise
        self.attackers = [name for name in given if name != "encoder" or self.files is not None]

    @property
    def model_used(self) -> Mapping[str, str] | None:
        """The encoder, if there is one."""
        return None if self.files is None else self.files.as_dict()

    @property
    def versions(self) -> dict[str, str]:
        """Scikit-learn, and the packages that run the encoder."""
        own = {"scikit-learn": require_version("scikit-learn", extra=EXTRA)}
        return own if self.files is None else {**own, **read_versions()}

    @cached_property
    def encoder(self) -> CachedEncoder | None:
        """The encoder, which other metrics may use, too."""
        return None if self.files is None else CachedEncoder(self.files, device=self.device)

    def measure(self, case: Case) -> Measurement:
        """Attack all texts with all attackers. The strongest one is reported."""
        places = self._choose(len(case.originals))
        found = {name: self._rank(name, case, places) for name in self.attackers or ()}
        links = {name: Success.over(rows[:, :2], len(places)) for name, rows in found.items()}
        best, link = find_strongest(links)
        values, intervals = link.name_values(""), link.name_intervals("")
        lines = [_write_link(best, link)]
        details: dict[str, Any] = {"attackers": {name: each.name_values("") for name, each in links.items()}}
        classes = case.dataset.attribute
        if classes is not None:
            codes = classes.codes[places]
            inferred = {
                name: Success.over(rows[:, 2:], len(classes.names), codes=codes) for name, rows in found.items()
            }
            best, link = find_strongest(inferred)
            values |= link.name_values("attribute_")
            intervals |= link.name_intervals("attribute_")
            lines.append(_write_inference(best, link))
            details["attribute_attackers"] = {name: each.name_values("") for name, each in inferred.items()}
        return self.report(
            " ".join(lines),
            values,
            intervals=intervals,
            caveats=describe_few(len(places)),
            texts=len(places),
            **details,
        )

    def _choose(self, texts: int) -> Codes:
        """The positions of the sample."""
        if texts <= self.sample:
            return np.arange(texts)
        return np.sort(SeededRandomness(SAMPLE_SEED).stream(0).permutation(texts)[: self.sample])

    def _rank(self, name: str, case: Case, places: Codes) -> Floats:
        """The rank of the right original and of the right class of every text, as :func:`count_above` counts it."""
        obfuscated, classes = case.obfuscated, case.dataset.attribute
        codes = None if classes is None else classes.codes[places]
        model = {} if name != "encoder" or self.encoder is None else self.encoder.record
        cached = obfuscated.cached(identify("linkage", self.versions, attacker=name, **model))
        candidates = hash_text(*(case.originals[place] for place in places)).hex()
        keys = [
            hash_text(candidates, "" if classes is None else classes.hash, str(number), obfuscated[place])
            for number, place in enumerate(places.tolist())
        ]
        if missing := cached.find_missing(keys):
            attacker = self._build(name, case, places)
            for start in range(0, len(missing), BLOCK):
                case.progress(f"linkage, {name}", start, start / len(missing))
                part = np.array(missing[start : start + BLOCK])
                rows = rank(attacker.compare(obfuscated, places[part]), part, codes)
                cached.add({keys[number]: row for number, row in zip(part.tolist(), rows, strict=True)})
        return np.array([cached[key] for key in keys])

    def _build(self, name: str, case: Case, places: Codes) -> Attacker:
        originals = case.originals
        if name == "encoder" and self.encoder is not None:
            if len(places) == len(originals):
                self.encoder.embed_all(originals, originals=True, progress=case.progress)
            return EncoderAttacker(self.encoder, originals, places)
        return (ShapeAttacker if name == "shape" else WordAttacker)([originals[place] for place in places])


def _find_encoder(model: str) -> ModelFiles:
    for package in PACKAGES:
        require_version(package, extra=NEURAL)
    return ModelFiles.find(model)


class Attacker(ABC):
    """Compares obfuscated texts with all originals."""

    @abstractmethod
    def compare(self, obfuscated: Texts, places: Codes) -> Floats:
        """The similarity of the texts at some positions (rows) with every original (columns)."""


class WordAttacker(Attacker):
    """Compares the words of texts: the cosine of TF-IDF, with the frequencies of the originals."""

    def __init__(self, originals: Sequence[str]) -> None:
        text = require("sklearn.feature_extraction.text", extra=EXTRA)
        self._vectorizer = text.TfidfVectorizer(analyzer=self.find_features, sublinear_tf=True)
        self._originals = self._vectorizer.fit_transform(originals)

    @staticmethod
    def find_features(text: str) -> list[str]:
        """The features of a text: its words."""
        return find_words(text)

    def compare(self, obfuscated: Texts, places: Codes) -> Floats:
        """The cosines of some texts with every original."""
        rows = self._vectorizer.transform([obfuscated[place] for place in places])
        cosines: Floats = (rows @ self._originals.T).toarray()
        return cosines


class ShapeAttacker(WordAttacker):
    """Compares what is left without the words: the marks between them, and their number.

    Features are one to three consecutive marks. The difference in the number of words, relative to the larger number,
    is subtracted from the cosine.
    """

    def __init__(self, originals: Sequence[str]) -> None:
        super().__init__(originals)
        self._lengths = np.array([len(find_spans(text)) for text in originals], dtype=np.float64)

    @staticmethod
    def find_features(text: str) -> list[str]:
        """The features of a text: its marks in order, and one that all texts have.

        >>> ShapeAttacker.find_features("So: tea, or coffee?")
        ['', ':', ',', '?', ': ,', ', ?', ': , ?']
        """
        ends = [0, *(end for span in find_spans(text) for end in span), len(text)]
        gaps = (text[start:stop].strip() for start, stop in zip(ends[::2], ends[1::2], strict=True))
        marks = [gap for gap in gaps if gap]
        sizes = range(1, LONGEST_SHAPE + 1)
        return ["", *(" ".join(marks[i : i + size]) for size in sizes for i in range(len(marks) - size + 1))]

    def compare(self, obfuscated: Texts, places: Codes) -> Floats:
        """The similarity of the shapes of some texts with every original."""
        lengths = np.array([len(find_spans(obfuscated[place])) for place in places], dtype=np.float64)[:, None]
        longest = np.maximum(np.maximum(lengths, self._lengths), 1)
        similarity: Floats = super().compare(obfuscated, places) - np.abs(lengths - self._lengths) / longest
        return similarity


class EncoderAttacker(Attacker):
    """Compares the meaning of texts: the cosine of sentence embeddings."""

    def __init__(self, encoder: CachedEncoder, originals: Texts, places: Codes) -> None:
        self._encoder = encoder
        self._originals = normalize_rows(encoder.embed(originals, places.tolist()))

    def compare(self, obfuscated: Texts, places: Codes) -> Floats:
        """The cosines of some texts with every original."""
        cosines: Floats = normalize_rows(self._encoder.embed(obfuscated, places.tolist())) @ self._originals.T
        return cosines


def rank(similarities: Floats, own: Codes, codes: Codes | None) -> Floats:
    """The rank of the right original in every row, and the rank of the right class if there are classes.

    Args:
        similarities: A row for every obfuscated text, a column for every original.
        own: The column of the right original of every row.
        codes: The class of every original.
    """
    rows = np.arange(len(own))
    ranks = count_above(similarities, own)
    if codes is None:
        return ranks
    members = np.zeros((len(codes), codes.max() + 1))
    members[np.arange(len(codes)), codes] = 1
    totals, counts = similarities @ members, np.tile(members.sum(axis=0), (len(own), 1))
    totals[rows, codes[own]] -= similarities[rows, own]
    counts[rows, codes[own]] -= 1
    means = np.where(counts > 0, totals / np.maximum(counts, 1), -np.inf)  # a class without other originals is last
    return np.hstack([ranks, count_above(means, codes[own])])


class Success(NamedTuple):
    """The success of an attacker, with its intervals, and the level of chance."""

    values: Mapping[str, float]
    intervals: Mapping[str, Interval | None]
    chance: Mapping[str, float]
    chance_intervals: Mapping[str, Interval]
    candidates: int

    @classmethod
    def over(cls, ranks: Floats, candidates: int, *, codes: Codes | None = None) -> Success:
        """The success over texts. With ``codes``, every class counts the same.

        Args:
            ranks: The rank of the right candidate of every text, as :func:`count_above` counts it.
            candidates: The number of candidates.
            codes: The class of every text.
        """
        weights = np.ones(len(ranks)) if codes is None else 1 / np.bincount(codes)[codes]
        above, ties = ranks.T
        scores = {
            "top_1": np.clip((1 - above) / (ties + 1), 0, 1),
            f"top_{GUESSES}": np.clip((GUESSES - above) / (ties + 1), 0, 1),
            "auc": 1 - (above + ties / 2) / max(1, candidates - 1),
        }
        chance = {"top_1": 1 / candidates, f"top_{GUESSES}": min(1.0, GUESSES / candidates), "auc": AUC_BY_CHANCE}
        if candidates <= GUESSES:  # ten guesses always succeed
            del scores[f"top_{GUESSES}"], chance[f"top_{GUESSES}"]
        values = {name: float(np.average(each, weights=weights)) for name, each in scores.items()}
        intervals = {name: bootstrap_ratio(each * weights, weights) for name, each in scores.items()}
        by_chance = {name: find_share_by_chance(level, weights) for name, level in chance.items() if name != "auc"}
        return cls(values, intervals, chance, by_chance, candidates)

    def name_values(self, prefix: str) -> dict[str, float]:
        """The values and the levels of chance of guesses, with a prefix."""
        return {
            **{f"{prefix}{name}": value for name, value in self.values.items()},
            **{f"{prefix}chance_{name}": self.chance[name] for name in self.chance_intervals},
        }

    def name_intervals(self, prefix: str) -> dict[str, Interval | None]:
        """The intervals of the values and of chance, with a prefix."""
        return {
            **{f"{prefix}{name}": interval for name, interval in self.intervals.items()},
            **{f"{prefix}chance_{name}": interval for name, interval in self.chance_intervals.items()},
        }

    def describe_chance(self) -> str:
        """The success with one guess beside chance. It cannot be told from chance within the interval of chance."""
        level, interval = self.chance["top_1"], self.chance_intervals["top_1"]
        shown = f"{level:.2%}{show_bounds(interval, '.2%')}"
        hidden = self.values["top_1"] <= interval.high
        return f"This cannot be told from chance, {shown}." if hidden else f"Chance is {shown}."


def find_strongest(found: Mapping[str, Success]) -> tuple[str, Success]:
    """The attacker with the highest success with one guess; among equals the one with the highest AUC."""
    return max(found.items(), key=lambda item: (item[1].values["top_1"], item[1].values["auc"]))


_COMPARES = {"words": "words", "shape": "punctuation and lengths", "encoder": "sentence embeddings"}


def _write_link(attacker: str, link: Success) -> str:
    ten = f" and for {link.values['top_10']:.1%} with ten" if "top_10" in link.values else ""
    return (
        f"An attacker who compares {_COMPARES[attacker]} with {link.candidates:,} originals finds the right one for "
        f"{link.values['top_1']:.1%}{show_interval(link.intervals['top_1'], '.1%')} of the texts with one guess{ten}. "
        f"{link.describe_chance()} The AUC is {link.values['auc']:.3f}{show_bounds(link.intervals['auc'])}; chance is "
        "0.5."
    )


def _write_inference(attacker: str, link: Success) -> str:
    return (
        f"By the other originals ({_COMPARES[attacker]}), it finds the right one of {link.candidates:,} values of the "
        f"attribute for {link.values['top_1']:.1%}{show_bounds(link.intervals['top_1'], '.1%')}. "
        f"{link.describe_chance()}"
    )
