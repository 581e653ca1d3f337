"""Findings in words: the sentences of the report and the command line."""

from __future__ import annotations

from textveil.analysis.anova import describe_p
from textveil.analysis.clear import Advantage
from textveil.analysis.columns import CONTROLS
from textveil.analysis.findings import Findings, SettingFindings
from textveil.analysis.tukey import Comparisons

_UNTESTED = (
    "Not tested: the response is the same for all combinations in every data set and level, so there is no variance to "
    "explain."
)


def tell_gaps(findings: Findings) -> list[str]:
    """The gaps between the methods of each factor, in words."""
    lines = []
    for setting in findings.settings:
        if not setting.tested:
            continue
        said = "; ".join(f"{gap.factor}s {gap.gap:.4f} ({gap.worst} to {gap.best})" for gap in setting.gaps)
        lines.append(_begin(f"{setting.prefix}range of mean {findings.response.title}: {said}."))
    return lines


def tell_effects(setting: SettingFindings) -> str:
    """The effects of the factors in the analysis of variance, in a sentence."""
    if not setting.tested:
        return _UNTESTED
    said = []
    for effect in setting.anova.effects:
        if effect.factors[0] in CONTROLS:
            continue
        name = "their interaction" if len(effect.factors) > 1 else f"the {effect.name}"
        verdict = "has a significant effect" if effect.significant else "has no significant effect"
        said.append(f"{name} {verdict} (F = {effect.f_statistic:.2f}, {describe_p(effect.p_value)})")
    return _begin(f"{'; '.join(said)}.")


def tell_pairs(comparisons: Comparisons) -> str:
    """The number of pairs that differ, and the method that is most often lower, in words."""
    found, count = comparisons.significant, len(comparisons.pairs)
    if not count:
        return _UNTESTED
    if not found:
        return f"None of the {count} pairs differ significantly."
    said = f"{len(found)} of the {count} pairs differ significantly, by more than {found[0].margin:.4f}."
    methods = [method for pair in found for method in pair.lower.split(" + ")]
    common = max(dict.fromkeys(methods), key=methods.count)
    return f"{said} {common} is the lower one in {methods.count(common)} of them."


def tell_clear(findings: Findings) -> list[str]:
    """The relation of words in clear to the response and to advantages, in words."""
    lines = []
    for setting in findings.settings:
        if not setting.tested:
            continue
        if setting.clear_effect is None:
            same = "the share of words in clear is the same in all cells of a data set and level."
            lines.append(_begin(f"{setting.prefix}{same}"))
            continue
        effect = setting.clear_effect
        said = (
            f"within data sets and levels, the share of words in clear explains {effect.explained:.0%} of the variance "
            f"of {findings.response.title}; ten percentage points more correspond to {10 * effect.slope:+.4f}."
        )
        lines.append(_begin(f"{setting.prefix}{said}"))
    lines += [line for advantage in findings.advantages if (line := _tell_advantage(advantage))]
    return lines


def _tell_advantage(advantage: Advantage) -> str:
    """The change of an advantage when fewer words are released in clear; empty without an advantage."""
    shares = advantage.clear_share
    if len(shares) < 2 or max(shares.values()) == min(shares.values()):
        return ""
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    lost = advantage.lost(most, least)
    if lost is None:
        return ""
    gone = f"{min(lost, 1):.0%} of it is gone" if lost > 0 else "it is no smaller"
    return (
        f"{advantage.method} is {advantage.by_setting[most]:.4f} better than the other {advantage.factor}s under "
        f"{most}, with {shares[most]:.1%} of its words in clear, and {advantage.by_setting[least]:+.4f} under {least}, "
        f"with {shares[least]:.1%}: {gone}."
    )


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
