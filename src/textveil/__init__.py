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
    from textveil.analysis import analyze
    from textveil.bundles.bundle import Bundle
    from textveil.evaluation import Dataset, Evaluator
    from textveil.experiments import Experiment
    from textveil.facade import (
        list_bundles,
        list_decompositions,
        list_distributions,
        list_levels,
        list_mechanisms,
        list_metrics,
        list_profiles,
        obfuscate,
        obfuscate_file,
    )
    from textveil.jobs import FileJob, JobOptions, JobReport
    from textveil.language.text import Chunk, Document
    from textveil.obfuscation import Obfuscator
    from textveil.privacy.budget import Budget
    from textveil.privacy.certificate import Certificate
    from textveil.privacy.ledger import Ledger
    from textveil.privacy.levels import describe_level
    from textveil.privacy.outcomes import DocumentOutcome, Outcome
    from textveil.privacy.results import ObfuscatedChunk, Obfuscation

_LAZY = {
    "Budget": "textveil.privacy.budget",
    "Bundle": "textveil.bundles.bundle",
    "Certificate": "textveil.privacy.certificate",
    "Chunk": "textveil.language.text",
    "Dataset": "textveil.evaluation",
    "Document": "textveil.language.text",
    "DocumentOutcome": "textveil.privacy.outcomes",
    "Evaluator": "textveil.evaluation",
    "Experiment": "textveil.experiments",
    "FileJob": "textveil.jobs",
    "JobOptions": "textveil.jobs",
    "JobReport": "textveil.jobs",
    "Ledger": "textveil.privacy.ledger",
    "ObfuscatedChunk": "textveil.privacy.results",
    "Obfuscation": "textveil.privacy.results",
    "Obfuscator": "textveil.obfuscation",
    "Outcome": "textveil.privacy.outcomes",
    "analyze": "textveil.analysis",
    "describe_level": "textveil.privacy.levels",
    "list_bundles": "textveil.facade",
    "list_decompositions": "textveil.facade",
    "list_distributions": "textveil.facade",
    "list_levels": "textveil.facade",
    "list_mechanisms": "textveil.facade",
    "list_metrics": "textveil.facade",
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
