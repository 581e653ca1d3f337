"""Obfuscate English documents under differential privacy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textveil import errors as errors
    from textveil import pandas as pandas
    from textveil import polars as polars
    from textveil.budget import Budget as Budget
    from textveil.budget import describe_level as describe_level
    from textveil.bundles.bundle import Bundle as Bundle
    from textveil.certificate import Certificate as Certificate
    from textveil.facade import list_bundles as list_bundles
    from textveil.facade import list_decompositions as list_decompositions
    from textveil.facade import list_distributions as list_distributions
    from textveil.facade import list_levels as list_levels
    from textveil.facade import list_mechanisms as list_mechanisms
    from textveil.facade import list_profiles as list_profiles
    from textveil.facade import obfuscate as obfuscate
    from textveil.facade import obfuscate_file as obfuscate_file
    from textveil.jobs import JobReport as JobReport
    from textveil.lab.metrics import Dataset as Dataset
    from textveil.lab.metrics import Evaluator as Evaluator
    from textveil.lab.metrics import list_metrics as list_metrics
    from textveil.lab.report.findings import analyze as analyze
    from textveil.lab.study import Experiment as Experiment
    from textveil.lab.tasks import audit as audit
    from textveil.lab.tasks import calibrate as calibrate
    from textveil.lab.tasks import compare as compare
    from textveil.lab.tasks import evaluate as evaluate
    from textveil.lab.tasks import prepare as prepare
    from textveil.lab.tasks import run_study as run_study
    from textveil.ledger import Ledger as Ledger
    from textveil.obfuscator import Obfuscator as Obfuscator
    from textveil.outcomes import DocumentOutcome as DocumentOutcome
    from textveil.outcomes import Outcome as Outcome
    from textveil.redaction import Screen as Screen
    from textveil.results import ObfuscatedChunk as ObfuscatedChunk
    from textveil.results import Obfuscation as Obfuscation
    from textveil.settings import Settings as Settings
    from textveil.text.documents import Chunk as Chunk
    from textveil.text.documents import Document as Document
    from textveil.version import __version__ as __version__

_LISTS = ["bundles", "decompositions", "distributions", "levels", "mechanisms", "profiles"]
_HOMES = {
    "budget": ["Budget", "describe_level"],
    "bundles.bundle": ["Bundle"],
    "certificate": ["Certificate"],
    "facade": ["obfuscate", "obfuscate_file", *(f"list_{each}" for each in _LISTS)],
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
    "version": ["__version__"],
}
_LAZY = {name: f"textveil.{module}" for module, names in _HOMES.items() for name in names}
"""Names that are imported when they are first asked for: importing textveil takes no time, and extras stay optional."""
_MODULES = ("errors", "pandas", "polars")
"""Modules that need no import of their own."""

__all__ = list(_LAZY)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"textveil.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'textveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})
