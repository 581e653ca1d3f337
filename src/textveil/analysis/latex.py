"""LaTeX tables, with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from textveil.analysis.anova import SIGNIFICANCE, Anova
from textveil.analysis.cells import Group
from textveil.analysis.layout import ANOVA_HEAD, AVERAGE, Entry, lay_out_anova, lay_out_results
from textveil.analysis.results import Results
from textveil.evaluation.columns import MetricColumn

_P = ANOVA_HEAD.index("p") - 1
"""The place of the p-value among the numbers of an effect."""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escape(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(escape("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def write_anova(anova: Anova, caption: str = "") -> str:
    """The table of effects, with significant p-values in bold."""
    laid_out = lay_out_anova(anova)
    effects, others = laid_out[: len(anova.effects)], laid_out[len(anova.effects) :]
    rows = []
    for effect, cells in zip(anova.effects, effects, strict=True):
        name, *numbers = map(escape, cells)
        if effect.p_value < SIGNIFICANCE:
            numbers[_P] = rf"\textbf{{{numbers[_P]}}}"
        rows.append([name.replace(" x ", r" $\times$ "), *numbers])
    rows += [[cell or "--" for cell in other] for other in others]
    head = ["", "$F$", "$p$", r"$\eta_p^2$", "df", "sum sq"]
    return _write_table("lrrrrr", head, [rows], caption or f"ANOVA of {anova.response.replace('_', ' ')}.")


def write_results(results: Results, group: Group, response: MetricColumn, setting: str = "") -> str:
    """The table of one data set and level. Bold: best of a row. Underlined: best of all."""
    laid_out = lay_out_results(results, group, response)
    blocks = []
    for name, rows in groupby(laid_out.rows, key=lambda row: row.method):
        block: list[list[str]] = []
        for row in rows:
            title = f"{row.metric.title} %" if row.metric.percent else row.metric.title
            first = "" if block else name if name == AVERAGE else rf"\textbf{{{escape(name)}}}"
            block.append([first, escape(title), *map(_write_entry, row.entries), row.average, *row.references])
        blocks.append(block)
    first, second = results.combination
    head = [first, "metric", *map(escape, results.values(second)), AVERAGE, *laid_out.titles]
    caption = f"Results for {group}{f', {setting}' if setting else ''}."
    return _write_table(f"ll{'r' * (len(head) - 2)}", head, blocks, caption)


def _write_entry(entry: Entry) -> str:
    text = rf"\textbf{{{entry.text}}}" if entry.best_of_row else entry.text
    text = rf"\underline{{{text}}}" if entry.best else text
    spread = f"[{entry.interval}]".replace("\N{EN DASH}", "--")
    text = rf"{text} {{\scriptsize $\pm$ {entry.margin}}}" if entry.margin else text
    return rf"{text} {{\scriptsize {spread}}}" if entry.interval else text


def _write_table(columns: str, head: Sequence[str], blocks: Iterable[Iterable[Sequence[str]]], caption: str) -> str:
    """A floating table, with a rule between blocks of rows."""
    body = "\n\\midrule\n".join("\n".join(f"{' & '.join(row)} \\\\" for row in block) for block in blocks)
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        f"{' & '.join(head)} \\\\",
        r"\midrule",
        body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape(caption)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
