import re

from tests.report.test_frontier import make_frontier
from textveil.lab.metrics.quantities import PERPLEXITY
from textveil.lab.report.frontier_page import show_grid, show_tables

CURVES = {"old": [(0.412, 0.3), (0.6, 0.5)], "<new>": [(0.4, 0.5), (0.6, 0.7)]}


def test_every_point_has_its_values_in_a_figure_and_in_a_table():
    frontiers = [make_frontier(CURVES)]
    grid, tables = show_grid(frontiers), show_tables(frontiers)
    for name in ("old, 1", "old, 2", "&lt;new&gt;, 1", "&lt;new&gt;, 2"):
        assert f'aria-label="{name}: ' in grid
    assert "adaptive attacker F1 41.2% (40.2–42.2%), similarity 0.300 (0.290–0.310)" in grid
    assert "41.2% (40.2–42.2%)" in tables
    assert tables.count("behind the front") == 2
    assert "<new>" not in grid + tables


def test_words_are_beside_their_figure():
    grid = show_grid([make_frontier(CURVES)])
    assert "On the front for adaptive attacker F1 against similarity: &lt;new&gt;" in grid
    assert "At equal adaptive attacker F1" in grid


def test_attacks_are_rows_of_figures():
    grid = show_grid([make_frontier(CURVES), make_frontier({"a": [(0.3, 90), (0.4, 50)]}, PERPLEXITY)])
    assert grid.count("<h3>Adaptive attacker F1</h3>") == 1
    assert grid.count('<svg class="curve"') == 2


def test_a_table_of_areas():
    tables = show_tables([make_frontier(CURVES | {"far": [(0.8, 0.5)]})])
    assert "adaptive attacker F1 against similarity, compared with old" in tables
    assert "no attack in common" in tables
    assert re.search(r'<td class="significant">\+0\.\d+</td>', tables)
    assert "Areas" not in show_tables([make_frontier({"old": CURVES["old"]})])
