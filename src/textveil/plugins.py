"""Plugins: methods that other installed packages offer by name, through entry points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from textveil.errors import PluginError

if TYPE_CHECKING:
    from importlib import metadata

PREFIX = "textveil."
"""What the names of all groups of entry points begin with."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A method that a package offers. Nothing of it is imported before it is asked for."""

    group: str
    """The group of entry points, such as ``textveil.mechanisms``."""
    name: str
    target: str
    """Where the method is: ``"module:attribute"``."""
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.name!r} of {self.package} {self.version}"

    def load(self) -> Any:
        """Import the method.

        Raises:
            PluginError: The import fails.
        """
        from importlib import metadata  # every command would have to wait for it

        try:
            return metadata.EntryPoint(self.name, self.target, self.group).load()
        except Exception as error:  # whatever a stranger's module raises
            raise PluginError(
                f"The plugin {self} cannot be imported: {type(error).__name__}: {error}. "
                f"Update or uninstall the package {self.package!r}."
            ) from error


@cache
def find_plugins(group: str) -> tuple[Plugin, ...]:
    """The plugins of a group, by name. All installed packages are read once per process, which takes milliseconds."""
    from importlib import metadata

    found = {
        Plugin(group, entry.name, entry.value, *_name_package(entry)) for entry in metadata.entry_points(group=group)
    }
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.package)))


def _name_package(entry: metadata.EntryPoint) -> tuple[str, str]:
    return ("unknown", "0") if entry.dist is None else (entry.dist.name, entry.dist.version)


def find_packages(method: type, groups: Iterable[str]) -> dict[str, str]:
    """The packages, with their versions, whose plugin a class is, or one of its bases; none for our own classes."""
    targets = {
        f"{base.__module__}:{base.__qualname__}" for base in method.__mro__ if not base.__module__.startswith(PREFIX)
    } - _BUILTIN
    if not targets:
        return {}
    return {
        plugin.package: plugin.version
        for group in groups
        for plugin in find_plugins(group)
        if plugin.target.replace(" ", "") in targets
    }


_BUILTIN = {"abc:ABC", "builtins:object", "typing:Generic"}
