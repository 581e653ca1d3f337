"""Recommendations: the best combinations that tests support, with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textveil.analysis.cells import Group
from textveil.analysis.columns import CLEAR_SHARE, EXPOSURE, RELATIVE_GAIN, UTILITY
from textveil.analysis.results import Results, find_obstacle
from textveil.analysis.summaries import average_combinations
from textveil.analysis.tukey import Comparisons, compare_pairs, name_combination
from textveil.evaluation.columns import MetricColumn

_WHAT = {
    UTILITY.name: "mean of utility F1 and similarity",
    EXPOSURE.name: "mean of surviving identifiers, static and adaptive attacker F1",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A combination with its mean, and with its own share of words in clear. The two are never told apart."""

    combination: str
    score: float
    clear_share: float | None
    """The share of its words released in clear, without stopwords; ``None`` if it is unknown."""

    @property
    def exposure(self) -> str:
        """Its words in clear, in words."""
        if self.clear_share is None:
            return "words in clear unknown"
        return f"{self.clear_share:.1%} of its words in clear" if self.clear_share else "no words in clear"

    def __str__(self) -> str:
        return f"{self.combination} ({self.exposure})"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best combination for a purpose, if a test supports it."""

    purpose: str
    best: Candidate | None
    """The combination; ``None`` if none is recommended."""
    reason: str

    @property
    def evident(self) -> bool:
        """Whether a combination is recommended."""
        return self.best is not None

    @property
    def headline(self) -> str:
        """The choice alone, with its words in clear."""
        return "no recommendation" if self.best is None else str(self.best)

    @property
    def sentence(self) -> str:
        """The choice and the reason for it."""
        choice = "no combination is recommended" if self.best is None else f"choose {self.best}"
        return f"For {self.purpose}, {choice}. {self.reason}"


def recommend(
    results: Results, response: MetricColumn, comparisons: Comparisons | None = None
) -> tuple[Recommendation, ...]:
    """The best combinations for the response, for utility and for privacy.

    A combination is recommended only if it is significantly better than another one (Tukey's HSD). Data sets and levels
    with a caveat do not count. Relative gain as a response is called the trade-off.

    Args:
        results: The results of one setting.
        response: The metric that was explained.
        comparisons: All pairs of combinations, if they were compared already.
    """
    purposes = {"trade-off" if response == RELATIVE_GAIN else response.title: response}
    purposes |= {
        aim: metric for aim, metric in (("utility", UTILITY), ("privacy", EXPOSURE)) if metric.name in results.frame
    }
    return tuple(
        _recommend(results, purpose, metric, comparisons if metric == response else None)
        for purpose, metric in purposes.items()
    )


def _recommend(results: Results, purpose: str, metric: MetricColumn, comparisons: Comparisons | None) -> Recommendation:
    lacking = results.list_lacking(metric)
    excluded = f" Excluded, because it lacks values: {'; '.join(map(str, lacking))}." if lacking else ""
    known = results.without(lacking)
    if known is None:
        return Recommendation(purpose, None, f"No data set and level has all values.{excluded}")
    caveats = known.list_caveats(metric)
    sound = known.without(caveats)
    if sound is None:
        return Recommendation(
            purpose, None, f"Every data set and level has a caveat. {tell_caveats(caveats)}{excluded}"
        )
    if caveats:
        excluded += f" Excluded from this recommendation: {tell_caveats(caveats)}"
    if obstacle := find_obstacle(sound, metric):
        return Recommendation(purpose, None, f"Nothing was tested. {obstacle}{excluded}")
    pairs = compare_pairs(sound, metric) if caveats or lacking or comparisons is None else comparisons
    best, *others = _rank(sound, metric)
    worse = pairs.list_worse(best.combination, better=metric.better)
    if not worse:
        what = _WHAT.get(metric.name, metric.title)
        reason = f"By the {what}, no combination is significantly better than another."
        if pairs.significant:
            reason = f"By the {what}, the first combination is not significantly better than any other."
        return Recommendation(purpose, None, f"{reason}{excluded}")
    return Recommendation(purpose, best, f"{_tell_best(best, others, worse, metric)}{excluded}")


def _rank(results: Results, metric: MetricColumn) -> list[Candidate]:
    """All combinations, the best first."""
    ranked = average_combinations(results).sort_values(metric.name, ascending=metric.better == "lower", kind="stable")
    return [
        Candidate(
            name_combination(*names),
            float(row[metric.name]),
            float(row[CLEAR_SHARE]) if results.counts_words else None,
        )
        for names, row in ranked.iterrows()
    ]


def _tell_best(best: Candidate, others: list[Candidate], worse: frozenset[str], metric: MetricColumn) -> str:
    """The mean of the best combination, and what cannot be told from it."""
    said = f"Its {_WHAT.get(metric.name, metric.title)} is {metric.show(best.score)}."
    if metric == RELATIVE_GAIN and best.score <= 0:
        said += " Even so, no more utility than exposure is left."
    equal = [other for other in others if other.combination not in worse]
    if not equal:
        return f"{said} It is significantly better than all others."
    said += f" It is significantly better than {len(worse)} of the {len(others)} others, but not than the rest"
    shares = {str(each): each.clear_share for each in (best, *equal) if each.clear_share is not None}
    if len(shares) <= len(equal):
        return f"{said}. Which of them releases the fewest words in clear is unknown."
    safest = min(shares, key=shares.__getitem__)
    return f"{said}." if safest == str(best) else f"{said}, of which {safest} releases the fewest words in clear."


def tell_caveats(caveats: Mapping[Group, tuple[str, ...]]) -> str:
    """The caveats of groups in words. Groups with the same caveats are listed together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for group, said in caveats.items():
        groups.setdefault(said, []).append(f"{group.dataset}, level {group.level}")
    parts = [f"{'; '.join(names)} ({'; '.join(line.rstrip('.') for line in said)})" for said, names in groups.items()]
    return f"{'; '.join(parts)}."
