"""The obfuscators of the service: built once for each choice of settings, with models that they share."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from textveil.bundles.bundle import Bundle
from textveil.errors import ParameterError
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.redaction import Screen
from textveil.registry import Registry, unknown_name
from textveil.service.models import Methods
from textveil.service.settings import Settings

KEPT = 16
"""Obfuscators that are kept beside those of the start. Those that were not used for the longest time are dropped."""
AXES: dict[str, Registry[Any]] = {
    "decomposition": DECOMPOSERS,
    "distribution": DISTRIBUTORS,
    "mechanism": MECHANISMS,
}
DECIDED = ("model", "models", "batch_size", "device", "precision", "keep_words")
"""Options that a request may not choose: they name files of the server, or use its memory."""


T = TypeVar("T")


class _Shelf(Generic[T]):
    """Objects in memory by their keys, from the first to the last used. One thread may read while another one adds."""

    def __init__(self) -> None:
        self._objects: OrderedDict[str, T] = OrderedDict()
        self._pinned: frozenset[str] = frozenset()

    def pin(self) -> None:
        """Never drop what is here now."""
        self._pinned = frozenset(self._objects)

    def find(self, key: str) -> T | None:
        try:
            self._objects.move_to_end(key)
            return self._objects[key]
        except KeyError:
            return None

    def add(self, key: str, added: T) -> T:
        self._objects[key] = added
        for oldest in [each for each in list(self._objects) if each not in self._pinned][:-KEPT]:
            del self._objects[oldest]
        return added

    def list_all(self) -> list[T]:
        return list(self._objects.values())


class Obfuscators:
    """Builds obfuscators as requests want them. It may be used from several threads.

    Args:
        settings: The settings of the service: bundles to load, and what holds for a request that does not say.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        loaded = [Bundle.load(name) for name in settings.bundles]
        self.bundles: dict[str, Bundle] = {bundle.manifest.name: bundle for bundle in loaded}
        if len(self.bundles) < len(loaded):
            raise ParameterError("Two of the `bundles` have the same name. Give bundles of different names.")
        self._building = threading.Lock()
        self._kept: _Shelf[Obfuscator] = _Shelf()
        self._scoring = threading.Lock()
        self._distributors: _Shelf[Distributor] = _Shelf()
        self._decomposers: dict[tuple[str, str], Decomposer] = {}

    def load(self) -> None:
        """Build what most requests need, so that none of them waits for it."""
        for name in self._settings.load:
            self.find_distributor(name, {}).score([])
        for bundle in self.bundles:
            self.find(Methods(bundle=bundle))
        for shelf in (self._kept, self._distributors):
            shelf.pin()

    def choose_bundle(self, name: str | None) -> Bundle:
        """A loaded bundle by its name; by default the first one."""
        if name is None:
            return next(iter(self.bundles.values()))
        if name not in self.bundles:
            raise unknown_name("loaded bundle", name, self.bundles)
        return self.bundles[name]

    def complete(self, wanted: Methods) -> dict[str, Any]:
        """All settings of an obfuscator: those of a request, and the server's where it has none."""
        settings = self._settings
        given = wanted.model_dump(include=set(Methods.model_fields))
        defaults = {
            "bundle": next(iter(self.bundles)),
            "profile": settings.profile,
            "decomposition": settings.decomposition,
            "distribution": settings.distribution,
            "mechanism": settings.mechanism,
            "identifiers": settings.identifiers,
        }
        complete = {**given, **{name: value for name, value in defaults.items() if given[name] is None}}
        for axis, registry in AXES.items():
            if complete[axis] is not None:
                complete[axis] = registry.resolve(complete[axis])
            _refuse_decided(complete[f"{axis}_options"], axis)
        return complete

    def write_key(self, wanted: Methods) -> str:
        """The same for all requests for the same obfuscator."""
        return json.dumps(self.complete(wanted), sort_keys=True)

    def find_kept(self, wanted: Methods) -> Obfuscator | None:
        """The obfuscator for a request, if it is in memory."""
        return self._kept.find(self.write_key(wanted))

    def find(self, wanted: Methods) -> Obfuscator:
        """The obfuscator for a request. It is built if it is not in memory, one at a time."""
        complete = self.complete(wanted)
        key = json.dumps(complete, sort_keys=True)
        with self._building:
            return self._kept.find(key) or self._kept.add(key, self._build(complete))

    def _build(self, complete: Mapping[str, Any]) -> Obfuscator:
        settings = dict(complete)
        bundle = self.choose_bundle(settings.pop("bundle"))
        options = settings.pop("distribution_options")
        distributor = self.find_distributor(settings.pop("distribution"), options)
        if settings["identifiers"] is not None:
            settings["identifiers"] = Screen(settings["identifiers"])
            settings["identifiers"].screen([""])  # loads the model here, and not while other requests wait for a batch
        return Obfuscator(bundle, distribution=distributor, **settings)

    def find_distributor(self, name: str, options: Mapping[str, Any]) -> Distributor:
        """A distributor, which is built once: it may have a large model."""
        method = DISTRIBUTORS.load(name)
        key = json.dumps([method.name, method.check_options(options)], sort_keys=True)
        if (loaded := self._distributors.find(key)) is not None:
            return loaded  # without waiting for another one that is being loaded
        with self._scoring:
            return self._distributors.find(key) or self._distributors.add(key, method(**options))

    def find_decomposer(self, bundle: Bundle, name: str) -> Decomposer:
        """A decomposer, which is built once: it may have a model, too."""
        method = DECOMPOSERS.load(name)
        key = (bundle.manifest.name, method.name)
        if key not in self._decomposers:
            self._decomposers[key] = method(bundle)
        return self._decomposers[key]

    def list_loaded(self) -> set[str]:
        """The names of the methods that are in memory."""
        names = {distributor.name for distributor in self._distributors.list_all()}
        for obfuscator in self._kept.list_all():
            terms = obfuscator.terms
            names |= {terms.decomposition["name"], terms.mechanism["name"]}
        return names


def _refuse_decided(options: Mapping[str, Any], axis: str) -> None:
    for name in options:
        if name in DECIDED:
            raise ParameterError(f"`{name}` of the {axis} is decided by the server. Leave it out.")
