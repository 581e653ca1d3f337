"""The differences between two bundles: statements of their manifests, entries, expressions and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from textveil.bundles.bundle import PRIOR, Bundle

EXAMPLES = 8
"""The number of added and of removed entries that are named."""

_LABELS = ("name", "version", "language", "corpus", "license", "tokens")
_VECTOR_FIELDS = ("entries", "writable", "dimensions", "storage", "unit")
_PRIOR_FIELDS = ("order", "ngrams", "perplexity")


class Change(TypedDict):
    """A value in the first bundle and in the second; ``None`` where it is absent."""

    before: Any
    after: Any


class ListChange(TypedDict):
    """The numbers of entries that only one bundle has, with the first of them as examples."""

    added: int
    removed: int
    examples_added: list[str]
    examples_removed: list[str]


def compare_bundles(before: Bundle, after: Bundle) -> dict[str, Any]:
    """Everything that differs, by part. Equal parts are left out.

    Examples are the first in the order of the vocabulary, so the most frequent ones.
    """
    found: dict[str, Any] = {
        "manifest": _compare_fields(
            {**{name: getattr(before.manifest, name) for name in _LABELS}, "bytes": measure_size(before)},
            {**{name: getattr(after.manifest, name) for name in _LABELS}, "bytes": measure_size(after)},
        ),
        "parameters": _compare_fields(_flatten(before.manifest.parameters), _flatten(after.manifest.parameters)),
    }
    for decomposition in dict.fromkeys([*before.decompositions, *after.decompositions]):
        if decomposition not in before.decompositions or decomposition not in after.decompositions:
            there = decomposition in after.decompositions
            found[decomposition] = {"vectors": Change(before=not there, after=there)}
            continue
        found[decomposition] = _compare_decomposition(before, after, decomposition)
    return {name: part for name, part in found.items() if part}


def measure_size(bundle: Bundle) -> int:
    """The number of bytes of the files of a bundle."""
    return sum((bundle.folder / name).stat().st_size for name in bundle.manifest.files)


def _compare_decomposition(before: Bundle, after: Bundle, decomposition: str) -> dict[str, Any]:
    statements = [_describe(bundle, decomposition) for bundle in (before, after)]
    parts: dict[str, Any] = _compare_fields(*statements)
    written = [_list_written(bundle, decomposition) for bundle in (before, after)]
    parts["known entries"] = _compare_lists(*(bundle.vectors(decomposition).entries for bundle in (before, after)))
    parts["written entries"] = _compare_lists(*written)
    if all(decomposition in bundle.manifest.lexicons for bundle in (before, after)):
        parts["expressions"] = _compare_lists(*(bundle.lexicon(decomposition).spelled for bundle in (before, after)))
    return {name: part for name, part in parts.items() if part}


def _describe(bundle: Bundle, decomposition: str) -> dict[str, Any]:
    table = bundle.manifest.vectors[decomposition]
    parts = bundle.manifest.parts.get(decomposition, {})
    prior = parts.get(PRIOR, {})
    return {
        **{name: table[name] for name in _VECTOR_FIELDS if name in table},
        "median distance": bundle.distance(decomposition)["pairs"].get("0.5"),
        **{f"prior {name}": prior[name] for name in _PRIOR_FIELDS if name in prior},
        **{name: True for name in parts if name != PRIOR},
    }


def _list_written(bundle: Bundle, decomposition: str) -> list[str]:
    vectors = bundle.vectors(decomposition)
    return [vectors.entries[row] for row in vectors.writable]


def _compare_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Change(before=before.get(name), after=after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    }


def _compare_lists(before: Iterable[str], after: Iterable[str]) -> ListChange | None:
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    added = [entry for entry in new if entry not in old]
    removed = [entry for entry in old if entry not in new]
    if not added and not removed:
        return None
    return ListChange(
        added=len(added),
        removed=len(removed),
        examples_added=added[:EXAMPLES],
        examples_removed=removed[:EXAMPLES],
    )


def _flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested parameters as one mapping, with dots between names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
