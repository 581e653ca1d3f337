import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.conftest import repeat
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.anova import compare_factors
from textveil.lab.report.findings import analyze
from textveil.lab.report.pages import escape_latex
from textveil.lab.report.results import Results
from textveil.lab.report.tables import write_anova, write_results

GAIN = METRIC_COLUMNS["relative_gain"]


def is_balanced(table: str) -> bool:
    depth = 0
    for token in re.findall(r"\\.|[{}]", table):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    return depth == 0


@given(st.text())
def test_escaped_text_has_no_command_of_its_own(text):
    escaped = escape_latex(text)
    assert is_balanced(escaped)
    plain = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum)\{\}|\\[{}&%$#_]", "", escaped)
    assert not set(plain) & set("\\{}&%$#_~^")


def test_the_table_of_effects(example):
    table = write_anova(example.settings[1].anova)
    assert is_balanced(table)
    assert r"decomposition & 27.52 & \textbf{2.31e-08} & 0.567 & 2 & 0.0054 \\" in table
    assert r"decomposition $\times$ distribution & 0.28 & 8.88e-01 & 0.026 & 4 & 0.0001 \\" in table
    assert r"residual & -- & -- & -- & 42 & 0.0041 \\" in table
    assert table.count(r"\toprule") == table.count(r"\bottomrule") == 1
    assert r"\caption{ANOVA of relative gain.}" in table


def test_the_table_of_results_marks_the_best(example):
    results = example.settings[1].results
    table = write_results(results, results.groups[0], example.response, "profile paper")
    assert is_balanced(table)
    rows = [line for line in table.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in rows} == {7}  # with originals and chance
    assert len(rows) == 1 + 4 * 8
    assert table.count(r"\midrule") == 4
    assert r"\caption{Results for letters, level high, epsilon 4, profile paper.}" in table
    gains = [line for line in rows if "relative gain" in line]
    assert sum(r"\underline{\textbf{" in line for line in gains) == 1
    assert r"\underline{\textbf{0." in gains[2]  # pos, under the profile paper
    assert "utility F1 \\%" in table
    assert re.search(r"static attacker F1 \\% & .* & 80.0 & 50.0 \\\\$", table, flags=re.MULTILINE)
    assert re.search(r"\{\\scriptsize \[\d+\.\d--\d+\.\d\]\}", table)


@pytest.mark.parametrize("place", [0, 2])
def test_names_are_escaped(hostile, place):
    findings = analyze(hostile)
    table = write_results(findings.results, findings.results.groups[place], findings.response)
    assert is_balanced(table)
    assert r'<b>\&"x"\$y\$\textbackslash{}\_\%\{' in table


def test_draws_of_noise_are_in_tables(records):
    results = Results.from_records(repeat(records))
    assert r"{\scriptsize $\pm$ 0.0" in write_results(results, results.groups[0], GAIN)
    assert "noise within cells & -- & -- & -- & 32 & " in write_anova(compare_factors(results, GAIN))
