"""Which combination to choose, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textveil.analysis.columns import CLEAR_SHARE, EXPOSURE, METRICS, RELATIVE_GAIN, UTILITY, MetricColumn
from textveil.analysis.results import Results
from textveil.analysis.summaries import average_combinations
from textveil.analysis.tukey import Comparisons, name_combination

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_WHAT = {
    UTILITY.name: "The mean of utility F1 and similarity",
    EXPOSURE.name: "The mean of identifiers left, static and adaptive attacker F1",
}


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best combination for a purpose."""

    purpose: str
    combination: str
    score: float
    reason: str

    @property
    def sentence(self) -> str:
        """The choice and the reason for it."""
        return f"For {self.purpose}, choose {self.combination}. {self.reason}"


def recommend(results: Results, response: MetricColumn, comparisons: Comparisons) -> tuple[Recommendation, ...]:
    """The best combination for the response (the trade-off, if that is relative gain), for utility and for privacy."""
    means = average_combinations(results)
    purpose = "trade-off" if response == RELATIVE_GAIN else response.label
    first = _choose(means[response.name], purpose, response)
    found = [replace(first, reason=f"{first.reason} {_tell_wins(first.combination, comparisons, response)}")]
    for aim, metric in (("utility", UTILITY), ("privacy", EXPOSURE)):
        if metric.name in means:
            found.append(_choose(means[metric.name], aim, metric))
            if metric == UTILITY:
                found[-1] = _add_downstream(found[-1], means)
    if results.counts_words:
        shares = {name_combination(*names): share for names, share in means[CLEAR_SHARE].items()}
        found = [_add_share(recommendation, shares[recommendation.combination]) for recommendation in found]
    return tuple(found)


def _choose(means: Series, purpose: str, metric: MetricColumn) -> Recommendation:
    ranked = means.sort_values(ascending=metric.better == "lower", kind="stable")
    names = [name_combination(*methods) for methods in ranked.index]
    best, score = names[0], float(ranked.iloc[0])
    what = _WHAT.get(metric.name, f"Its {metric.label}")
    reason = f"{what} is {metric.show(score)} on average"
    if len(names) > 1:
        reason += f", before {names[1]} ({metric.show(float(ranked.iloc[1]))})"
    return Recommendation(purpose, best, score, f"{reason}.")


def _add_downstream(recommendation: Recommendation, means: DataFrame) -> Recommendation:
    """Name the best for the downstream task, where that is another one."""
    downstream = METRICS["utility_f1"]
    best = _choose(means[downstream.name], "downstream", downstream)
    if best.combination == recommendation.combination:
        return recommendation
    more = f"By {downstream.label} alone, {best.combination} is best ({downstream.show(best.score)})."
    return replace(recommendation, reason=f"{recommendation.reason} {more}")


def _tell_wins(combination: str, comparisons: Comparisons, response: MetricColumn) -> str:
    """How many others a combination is better than, beyond chance."""
    others = sum(combination in (pair.higher, pair.lower) for pair in comparisons.pairs)
    wins = comparisons.count_wins(combination, better=response.better)
    if not wins:
        return f"None of the {others} others is significantly worse."
    return f"It is significantly better than {wins} of the {others} others; from the rest it cannot be told apart."


def _add_share(recommendation: Recommendation, share: float) -> Recommendation:
    part = f"{share:.1%}" if share else "none"
    words = f"Of its words that are no stopwords, {part} were released in clear."
    return replace(recommendation, reason=f"{recommendation.reason} {words}")
