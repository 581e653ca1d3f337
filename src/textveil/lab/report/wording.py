"""Findings in words: the sentences of the report and the command line."""

from __future__ import annotations

from textveil.lab.compare.front import begin
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn, Reference, find_reference
from textveil.lab.report.anova import describe_p
from textveil.lab.report.findings import (
    LEAST_DRAWS,
    Advantage,
    Findings,
    SettingFindings,
    list_titles,
    measure_gap,
    tell_caveats,
)
from textveil.lab.report.pages import load_texts
from textveil.lab.report.results import CLEAR, CONTROLS, HIGH, Results


def explain_terms(results: Results) -> list[tuple[str, str]]:
    """The terms of a report of these results, each with its meaning."""
    texts, shown = load_texts(), {metric.name for metric in results.metrics}
    references = list_titles(results.frame, results.metrics)
    profiles = results.values("profile")
    return [
        *((METRIC_COLUMNS[name].title, meaning) for name, meaning in texts["metrics"].items() if name in shown),
        *((reference.value, texts["references"][reference]) for reference in references),
        *((f"profile {name}", meaning) for name, meaning in texts["profiles"].items() if name in profiles),
        *texts["tests"].items(),
        *(texts["draws"].items() if results.draws > 1 else ()),
    ]


def tell_gaps(findings: Findings) -> list[str]:
    """The gaps between the methods of each factor that has a significant effect, in words."""
    tests = [(each.prefix, each.anova, each.gaps) for each in findings.settings if each.tested]
    if findings.overall is not None:
        results = findings.results
        others = [factor for factor in results.varying if factor not in results.combination]
        gaps = tuple(measure_gap(results, factor, findings.response) for factor in others)
        tests.append(("all settings together: ", findings.overall, gaps))
    lines = []
    for prefix, anova, gaps in tests:
        said = "; ".join(
            f"{gap.factor}s {gap.gap:.4f} ({gap.worst} to {gap.best})"
            if anova[gap.factor].significant
            else f"{gap.factor}s do not differ significantly"
            for gap in gaps
        )
        lines.append(begin(f"{prefix}range of mean {findings.response.title}: {said}."))
    return lines


def tell_effects(setting: SettingFindings) -> str:
    """The effects of the factors in the analysis of variance, in a sentence."""
    if not setting.tested:
        return f"Not tested. {setting.obstacle}"
    said = []
    for effect in setting.anova.effects:
        if effect.factors[0] in CONTROLS:
            continue
        name = "their interaction" if len(effect.factors) > 1 else f"the {effect.name}"
        verdict = "has a significant effect" if effect.significant else "has no significant effect"
        said.append(f"{name} {verdict} (F = {effect.f_statistic:.2f}, {describe_p(effect.p_value)})")
    return begin(f"{'; '.join(said)}.")


def tell_one_way(setting: SettingFindings) -> str:
    """The one-way tests, in a clause."""
    tests = setting.one_way
    return "; ".join(f"{effect.name} F = {effect.f_statistic:.2f}, {describe_p(effect.p_value)}" for effect in tests)


def tell_doubts(findings: Findings) -> list[str]:
    """The caveats of every metric that is shown, in words."""
    caveats = {
        metric: findings.results.list_caveats(metric) for metric in findings.results.list_shown(findings.response)
    }
    return [f"{metric.title}: {tell_caveats(found)}" for metric, found in caveats.items() if found]


def tell_noise(setting: SettingFindings) -> str:
    """The size of the noise beside the residual, in words; empty with a single draw."""
    noise = setting.anova.noise
    if noise is None:
        return ""
    said = (
        f"Noise: over draws, the value of a cell has a standard deviation of {noise.std:.4f}. This is "
        f"{noise.share:.0%} of the residual variance."
    )
    if noise.explains_residual:
        return f"{said} The residual cannot be told from noise ({describe_p(noise.p_value)})."
    return f"{said} The rest is a difference between data sets and levels that more draws do not remove."


def tell_datasets(setting: SettingFindings) -> str:
    """The factors whose methods rank differently on different data sets, in a sentence; empty if it was not tested."""
    if setting.by_dataset is None:
        return ""
    effects = [effect for effect in setting.by_dataset.effects if effect.factors[1:] == ("dataset",)]
    found = [effect for effect in effects if effect.significant]
    if not found:
        return "No factor interacts significantly with the data set."
    said = "; ".join(
        f"{effect.factors[0]} (F = {effect.f_statistic:.2f}, {describe_p(effect.p_value)})" for effect in found
    )
    return f"The effect depends on the data set: {said}. Means over data sets hide this."


