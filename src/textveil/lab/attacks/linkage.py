"""Re-identification by linkage: how often an attacker matches an obfuscated text with its original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.errors import MissingExtraError, ParameterError, ResourceError
from textveil.extras import require, require_version
from textveil.lab.metrics.base import EXTRA, Case, Measurement, Metric, Need, Reading, identify, read_versions
from textveil.lab.metrics.dataset import SAMPLE_SEED, Codes, Texts
from textveil.lab.metrics.encoding import ENCODER_OPTION, PACKAGES, CachedEncoder, normalize_rows
from textveil.lab.metrics.quantities import is_chance
from textveil.lab.metrics.uncertainty import SEED, bootstrap_ratio, count_above, describe_few, take_interval
from textveil.models.encoders import DEFAULT_ENCODER
from textveil.models.files import DEVICE_OPTION, ModelFiles
from textveil.randomness import SeededRandomness
from textveil.registry import Option
from textveil.storage.score_cache import hash_text
from textveil.text.words import find_spans, find_words

GUESSES = 10
VALUES = ("top_1", f"top_{GUESSES}", "auc")
"""The measures of success: the share found with one guess and with ten, and the AUC."""
PERMUTATIONS = 400
Compare: TypeAlias = Callable[[Texts, Codes], Floats]
"""Finds the similarity of the texts at some positions (rows) with every original (columns)."""
_STREAM = 2
"""Another stream than those of the bootstrap and of the chance of classifiers."""
_DECIMALS = 12
"""Sums over texts in another order agree in these decimals."""


def permute_truth(texts: int) -> Codes:
    """The text whose right candidate a text gets, by permutation (rows) and text (columns). The same in every run."""
    generator = SeededRandomness(SEED).stream(_STREAM)
    return generator.permuted(np.tile(np.arange(texts), (PERMUTATIONS, 1)), axis=1)


def score_ranks(ranks: Floats, candidates: int) -> Floats:
    """The success of ranks, with the measures of ``VALUES`` on the last axis. Ties are broken at random.

    Args:
        ranks: On the last axis, the number of candidates above the right one, and of others with the same score.
        candidates: The number of candidates.

    >>> score_ranks(np.array([[0.0, 0.0], [2.0, 1.0]]), 5).round(3).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 0.375]]
    """
    above, ties = ranks[..., 0], ranks[..., 1]
    guessed = [np.clip((guesses - above) / (ties + 1), 0, 1) for guesses in (1, GUESSES)]
    return np.stack([*guessed, 1 - (above + ties / 2) / max(1, candidates - 1)], axis=-1)


def balance_classes(codes: Codes) -> Floats:
    """Weights of texts with which every class counts the same."""
    weights: Floats = 1 / np.bincount(codes)[codes]
    return weights


class Success(NamedTuple):
    """The success of an attacker."""

    values: Mapping[str, Reading]
    """The success over all texts, by measure."""
    permuted: Floats
    """The success under every permutation of the right candidates, with the measures as columns."""
    candidates: int

    @classmethod
    def over(cls, scores: Floats, permuted: Floats, candidates: int, *, codes: Codes | None = None) -> Success:
        """The success over texts. With ``codes``, every class counts the same.

        Args:
            scores: The success with every text, from :func:`score_ranks`.
            permuted: The sum of weighted scores under every permutation.
            candidates: The number of candidates.
            codes: The class of every text.
        """
        weights = np.ones(len(scores)) if codes is None else balance_classes(codes)
        values = {}
        for name, column in zip(VALUES, scores.T, strict=True):
            mean = round(float(np.average(column, weights=weights)), _DECIMALS)
            values[name] = Reading(mean, bootstrap_ratio(column * weights, weights))
        if candidates <= GUESSES:  # ten guesses always succeed
            del values[f"top_{GUESSES}"]
        return cls(values, np.round(permuted / weights.sum(), _DECIMALS), candidates)

    @property
    def order(self) -> tuple[float, float]:
        """The success with one guess, and then the AUC."""
        return self.values["top_1"].value, self.values["auc"].value


def find_chance(found: Mapping[str, Success]) -> dict[str, Reading]:
    """The mean success, under permutations, of the attacker that is then the strongest, and the central 95 %.

    The best of several attackers exceeds the chance of each of them, because it was chosen for its success. So the
    attackers are compared with the truth permuted, in the same way for all of them, and the best is chosen again.
    """
    permuted = np.stack([each.permuted for each in found.values()])  # attackers, permutations, measures
    best = np.lexsort((permuted[..., VALUES.index("auc")], permuted[..., VALUES.index("top_1")]), axis=0)[-1]
    chosen = dict(zip(VALUES, permuted[best, np.arange(permuted.shape[1])].T, strict=True))
    measures = next(iter(found.values())).values
    return {name: Reading(float(chosen[name].mean()), take_interval(chosen[name])) for name in measures}


ATTACKERS = ("words", "shape", "encoder")
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
    random, so the values are expectations. Chance is the success of the strongest attacker after the right originals
    were permuted: about 1/N for one attacker and N originals, and more for the best of several.

    If an attribute is given, such as the author, the attacker also names its value: the one whose other originals are
    most similar on average. The text's own original is left out. Every value of the attribute counts the same.

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
                read_versions(PACKAGES)
                self.files = ModelFiles.find(self.model)
            except (MissingExtraError, ResourceError):
                if self.attackers is not None or self.model != DEFAULT_ENCODER:
                    raise
        self.attackers = [name for name in given if name != "encoder" or self.files is not None]

    @classmethod
    def list_unused(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The encoder, unless an attacker uses it."""
        return () if "encoder" in (options.get("attackers") or ATTACKERS) else ("model", "device")

    @property
    def model_used(self) -> Mapping[str, str] | None:
        """The encoder, if there is one."""
        return None if self.files is None else self.files.as_dict()

    @property
    def versions(self) -> dict[str, str]:
        """Scikit-learn, and the packages that run the encoder."""
        own = {"scikit-learn": require_version("scikit-learn", extra=EXTRA)}
        return own if self.files is None else {**own, **read_versions(PACKAGES)}

    @cached_property
    def encoder(self) -> CachedEncoder | None:
        """The encoder, which other metrics may use, too."""
        return None if self.files is None else CachedEncoder(self.files, device=self.device)

    def measure(self, case: Case) -> Measurement:
        """Attack all texts with all attackers. The strongest one is reported."""
        places = self._choose(len(case.originals))
        found = {name: self._rank(name, case, places) for name in self.attackers or ()}
        lines: list[str] = []
        values: dict[str, Reading] = {}
        details: dict[str, Any] = {}
        classes = case.dataset.attribute
        tasks: list[tuple[str, int, Codes | None]] = [("", len(places), None)]
        if classes is not None:
            tasks.append(("attribute_", len(classes.names), classes.codes[places]))
        for number, (prefix, candidates, codes) in enumerate(tasks):
            columns = slice(number * len(VALUES), (number + 1) * len(VALUES))
            successes = {
                name: Success.over(scores[:, columns], permuted[:, columns], candidates, codes=codes)
                for name, (scores, permuted) in found.items()
            }
            strongest, chance = max(successes, key=lambda name: successes[name].order), find_chance(successes)
            readings = successes[strongest].values
            values |= {f"{prefix}{name}": each for name, each in readings.items()}
            values |= {f"{prefix}chance_{name}": each for name, each in chance.items()}
            lines.append(_write_line(strongest, "value of the attribute" if prefix else "original", readings, chance))
            details[f"{prefix}attackers"] = {
                name: {measure: each.value for measure, each in success.values.items()}
                for name, success in successes.items()
            }
        return self.report(" ".join(lines), values, caveats=describe_few(len(places)), texts=len(places), **details)

    def _choose(self, texts: int) -> Codes:
        """The positions of the sample."""
        if texts <= self.sample:
            return np.arange(texts)
        return np.sort(SeededRandomness(SAMPLE_SEED).stream(0).permutation(texts)[: self.sample])

    def _rank(self, name: str, case: Case, places: Codes) -> tuple[Floats, Floats]:
        """The success with every text, and under every permutation, as :func:`rank` finds them. Blocks are cached."""
        obfuscated, classes = case.obfuscated, case.dataset.attribute
        codes = None if classes is None else classes.codes[places]
        model = {} if name != "encoder" or self.encoder is None else self.encoder.record
        identity = identify("linkage", self.versions, attacker=name, **model, permutations=PERMUTATIONS)
        cached, candidates = obfuscated.cached(identity), hash_text(*(case.originals[place] for place in places)).hex()
        context = candidates, "" if classes is None else classes.hash
        blocks = [np.arange(start, min(start + BLOCK, len(places))) for start in range(0, len(places), BLOCK)]
        keys = [hash_text(*context, str(block[0]), *(obfuscated[place] for place in places[block])) for block in blocks]
        if missing := cached.find_missing(keys):
            compare, orders = self._build(name, case, places), permute_truth(len(places))
            for done, number in enumerate(missing):
                case.progress(f"linkage, {name}", done * BLOCK, done / len(missing))
                block = blocks[number]
                parts = rank(compare(obfuscated, places[block]), block, codes, orders)
                cached.add({keys[number]: np.concatenate([part.ravel() for part in parts])})
        width = len(VALUES) * (1 if codes is None else 2)
        rows = [cached[key].reshape(-1, width) for key in keys]
        scores = np.vstack([row[:-PERMUTATIONS] for row in rows])
        return scores, np.sum([row[-PERMUTATIONS:] for row in rows], axis=0)

    def _build(self, name: str, case: Case, places: Codes) -> Compare:
        originals = case.originals
        if name == "encoder" and self.encoder is not None:
            if len(places) == len(originals):
                self.encoder.embed_all(originals, originals=True, progress=case.progress)
            points = normalize_rows(self.encoder.embed(originals, places.tolist()))
            return partial(compare_embeddings, self.encoder, points)
        return (ShapeAttacker if name == "shape" else WordAttacker)([originals[place] for place in places]).compare


