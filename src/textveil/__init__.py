"""Obfuscate English documents under differential privacy."""

from textveil.bundles.bundle import Bundle
from textveil.errors import (
    BudgetError,
    BundleError,
    ColumnError,
    InputError,
    MissingExtraError,
    OutputError,
    OutputExistsError,
    ParameterError,
    ProfileError,
    ResourceError,
    TextveilError,
    UnknownNameError,
)
from textveil.jobs import Budget, FileJob, JobOptions, JobReport
from textveil.language.text import Chunk, Document
from textveil.obfuscation import ObfuscatedChunk, Obfuscation, Obfuscator
from textveil.privacy.certificate import Certificate
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.version import __version__

__all__ = [
    "Budget",
    "BudgetError",
    "Bundle",
    "BundleError",
    "Certificate",
    "Chunk",
    "ColumnError",
    "Document",
    "DocumentOutcome",
    "FileJob",
    "InputError",
    "JobOptions",
    "JobReport",
    "MissingExtraError",
    "ObfuscatedChunk",
    "Obfuscation",
    "Obfuscator",
    "Outcome",
    "OutputError",
    "OutputExistsError",
    "ParameterError",
    "ProfileError",
    "ResourceError",
    "TextveilError",
    "UnknownNameError",
    "__version__",
]
