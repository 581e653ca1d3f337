"""The report: findings as one self-contained HTML page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from pathlib import Path

from textveil.errors import OutputExistsError, ParameterError
from textveil.lab.compare.curves import Frontier
from textveil.lab.metrics.columns import MetricColumn
from textveil.lab.report.anova import Anova, Effect, describe_p, name_combination, show_p
from textveil.lab.report.figures import (
    choose_lines,
    draw_all,
    inline_svg,
    list_factors,
    render_png,
    render_svg,
    varies_in_clear,
)
from textveil.lab.report.findings import (
    LEAST_DRAWS,
    Findings,
    Recommendation,
    SettingFindings,
    average,
    average_combinations,
    tell_caveats,
)
from textveil.lab.report.frontier_figure import draw_frontiers
from textveil.lab.report.frontier_page import show_grid, show_tables
from textveil.lab.report.pages import Markup, details, element, figure, paragraph, section, table, text, write_document
from textveil.lab.report.results import FACTORS, HIGH, IN_CLEAR, LOW, NOISE_HIGH, NOISE_LOW, NOISE_STD, Group
from textveil.lab.report.tables import (
    ANOVA_HEAD,
    AVERAGE,
    Entry,
    ResultTable,
    lay_out_anova,
    lay_out_results,
    show_interval,
    write_anova,
    write_results,
)
from textveil.lab.report.wording import (
    explain_terms,
    tell_chance,
    tell_clear,
    tell_datasets,
    tell_draws,
    tell_effects,
    tell_gaps,
    tell_missing,
    tell_noise,
    tell_pairs,
)
from textveil.storage.atomic import writing_folder

TITLE = "Methods and their trade-off"
_FIGURES_SHOWN = 8
"""The number of figures on a page before anything is unfolded."""
_PAIRS_SHOWN = 12
_CELLS_SHOWN = 3
_P = ANOVA_HEAD.index("p")


def write_page(
    findings: Findings,
    *,
    figures: Mapping[str, str],
    title: str = TITLE,
    about: Mapping[str, str] | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The page.

    Args:
        findings: The findings.
        figures: The figures of ``figures.draw_all`` as SVG.
        title: The title.
        about: More lines for "What was run", by name, such as models, seeds and versions.
        failures: The cells of the study that failed, by reason.
    """
    drawn = {name: inline_svg(svg, name) for name, svg in figures.items()}
    sections = {
        "run": ("What was run", _tell_run(findings, about or {})),
        "failures": ("Failures", list_failures(failures or {})),
        "caveats": ("Caveats", _list_caveats(findings)),
        "read": ("How to read this", _explain(findings)),
        "choose": ("Which combination to choose", _recommend(findings)),
        "curves": ("Attack against utility", _show_curves(findings, _FIGURES_SHOWN - _count_others(findings))),
        "gain": (f"Mean {findings.response.title}", _show_heat_map(findings, drawn)),
        "anova": ("Effects of the factors", _show_tests(findings)),
        "pairs": ("Pairs that differ", _show_pairs(findings)),
        "levels": ("Averages per level", _show_levels(findings, drawn)),
        "lines": ("All combinations", _show_lines(findings, drawn)),
        "clear": ("Words released in clear", _show_clear(findings, drawn)),
        "results": ("All results", _show_results(findings)),
    }
    return write_sections(title, _summarize(findings), sections)


def write_sections(title: str, summary: str, sections: Mapping[str, tuple[str, Markup]]) -> str:
    """A self-contained page of sections, each with its heading. Empty sections are omitted."""
    shown = {name: found for name, found in sections.items() if found[1]}
    links = (element("li", element("a", text(head), href=f"#{name}")) for name, (head, _) in shown.items())
    body = element(
        "header",
        element("h1", text(title)) + paragraph(summary, class_="lead") + element("nav", element("ul", links)),
    )
    body += element("main", (section(head, content, name=name) for name, (head, content) in shown.items()))
    return write_document(title, body, styles=("report.css", "curves.css"))


