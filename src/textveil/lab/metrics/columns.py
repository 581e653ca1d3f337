"""The values of metrics in results: the only declaration of their columns, titles and directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
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
_lower = partial(MetricColumn, better="lower")
_higher = partial(MetricColumn, better="higher")
_share = partial(_lower, percent=True)
_detail = partial(_share, detail=True)
_ALL = (
    _higher("downstream", "f1", "utility F1", "F1", column="utility_f1", percent=True),
    _higher("downstream", "original", "utility F1 of originals", _ORIGINALS, percent=True, reference_of=_TASK),
    _higher("downstream", "chance", "utility F1 by chance", _CHANCE, percent=True, reference_of=_TASK),
    _higher("downstream", "majority", "majority utility F1", _MAJORITY, percent=True, reference_of=_TASK),
    _higher("downstream", "retained", "kept share of the utility F1", "kept", detail=True, of_originals=1.0,
        highest=math.inf),  # not in percent, since it can be above 1
    _higher("similarity", "cosine", "similarity", "similar", column="cosine_similarity", of_originals=1.0, lowest=-1.0),
    _lower("perplexity", "mean", "perplexity", "perplex.", column="perplexity", decimals=0, logarithmic=True,
        lowest=1.0, highest=math.inf),
    _lower("perplexity", "original_mean", "perplexity of originals", _ORIGINALS, decimals=0,
        reference_of=("perplexity",), lowest=1.0, highest=math.inf),
    _lower("perplexity", "median", "median perplexity", "median", decimals=0, detail=True, lowest=1.0,
        highest=math.inf),
    _lower("perplexity", "original_median", "median perplexity of originals", _ORIGINALS, decimals=0,
        reference_of=("perplexity_median",), lowest=1.0, highest=math.inf),
    _share("identifiers", "remaining", "surviving identifiers", "identif.", column="pi_remaining", decimals=2,
        of_originals=1.0),
    _share("identifiers", "direct", "surviving direct identifiers", "direct", decimals=2, of_originals=1.0),
    _detail("identifiers", "indirect", "surviving indirect identifiers", "indirect", decimals=2),
    _detail("identifiers", "other", "other surviving identifiers", "other", decimals=2),
    _share("attribute", "static", "static attacker F1", "static", column="static_f1"),
    _share("attribute", "adaptive", "adaptive attacker F1", "adaptive", column="adaptive_f1"),
    _share("attribute", "baseline", "attacker F1 on originals", _ORIGINALS, reference_of=_ATTACK),
    _share("attribute", "chance", "attacker F1 by chance", _CHANCE, reference_of=_ATTACK),
    _share("attribute", "majority", "majority attacker F1", _MAJORITY, reference_of=_ATTACK),
    _share("inversion", "top_1", "chunks recovered with one guess", "inverted"),
    _share("inversion", "prior_top_1", "chunks guessed by frequency", _CHANCE, reference_of=("inversion_top_1",
        "inversion_decoded", "inversion_repeated")),
    _share("inversion", "decoded", "chunks recovered by reading texts", "decoded"),
    _detail("inversion", "repeated", "chunks that returned", "repeated"),
    _detail("inversion", "top_10", "chunks recovered with ten guesses", "in ten"),
    _share("inversion", "prior_top_10", "chunks guessed by frequency, of ten", _CHANCE,
        reference_of=("inversion_top_10",)),
    _share("clear_text", "unchanged", "unchanged words", "unchanged", of_originals=1.0),
    _detail("clear_text", "identical", "identical documents", "identical"),
    _detail("clear_text", "released", "words released in clear", "released", of_originals=1.0),
    _detail("clear_text", "returned", "words that returned", "returned"),
    _detail("clear_text", "kept_stopword", "kept stopwords", "stopwords"),
    _detail("clear_text", "kept_unknown", "unknown words in clear", "unknown"),
    _detail("clear_text", "kept_no_share", "words in clear without a share", "no share"),
    _detail("clear_text", "documents_verbatim", "documents with all words returned", "verbatim"),
    _detail("clear_text", "documents_80", "documents with 80 % of words returned", "80 %"),
    _detail("clear_text", "returned_p95", "returned words, 95th percentile of documents", "p95"),
    _detail("clear_text", "returned_max", "returned words of the worst document", "worst"),
    _lower("overlap", "rouge_l", "ROUGE-L", "ROUGE-L", of_originals=1.0),
    _lower("overlap", "unrelated", "ROUGE-L of unrelated texts", _CHANCE, reference_of=("overlap_rouge_l",)),
    _detail("overlap", "unchanged", "unchanged words by overlap", "overlap"),
    _detail("overlap", "unchanged_content", "unchanged words without stopwords", "content"),
    _higher("token_similarity", "f1", "token similarity", "tokens", of_originals=1.0, lowest=-1.0),
    _higher("token_similarity", "unrelated", "token similarity of unrelated texts", _CHANCE,
        reference_of=("token_similarity_f1",), lowest=-1.0),
    _higher("token_similarity", "precision", "token similarity, precision", "precision", detail=True, lowest=-1.0),
    _higher("token_similarity", "recall", "token similarity, recall", "recall", detail=True, lowest=-1.0),
    _share("linkage", "top_1", "texts linked with one guess", "linked", of_originals=1.0),
    _share("linkage", "chance_top_1", "texts linked by chance", _CHANCE, reference_of=("linkage_top_1",)),
    _detail("linkage", "top_10", "texts linked with ten guesses", "in ten"),
    _share("linkage", "chance_top_10", "texts linked by chance, of ten", _CHANCE, reference_of=("linkage_top_10",)),
    _lower("linkage", "auc", "linkage AUC", "AUC", detail=True),
    _lower("linkage", "chance_auc", "linkage AUC by chance", _CHANCE, reference_of=("linkage_auc",)),
    _detail("linkage", "attribute_top_1", "attributes linked with one guess", "by attribute"),
    _share("linkage", "attribute_chance_top_1", "attributes linked by chance", _CHANCE,
        reference_of=("linkage_attribute_top_1",)),
    _detail("linkage", "attribute_top_10", "attributes linked with ten guesses", "attr. in ten"),
    _share("linkage", "attribute_chance_top_10", "attributes linked by chance, of ten", _CHANCE,
        reference_of=("linkage_attribute_top_10",)),
    _lower("linkage", "attribute_auc", "linkage AUC of attributes", "attr. AUC", detail=True),
    _lower("linkage", "attribute_chance_auc", "linkage AUC of attributes by chance", _CHANCE,
        reference_of=("linkage_attribute_auc",)),
    _share("stylometry", "adaptive", "stylometry attacker F1", "style"),
    _share("stylometry", "baseline", "stylometry attacker F1 on originals", _ORIGINALS, reference_of=_STYLE),
    _share("stylometry", "chance", "stylometry attacker F1 by chance", _CHANCE, reference_of=_STYLE),
    _share("stylometry", "majority", "majority stylometry F1", _MAJORITY, reference_of=_STYLE),
    _lower("membership", "auc", "membership AUC", "member"),
    _lower("membership", "baseline", "membership AUC of originals", _ORIGINALS, reference_of=("membership_auc",)),
    _lower("membership", "chance", "membership AUC by chance", _CHANCE, reference_of=("membership_auc",)),
    _higher("trade_off", "relative_gain", "relative gain", "gain", column="relative_gain", of_originals=0.0,
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
