"""Token similarity: how well the tokens of a pair match in context, in the manner of BERTScore."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from textveil.lab.metrics.base import Case, Measurement, ModelMetric, identify
from textveil.lab.metrics.encoding import BATCH_OPTION, ENCODER_OPTION, PACKAGES, CachedEncoder, normalize_rows
from textveil.lab.metrics.uncertainty import average, describe_few
from textveil.models.encoders import Values
from textveil.models.files import DEVICE_OPTION
from textveil.registry import Option
from textveil.storage.score_cache import Row, hash_text

SAMPLE = 200
"""The interval of the F1 is then about 0.006 wide to either side, and reviews take a minute or two on a CPU."""
GROUP = 16
"""Pairs to read at a time. The embeddings of all tokens of these pairs are in memory."""
VALUES = ("f1", "precision", "recall", "unrelated")


class TokenSimilarity(ModelMetric):
    """The F1 of a greedy matching of contextual token embeddings (BERTScore, Zhang et al. 2020).

    Recall is the mean, over the tokens of the original, of the cosine with the most similar token of the obfuscated
    text. Precision is the same with the texts exchanged. F1 is their harmonic mean. Special tokens do not count. The
    embeddings are those of the last layer of a sentence encoder, so values of other BERTScores cannot be compared.
    ``unrelated`` is the F1 with the original of another text of similar length.

    Args:
        options: The encoder (``model``), the ``sample`` of pairs, the ``batch_size`` and the ``device``.
    """

    name = "token_similarity"
    packages = PACKAGES

    options = (
        ENCODER_OPTION,
        Option("sample", int, SAMPLE, "The largest number of pairs to read, always the same ones.", least=1),
        BATCH_OPTION,
        DEVICE_OPTION,
    )
    sample: int
    batch_size: int
    device: str | None

    @cached_property
    def encoder(self) -> CachedEncoder:
        """The encoder, which other metrics may use, too."""
        return CachedEncoder(self.files, batch_size=self.batch_size, device=self.device)

    def measure(self, case: Case) -> Measurement:
        """Match the tokens of every pair."""
        scores = dict(zip(VALUES, self._compare(case).T, strict=True))
        texts = len(scores["f1"])
        if texts < 2:
            del scores["unrelated"]
        readings = {name: average(column) for name, column in scores.items()}
        line = (
            "The tokens of original and obfuscated texts match with an F1 of "
            f"{readings['f1'].show('.3f', first=True)}; identical texts have 1."
        )
        return self.report(line, readings, caveats=describe_few(texts), texts=texts)

    def _compare(self, case: Case) -> Values:
        """F1, precision, recall and unrelated F1 of every pair of the sample."""
        originals, obfuscated = case.originals.sample(self.sample), case.obfuscated.sample(self.sample)
        others = choose_others(originals, obfuscated)

        def match(positions: list[int]) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(positions), GROUP):
                group = positions[start : start + GROUP]
                case.progress(f"token similarity, {self.files.name}", start, start / len(positions))
                read = [[texts[position] for position in group] for texts in (originals, obfuscated, others)]
                tokens = self._embed([text for texts in read for text in texts])
                for number in range(len(group)):
                    original, hidden, other = tokens[number :: len(group)]
                    rows.append(np.array([*match_tokens(original, hidden), match_tokens(other, hidden)[0]]))
            return rows

        rows = obfuscated.score(
            identify("tokens", self.versions, **self.encoder.record),
            match,
            keys=[hash_text(*texts) for texts in zip(originals, obfuscated, others, strict=True)],
            stage=f"token similarity, {self.files.name}",
            progress=case.progress,
        )
        return np.array(rows)

    def _embed(self, texts: list[str]) -> list[Values]:
        """The embeddings of the tokens of every text. Equal texts are read once."""
        distinct = list(dict.fromkeys(texts))
        tokens = dict(zip(distinct, self.encoder.model.embed_tokens(distinct), strict=True))
        return [tokens[text] for text in texts]


def choose_others(originals: Sequence[str], obfuscated: Sequence[str]) -> list[str]:
    """An unrelated original for every obfuscated text: that of the next shorter one.

    Texts are scored from the longest to the shortest one, so most of these originals are read anyway.

    >>> choose_others(["A", "B", "C"], ["long text", "a", "a text"])
    ['C', 'A', 'B']
    """
    order = sorted(range(len(obfuscated)), key=lambda position: -len(obfuscated[position]))
    following = dict(zip(order, [*order[1:], *order[:1]], strict=True))
    return [originals[following[position]] for position in range(len(originals))]


def match_tokens(original: Values, obfuscated: Values) -> tuple[float, float, float]:
    """F1, precision and recall of the greedy matching of two texts' token embeddings.

    >>> match_tokens(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 0.0]]))
    (0.6666666666666666, 1.0, 0.5)
    """
    if not len(original) or not len(obfuscated):
        return 0.0, 0.0, 0.0
    cosines = normalize_rows(obfuscated) @ normalize_rows(original).T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    total = precision + recall
    return (2 * precision * recall / total if total > 0 else 0.0), precision, recall