def _summarize(findings: Findings) -> str:
    results = findings.results
    counts = [
        _count(len(results.values("decomposition")), "decomposition"),
        _count(len(results.values("distribution")), "distribution"),
        *(_count(len(results.values(name)), name) for name in results.varying if name in ("mechanism", "profile")),
        _count(len(results.values("dataset")), "data set"),
        _count(len(results.values("level")), "level"),
    ]
    counts[-1] += " of privacy"
    if results.draws > 1:
        counts.append(f"{_count(results.draws, 'draw')} of noise")
    return f"{len(results.rows)} cells: {', '.join(counts[:-1])} and {counts[-1]}."


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _tell_run(findings: Findings, about: Mapping[str, str]) -> Markup:
    results = findings.results
    lines = {"cells": str(len(results.rows))}
    for dataset, groups in groupby(results.groups, key=lambda group: group.dataset):
        lines[f"data set {dataset}"] = ", ".join(_name_level(group) for group in groups)
    for factor in FACTORS:
        if results.values(factor):
            lines[f"{factor}s"] = ", ".join(results.values(factor))
    lines["metrics"] = ", ".join(metric.title for metric in results.metrics)
    lines["words in clear"] = "counted" if results.counts_words else "unknown: these results do not count them"
    if results.left_out:
        lines["excluded groups"] = f"{'; '.join(map(str, results.left_out))} (some combinations were missing)"
    if missing := tell_missing(results, findings.response):
        lines["missing values"] = " ".join(missing)
    return list_terms(lines | dict(about))


def list_terms(lines: Mapping[str, str]) -> Markup:
    """Names with their values."""
    return element("dl", (element("dt", text(name)) + element("dd", text(value)) for name, value in lines.items()))


def list_failures(failures: Mapping[str, Sequence[str]]) -> Markup:
    """The cells that failed, by reason; empty without failures."""
    items = (
        element("li", f"{text(reason)} ({_count(len(cells), 'cell')}: {text('; '.join(cells[:_CELLS_SHOWN]))}{more})")
        for reason, cells in failures.items()
        for more in ["; ..." if len(cells) > _CELLS_SHOWN else ""]
    )
    return element("ul", items) if failures else ""


def _list_caveats(findings: Findings) -> Markup:
    """The reasons to draw no conclusion, and the values that cannot be told from chance; empty without any."""
    lines = [*tell_draws(findings.results), *tell_chance(findings.results)]
    caveats = {
        metric: findings.results.list_caveats(metric) for metric in findings.results.list_shown(findings.response)
    }
    said = [f"{metric.title}: {tell_caveats(found)}" for metric, found in caveats.items() if found]
    if said:
        lines = ["No recommendation is drawn from these data sets and levels:", *said, *lines]
    return "".join(map(paragraph, lines))


def _explain(findings: Findings) -> Markup:
    """The glossary of the page."""
    return "".join(
        element("p", f"{element('b', text(term))}: {text(meaning)}")
        for term, meaning in explain_terms(findings.results)
    )


def _name_level(group: Group) -> str:
    return f"{group.level} ({group.budget})" if group.budget else group.level


def _per_setting(show: Mapping[str, Markup], layout: str = "beside") -> Markup:
    """Settings side by side, with their names if there are several."""
    if len(show) == 1:
        return next(iter(show.values()))
    return element(
        "div",
        (element("div", element("h3", text(name.capitalize())) + part) for name, part in show.items()),
        class_=layout,
    )


def _recommend(findings: Findings) -> Markup:
    parts = []
    for setting in findings.settings:
        cards = (
            element(
                "div",
                element("h3", text(f"for {found.purpose}"))
                + element("p", _write_choice(found), class_="choice")
                + paragraph(found.reason),
                class_="card",
            )
            for found in setting.recommendations
        )
        head = element("h3", text(setting.name.capitalize())) if setting.name else ""
        parts.append(head + element("div", cards, class_="cards"))
    return "".join(parts)


