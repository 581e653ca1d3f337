"""Bundles: the vectors and lexicons of a language, their files, and how to build them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from textveil.bundles.bundle import DEFAULT_BUNDLE, STORAGES, Bundle, Manifest, Storage
from textveil.bundles.vectors import UNKNOWN, Vectors

if TYPE_CHECKING:
    from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
    from textveil.bundles.vector_files import VECTOR_FORMATS, ImportedVectors, reading_vectors, write_vectors

_LAZY = {
    **dict.fromkeys(("LexiconTable", "VectorTable", "build_bundle"), "textveil.bundles.building"),
    **dict.fromkeys(
        ("VECTOR_FORMATS", "ImportedVectors", "reading_vectors", "write_vectors"), "textveil.bundles.vector_files"
    ),
}
"""Names for building bundles, imported at first use: obfuscation does not need them."""

__all__ = [
    "DEFAULT_BUNDLE",
    "STORAGES",
    "UNKNOWN",
    "VECTOR_FORMATS",
    "Bundle",
    "ImportedVectors",
    "LexiconTable",
    "Manifest",
    "Storage",
    "VectorTable",
    "Vectors",
    "build_bundle",
    "reading_vectors",
    "write_vectors",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'textveil.bundles' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
