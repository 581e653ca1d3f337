"""Lexicons: the n-grams that an association measure selects as expressions, with their scores.

lexicons/
    lexicons.json                           the manifest: hash of the counts, parameters, SHA-256 of every file
    pmi.parquet, llr.parquet, tscore.parquet    ngram (words joined by a space), count, score; sorted
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textveil.bundles.building import LexiconTable
from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.extras import require
from textveil.lab.corpus import MIN_PMI, TOP_SHARE
from textveil.lab.corpus.counting.ngrams import MANIFEST as COUNTS_MANIFEST
from textveil.lab.corpus.counting.ngrams import NgramCounts, check_output, read_table, write_manifest, write_table
from textveil.storage.atomic import hash_file, writing_folder
from textveil.text.matching import LONGEST
from textveil.version import __version__

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Occurrences:
    """The counts of n-grams of one length, of their words, and of their halves.

    Args:
        ngram: The counts of the n-grams.
        words: The counts of their words, one row per position.
        left: The counts of their left halves: the first word, or the first two of three or four.
        right: The counts of their right halves: the rest.
        tokens: The number of words in the corpus.
    """

    ngram: Floats
    words: Floats
    left: Floats
    right: Floats
    tokens: float

    @property
    def expected(self) -> Floats:
        """The expected counts if words were independent: c(w1)...c(wn) / N^(n-1)."""
        expected: Floats = self.tokens * np.prod(self.words / self.tokens, axis=0)
        return expected

    @property
    def attracted(self) -> NDArray[np.bool_]:
        """Whether the halves occur together more often than by chance. LLR is also high if they avoid each other."""
        attracted: NDArray[np.bool_] = self.ngram * self.tokens > self.left * self.right
        return attracted


def pmi(occurrences: Occurrences) -> Floats:
    """Pointwise mutual information: log2 of c(w1...wn) N^(n-1) / (c(w1)...c(wn)).

    >>> pmi(Occurrences(*map(np.array, ([8.0], [[16.0], [32.0]], [16.0], [32.0])), tokens=1024.0))
    array([4.])
    """
    return np.log2(occurrences.ngram / occurrences.expected)


def t_score(occurrences: Occurrences) -> Floats:
    """Student's t: the difference between observed and expected count, divided by the square root of the observed.

    >>> t_score(Occurrences(*map(np.array, ([16.0], [[64.0], [64.0]], [64.0], [64.0])), tokens=1024.0))
    array([3.])
    """
    return (occurrences.ngram - occurrences.expected) / np.sqrt(occurrences.ngram)


def llr(occurrences: Occurrences) -> Floats:
    """Log-likelihood ratio of the 2x2 table of the left and the right half: w1|w2, w1 w2|w3, w1 w2|w3 w4.

    Computed as 2 * sum of observed * log(observed / expected). This equals the paper's formula and has smaller rounding
    errors for a large corpus. Where halves overlap themselves ("ha ha ha ha"), the cell for neither half can be
    negative. It then counts as zero.
    """
    together = occurrences.ngram
    only_left, only_right = occurrences.left - together, occurrences.right - together
    neither = np.maximum(occurrences.tokens - together - only_left - only_right, 0.0)
    table = np.array([[together, only_left], [only_right, neither]])
    expected = table.sum(axis=0, keepdims=True) * table.sum(axis=1, keepdims=True) / table.sum(axis=(0, 1))
    # An empty cell adds nothing, so its ratio may be 1.
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    ratios: Floats = 2.0 * (table * np.log(ratio)).sum(axis=(0, 1))
    return np.maximum(ratios, 0.0)


MEASURES: dict[str, Callable[[Occurrences], Floats]] = {"pmi": pmi, "llr": llr, "tscore": t_score}


def count_occurrences(counts: NgramCounts) -> dict[int, Occurrences]:
    """The occurrences of all n-grams of two or more words, by length."""
    tables = counts.tables
    of_words = tables[1].counts
    rows = np.arange(len(of_words))[:, None]  # the rows of the words of every n-gram
    found: dict[int, Occurrences] = {}
    for length in range(2, LONGEST + 1):
        table, shorter = tables[length], tables[length - 1]
        rows = np.column_stack((rows[table.prefixes], rows[table.suffixes, -1]))
        if length == 2:
            left, right = of_words[table.prefixes], of_words[table.suffixes]
        elif length == 3:
            left, right = shorter.counts[table.prefixes], of_words[rows[:, -1]]
        else:  # drop the last word twice, and the first word twice
            pairs = tables[2].counts
            left, right = pairs[shorter.prefixes[table.prefixes]], pairs[shorter.suffixes[table.suffixes]]
        found[length] = Occurrences(
            table.counts.astype(np.float64),
            of_words[rows.T].astype(np.float64),
            left.astype(np.float64),
            right.astype(np.float64),
            float(counts.tokens),
        )
    return found


FORMAT = 1
MANIFEST = "lexicons.json"
WORDS_PER_COUNT = 1_600_000
"""The number of words in a corpus for which ``min_count`` may rise by one: 40 suits a corpus of 64 million words."""


@dataclass(frozen=True)
class Lexicon:
    """Sorted expressions with their counts and scores."""

    ngrams: list[str]
    counts: NDArray[np.int64]
    scores: NDArray[np.float64]

    @classmethod
    def load(cls, folder: Path, measure: str) -> Lexicon:
        """Read the lexicon of a measure, and compare its SHA-256 with the manifest."""
        try:
            sha256 = json.loads((folder / MANIFEST).read_bytes())["lexicons"][measure]["sha256"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{str(folder)!r} has no readable lexicon {measure!r}. Write it with: textveil prepare score"
            ) from error
        table = read_table(folder / lexicon_name(measure), sha256)
        return cls(table["ngram"].to_pylist(), table["count"].to_numpy(), table["score"].to_numpy())

    def __len__(self) -> int:
        return len(self.ngrams)


def read_lexicon_tables(folder: Path) -> dict[str, LexiconTable]:
    """The non-empty lexicons that :class:`ScoreJob` wrote to a folder, as tables for a bundle."""
    lexicons = {measure: Lexicon.load(folder, measure) for measure in MEASURES}
    manifest = json.loads((folder / MANIFEST).read_bytes())
    settings = ("counts_sha256", "tokens", "min_count", "min_pmi", "top_share", "only_attracted")
    origin = {setting: manifest[setting] for setting in settings}
    return {
        measure: LexiconTable(lexicon.ngrams, lexicon.scores, origin)
        for measure, lexicon in lexicons.items()
        if len(lexicon) > 0
    }


def explain_empty(folder: Path, measure: str) -> str:
    """The reason why the lexicon of a measure is empty, and a threshold that would fill it."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    tokens, min_count = manifest["tokens"], manifest["min_count"]
    highest = manifest["lexicons"][measure].get("highest")
    if not manifest["ngrams"]:
        enough = max(2, tokens // WORDS_PER_COUNT)
        lower = f"Try `min_count={enough}`, or use" if enough < min_count else "Use"
        reason = f"the corpus of {tokens:,} words is too small for `min_count={min_count}`. {lower} more text."
    elif highest is None:
        reason = "all n-grams are rarer than by chance. Do not set `only_attracted`."
    else:
        reason = (
            f"no n-gram is above `min_pmi={manifest['min_pmi']:g}`, the highest has {highest:.4g}. "
            f"Try `min_pmi={highest / 2:.2g}`, or use more text."
        )
    return f"The {measure} lexicon is empty: {reason}"


def lexicon_name(measure: str) -> str:
    """The name of the file that holds the lexicon of a measure."""
    return f"{measure}.parquet"


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """Scores counted n-grams and writes the lexicons.

    Args:
        counts: The folder that counting wrote.
        output: The folder to write.
        min_count: Leave out n-grams that occur less often. By default, the threshold of the counts.
        min_pmi: The PMI lexicon has the n-grams with a PMI above this value.
        top_share: The LLR and t-score lexicons have this share of all n-grams, those with the highest scores.
        only_attracted: Leave n-grams that are rarer than by chance ("the the") out of the LLR lexicon. The paper keeps
            them.
        overwrite: Replace existing lexicons.
    """

    counts: Path
    output: Path
    min_count: int | None = None
    min_pmi: float = MIN_PMI
    top_share: float = TOP_SHARE
    only_attracted: bool = False
    overwrite: bool = False

    def run(self) -> dict[str, Any]:
        """Score n-grams and write the lexicons.

        Returns:
            The manifest.
        """
        counts = NgramCounts.load(self.counts)
        min_count = counts.min_count if self.min_count is None else self.min_count
        self._check(counts, min_count)
        found = list(count_occurrences(counts).values())
        tables = [counts.tables[length] for length in range(2, LONGEST + 1)]
        numbers = np.concatenate([table.counts for table in tables])
        columns = {
            "ngram": _join_columns([table.ngrams for table in tables]),
            "count": numbers,
            "length": np.repeat(range(2, LONGEST + 1), list(map(len, tables))),
            "attracted": np.concatenate([occurrences.attracted for occurrences in found]),
        }
        frequent = numbers >= min_count
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "counts_sha256": hash_file(self.counts / COUNTS_MANIFEST),
            "tokens": counts.tokens,
            "min_count": min_count,
            "min_pmi": self.min_pmi,
            "top_share": self.top_share,
            "only_attracted": self.only_attracted,
            "ngrams": int(frequent.sum()),
            "versions": {"textveil": __version__, "numpy": np.__version__},
            "lexicons": {},
        }
        with writing_folder(self.output.resolve(), replace=self.overwrite) as folder:
            for measure, score in MEASURES.items():
                columns["score"] = np.concatenate([score(occurrences) for occurrences in found])
                manifest["lexicons"][measure] = self._write(measure, columns, frequent, folder / lexicon_name(measure))
            write_manifest(folder / MANIFEST, manifest)
        return manifest

    def _check(self, counts: NgramCounts, min_count: int) -> None:
        if min_count < counts.min_count:
            raise ParameterError(
                f"The counts only have n-grams that occur at least {counts.min_count} times. Count again with "
                f"`min_count={min_count}`."
            )
        if not math.isfinite(self.min_pmi):
            raise ParameterError(f"`min_pmi` must be a finite number. Got {self.min_pmi} instead.")
        if not 0 < self.top_share <= 1:
            raise ParameterError(f"`top_share` must be in (0, 1]. Got {self.top_share} instead.")
        check_output(self.output, [MANIFEST, *map(lexicon_name, MEASURES)])
        if self.output.exists() and not self.overwrite:
            raise OutputExistsError(
                f"{str(self.output)!r} exists. Choose another name, or set `overwrite=True` to replace it."
            )

    def _choose(
        self, measure: str, scores: NDArray[np.float64], eligible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], float | None]:
        """The rows of the lexicon, and its lowest possible score."""
        if measure == "pmi":
            return np.flatnonzero(eligible & (scores > self.min_pmi)), self.min_pmi
        among = scores[eligible]
        wanted = math.ceil(round(self.top_share * len(among), 6))  # so that 7 % of 100 is 7 despite rounding errors
        if wanted == 0:
            return np.empty(0, np.intp), None
        threshold = np.partition(among, len(among) - wanted)[len(among) - wanted]
        return np.flatnonzero(eligible & (scores >= threshold)), float(threshold)

    def _write(self, measure: str, columns: dict[str, Any], frequent: NDArray[np.bool_], path: Path) -> dict[str, Any]:
        """Write the lexicon of a measure, sorted by n-gram; its entry in the manifest."""
        scores, attracted = columns["score"], columns["attracted"]
        eligible = frequent & attracted if measure == "llr" and self.only_attracted else frequent
        chosen, threshold = self._choose(measure, scores, eligible)
        kept = {"ngram": columns["ngram"].take(chosen), "count": columns["count"][chosen], "score": scores[chosen]}
        table = require("pyarrow", extra="prepare").table(kept).sort_by("ngram").combine_chunks()
        write_table(path, table.column_names, (batch.columns for batch in table.to_batches()))
        lengths = columns["length"][chosen]
        return {
            "file": path.name,
            "sha256": hash_file(path),
            "entries": {str(n): int((lengths == n).sum()) for n in range(2, LONGEST + 1)},
            "threshold": threshold,
            "rarer_than_chance": int((~attracted[chosen]).sum()),
            "highest": float(scores[eligible].max()) if eligible.any() else None,
        }


def _join_columns(columns: list[Any]) -> Any:
    """The n-grams of several tables, one after the other."""
    arrow = require("pyarrow", extra="prepare")
    return arrow.chunked_array([chunk for column in columns for chunk in column.chunks], "string")