class WordAttacker:
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


def compare_embeddings(encoder: CachedEncoder, points: Floats, obfuscated: Texts, places: Codes) -> Floats:
    """The cosines of the sentence embeddings of some texts with those of every original."""
    cosines: Floats = normalize_rows(encoder.embed(obfuscated, places.tolist())) @ points.T
    return cosines


def rank(similarities: Floats, own: Codes, codes: Codes | None, orders: Codes) -> tuple[Floats, Floats]:
    """The success of an attacker with some texts, and its sum over these texts under every permutation.

    Args:
        similarities: A row for every obfuscated text, a column for every original.
        own: The column of the right original of every row.
        codes: The class of every original.
        orders: The column that is taken for the right one, by permutation and text, from :func:`permute_truth`.

    Returns:
        A row for every text, and a row for every permutation. The columns are the measures of success in finding the
        original, and then those in finding the class, if there are classes.
    """
    right = np.hstack([own[:, None], orders[:, own].T])
    scores = score_ranks(count_above(similarities, right), similarities.shape[1])
    found, permuted = scores[:, 0], scores[:, 1:].sum(axis=0)
    if codes is None:
        return found, permuted
    means = average_classes(similarities, own, codes)
    scores = score_ranks(count_above(means, codes[right]), means.shape[1])
    weighted = scores[:, 1:] * balance_classes(codes)[right[:, 1:], None]
    return np.hstack([found, scores[:, 0]]), np.hstack([permuted, weighted.sum(axis=0)])


