"""The obfuscators of the service: built once for each choice of settings, with models that they share."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

from textveil.bundles.bundle import Bundle
from textveil.errors import ParameterError
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.obfuscator import Obfuscator
from textveil.redaction import Screen
from textveil.registry import unknown_name
from textveil.service.models import METHOD_NAMES, Methods
from textveil.service.settings import Settings as ServiceSettings
from textveil.settings import AXES, Settings

KEPT = 16
"""Obfuscators that are kept beside those of the start. Those that were not used for the longest time are dropped."""
DECIDED = ("model", "models", "batch_size", "device", "precision", "keep_words")
"""Options that a request may not choose: they name files of the server, or use its memory."""


T = TypeVar("T")


class _Shelf(Generic[T]):
    """Objects by their keys, built one at a time. Those that are there are found meanwhile."""

    def __init__(self) -> None:
        self._pinned: dict[str, T] = {}
        self._others: LRUCache[str, T] = LRUCache(KEPT)
        self._reading, self._building = threading.Lock(), threading.Lock()

    def pin(self) -> None:
        """Never drop what is here now."""
        self._pinned |= self._others
        self._others.clear()

    def find(self, key: str) -> T | None:
        with self._reading:
            return self._pinned[key] if key in self._pinned else self._others.get(key)

    def find_or_build(self, key: str, build: Callable[[], T]) -> T:
        if (found := self.find(key)) is not None:
            return found
        with self._building:
            if (found := self.find(key)) is not None:
                return found
            built = build()
            with self._reading:
                self._others[key] = built
            return built

    def list_all(self) -> list[T]:
        with self._reading:
            return [*self._pinned.values(), *self._others.values()]


class Obfuscators:
    """Builds obfuscators as requests want them. It may be used from several threads.

    Args:
        settings: The settings of the service: bundles to load, and what holds for a request that does not say.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        loaded = [Bundle.load(name) for name in settings.bundles]
        self.bundles: dict[str, Bundle] = {bundle.manifest.name: bundle for bundle in loaded}
        if len(self.bundles) < len(loaded):
            raise ParameterError("Two of the `bundles` have the same name. Give bundles of different names.")
        self._kept: _Shelf[Obfuscator] = _Shelf()
        self._distributors: _Shelf[Distributor] = _Shelf()
        self._decomposers: _Shelf[Decomposer] = _Shelf()

    def load(self) -> None:
        """Build what most requests need, so that none of them waits for it."""
        for name in self._settings.load:
            self.find_distributor(name, {}).score([])
        for bundle in self.bundles:
            self.find(Methods.model_validate({"bundle": bundle}))
        for shelf in (self._kept, self._distributors):
            shelf.pin()

    def choose_bundle(self, name: str | None) -> Bundle:
        """A loaded bundle by its name; by default the first one."""
        if name is None:
            return next(iter(self.bundles.values()))
        if name not in self.bundles:
            raise unknown_name("loaded bundle", name, self.bundles)
        return self.bundles[name]

    def complete(self, wanted: Methods) -> Settings:
        """All settings of an obfuscator: those of a request, and the server's where it has none."""
        given = {name: value for name in METHOD_NAMES if (value := getattr(wanted, name)) is not None}
        complete = {**self._settings.defaults, **given, "bundle": self.choose_bundle(given.get("bundle"))}
        for axis, registry in AXES.items():
            if complete[axis] is not None:
                complete[axis] = registry.resolve(complete[axis])
            for name in given.get(f"{axis}_options", ()):
                if name in DECIDED:
                    raise ParameterError(f"`{name}` of the {axis} is decided by the server. Leave it out.")
        return Settings(**complete)

    def write_key(self, wanted: Methods) -> str:
        """The same for all requests for the same obfuscator."""
        return _write_key(self.complete(wanted))

    def find_kept(self, wanted: Methods) -> Obfuscator | None:
        """The obfuscator for a request, if it is in memory."""
        return self._kept.find(self.write_key(wanted))

    def find(self, wanted: Methods) -> Obfuscator:
        """The obfuscator for a request. It is built if it is not in memory, one at a time."""
        settings = self.complete(wanted)
        return self._kept.find_or_build(_write_key(settings), lambda: self._build(settings))

    def _build(self, settings: Settings) -> Obfuscator:
        distributor = self.find_distributor(str(settings.distribution), settings.distribution_options or {})
        settings = settings.replace(distribution=distributor, distribution_options=None)
        if isinstance(settings.identifiers, str):
            screen = Screen(settings.identifiers)
            screen.screen([""])  # loads the model here, and not while other requests wait for a batch
            settings = settings.replace(identifiers=screen)
        return Obfuscator(settings)

    def find_distributor(self, name: str, options: Mapping[str, Any]) -> Distributor:
        """A distributor, which is built once: it may have a large model."""
        method = DISTRIBUTORS.load(name)
        key = json.dumps([method.name, method.check_options(options)], sort_keys=True)
        return self._distributors.find_or_build(key, lambda: method(**options))

    def find_decomposer(self, bundle: Bundle, name: str) -> Decomposer:
        """A decomposer, which is built once: it may have a model, too."""
        method = DECOMPOSERS.load(name)
        return self._decomposers.find_or_build(f"{bundle.manifest.name}:{method.name}", lambda: method(bundle))

    def list_loaded(self) -> set[str]:
        """The names of the methods that are in memory."""
        names = {distributor.name for distributor in self._distributors.list_all()}
        for obfuscator in self._kept.list_all():
            terms = obfuscator.terms
            names |= {terms.decomposition["name"], terms.mechanism["name"]}
        return names


def _write_key(settings: Settings) -> str:
    return json.dumps(settings.as_dict(), sort_keys=True)
