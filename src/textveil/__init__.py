"""Obfuscate English documents under differential privacy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from textveil.version import __version__

if TYPE_CHECKING:
    from textveil import errors as errors
    from textveil import pandas as pandas
    from textveil import polars as polars
    from textveil.budget import Budget, describe_level
    from textveil.bundles.bundle import Bundle
    from textveil.certificate import Certificate
    from textveil.facade import (
        list_bundles,
        list_decompositions,
        list_distributions,
        list_levels,
        list_mechanisms,
        list_profiles,
        obfuscate,
        obfuscate_file,
    )
    from textveil.jobs import JobReport
    from textveil.lab.metrics import Dataset, Evaluator, list_metrics
    from textveil.lab.report.findings import analyze
    from textveil.lab.study import Experiment
    from textveil.lab.tasks import audit, calibrate, compare, evaluate, prepare, run_study
    from textveil.ledger import Ledger
    from textveil.obfuscator import Obfuscator
    from textveil.outcomes import DocumentOutcome, Outcome
    from textveil.redaction import Screen
    from textveil.results import ObfuscatedChunk, Obfuscation
    from textveil.settings import Settings
    from textveil.text.documents import Chunk, Document

_HOMES = {
    "budget": ["Budget", "describe_level"],
    "bundles.bundle": ["Bundle"],
    "certificate": ["Certificate"],
    "facade": [
        "list_bundles",
        "list_decompositions",
        "list_distributions",
        "list_levels",
        "list_mechanisms",
        "list_profiles",
        "obfuscate",
        "obfuscate_file",
    ],
    "jobs": ["JobReport"],
    "lab.metrics": ["Dataset", "Evaluator", "list_metrics"],
    "lab.report.findings": ["analyze"],
    "lab.study": ["Experiment"],
    "lab.tasks": ["audit", "calibrate", "compare", "evaluate", "prepare", "run_study"],
    "ledger": ["Ledger"],
    "obfuscator": ["Obfuscator"],
    "outcomes": ["DocumentOutcome", "Outcome"],
    "redaction": ["Screen"],
    "results": ["ObfuscatedChunk", "Obfuscation"],
    "settings": ["Settings"],
    "text.documents": ["Chunk", "Document"],
}
_LAZY = {name: f"textveil.{module}" for module, names in _HOMES.items() for name in names}
"""Names that are imported when they are first asked for: importing textveil takes no time, and extras stay optional."""
_MODULES = ("errors", "pandas", "polars")
"""Modules that need no import of their own."""

__all__ = [
    "Budget",
    "Bundle",
    "Certificate",
    "Chunk",
    "Dataset",
    "Document",
    "DocumentOutcome",
    "Evaluator",
    "Experiment",
    "JobReport",
    "Ledger",
    "ObfuscatedChunk",
    "Obfuscation",
    "Obfuscator",
    "Outcome",
    "Screen",
    "Settings",
    "__version__",
    "analyze",
    "audit",
    "calibrate",
    "compare",
    "describe_level",
    "evaluate",
    "list_bundles",
    "list_decompositions",
    "list_distributions",
    "list_levels",
    "list_mechanisms",
    "list_metrics",
    "list_profiles",
    "obfuscate",
    "obfuscate_file",
    "prepare",
    "run_study",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"textveil.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'textveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})
