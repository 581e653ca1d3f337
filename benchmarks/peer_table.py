"""The results of a comparison with peers in the documentation: a table and a file of numbers, without any text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.lab.metrics.columns import METRIC_COLUMNS
from textveil.storage.atomic import writing

COLUMNS = (
    "clear_text_unchanged",
    "overlap_unchanged_content",
    "pi_remaining",
    "static_f1",
    "adaptive_f1",
    "stylometry_adaptive",
    "utility_f1",
    "cosine_similarity",
    "perplexity",
)
"""The columns of the table: leaks first, then attackers, then utility."""
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def write_page(
    docs: Path, statistics: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]
) -> None:
    """Write ``comparison.json``, and the table between the marks of ``comparison.md``."""
    found = collect(statistics, runs, comparison)
    _write(docs / "comparison.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    page = docs / "comparison.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    _write(page, f"{before}{BEGIN}\n{write_results(found)}\n{END}{after}")


def collect(
    statistics: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]
) -> dict[str, Any]:
    """All numbers of a comparison: the texts' statistics, references, and every run with its values."""
    measured = comparison["obfuscations"]
    return {
        "textveil": comparison["textveil"],
        "statistics": dict(statistics),
        "references": comparison["references"],
        "fronts": comparison["fronts"],
        "runs": [{**run, "values": _read(measured.get(run["name"]))} for run in runs],
    }


def _read(evaluation: Mapping[str, Any] | None) -> dict[str, Any]:
    """The columns of an obfuscation that were measured, with their intervals and caveats."""
    found: dict[str, Any] = {}
    for name in COLUMNS if evaluation is not None else ():
        column = METRIC_COLUMNS[name]
        metric = evaluation["metrics"].get(column.metric) if evaluation is not None else None
        if metric is not None and column.value in metric["values"]:
            interval, caveats = metric["intervals"].get(column.value), metric["caveats"]
            found[name] = {"value": metric["values"][column.value], "interval": interval, "caveats": caveats}
    return found


def write_results(found: Mapping[str, Any]) -> str:
    """The statistics of the texts and the table in Markdown.

    Runs without a complete output have their outcome instead of values.
    """
    texts = found["statistics"]
    labels = ", ".join(f"{count:,} {label}" for label, count in texts["labels"].items())
    sentence = (
        f"{texts['texts']:,} texts with {texts['words']:,} words (at most {texts['longest']}) by {texts['authors']} "
        f"authors: {labels}. textveil {found['textveil']}, seed {texts['seed']}."
    )
    columns = [METRIC_COLUMNS[name] for name in COLUMNS]
    head = ["tool@level", *(column.title for column in columns), "seconds"]
    rows = [_write_references(found["references"]), *map(_write_run, found["runs"])]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join([sentence, "", *lines])


def _write_references(references: Mapping[str, Any]) -> list[str]:
    shown = []
    for name in COLUMNS:
        column = METRIC_COLUMNS[name]
        reading = references.get(f"{column.metric}.{column.value}", {}).get("originals")
        shown.append("" if reading is None else column.show(reading["value"]))
    return ["originals", *shown, ""]


def _write_run(run: Mapping[str, Any]) -> list[str]:
    if run["outcome"] != "done":
        reason = run["error"] or f"{run['rows']:,} rows"
        return [run["name"], f"{run['outcome']} ({reason})", *[""] * (len(COLUMNS) - 1), f"{run['seconds']:,.0f}"]
    shown = [
        METRIC_COLUMNS[name].show(run["values"][name]["value"]) if name in run["values"] else "" for name in COLUMNS
    ]
    return [run["name"], *shown, f"{run['seconds']:,.0f}"]


def _write(path: Path, content: str) -> None:
    with writing(path) as stream:
        stream.write(content.encode())
