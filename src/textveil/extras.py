"""Optional dependencies, imported at first use. An error names the extra to install."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from textveil.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import ``module``, or name the extra that provides it.

    >>> require("json", extra="parquet").__name__
    'json'

    Raises:
        MissingExtraError: The module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(module.partition(".")[0], extra) from error


@cache
def require_version(package: str, *, extra: str) -> str:
    """The version of an installed package, without importing it. Its files are read once.

    Raises:
        MissingExtraError: The package is not installed; the message names the extra that provides it.
    """
    from importlib import metadata  # takes longer to import than all of this package

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError as error:
        raise _missing(package, extra) from error


def _missing(package: str, extra: str) -> MissingExtraError:
    return MissingExtraError(f"This needs the package {package!r}. Install it with: pip install 'textveil[{extra}]'")