def _write_choice(found: Recommendation) -> Markup:
    """The combination, and its words in clear beside it."""
    if found.best is None:
        return text(found.headline)
    return f"{text(found.best.combination)} {element('small', text(found.best.exposure))}"


def _count_others(findings: Findings) -> int:
    """The number of figures besides curves that are shown before anything is unfolded."""
    return 1 + len(list_factors(findings.results)) + (len(findings.settings) == 1) + varies_in_clear(findings.results)


def _show_curves(findings: Findings, most: int) -> Markup:
    """The curves of attack against utility, with their front in words; empty if the results have none.

    Those without a caveat come first. After ``most`` figures, the rest unfolds.
    """
    if not findings.frontiers:
        return ""
    ordered = sorted(findings.frontiers, key=lambda each: bool(each.front.caveats))
    first, rest = ([each for each in findings.frontiers if each in part] for part in (ordered[:most], ordered[most:]))
    more = details(f"{_count(len(rest), 'more figure')}", show_grid(rest)) if rest else ""
    return show_grid(first) + more + show_tables(findings.frontiers)


def _show_heat_map(findings: Findings, drawn: Mapping[str, Markup]) -> Markup:
    caption = (
        f"Mean {findings.response.title} over data sets and levels. Darker is better, and the best is bold. "
        "Gray: means of rows and columns. Small numbers are mean bounds of 95 % intervals, if they are known."
    )
    said = "".join(map(paragraph, tell_gaps(findings))) + _show_noise(findings)
    heat_map = figure(drawn["heat_map"], caption)
    return (
        element("div", heat_map + element("div", said), class_="wide-left")
        if len(findings.settings) == 1
        else heat_map + said
    )


def _show_noise(findings: Findings) -> Markup:
    """The means of combinations with their intervals over draws of noise; empty with too few draws."""
    if findings.results.draws < LEAST_DRAWS:
        return ""
    response = findings.response
    note = f"Means over {findings.results.draws} draws of noise. Intervals cover other noise on the same texts."
    shown = {setting.name: _write_means(setting, response) for setting in findings.settings}
    return details("Means with 95 % intervals over draws", paragraph(note, class_="note") + _per_setting(shown))


def _write_means(setting: SettingFindings, response: MetricColumn) -> Markup:
    means = average_combinations(setting.results)
    rows = []
    for names, row in means.sort_values(response.name, ascending=response.better == "lower", kind="stable").iterrows():
        std, low, high = (row[f"{response.name}{suffix}"] for suffix in (NOISE_STD, NOISE_LOW, NOISE_HIGH))
        cells = [response.show(row[response.name]), f"{std:.4f}", show_interval(response, low, high)]
        rows.append([_cell(text(name_combination(*names)), "left"), *(_cell(text(each)) for each in cells)])
    return table(("combination", "mean", "standard deviation", "95 % interval"), rows)


def _show_tests(findings: Findings) -> Markup:
    shown = {
        setting.name: paragraph(tell_effects(setting))
        + (paragraph(tell_noise(setting)) if setting.anova.noise else "")
        + (_write_anova(setting.anova) + _write_one_way(setting.one_way) if setting.tested else "")
        + _show_datasets(setting)
        for setting in findings.settings
    }
    more = ""
    if findings.overall is not None:
        more = element("h3", "All settings together") + _write_anova(findings.overall)
    note = (
        f"Analysis of variance of {findings.response.title} (ordinary least squares, sums of squares of type II), with "
        "data set and level as controls. Significant p-values (below 0.05) are bold. eta sq is partial eta squared."
    )
    return paragraph(note, class_="note") + _per_setting(shown) + more


