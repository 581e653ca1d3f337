"""Studies that are killed while texts are made, scored and learned have the results of an uninterrupted study."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.metrics.conftest import make_language_model  # noqa: F401 # a fixture
from tests.study.test_experiment import read_results, run

SLOWED = """
import sys, time
from pathlib import Path
from textveil.lab.metrics import dataset, perplexity
from textveil.lab.metrics.classifiers import transformer
from textveil.methods.mechanisms.madlib import Madlib

marks, phase = Path(sys.argv[1]), sys.argv[2]
places = {
    "texts": (Madlib, "perturb"),
    "scoring": (perplexity.LanguageModel, "_read"),
    "training": (transformer, "focal_loss"),
}
owner, name = places[phase]
work = getattr(owner, name)

def slowed(*arguments, **options):
    with marks.open("a") as stream:
        stream.write(".")
    time.sleep(0.2)
    return work(*arguments, **options)

setattr(owner, name, slowed)
dataset.WRITE_SECONDS = 0.0
sys.argv = ["textveil", *sys.argv[3:]]
from textveil.cli.main import main
main()
"""
"""A command whose chosen phase is slow, and leaves a mark at each of its steps."""


def interrupt(arguments: list[str], phase: str, how: signal.Signals, chance: random.Random, folder: Path) -> None:
    """Start a study, and end it in a random step of a phase, at a random moment of that step."""
    marks = folder / "marks"
    marks.write_text("")
    steps = 1 if phase == "texts" else chance.randint(2, 5)  # all texts of a cell are one step
    command = [sys.executable, "-c", SLOWED, str(marks), phase, *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for _ in range(2400):
            if marks.stat().st_size >= steps or process.poll() is not None:
                break
            time.sleep(0.025)
        assert process.poll() is None, f"it ended before {phase}"
        time.sleep(chance.uniform(0, 0.25))
        os.kill(process.pid, how)
        assert process.wait(60) != 0


@pytest.fixture
def study_with_models(make_study, make_language_model, make_encoder):  # noqa: F811
    """A study of two cells that reads texts with a tiny language model, and fine-tunes a tiny encoder."""
    attacker = {"model": str(make_encoder()), "epochs": 2, "learning_rate": 0.01}
    metrics = {
        "perplexity": {"model": str(make_language_model()), "batch_size": 4},
        "attribute": {"classifier": "transformer", "classifier_options": attacker},
        "downstream": {},
    }

    def make(folder: Path):
        return make_study(folder, distributions=["uniform"], profiles=["strict"], metrics=metrics)

    return make


@pytest.mark.slow
def test_a_study_that_is_killed_at_random_moments_has_the_same_results(study_with_models, local, tmp_path):
    whole = study_with_models(tmp_path / "whole")
    run(whole, local)
    folder, seed = tmp_path / "killed", random.randrange(10**6)
    chance = random.Random(seed)
    arguments = ["experiment", "run", str(whole.file.path), "--folder", str(folder), "--executor", "local"]
    signals = [signal.SIGKILL, signal.SIGTERM]
    for phase in ("scoring", "training", "texts"):  # first of the originals, then of cells
        chance.shuffle(signals)
        for how in signals:
            interrupt(arguments, phase, how, chance, tmp_path)
        assert list(folder.glob("numbers/*/*/*.npz")), "scores of single texts are stored as they come"
        assert not list(folder.glob("values/*/*.json"))
    for phase, how in zip(("scoring", "training"), signals, strict=True):
        interrupt(arguments, phase, how, chance, tmp_path)
    assert len(list(folder.glob("texts/*.json"))) == 1
    subprocess.run([sys.executable, "-m", "textveil.cli.main", *arguments], check=True, capture_output=True)
    expected = read_results(whole.store.folder)
    assert read_results(folder) == expected, f"with the kills of seed {seed}"
    assert {"perplexity", "static_f1", "adaptive_f1", "utility_f1"} <= {row["metric"] for row in expected}
