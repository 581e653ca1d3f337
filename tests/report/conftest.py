"""Small studies, and the paper's results where they are at hand."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textveil.lab.report.figures import draw_all, render_svg
from textveil.lab.report.findings import Findings, analyze
from textveil.lab.report.results import Results, read_results

ROOT = Path(__file__).parents[2]
PUBLISHED = Path(os.environ.get("TEXTVEIL_PUBLISHED", ROOT.parent / "shared/paper/results.csv"))
"""The paper's results, where they are at hand."""

Records = list[dict[str, object]]


def make_records(
    gain: Callable[..., float],
    *,
    datasets=("a", "b"),
    levels=("high", "low"),
    decompositions=("words", "pos"),
    distributions=("uniform", "yake"),
    **others,
) -> Records:
    """A row per cell, whose relative gain is a function of where the cell stands in each list."""
    axes = {"dataset": datasets, "level": levels, "decomposition": decompositions, "distribution": distributions}
    axes |= others
    records = []
    for place in product(*(range(len(values)) for values in axes.values())):
        cell = {name: values[at] for (name, values), at in zip(axes.items(), place, strict=True)}
        records.append({**cell, "relative_gain": gain(*place)})
    return records


@pytest.fixture
def records() -> Records:
    """Sixteen cells with effects of everything, and something no effect explains."""
    return make_records(
        lambda dataset, level, decomposition, distribution: (
            0.1
            + 0.05 * dataset
            + 0.2 * level
            + 0.03 * decomposition
            + 0.01 * distribution
            + 0.004 * dataset * distribution
        )
    )


@pytest.fixture(scope="session")
def example() -> Findings:
    """What is found in the invented results that ship as an example."""
    return analyze(read_results(ROOT / "examples/results.csv"))


@pytest.fixture(scope="session")
def figures(example: Findings) -> dict[str, Any]:
    """Every figure of the example."""
    return draw_all(example)


@pytest.fixture(scope="session")
def drawings(figures: dict[str, Any]) -> dict[str, str]:
    """The figures of the example as SVG."""
    return {name: render_svg(figure) for name, figure in figures.items()}


@pytest.fixture(scope="session")
def published() -> Findings:
    """What is found in the paper's results."""
    if not PUBLISHED.exists():
        pytest.skip("the paper's results are not at hand")
    return analyze(read_results(PUBLISHED))


@pytest.fixture(scope="session")
def hostile() -> Results:
    """Results whose names would break a page, a figure or a LaTeX table that did not escape them."""
    name = '<b>&"x"$y$\\_%{'
    return Results.from_records(
        make_records(
            lambda dataset, level, decomposition, distribution: (
                dataset + level * 0.5 + decomposition * 0.25 + distribution * dataset * 0.1
            ),
            datasets=(name, "plain"),
            decompositions=(name, "pos"),
        )
    )


def repeat(records: Records, *, draws: int = 3, noise: float = 0.01, seed: int = 0) -> Records:
    """Every cell several times, with noise on its relative gain."""
    random = np.random.default_rng(seed)
    return [
        {**record, "draw": draw, "relative_gain": record["relative_gain"] + noise * random.standard_normal()}
        for draw in range(1, draws + 1)
        for record in records
    ]
