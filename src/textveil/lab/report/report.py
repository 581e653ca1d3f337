"""The report: findings as one self-contained HTML page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from textveil.errors import OutputExistsError, ParameterError
from textveil.lab.compare.curves import Frontier, show_reading
from textveil.lab.report import tables
from textveil.lab.report.anova import show_p
from textveil.lab.report.figures import (
    choose_lines,
    draw_all,
    inline_svg,
    list_factors,
    render_png,
    render_svg,
    varies_in_clear,
)
from textveil.lab.report.findings import Findings, SettingFindings, average, average_combinations, list_titles
from textveil.lab.report.frontier_figure import draw_frontiers, inline_frontiers
from textveil.lab.report.pages import load_texts, render
from textveil.lab.report.results import FACTORS, HIGH, LOW
from textveil.lab.report.tables import ANOVA_HEAD, lay_out_anova, write_anova, write_results
from textveil.storage.atomic import writing_folder

TITLE = "Methods and their trade-off"
_FIGURES_SHOWN = 8
"""The number of figures on a page before anything is unfolded."""


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
    results, factors = findings.results, list_factors(findings.results)
    lines, panels = choose_lines(findings.settings[0].results)
    others = 1 + len(factors) + (len(findings.settings) == 1) + varies_in_clear(results)
    sure_first = sorted(findings.frontiers, key=lambda each: bool(each.front.caveats))
    return render(
        "report.html",
        tables=tables,
        show_p=show_p,
        show_reading=show_reading,
        texts=load_texts(),
        references=list_titles(results.frame, results.metrics),
        title=title,
        findings=findings,
        figures={name: inline_svg(svg, name) for name, svg in figures.items()},
        curves=inline_frontiers(sure_first),
        unfolded=_FIGURES_SHOWN - others,
        factors=factors,
        all_factors=FACTORS,
        lines=lines,
        panels=panels,
        about=about or {},
        failures=failures or {},
    )


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
    page = render("empty.html", title=title, summary=reason, about=about or {}, failures=failures or {})
    found = {"settings": [], "reason": reason, "failures": dict(failures or {})}
    with writing_folder(folder, replace=overwrite) as unfinished:
        (unfinished / REPORT).write_text(page, encoding="utf-8")
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
            yield [*names, place.setting, place.level, place.epsilon, *values, place.standing.value]


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
