"""Tasks: what the lab does in one call each, as ``textveil.evaluate`` and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from textveil.bundles.bundle import Bundle
from textveil.certificate import Certificate
from textveil.execution import EXECUTORS
from textveil.execution.base import DEFAULT_EXECUTOR
from textveil.lab.audit import Audit, audit_obfuscator
from textveil.lab.calibration import Calibration
from textveil.lab.calibration import calibrate as calibrate_obfuscator
from textveil.lab.metrics import Dataset, Evaluation, Evaluator, Metric
from textveil.obfuscator import Obfuscator
from textveil.progress import Progress, ignore_progress
from textveil.settings import Arguments, split_budget

if TYPE_CHECKING:
    from textveil.lab.compare.comparison import Comparison
    from textveil.lab.study.status import CellState


def evaluate(
    originals: Sequence[str | None],
    obfuscated: Sequence[str | None],
    *,
    label: Sequence[str | None] | None = None,
    attribute: Sequence[str | None] | None = None,
    metrics: Sequence[str | Metric] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    certificate: Certificate | str | Path | None = None,
    progress: Progress = ignore_progress,
) -> Evaluation:
    """Measure the privacy and the utility of obfuscated texts.

    Args:
        originals: The originals.
        obfuscated: An obfuscated text for every original, in the same order.
        label: The label of every text, which a task predicts.
        attribute: The attribute of every text that an attacker wants to infer, such as its author.
        metrics: The metrics to measure; by default all that can be measured here.
        options: The options of named metrics, by the name of the metric.
        certificate: The certificate of the obfuscation, or its file.
        progress: Receives progress reports.
    """
    if isinstance(certificate, str | Path):
        certificate = Certificate.load(certificate)
    dataset = Dataset(originals, label=label, attribute=attribute)
    return Evaluator(dataset, metrics, options or {}, progress).measure(obfuscated, certificate=certificate)


def compare(
    originals: Sequence[str | None],
    obfuscations: Mapping[str, Sequence[str | None]],
    *,
    label: Sequence[str | None] | None = None,
    attribute: Sequence[str | None] | None = None,
    metrics: Sequence[str | Metric] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = ignore_progress,
) -> Comparison:
    """Measure several obfuscations of the same originals, of textveil or of any other tool.

    Args:
        originals: The originals.
        obfuscations: An obfuscated text for every original, in the same order, by the name of the obfuscation.
        label: The label of every text, which a task predicts.
        attribute: The attribute of every text that an attacker wants to infer.
        metrics: The metrics to measure; by default all that can be measured here.
        options: The options of named metrics, by the name of the metric.
        progress: Receives progress reports.
    """
    from textveil.lab.compare.comparison import compare as compare_obfuscations

    dataset = Dataset(originals, label=label, attribute=attribute)
    return compare_obfuscations(dataset, obfuscations, metrics, options, progress)


def calibrate(
    targets: Mapping[str, float],
    texts: Sequence[str | None] | None = None,
    *,
    attribute: Sequence[str | None] | None = None,
    labels: Mapping[str, Sequence[str | None]] | None = None,
    progress: Progress = ignore_progress,
    **settings: Unpack[Arguments],
) -> Calibration:
    """Find the epsilon per word that meets targets, such as ``{"unchanged-content": 0.2}``.

    Args:
        targets: Levels by name.
        texts: A sample of the texts, on which the epsilon then depends; by default texts that ship with textveil.
        attribute: The attribute of every text, for the target ``adaptive``.
        labels: The labels of every text by task, for the target ``utility``.
        progress: Receives progress reports.
        settings: The settings of the obfuscator to calibrate.
    """
    obfuscator = Obfuscator(**settings)
    return calibrate_obfuscator(obfuscator, targets, texts, attribute=attribute, labels=labels, progress=progress)


def audit(*, draws: int | None = None, progress: Progress = ignore_progress, **settings: Unpack[Arguments]) -> Audit:
    """Try to refute what the certificates of an obfuscator claim, by many answers to pairs of texts.

    Args:
        draws: The number of answers to draw for each text.
        progress: Receives progress reports.
        settings: The settings of the obfuscator, with the budget of a text.
    """
    own, budget = split_budget(settings)
    budget.pop("length", None)
    number: dict[str, Any] = {} if draws is None else {"draws": draws}
    return audit_obfuscator(Obfuscator(**own), **budget, **number, progress=progress)


def prepare(
    corpus: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    name: str | None = None,
    column: str = "text",
    executor: str = DEFAULT_EXECUTOR,
    workers: int | None = None,
    progress: Progress = ignore_progress,
    **options: Any,
) -> Bundle:
    """Build a bundle from a corpus.

    Args:
        corpus: Files, folders or ``hf:`` data sets.
        output: The folder of the bundle.
        name: The name of the bundle; by default that of the folder.
        column: The column of the corpus with the texts.
        executor: Where the work runs.
        workers: The number of workers.
        progress: Receives progress reports.
        options: Other arguments of :class:`~textveil.lab.corpus.preparation.PrepareJob`, such as ``thresholds``.
    """
    from textveil.lab.corpus.inputs import Corpus
    from textveil.lab.corpus.preparation import PrepareJob
    from textveil.lab.corpus.settings import Labels

    names, folder = [corpus] if isinstance(corpus, str | Path) else corpus, Path(output)
    found = Corpus.find(names, column=column, output=folder)
    job = PrepareJob(found, folder, Labels(name or folder.name), **options)
    job.check()
    with EXECUTORS.load(executor)(workers, None) as chosen:
        return job.run(chosen, progress)


def run_study(
    path: str | Path,
    folder: str | Path | None = None,
    *,
    executor: str = DEFAULT_EXECUTOR,
    workers: int | None = None,
    retry_failed: bool = False,
) -> list[CellState]:
    """Run a study, or what is left of it.

    Args:
        path: The study file.
        folder: The folder for results; by default ``STUDY-results`` beside the file.
        executor: Where the work runs.
        workers: The number of workers.
        retry_failed: Retry what failed before.
    """
    from textveil.lab.study import Experiment, load_study

    experiment = Experiment(load_study(Path(path)), None if folder is None else Path(folder))
    experiment.check()
    with EXECUTORS.load(executor)(workers, None) as chosen:
        return experiment.run(chosen, retry_failed=retry_failed)
