"""Obfuscate English documents under differential privacy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from textveil.errors import (
    BudgetError,
    BundleError,
    ColumnError,
    ContractError,
    ExecutionError,
    InputError,
    LedgerError,
    MissingExtraError,
    OutputError,
    OutputExistsError,
    ParameterError,
    PluginError,
    ProfileError,
    ResourceError,
    ServiceError,
    SmallCorpusError,
    SpentBudgetError,
    StudyError,
    TargetError,
    TextveilError,
    TextveilWarning,
    UnknownNameError,
)
from textveil.version import __version__

if TYPE_CHECKING:
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
    from textveil.jobs import FileJob, JobOptions, JobReport
    from textveil.lab.metrics import Dataset, Evaluator, list_metrics
    from textveil.lab.report.findings import analyze
    from textveil.lab.study import Experiment
    from textveil.ledger import Ledger
    from textveil.obfuscator import Obfuscator
    from textveil.outcomes import DocumentOutcome, Outcome
    from textveil.results import ObfuscatedChunk, Obfuscation
    from textveil.text.documents import Chunk, Document

_LAZY = {
    "Budget": "textveil.budget",
    "Bundle": "textveil.bundles.bundle",
    "Certificate": "textveil.certificate",
    "Chunk": "textveil.text.documents",
    "Dataset": "textveil.lab.metrics",
    "Document": "textveil.text.documents",
    "DocumentOutcome": "textveil.outcomes",
    "Evaluator": "textveil.lab.metrics",
    "Experiment": "textveil.lab.study",
    "FileJob": "textveil.jobs",
    "JobOptions": "textveil.jobs",
    "JobReport": "textveil.jobs",
    "Ledger": "textveil.ledger",
    "ObfuscatedChunk": "textveil.results",
    "Obfuscation": "textveil.results",
    "Obfuscator": "textveil.obfuscator",
    "Outcome": "textveil.outcomes",
    "analyze": "textveil.lab.report.findings",
    "describe_level": "textveil.budget",
    "list_bundles": "textveil.facade",
    "list_decompositions": "textveil.facade",
    "list_distributions": "textveil.facade",
    "list_levels": "textveil.facade",
    "list_mechanisms": "textveil.facade",
    "list_metrics": "textveil.lab.metrics",
    "list_profiles": "textveil.facade",
    "obfuscate": "textveil.facade",
    "obfuscate_file": "textveil.facade",
}
"""Names that are imported when they are first asked for: importing textveil takes no time, and extras stay optional."""

__all__ = [
    "Budget",
    "BudgetError",
    "Bundle",
    "BundleError",
    "Certificate",
    "Chunk",
    "ColumnError",
    "ContractError",
    "Dataset",
    "Document",
    "DocumentOutcome",
    "Evaluator",
    "ExecutionError",
    "Experiment",
    "FileJob",
    "InputError",
    "JobOptions",
    "JobReport",
    "Ledger",
    "LedgerError",
    "MissingExtraError",
    "ObfuscatedChunk",
    "Obfuscation",
    "Obfuscator",
    "Outcome",
    "OutputError",
    "OutputExistsError",
    "ParameterError",
    "PluginError",
    "ProfileError",
    "ResourceError",
    "ServiceError",
    "SmallCorpusError",
    "SpentBudgetError",
    "StudyError",
    "TargetError",
    "TextveilError",
    "TextveilWarning",
    "UnknownNameError",
    "__version__",
    "analyze",
    "describe_level",
    "list_bundles",
    "list_decompositions",
    "list_distributions",
    "list_levels",
    "list_mechanisms",
    "list_metrics",
    "list_profiles",
    "obfuscate",
    "obfuscate_file",
]


_SHORT_NAMES = ("pandas", "polars")
"""Modules that need no import of their own."""


def __getattr__(name: str) -> Any:
    if name in _SHORT_NAMES:
        return importlib.import_module(f"textveil.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'textveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_SHORT_NAMES})
