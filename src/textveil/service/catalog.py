"""The catalog of the service: what a request may choose, and the bundles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from textveil.budget import LEVEL, LEVELS, MEASURED, describe_level
from textveil.bundles.bundle import PRIOR, Bundle
from textveil.deniability import has_closed_form
from textveil.errors import PluginError
from textveil.methods.mechanisms import Mechanism
from textveil.profiles import PROFILES
from textveil.redaction import TREATMENTS
from textveil.registry import Method, Registry
from textveil.service.models import MOST_ALTERNATIVES
from textveil.service.obfuscators import DECIDED, Obfuscators
from textveil.service.settings import Settings
from textveil.settings import AXES


class OptionDescription(BaseModel):
    """An option of a method."""

    name: str
    type: str
    default: Any
    help: str
    choices: list[str]
    least: float | None
    most: float | None


class MethodDescription(BaseModel):
    """A method of an axis."""

    name: str
    description: str
    loaded: bool = Field(description="Whether it is in memory. Others are loaded on first use, which takes time.")
    options: list[OptionDescription]
    guarantee: str | None = Field(None, description="Mechanisms only.")
    closed_form: bool | None = Field(None, description="Mechanisms only: whether alternatives have probabilities.")


class LevelDescription(BaseModel):
    """A level of protection."""

    name: str
    description: str


class ProfileDescription(BaseModel):
    """A profile."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    claim: str
    neighbors: str
    not_protected: list[str]
    stopwords: list[str]
    forms: list[str]


class Limits(BaseModel):
    """The limits of a request."""

    bytes: int
    texts: int
    words: int
    seconds: float
    requests: int
    alternatives: int


class MethodsAnswer(BaseModel):
    """Everything that a request may choose."""

    decompositions: list[MethodDescription]
    distributions: list[MethodDescription]
    mechanisms: list[MethodDescription]
    profiles: list[ProfileDescription]
    levels: list[LevelDescription]
    identifiers: list[str]
    defaults: dict[str, str | None]
    limits: Limits
    seeds_allowed: bool


class BundleDescription(BaseModel):
    """A bundle that the server has loaded."""

    name: str
    version: str
    language: str
    corpus: str
    license: str
    sha256: str
    decompositions: list[str]
    entries: dict[str, int]
    priors: list[str] = Field(description="The decompositions with a language model, which `fluent` needs.")


class BundlesAnswer(BaseModel):
    """The bundles of the server; the first one is the default."""

    bundles: list[BundleDescription]


def describe_methods(settings: Settings, obfuscators: Obfuscators) -> MethodsAnswer:
    """Everything that a request may choose."""
    loaded = obfuscators.list_loaded()
    profiles = [profile.written(profile.forms[0]) for profile in PROFILES.values()]
    defaults = {"bundle": next(iter(obfuscators.bundles)), "level": LEVEL, **settings.defaults}
    return MethodsAnswer(
        **{f"{axis}s": _describe_axis(registry, loaded) for axis, registry in AXES.items()},
        profiles=[ProfileDescription.model_validate(profile) for profile in profiles],
        levels=[LevelDescription(name=each, description=f"{describe_level(each)} ({MEASURED}).") for each in LEVELS],
        identifiers=list(TREATMENTS),
        defaults=defaults,
        limits=Limits(**asdict(settings), alternatives=MOST_ALTERNATIVES),
        seeds_allowed=settings.allow_seeds,
    )


def _describe_axis(registry: Registry[Any], loaded: set[str]) -> list[MethodDescription]:
    methods = [registry.load(name) for name in registry]
    for plugin in registry.list_plugins():
        with suppress(PluginError):  # one that cannot be used cannot be chosen
            methods.append(registry.load_plugin(plugin))
    return [_describe_method(method, loaded) for method in methods]


def _describe_method(method: type[Method], loaded: set[str]) -> MethodDescription:
    mechanism = method if issubclass(method, Mechanism) else None
    options = [
        OptionDescription(
            **{**asdict(option), "most": option.most if math.isfinite(option.most) else None},
            type=option.kind.__name__,
        )
        for option in method.list_options().values()
        if option.name not in DECIDED
    ]
    return MethodDescription(
        name=method.name,
        description=(method.__doc__ or "").strip().partition("\n")[0],
        loaded=method.name in loaded,
        options=options,
        guarantee=None if mechanism is None else mechanism.guarantee,
        closed_form=None if mechanism is None else has_closed_form(mechanism),
    )


def describe_bundles(bundles: Mapping[str, Bundle]) -> BundlesAnswer:
    """The loaded bundles; the first one is the default."""
    return BundlesAnswer(bundles=[_describe_bundle(bundle) for bundle in bundles.values()])


def _describe_bundle(bundle: Bundle) -> BundleDescription:
    manifest = bundle.manifest
    own = {name: getattr(manifest, name) for name in ("name", "version", "language", "corpus", "license")}
    return BundleDescription(
        **own,
        sha256=bundle.hash,
        decompositions=list(bundle.decompositions),
        entries={name: int(vectors["entries"]) for name, vectors in manifest.vectors.items()},
        priors=[name for name in bundle.decompositions if PRIOR in manifest.parts.get(name, {})],
    )
