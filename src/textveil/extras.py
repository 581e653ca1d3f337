"""Optional dependencies: imported when they are needed, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from types import ModuleType

from textveil.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import ``module``, or say which extra brings it.

    >>> require("json", extra="parquet").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"This needs the package {module.partition('.')[0]!r}. Install it with: pip install 'textveil[{extra}]'"
        ) from error