def average_classes(similarities: Floats, own: Codes, codes: Codes) -> Floats:
    """The mean similarity of every text with the originals of every class, without the text's own original."""
    rows = np.arange(len(own))
    members = np.zeros((len(codes), codes.max() + 1))
    members[np.arange(len(codes)), codes] = 1
    totals, counts = similarities @ members, np.tile(members.sum(axis=0), (len(own), 1))
    totals[rows, codes[own]] -= similarities[rows, own]
    counts[rows, codes[own]] -= 1
    return np.where(counts > 0, totals / np.maximum(counts, 1), -np.inf)  # a class without other originals is last


_COMPARES = {"words": "words", "shape": "punctuation and lengths", "encoder": "sentence embeddings"}


def _write_line(attacker: str, target: str, values: Mapping[str, Reading], chance: Mapping[str, Reading]) -> str:
    """What the strongest attacker finds, in plain language."""
    ten = f" and for {values['top_10'].value:.1%} with ten" if "top_10" in values else ""
    hidden = ", from which it cannot be told" if is_chance(values["top_1"], chance["top_1"]) else ""
    return (
        f"An attacker who compares {_COMPARES[attacker]} finds the right {target} for "
        f"{values['top_1'].show('.1%', first=True)} of the texts with one guess{ten}. Chance for the best attacker is "
        f"{chance['top_1'].show('.2%')}{hidden}."
    )