def _show_datasets(setting: SettingFindings) -> Markup:
    """The test with the interactions of factors and data sets; empty if there is none."""
    if setting.by_dataset is None:
        return ""
    table_ = details("Effects with the interactions of methods and data sets", _write_anova(setting.by_dataset))
    return paragraph(tell_datasets(setting)) + table_


def _write_anova(anova: Anova) -> Markup:
    rows = []
    for (name, *numbers), effect in zip_longest(lay_out_anova(anova), anova.effects):
        row = [_cell(text(name.replace(" x ", " \N{MULTIPLICATION SIGN} "))), *map(_cell, numbers)]
        if effect is not None:  # the residual is not an effect
            row[_P] = _cell(text(show_p(effect.p_value)), "significant" if effect.significant else "")
        rows.append(row)
    return table(ANOVA_HEAD, rows, class_="effects")


def _write_one_way(effects: tuple[Effect, ...]) -> Markup:
    said = "; ".join(f"{effect.name} F = {effect.f_statistic:.2f}, {describe_p(effect.p_value)}" for effect in effects)
    return paragraph(f"One-way tests, with the same controls: {said}.", class_="note")


def _cell(content: Markup, mark: str = "") -> Markup:
    return element("td", content, class_=mark) if mark else element("td", content)


def _show_pairs(findings: Findings) -> Markup:
    note = (
        f"Tukey's HSD over all pairs of combinations, on {findings.response.title} minus the mean of its data set and "
        "level. A difference above the margin is significant (p < 0.05, adjusted for all pairs)."
    )
    shown = {setting.name: _list_pairs(setting) for setting in findings.settings}
    return paragraph(note, class_="note") + _per_setting(shown)


def _list_pairs(setting: SettingFindings) -> Markup:
    found = setting.comparisons.significant
    said = paragraph(tell_pairs(setting))
    if not found:
        return said
    rows = [
        [
            _cell(text(pair.higher), "left"),
            _cell(text(pair.lower), "left"),
            _cell(f"{pair.difference:.4f}"),
            _cell(text(show_p(pair.p_value or 0.0))),
        ]
        for pair in found
    ]
    head = ("higher", "lower", "difference", "p")
    said += table(head, rows[:_PAIRS_SHOWN], class_="pairs")
    if len(rows) > _PAIRS_SHOWN:
        said += details(f"{len(rows) - _PAIRS_SHOWN} more", table(head, rows[_PAIRS_SHOWN:], class_="pairs"))
    return said


def _show_levels(findings: Findings, drawn: Mapping[str, Markup]) -> Markup:
    note = (
        "Means over data sets and the other factors, from the highest level of privacy (smallest budget) down. Dashed "
        "lines: originals, chance and the majority baseline, as far as results have them. Whiskers: mean bounds of "
        "95 % intervals. Gray band: the interval of chance."
    )
    parts = [paragraph(note, class_="note")]
    parts += [figure(drawn[f"levels_{factor}"], f"By {factor}.") for factor in list_factors(findings.results)]
    if len(findings.settings) > 1:
        more = (
            figure(drawn[f"levels_{factor}{setting.file_part}"], f"{setting.prefix}by {factor}.")
            for setting in findings.settings
            for factor in setting.results.varying
        )
        parts.append(details("Every setting alone", "".join(more)))
    return "".join(parts)


def _show_lines(findings: Findings, drawn: Mapping[str, Markup]) -> Markup:
    lines, panels = choose_lines(findings.settings[0].results)
    caption = (
        f"One line per combination over the metrics, each scaled from the worst value to the best. One panel per "
        f"{panels}: colors are {lines}s, gray lines are all other combinations, dashed lines are originals and chance, "
        "where they are known."
    )
    shown = [
        figure(drawn[f"combinations{setting.file_part}"], f"{setting.prefix}{caption}") for setting in findings.settings
    ]
    return shown[0] if len(shown) == 1 else details("Every setting", "".join(shown))


