"""The values of metrics in results: the only declaration of their columns, titles and directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Reference(StrEnum):
    """A kind of value to compare with. Its name is the short title of the columns that hold such a value."""

    ORIGINALS = "originals"
    """The value of the original texts."""
    CHANCE = "chance"
    """The value of an attacker or classifier that has learned nothing."""
    MAJORITY = "majority"
    """The value of the majority baseline, which always predicts the most frequent class."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A value of a metric as a column of results, and its display."""

    metric: str
    """The metric; empty if the analysis computes the column from others."""
    value: str
    """The name of the value in the measurement."""
    title: str
    short: str
    """A short title."""
    better: Literal["higher", "lower"]
    column: str = ""
    """The name of the column, unless it is METRIC_VALUE."""
    percent: bool = False
    """Whether it is shown in percent. It is stored as a fraction, and read as either."""
    decimals: int | None = None
    """The number of decimals to show; by default 1 for a percentage, otherwise 3."""
    reference_of: tuple[str, ...] = ()
    """The columns that it is a reference of: figures show it as a line, tables as a column. It is not a response."""
    of_originals: float | None = None
    """The value of originals, if it follows from the definition of the metric."""
    detail: bool = False
    """Whether figures and tables omit it, unless it is the response."""
    logarithmic: bool = False
    """Whether axes are logarithmic and differences are ratios."""
    lowest: float = 0.0
    """The lowest possible value."""
    highest: float = 1.0
    """The highest possible value."""

    @property
    def reference(self) -> Reference | None:
        """The kind of reference that it is; ``None`` if it is a response."""
        return Reference(self.short) if self.reference_of else None

    @property
    def name(self) -> str:
        """The column of results."""
        return self.column or f"{self.metric}_{self.value}"

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better."""
        return 1 if self.better == "higher" else -1

    def show(self, value: float) -> str:
        """The value, rounded for display.

        >>> METRIC_COLUMNS["utility_f1"].show(0.7612), METRIC_COLUMNS["perplexity"].show(1497.2)
        ('76.1%', '1,497')
        """
        return f"{self.show_bare(value)}%" if self.percent else self.show_bare(value)

    def show_bare(self, value: float) -> str:
        """The value without its unit."""
        decimals = self.decimals if self.decimals is not None else 1 if self.percent else 3
        return f"{100 * value if self.percent else value:,.{decimals}f}"


_ORIGINALS, _CHANCE, _MAJORITY = Reference
_TASK, _ATTACK = ("utility_f1",), ("static_f1", "adaptive_f1")
_STYLE = ("stylometry_adaptive",)
_C = MetricColumn
_ALL = (
    _C("downstream", "f1", "utility F1", "F1", "higher", column="utility_f1", percent=True),
    _C("downstream", "original", "utility F1 of originals", _ORIGINALS, "higher", percent=True, reference_of=_TASK),
    _C("downstream", "chance", "utility F1 by chance", _CHANCE, "higher", percent=True, reference_of=_TASK),
    _C("downstream", "majority", "majority utility F1", _MAJORITY, "higher", percent=True, reference_of=_TASK),
    _C("downstream", "retained", "kept share of the utility F1", "kept", "higher", detail=True,
       of_originals=1.0, highest=math.inf),  # not in percent, since it can be above 1
    _C("similarity", "cosine", "similarity", "similar", "higher", column="cosine_similarity", of_originals=1.0,
       lowest=-1.0),
    _C("perplexity", "mean", "perplexity", "perplex.", "lower", column="perplexity", decimals=0,
       logarithmic=True, lowest=1.0, highest=math.inf),
    _C("perplexity", "original_mean", "perplexity of originals", _ORIGINALS, "lower", decimals=0,
       reference_of=("perplexity",), lowest=1.0, highest=math.inf),
    _C("perplexity", "median", "median perplexity", "median", "lower", decimals=0, detail=True,
       lowest=1.0, highest=math.inf),
    _C("perplexity", "original_median", "median perplexity of originals", _ORIGINALS, "lower", decimals=0,
       reference_of=("perplexity_median",), lowest=1.0, highest=math.inf),
    _C("identifiers", "remaining", "surviving identifiers", "identif.", "lower", column="pi_remaining", percent=True,
       decimals=2, of_originals=1.0),
    _C("identifiers", "direct", "surviving direct identifiers", "direct", "lower", percent=True, decimals=2,
       of_originals=1.0),
    _C("identifiers", "indirect", "surviving indirect identifiers", "indirect", "lower", percent=True, decimals=2,
       detail=True),
    _C("identifiers", "other", "other surviving identifiers", "other", "lower", percent=True, decimals=2, detail=True),
    _C("attribute", "static", "static attacker F1", "static", "lower", column="static_f1", percent=True),
    _C("attribute", "adaptive", "adaptive attacker F1", "adaptive", "lower", column="adaptive_f1", percent=True),
    _C("attribute", "baseline", "attacker F1 on originals", _ORIGINALS, "lower", percent=True, reference_of=_ATTACK),
    _C("attribute", "chance", "attacker F1 by chance", _CHANCE, "lower", percent=True, reference_of=_ATTACK),
    _C("attribute", "majority", "majority attacker F1", _MAJORITY, "lower", percent=True, reference_of=_ATTACK),
    _C("inversion", "top_1", "chunks recovered with one guess", "inverted", "lower", percent=True),
    _C("inversion", "prior_top_1", "chunks guessed by frequency", _CHANCE, "lower", percent=True,
       reference_of=("inversion_top_1", "inversion_decoded", "inversion_repeated")),
    _C("inversion", "decoded", "chunks recovered by reading texts", "decoded", "lower", percent=True),
    _C("inversion", "repeated", "chunks that returned", "repeated", "lower", percent=True, detail=True),
    _C("inversion", "top_10", "chunks recovered with ten guesses", "in ten", "lower", percent=True, detail=True),
    _C("inversion", "prior_top_10", "chunks guessed by frequency, of ten", _CHANCE, "lower", percent=True,
       reference_of=("inversion_top_10",)),
    _C("clear_text", "unchanged", "unchanged words", "unchanged", "lower", percent=True, of_originals=1.0),
    _C("clear_text", "identical", "identical documents", "identical", "lower", percent=True, detail=True),
    _C("clear_text", "released", "words released in clear", "released", "lower", percent=True, detail=True,
       of_originals=1.0),
    _C("clear_text", "returned", "words that returned", "returned", "lower", percent=True, detail=True),
    _C("clear_text", "kept_stopword", "kept stopwords", "stopwords", "lower", percent=True, detail=True),
    _C("clear_text", "kept_unknown", "unknown words in clear", "unknown", "lower", percent=True, detail=True),
    _C("clear_text", "kept_no_share", "words in clear without a share", "no share", "lower", percent=True, detail=True),
    _C("clear_text", "documents_verbatim", "documents with all words returned", "verbatim", "lower", percent=True,
       detail=True),
    _C("clear_text", "documents_80", "documents with 80 % of words returned", "80 %", "lower", percent=True,
       detail=True),
    _C("clear_text", "returned_p95", "returned words, 95th percentile of documents", "p95", "lower", percent=True,
       detail=True),
    _C("clear_text", "returned_max", "returned words of the worst document", "worst", "lower", percent=True,
       detail=True),
    _C("overlap", "rouge_l", "ROUGE-L", "ROUGE-L", "lower", of_originals=1.0),
    _C("overlap", "unrelated", "ROUGE-L of unrelated texts", _CHANCE, "lower", reference_of=("overlap_rouge_l",)),
    _C("overlap", "unchanged", "unchanged words by overlap", "overlap", "lower", percent=True, detail=True),
    _C("overlap", "unchanged_content", "unchanged words without stopwords", "content", "lower", percent=True,
       detail=True),
    _C("token_similarity", "f1", "token similarity", "tokens", "higher", of_originals=1.0, lowest=-1.0),
    _C("token_similarity", "unrelated", "token similarity of unrelated texts", _CHANCE, "higher",
       reference_of=("token_similarity_f1",), lowest=-1.0),
    _C("token_similarity", "precision", "token similarity, precision", "precision", "higher", detail=True,
       lowest=-1.0),
    _C("token_similarity", "recall", "token similarity, recall", "recall", "higher", detail=True, lowest=-1.0),
    _C("linkage", "top_1", "texts linked with one guess", "linked", "lower", percent=True, of_originals=1.0),
    _C("linkage", "chance_top_1", "texts linked by chance", _CHANCE, "lower", percent=True,
       reference_of=("linkage_top_1",)),
    _C("linkage", "top_10", "texts linked with ten guesses", "in ten", "lower", percent=True, detail=True),
    _C("linkage", "chance_top_10", "texts linked by chance, of ten", _CHANCE, "lower", percent=True,
       reference_of=("linkage_top_10",)),
    _C("linkage", "auc", "linkage AUC", "AUC", "lower", detail=True),
    _C("linkage", "chance_auc", "linkage AUC by chance", _CHANCE, "lower", reference_of=("linkage_auc",)),
    _C("linkage", "attribute_top_1", "attributes linked with one guess", "by attribute", "lower", percent=True,
       detail=True),
    _C("linkage", "attribute_chance_top_1", "attributes linked by chance", _CHANCE, "lower", percent=True,
       reference_of=("linkage_attribute_top_1",)),
    _C("linkage", "attribute_top_10", "attributes linked with ten guesses", "attr. in ten", "lower", percent=True,
       detail=True),
    _C("linkage", "attribute_chance_top_10", "attributes linked by chance, of ten", _CHANCE, "lower", percent=True,
       reference_of=("linkage_attribute_top_10",)),
    _C("linkage", "attribute_auc", "linkage AUC of attributes", "attr. AUC", "lower", detail=True),
    _C("linkage", "attribute_chance_auc", "linkage AUC of attributes by chance", _CHANCE, "lower",
       reference_of=("linkage_attribute_auc",)),
    _C("stylometry", "adaptive", "stylometry attacker F1", "style", "lower", percent=True),
    _C("stylometry", "baseline", "stylometry attacker F1 on originals", _ORIGINALS, "lower", percent=True,
       reference_of=_STYLE),
    _C("stylometry", "chance", "stylometry attacker F1 by chance", _CHANCE, "lower", percent=True, reference_of=_STYLE),
    _C("stylometry", "majority", "majority stylometry F1", _MAJORITY, "lower", percent=True, reference_of=_STYLE),
    _C("membership", "auc", "membership AUC", "member", "lower"),
    _C("membership", "baseline", "membership AUC of originals", _ORIGINALS, "lower", reference_of=("membership_auc",)),
    _C("membership", "chance", "membership AUC by chance", _CHANCE, "lower", reference_of=("membership_auc",)),
    _C("trade_off", "relative_gain", "relative gain", "gain", "higher", column="relative_gain", of_originals=0.0,
       lowest=-math.inf, highest=math.inf),
)  # fmt: skip
METRIC_COLUMNS = {column.name: column for column in _ALL}
"""Every value of a metric that can be analyzed, by its column. To add one, add a line above."""
RESPONSES = tuple(name for name, column in METRIC_COLUMNS.items() if not column.reference_of)
"""The columns that an analysis can explain: all except references."""
COUNTS = {("identifiers", "found"), ("identifiers", "pairs")}
"""The values that only count what was measured. Results have them, and the analysis ignores them."""
_NAMES = {(column.metric, column.value): column.name for column in _ALL}


def find_reference(column: MetricColumn, reference: Reference) -> MetricColumn | None:
    """The column with a reference of another column; ``None`` if none is declared.

    >>> find_reference(METRIC_COLUMNS["static_f1"], Reference.ORIGINALS).name
    'attribute_baseline'
    """
    found = (each for each in _ALL if column.name in each.reference_of and each.reference is reference)
    return next(found, None)


def name_column(metric: str, value: str) -> str:
    """The column of a metric's value in results. A value that is not declared is named METRIC_VALUE.

    >>> name_column("attribute", "static"), name_column("perplexity", "median"), name_column("identifiers", "found")
    ('static_f1', 'perplexity_median', 'identifiers_found')
    """
    return _NAMES.get((metric, value), f"{metric}_{value}")
