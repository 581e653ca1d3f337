"""Recommendations: the best combinations, with reasons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textveil.analysis.anova import Anova
from textveil.analysis.columns import CLEAR_SHARE, EXPOSURE, RELATIVE_GAIN, UTILITY
from textveil.analysis.results import Results
from textveil.analysis.summaries import average_combinations
from textveil.analysis.tukey import Comparisons, name_combination
from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_WHAT = {
    UTILITY.name: "The mean of utility F1 and similarity",
    EXPOSURE.name: "The mean of surviving identifiers, static and adaptive attacker F1",
}


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best combination for a purpose."""

    purpose: str
    combination: str
    score: float
    reason: str
    evident: bool = True
    """Whether the choice matters, rather than being explained by chance."""

    @property
    def headline(self) -> str:
        """The choice alone."""
        return self.combination if self.evident else "no clear choice"

    @property
    def explanation(self) -> str:
        """The text below the headline."""
        return self.reason if self.evident else f"{self._doubt} {self.reason}"

    @property
    def sentence(self) -> str:
        """The choice and the reason for it."""
        choice = f"choose {self.combination}." if self.evident else self._doubt[:1].lower() + self._doubt[1:]
        return f"For {self.purpose}, {choice} {self.reason}"

    @property
    def _doubt(self) -> str:
        return f"No combination differs significantly from another; {self.combination} is nominally first."


def recommend(
    results: Results, response: MetricColumn, anova: Anova, comparisons: Comparisons
) -> tuple[Recommendation, ...]:
    """The best combinations for the response, for utility and for privacy.

    Relative gain as a response is called the trade-off. A response that was not tested has no recommendation, since
    all combinations are equal.
    """
    means = average_combinations(results)
    found = [_choose_tested(means[response.name], response, anova, comparisons)] if anova.effects else []
    for aim, metric in (("utility", UTILITY), ("privacy", EXPOSURE)):
        if metric.name in means:
            found.append(_choose(means[metric.name], aim, metric))
            if metric == UTILITY:
                found[-1] = _add_downstream(found[-1], means)
    if results.counts_words:
        shares = {name_combination(*names): share for names, share in means[CLEAR_SHARE].items()}
        found = [_add_share(recommendation, shares[recommendation.combination]) for recommendation in found]
    return tuple(found)


def _choose_tested(means: Series, response: MetricColumn, anova: Anova, comparisons: Comparisons) -> Recommendation:
    """The best combination for the response, and whether the choice matters."""
    purpose = "trade-off" if response == RELATIVE_GAIN else response.title
    best = _choose(means, purpose, response)
    wins = comparisons.count_wins(best.combination, better=response.better)
    if not wins and not anova.finds_choice:
        return replace(best, evident=False)
    others = sum(best.combination in (pair.higher, pair.lower) for pair in comparisons.pairs)
    return replace(best, reason=f"{best.reason} {_tell_wins(wins, others)}")


def _choose(means: Series, purpose: str, metric: MetricColumn) -> Recommendation:
    ranked = means.sort_values(ascending=metric.better == "lower", kind="stable")
    names = [name_combination(*methods) for methods in ranked.index]
    best, score = names[0], float(ranked.iloc[0])
    what = _WHAT.get(metric.name, f"Its {metric.title}")
    reason = f"{what} is {metric.show(score)} on average"
    if len(names) > 1:
        reason += f", followed by {names[1]} ({metric.show(float(ranked.iloc[1]))})"
    return Recommendation(purpose, best, score, f"{reason}.")


def _add_downstream(recommendation: Recommendation, means: DataFrame) -> Recommendation:
    """Add the best combination for the downstream task, if it is another one."""
    downstream = METRIC_COLUMNS["utility_f1"]
    best = _choose(means[downstream.name], "downstream", downstream)
    if best.combination == recommendation.combination:
        return recommendation
    more = f"By {downstream.title} alone, {best.combination} is best ({downstream.show(best.score)})."
    return replace(recommendation, reason=f"{recommendation.reason} {more}")


def _tell_wins(wins: int, others: int) -> str:
    """The number of others that a combination is significantly better than, in words."""
    if not wins:
        return f"None of the {others} others is significantly worse."
    if wins == others:
        return "It is significantly better than all others."
    return f"It is significantly better than {wins} of the {others} others; the rest do not differ significantly."


def _add_share(recommendation: Recommendation, share: float) -> Recommendation:
    part = f"{share:.1%}" if share else "none"
    words = f"Of its words, without stopwords, {part} were released in clear."
    return replace(recommendation, reason=f"{recommendation.reason} {words}")