def _show_clear(findings: Findings, drawn: Mapping[str, Markup]) -> Markup:
    parts = []
    if findings.results.counts_words:
        caption = (
            f"{findings.response.title.capitalize()} against the share of words released in clear, without "
            "stopwords. One marker per combination. Dots are cells, without the effects of data set and level."
        )
        parts += [figure(drawn["words_in_clear"], caption)] if varies_in_clear(findings.results) else []
        parts += [paragraph(line) for line in tell_clear(findings)]
    else:
        unknown = (
            "Unknown: these results do not count the words released in clear. An advantage may come from unprotected "
            "text alone."
        )
        parts.append(paragraph(unknown))
    if len(findings.settings) > 1 and findings.advantages:
        parts.append(_write_advantages(findings))
    if findings.results.counts_words:
        parts += [_count_clear(setting) for setting in findings.settings]
    return "".join(parts)


def _write_advantages(findings: Findings) -> Markup:
    names = [setting.name for setting in findings.settings]
    head = ["method", *(f"{kind}, {name}" for name in names for kind in ("advantage", "in clear"))]
    rows = []
    for advantage in findings.advantages:
        cells = [_cell(text(f"{advantage.factor} {advantage.method}"))]
        for name in names:
            share = advantage.clear_share.get(name)
            cells += [_cell(f"{advantage.by_setting[name]:+.4f}"), _cell("" if share is None else f"{share:.1%}")]
        rows.append(cells)
    note = (
        f"Advantage: mean {findings.response.title} of a method, compared with the mean of the other methods of its "
        "factor. Positive is better."
    )
    return paragraph(note, class_="note") + table(head, rows)


def _count_clear(setting: SettingFindings) -> Markup:
    """The number of words released in clear in every cell of a setting."""
    frame, groups = setting.results.frame, setting.results.groups
    counts = frame[list(IN_CLEAR)].sum(axis=1)
    title = f"Words in clear in every cell{f', {setting.name}' if setting.name else ''}"
    if not counts.any():
        return details(title, paragraph("None in any cell."))
    shown: dict[str, dict[tuple[str, str], str]] = {}
    for row, count in zip(frame.to_dict("records"), counts, strict=True):
        name = name_combination(*(row[factor] for factor in setting.results.combination))
        shown.setdefault(name, {})[row["dataset"], row["level"]] = (
            f"{count:,.0f} <small>{row['clear_share']:.1%}</small>"
        )
    rows = [
        [element("th", text(name), scope="row", class_="sticky")]
        + [_cell(cells[group.dataset, group.level]) for group in groups]
        for name, cells in shown.items()
    ]
    head = ["combination", *(f"{group.dataset}, {group.level}" for group in groups)]
    return details(title, table(head, rows, class_="results"))


def _show_results(findings: Findings) -> Markup:
    parts = []
    for place, group in enumerate(findings.results.groups):
        tables = {
            setting.name: _write_results(lay_out_results(setting.results, group, findings.response), setting)
            for setting in findings.settings
        }
        parts.append(
            details(str(group), _per_setting(tables, "fitting"), unfolded=place == 0 and len(findings.settings) == 1)
        )
    key = (
        f"{element('span', 'shaded', class_='key')} is the best of a metric in its table, "
        f"{element('b', 'bold')} the best of its row. F1 and identifiers are in percent. "
        "A best value need not be significantly better. Small numbers are 95 % intervals in brackets, or standard "
        "deviations over seeds. Originals, chance and majority are values of the data set, for comparison."
    )
    if findings.results.draws >= LEAST_DRAWS:
        key += (
            " Values are means over draws of noise. Numbers after \N{PLUS-MINUS SIGN} are half of their 95 % "
            "intervals, which cover other noise on the same texts. Intervals in brackets cover other texts."
        )
    return element("p", key, class_="note") + "".join(parts)