def tell_pairs(setting: SettingFindings) -> str:
    """The number of pairs that differ, and the method that is most often lower, in words."""
    if not setting.tested:
        return f"Not tested. {setting.obstacle}"
    found, count = setting.comparisons.significant, len(setting.comparisons.pairs)
    if not found:
        return f"None of the {count} pairs differ significantly."
    said = f"{len(found)} of the {count} pairs differ significantly, by more than {found[0].margin:.4f}."
    shown = [factor for factor in setting.results.combination if factor in setting.results.varying]
    known = {method for factor in shown for method in setting.results.values(factor)}
    methods = [method for pair in found for method in pair.lower.split(" + ") if method in known]
    common = max(dict.fromkeys(methods), key=methods.count)
    return f"{said} {common} is the lower one in {methods.count(common)} of them."


def tell_clear(findings: Findings) -> list[str]:
    """The relation of words in clear to the response and to advantages, in words."""
    lines = []
    for setting in findings.settings:
        if not setting.tested or findings.response == CLEAR:
            continue
        if setting.clear_effect is None:
            same = "the share of words in clear is the same in all cells of a data set and level."
            lines.append(begin(f"{setting.prefix}{same}"))
            continue
        effect = setting.clear_effect
        said = (
            f"within data sets and levels, the share of words in clear explains {effect.explained:.0%} of the variance "
            f"of {findings.response.title}; ten percentage points more correspond to {10 * effect.slope:+.4f}."
        )
        lines.append(begin(f"{setting.prefix}{said}"))
    lines += [line for advantage in findings.advantages if (line := tell_advantage(advantage))]
    return lines


def tell_advantage(advantage: Advantage) -> str:
    """The change of an advantage when fewer words are released in clear; empty without a significant advantage."""
    shares = advantage.clear_share
    if len(shares) < 2 or max(shares.values()) == min(shares.values()):
        return ""
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    lost = advantage.lost(most, least)
    if lost is None or not advantage.evident.get(most):
        return ""
    said = (
        f"{advantage.method} is {advantage.by_setting[most]:.4f} better than the other {advantage.factor}s under "
        f"{most}, with {shares[most]:.1%} of its words in clear. Under {least}, with {shares[least]:.1%},"
    )
    left = advantage.by_setting[least]
    if not advantage.evident.get(least):
        return f"{said} no advantage can be told from chance ({left:+.4f})."
    if left < 0:
        return f"{said} it is worse than the others ({left:+.4f})."
    gone = f"{lost:.0%} of the advantage is gone" if lost > 0 else "the advantage is still there"
    return f"{said} {gone} ({left:+.4f})."


def tell_chance(results: Results) -> list[str]:
    """The number of cells whose value cannot be told from chance, for every metric that has its interval, in words."""
    lines = []
    for metric in results.metrics:
        chance = find_reference(metric, Reference.CHANCE)
        if chance is None or f"{chance.name}{HIGH}" not in results.frame:
            continue
        top, values = results.rows[f"{chance.name}{HIGH}"], results.rows[metric.name]
        known, count = int((top.notna() & values.notna()).sum()), int((values <= top).sum())
        said = f"{count} of {known} cells cannot be told from chance: they do not exceed its 95 % interval."
        lines.append(begin(f"{metric.title}: {said if count else f'all {known} cells exceed chance.'}"))
    return lines


def tell_draws(results: Results) -> list[str]:
    """That there are too few draws of noise for an interval over them, in words; empty if there are enough."""
    if results.draws >= LEAST_DRAWS:
        return []
    draws = "One draw of noise is" if results.draws == 1 else f"{results.draws} draws of noise are"
    return [
        f"{draws} too few for intervals over noise, which need at least {LEAST_DRAWS}. Intervals cover other texts "
        "alone: with other noise, values may differ more."
    ]


def tell_missing(results: Results, response: MetricColumn) -> list[str]:
    """The data sets and levels that lack the response or another metric of tables, in words."""
    lines = []
    for metric in dict.fromkeys(each.metric for each in results.missing):
        groups = "; ".join(str(each) for each in results.missing if each.metric == metric)
        if metric == response:
            lines.append(f"Excluded from the analysis, because {metric.title} is missing: {groups}.")
        elif not metric.detail:
            lines.append(begin(f"{metric.title} is missing, so none of its values is used: {groups}."))
    return lines
