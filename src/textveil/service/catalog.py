"""The catalog of the service: methods with their options, profiles, levels, limits and bundles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from textveil.budget import LEVEL, LEVELS, MEASURED, Level, describe_level
from textveil.bundles.bundle import PRIOR, Bundle
from textveil.deniability import has_closed_form
from textveil.errors import PluginError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS, Mechanism
from textveil.profiles import PROFILES, Profile
from textveil.redaction import TREATMENTS
from textveil.registry import Method, Option, Registry
from textveil.service.models import MOST_ALTERNATIVES
from textveil.service.obfuscators import DECIDED, Obfuscators
from textveil.service.settings import Settings


def describe_methods(settings: Settings, obfuscators: Obfuscators) -> dict[str, Any]:
    """Everything that a request may choose."""
    loaded = obfuscators.list_loaded()
    return {
        "decompositions": _describe_axis(DECOMPOSERS, loaded),
        "distributions": _describe_axis(DISTRIBUTORS, loaded),
        "mechanisms": _describe_axis(MECHANISMS, loaded),
        "profiles": [_describe_profile(profile.written(profile.forms[0])) for profile in PROFILES.values()],
        "levels": [{"name": level, "description": _describe_level(level)} for level in LEVELS],
        "identifiers": list(TREATMENTS),
        "defaults": {
            "bundle": next(iter(obfuscators.bundles)),
            "profile": settings.profile,
            "level": LEVEL,
            "decomposition": settings.decomposition,
            "distribution": settings.distribution,
            "mechanism": settings.mechanism,
            "identifiers": settings.identifiers,
        },
        "limits": {
            "bytes": settings.bytes,
            "texts": settings.texts,
            "words": settings.words,
            "seconds": settings.seconds,
            "requests": settings.requests,
            "alternatives": MOST_ALTERNATIVES,
        },
        "seeds_allowed": settings.allow_seeds,
    }


def _describe_level(level: Level) -> str:
    """A line for people who choose a level."""
    return f"{describe_level(level)} ({MEASURED})."


def _describe_profile(profile: Profile) -> dict[str, Any]:
    """A profile with its default form."""
    return {
        "name": profile.name,
        "claim": profile.claim,
        "neighbors": profile.neighbors,
        "not_protected": list(profile.not_protected),
        "stopwords": list(profile.stopwords),
        "forms": list(profile.forms),
    }


def _describe_axis(registry: Registry[Any], loaded: set[str]) -> list[dict[str, Any]]:
    methods = [registry.load(name) for name in registry]
    for plugin in registry.list_plugins():
        with suppress(PluginError):  # one that cannot be used cannot be chosen
            methods.append(registry.load_plugin(plugin))
    return [_describe_method(method, loaded) for method in methods]


def _describe_method(method: type[Method], loaded: set[str]) -> dict[str, Any]:
    mechanism = method if issubclass(method, Mechanism) else None
    return {
        "name": method.name,
        "description": (method.__doc__ or "").strip().partition("\n")[0],
        "loaded": method.name in loaded,
        "options": [
            _describe_option(option) for option in method.list_options().values() if option.name not in DECIDED
        ],
        "guarantee": None if mechanism is None else mechanism.guarantee,
        "closed_form": None if mechanism is None else has_closed_form(mechanism),
    }


def _describe_option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "type": option.kind.__name__,
        "default": option.default,
        "help": option.help,
        "choices": list(option.choices),
        "least": option.least,
        "most": option.most if math.isfinite(option.most) else None,
    }


def describe_bundles(bundles: Mapping[str, Bundle]) -> dict[str, Any]:
    """The loaded bundles; the first one is the default."""
    return {"bundles": [_describe_bundle(bundle) for bundle in bundles.values()]}


def _describe_bundle(bundle: Bundle) -> dict[str, Any]:
    manifest = bundle.manifest
    return {
        "name": manifest.name,
        "version": manifest.version,
        "language": manifest.language,
        "corpus": manifest.corpus,
        "license": manifest.license,
        "sha256": bundle.hash,
        "decompositions": list(bundle.decompositions),
        "entries": {name: int(vectors["entries"]) for name, vectors in manifest.vectors.items()},
        "priors": [name for name in bundle.decompositions if PRIOR in manifest.parts.get(name, {})],
    }