def _write_results(laid_out: ResultTable, setting: SettingFindings) -> Markup:
    body = []
    for name, block in groupby(laid_out.rows, key=lambda row: row.method):
        for place, row in enumerate(block):
            cells = element("th", text(name if place == 0 else ""), scope="row", class_="sticky")
            title = f"{row.metric.title} %" if row.metric.percent else row.metric.title
            cells += element("th", text(title), scope="row", class_="left")
            cells += "".join(map(_write_entry, row.entries)) + _cell(text(row.average))
            cells += "".join(_cell(text(reference), "reference") for reference in row.references)
            marks = ["block"] * (place == 0) + ["average"] * (name == AVERAGE)
            body.append(element("tr", cells, class_=" ".join(marks)) if marks else element("tr", cells))
    head = ["", "", *setting.results.values(setting.results.combination[1]), AVERAGE, *laid_out.titles]
    return table(head, [], class_="results").replace("<tbody></tbody>", element("tbody", body))


def _write_entry(entry: Entry) -> Markup:
    small = f" <small>{text(f'[{entry.interval}]')}</small>" if entry.interval else ""
    if entry.margin:
        small = f" <small>\N{PLUS-MINUS SIGN}{text(entry.margin)}</small>{small}"
    return _cell(text(entry.text) + small, "best" if entry.best else "top" if entry.best_of_row else "")


REPORT, FINDINGS = "report.html", "findings.json"


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse an existing folder, unless it is an analysis that may be replaced.

    Raises:
        OutputExistsError: It exists, and may not be replaced.
        ParameterError: It exists, and is not an analysis.
    """
    if not folder.exists():
        return
    if not overwrite:
        raise OutputExistsError(f"{str(folder)!r} exists. Choose another name, or set `overwrite=True` to replace it.")
    if not (folder / FINDINGS).is_file() or folder.resolve() == Path.cwd():
        raise ParameterError(f"{str(folder)!r} is not an earlier analysis, so it is not replaced. Choose another name.")


def write_report(
    findings: Findings,
    folder: Path,
    *,
    overwrite: bool = False,
    title: str = TITLE,
    about: Mapping[str, str] | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write an analysis to a folder. The folder appears when it is complete.

    Args:
        findings: The findings.
        folder: The folder to write.
        overwrite: Replace an earlier analysis.
        title: The title of the page.
        about: More lines for the page's "What was run".
        failures: The cells of the study that failed, by reason.
    """
    check_folder(folder, overwrite=overwrite)
    figures = draw_all(findings)
    if findings.frontiers:
        figures["curves"] = draw_frontiers(findings.frontiers)
    drawings = {name: render_svg(figure) for name, figure in figures.items()}
    page = write_page(findings, figures=drawings, title=title, about=about, failures=failures)
    with writing_folder(folder, replace=overwrite) as unfinished:
        (unfinished / REPORT).write_text(page, encoding="utf-8")
        (unfinished / FINDINGS).write_text(json.dumps(findings.as_dict(), indent=2) + "\n", encoding="utf-8")
        (unfinished / "figures").mkdir()
        for name, figure in figures.items():
            (unfinished / "figures" / f"{name}.svg").write_text(drawings[name], encoding="utf-8")
            (unfinished / "figures" / f"{name}.png").write_bytes(render_png(figure))
        (unfinished / "tables").mkdir()
        for name, content in _write_tables(findings):
            (unfinished / "tables" / name).write_text(content, encoding="utf-8")


