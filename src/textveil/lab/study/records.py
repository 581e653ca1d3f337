"""Results: a row for every value of every cell, with its provenance, as Parquet and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from textveil.errors import InputError
from textveil.lab.metrics.columns import name_column
from textveil.lab.report.results import RESPONSES, STD, WORDS, Results
from textveil.lab.study.datasets import write_table
from textveil.lab.study.grid import Cell
from textveil.lab.study.status import CellState
from textveil.lab.study.store import CellTexts, Store, Value
from textveil.lab.study.study import CalibratedLevel, StudyFile
from textveil.registry import describe_method
from textveil.settings import AXES
from textveil.storage.atomic import writing
from textveil.version import __version__

RESULTS = "results"
"""The name of the result files, without extension."""

Record: TypeAlias = dict[str, Any]


def build_records(file: StudyFile, states: Iterable[CellState]) -> list[Record]:
    """A row for every value of every cell. The counts of words by outcome are values, too."""
    records: list[Record] = []
    for state in states:
        if state.texts is None:
            continue
        common = _describe_cell(file, state.cell, state.texts)
        words = state.texts.certificate.tally.words
        for outcome, column in WORDS.items():
            records.append({**common, "metric": column, "value": float(words[outcome])})
        for metric, value in state.values.items():
            records += ({**common, **found} for found in _describe_value(metric, value))
    return records


_OF_CELL = (
    "epsilon", "epsilon_per_word", "decomposition", "distribution", "mechanism", "profile", "draw", "stopwords"
)  # fmt: skip
_MEASURED = ("metric", "value", "std", "low", "high", "caveats", "measured_by")
"""The columns that differ between the rows of a cell, besides time and versions. They stand in the middle."""


def _describe_cell(file: StudyFile, cell: Cell, texts: CellTexts) -> Record:
    terms, tally, level = texts.certificate.terms, texts.certificate.tally, file.study.levels[cell.level]
    return {
        "study": file.study.name,
        "cell": cell.id,
        "dataset": cell.dataset,
        "level": cell.level,
        "level_target": str(level) if isinstance(level, CalibratedLevel) else None,
        **{name: getattr(cell, name) for name in _OF_CELL},
        "form": terms.form,
        "texts": tally.documents.total(),
        **dict.fromkeys(_MEASURED),
        "seconds": texts.seconds,
        "seed": cell.seed,
        "textveil": __version__,
        "study_sha256": file.sha256,
        "dataset_sha256": cell.texts,
        "bundle_sha256": cell.bundle,
        "texts_sha256": texts.sha256,
        **{f"{axis}_method": describe_method(getattr(terms, axis)) for axis in AXES},
        "versions": json.dumps(dict(terms.versions), sort_keys=True),
    }


def _describe_value(metric: str, value: Value) -> Iterator[Record]:
    """A row for every number of a metric, with its standard deviation, its interval and the caveats of the metric."""
    found = value.measurement
    for name, number in found.values.items():
        if not name.endswith(STD):
            low, high = found.intervals.get(name, (None, None))
            yield {
                "metric": name_column(metric, name),
                "value": number,
                "std": found.values.get(f"{name}{STD}"),
                "low": low,
                "high": high,
                "caveats": " ".join(found.caveats) or None,
                "measured_by": found.description,
                "seconds": value.seconds,
                "versions": json.dumps(dict(found.versions), sort_keys=True),
            }


def write_results(file: StudyFile, store: Store, states: Sequence[CellState]) -> list[Record]:
    """Write the results of a study as Parquet and CSV. Without results, no file is written."""
    records = build_records(file, states)
    if records:
        write_table(store.folder / f"{RESULTS}.parquet", {name: [row[name] for row in records] for name in records[0]})
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, records[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        with writing(store.folder / f"{RESULTS}.csv", private=True) as stream:
            stream.write(buffer.getvalue().encode())
    return records


def gather_results(file: StudyFile, states: Sequence[CellState], response: str) -> tuple[Results, tuple[str, ...]]:
    """The input of the analysis: the cells that have the response, with all of their metrics.

    Data sets and levels that lack a cell are excluded. So are data sets without the response, for example because they
    have no attribute: their names are returned second.

    Raises:
        InputError: No results are left.
    """
    records = build_records(file, states)
    having = {row["dataset"] for row in records if row["metric"] == response}
    finished = dict.fromkeys(state.cell.dataset for state in states if state.finished)
    without = tuple(name for name in finished if having and name not in having)
    answering = {row["cell"] for row in records if row["metric"] == response}
    if records and not answering:
        measured = {row["metric"] for row in records}
        known = [name for name in RESPONSES if name in measured]
        raise InputError(
            f"No cell has the response {response!r}. Set `response` to one that the cells have: {', '.join(known)}."
        )
    shown = [row for row in records if row["cell"] in answering]
    return Results.from_records(shown, source="the study", drop_incomplete=True), without