def write_empty_report(
    folder: Path,
    reason: str,
    *,
    overwrite: bool = False,
    title: str = TITLE,
    about: Mapping[str, str] | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a report without findings: the reason why there are none, what was run, and what failed."""
    check_folder(folder, overwrite=overwrite)
    sections = {
        "failures": ("Failures", list_failures(failures or {})),
        "run": ("What was run", list_terms(about or {})),
    }
    found = {"settings": [], "reason": reason, "failures": dict(failures or {})}
    with writing_folder(folder, replace=overwrite) as unfinished:
        (unfinished / REPORT).write_text(write_sections(title, reason, sections), encoding="utf-8")
        (unfinished / FINDINGS).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def _write_tables(findings: Findings) -> Iterator[tuple[str, str]]:
    """The name and the content of every table."""
    if findings.overall is not None:
        yield "anova_overall.csv", _write_csv([ANOVA_HEAD, *lay_out_anova(findings.overall)])
        yield "anova_overall.tex", write_anova(findings.overall)
    if len(findings.settings) > 1:
        for factor in findings.results.varying:
            yield f"levels_{factor}.csv", average(findings.results, [factor, "level"]).to_csv(lineterminator="\n")
    if findings.frontiers:
        yield "curves.csv", _write_csv(_list_points(findings.frontiers))
        yield "areas.csv", _write_csv(_list_areas(findings.frontiers))
    for setting in findings.settings:
        end, results = setting.file_part, setting.results
        yield f"anova{end}.csv", _write_csv([ANOVA_HEAD, *lay_out_anova(setting.anova)])
        yield f"anova{end}.tex", write_anova(setting.anova)
        if setting.by_dataset is not None:
            yield f"anova_by_dataset{end}.csv", _write_csv([ANOVA_HEAD, *lay_out_anova(setting.by_dataset)])
            yield f"anova_by_dataset{end}.tex", write_anova(setting.by_dataset)
        yield f"pairs{end}.csv", _write_csv(_list_pair_rows(setting))
        yield f"combinations{end}.csv", average_combinations(results).to_csv(lineterminator="\n")
        for factor in results.combination:
            yield f"levels_{factor}{end}.csv", average(results, [factor, "level"]).to_csv(lineterminator="\n")
        for place, group in enumerate(results.groups, start=1):
            name = "_".join(re.findall(r"\w+", f"{group.dataset} {group.level}"))
            yield f"results_{place}_{name}{end}.tex", write_results(results, group, findings.response, setting.name)


def _list_points(frontiers: Sequence[Frontier]) -> Iterator[Sequence[object]]:
    """The rows of all points of curves."""
    ends = [f"{side}{end}" for side in ("attack", "utility") for end in ("", LOW, HIGH)]
    yield ["attacker", "measure", "setting", "level", "epsilon", *ends, "standing"]
    for frontier in frontiers:
        names = [quantity.columns[0].name for quantity in (frontier.front.attack, frontier.front.utility)]
        for place in frontier.front.places:
            values = [
                number
                for reading in (place.attack, place.utility)
                for number in (reading.value, *(reading.interval or ("", "")))
            ]
            point = place.point
            yield [*names, point.setting, point.level, point.epsilon, *values, place.standing.value]


def _list_areas(frontiers: Sequence[Frontier]) -> Iterator[Sequence[object]]:
    """The rows of all areas between curves."""
    found = [(frontier.front, area.as_dict()) for frontier in frontiers for area in frontier.areas]
    yield ["attacker", "measure", "setting", "against", "kind", "value", "low", "high", "attack_low", "attack_high"]
    for front, area in found:
        ends = [*(area["interval"] or ("", "")), *(area["attack"] or ("", ""))]
        names = [quantity.columns[0].name for quantity in (front.attack, front.utility)]
        yield [*names, area["setting"], area["against"], area["kind"], area["value"], *ends]


def _list_pair_rows(setting: SettingFindings) -> list[tuple[object, ...]]:
    """The rows of all pairs. Only significant pairs have a p-value."""
    head: tuple[object, ...] = ("higher", "lower", "difference", "margin", "significant", "p")
    return [
        head,
        *(
            (pair.higher, pair.lower, f"{pair.difference:.6g}", f"{pair.margin:.6g}", pair.significant, pair.p_value)
            for pair in setting.comparisons.pairs
        ),
    ]


def _write_csv(rows: Iterable[Sequence[object]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
