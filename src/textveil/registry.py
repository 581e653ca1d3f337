"""Methods: what those of every axis have in common, and their names, which lead to them when first asked for."""

from __future__ import annotations

import importlib
import inspect
import math
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

from textveil.errors import ParameterError, PluginError, UnknownNameError

T = TypeVar("T")
M = TypeVar("M", bound="Method")


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not known: the nearest one, and all there are."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(str(name).lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownNameError(f"There is no {kind} {name!r}.{hint} Choose from: {', '.join(names)}.")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that a method lets its user choose.

    It is declared once, on the method: its constructor, the command line, study files, certificates and help read it.

    Args:
        name: The parameter.
        kind: The type of a value: ``int``, ``float``, ``str`` or ``bool``; ``object`` for anything.
        default: The value by default. ``None`` is then a value, too.
        help: A sentence for help texts.
        choices: The only values, if they are few.
        least: The least value of a number.
        most: Its largest value.
        flag: How the command line spells the option, if not by its name.
        changes_results: Whether results depend on it. A batch size, for one, changes none.
    """

    name: str
    kind: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float = math.inf
    flag: str | None = None
    changes_results: bool = True

    def check(self, value: Any, *, of: str) -> Any:
        """The value, if it is of the right kind and among the allowed ones.

        >>> Option("steps", int, 50, "Number of steps.", least=1).check(0, of="gradients")
        Traceback (most recent call last):
        textveil.errors.ParameterError: `steps` of gradients must be a whole number of at least 1. Got 0 instead.
        """
        if (value is None and self.default is None) or self.kind is object:
            return value
        if self.choices and value not in self.choices:
            raise unknown_name(f"`{self.name}` of {of}", value, self.choices)
        if not isinstance(value, _ACCEPTED[self.kind]) or (isinstance(value, bool) and self.kind is not bool):
            raise self._refuse(value, of)
        if self.least is not None and not (self.least <= value <= self.most and value < math.inf):  # NaN fails, too
            raise self._refuse(value, of)
        return value if self.kind is str else self.kind(value)

    def _refuse(self, value: Any, of: str) -> ParameterError:
        least = "" if self.least is None else f" of at least {self.least:g}"
        if self.most < math.inf:
            least = f" from {self.least:g} to {self.most:g}"
        return ParameterError(f"`{self.name}` of {of} must be {_NAMES[self.kind]}{least}. Got {value!r} instead.")


_ACCEPTED: dict[type, Any] = {int: Integral, float: Real, str: (str, Path), bool: bool}
_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


class Method(ABC):
    """A method of an axis, such as a distributor: it has a name, and options that it declares.

    Args:
        options: Values for some of its options; they become attributes.
    """

    kind: ClassVar[str]
    """What errors call the axis."""
    name: str
    options: ClassVar[tuple[Option, ...]] = ()
    """The options that this class adds to those of its bases, or declares anew."""

    def __init__(self, **options: Any) -> None:
        for name, value in self.check_options(options).items():
            setattr(self, name, value)

    @classmethod
    def list_options(cls) -> dict[str, Option]:
        """All options by name, those of the bases first."""
        found: dict[str, Option] = {}
        for base in reversed(cls.__mro__):
            found |= {option.name: option for option in vars(base).get("options", ())}
        return found

    @classmethod
    def find_breach(cls) -> str | None:
        """What this class lacks to keep the contract of its axis; ``None`` if it lacks nothing."""
        declared = [option for base in cls.__mro__ for option in vars(base).get("options", ())]
        if not all(isinstance(option, Option) for option in declared):
            return "its options must be a tuple of textveil.registry.Option"
        return None

    @classmethod
    def check_options(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all options, given or by default.

        Raises:
            ParameterError: There is no such option, or a value is wrong.
        """
        declared = cls.list_options()
        for name in given:
            if not declared:
                raise ParameterError(f"The {cls.kind} {cls.name!r} has no options. Got `{name}`.")
            if name not in declared:
                raise unknown_name(f"option of the {cls.kind} {cls.name!r}", name, declared)
        return {name: option.check(given.get(name, option.default), of=cls.name) for name, option in declared.items()}

    @property
    def model_used(self) -> Mapping[str, str] | None:
        """The external model that its results depend on: its ``name`` and ``sha256``."""
        return None

    def as_dict(self) -> dict[str, Any]:
        """The method as a certificate records it: its name, the options that change results, and its model."""
        declared = self.list_options().values()
        options = {option.name: _plain(getattr(self, option.name)) for option in declared if option.changes_results}
        model = self.model_used
        return {"name": self.name, "options": options, "model": None if model is None else dict(model)}

    @property
    def description(self) -> str:
        """The name, with everything besides it that changes results."""
        return describe_method(
            self.as_dict(), {name: _plain(option.default) for name, option in self.list_options().items()}
        )

    @property
    def versions(self) -> dict[str, str]:
        """The software that its results depend on, besides textveil itself and the package of a plugin."""
        return {}

    @property
    def software(self) -> dict[str, str]:
        """All software that its results depend on, besides textveil itself: that of a plugin, and its ``versions``."""
        return {**find_packages(type(self), f"{PREFIX}{self.kind}s"), **self.versions}


def describe_method(method: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> str:
    """A method that :meth:`Method.as_dict` recorded, in one line: its model, and options other than the default.

    >>> describe_method({"name": "gradients", "options": {"steps": 9}, "model": None}, {"steps": 50})
    'gradients (steps 9)'
    """
    model = method["model"]
    details = [] if model is None else [f"{model['name']} {model['sha256'][:12]}"]
    details += [f"{name} {value}" for name, value in method["options"].items() if (defaults or {}).get(name) != value]
    return f"{method['name']} ({', '.join(details)})" if details else str(method["name"])


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class Registry(Generic[T]):
    """One axis of methods: a name leads to ``"module:attribute"``, imported on first use.

    Names that textveil does not know are looked for among the plugins of installed packages. A plugin never takes the
    place of a method of textveil.

    Args:
        kind: What errors call a method of the axis.
        contract: The base class of the methods that plugins may add; by default there are no plugins.
    """

    def __init__(self, kind: str, contract: type[Method] | None = None) -> None:
        self.kind = kind
        self.contract = contract
        self._targets: dict[str, str] = {}
        self._aliases: dict[str, str] = {}

    def register(self, name: str, target: str, *, aliases: Iterable[str] = ()) -> None:
        """Add a method; a name or alias that is taken is refused."""
        aliases = tuple(aliases)
        for label in (name, *aliases):
            if label in self._targets or label in self._aliases:
                raise ParameterError(f"The {self.kind} name {label!r} is taken. Choose another.")
        self._targets[name] = target
        self._aliases.update(dict.fromkeys(aliases, name))

    def load(self, name: str) -> T:
        """Import what ``name`` or one of its aliases stands for.

        Raises:
            UnknownNameError: Neither textveil nor a plugin has this name.
            PluginError: The plugin with this name cannot be used.
        """
        canonical = self.resolve(name)
        if canonical in self._targets:
            module, _, attribute = self._targets[canonical].partition(":")
            return cast("T", getattr(importlib.import_module(module), attribute))
        offered = [plugin for plugin in self.list_plugins() if plugin.name == name]
        if not offered:
            raise unknown_name(self.kind, name, self.list_names())
        return self.load_plugin(offered[0])

    @property
    def group(self) -> str:
        """The group of entry points through which packages add methods, such as ``textveil.mechanisms``."""
        return f"{PREFIX}{self.kind}s"

    def list_plugins(self) -> tuple[Plugin, ...]:
        """The methods that installed packages offer, usable or not. Nothing of them is imported."""
        return () if self.contract is None else find_plugins(self.group)

    def list_names(self) -> list[str]:
        """The names of all methods: those of textveil in their order, then those of plugins."""
        added = (plugin.name for plugin in self.list_plugins() if plugin.name not in self._aliases)
        return list(dict.fromkeys((*self._targets, *added)))

    def load_plugin(self, plugin: Plugin) -> T:
        """Import a plugin, and check that its method can be used.

        Raises:
            PluginError: Its name is taken, its import fails, or it has another contract.
        """
        if plugin.name in self._targets or plugin.name in self._aliases:
            raise PluginError(
                f"The plugin {plugin} takes the name of a {self.kind} of textveil, which stays as it is. "
                "Ask its author for another name."
            )
        others = [other for other in self.list_plugins() if other.name == plugin.name and other != plugin]
        if others:
            raise PluginError(
                f"The {self.kind} {plugin.name!r} is offered by several packages: {plugin.package} and "
                f"{', '.join(other.package for other in others)}. Uninstall all but one."
            )
        method = plugin.load()
        if (problem := self._find_breach(plugin, method)) is not None:
            raise PluginError(f"The plugin {plugin} is not a {self.kind}: {problem}. Ask its author to correct it.")
        return cast("T", method)

    def _find_breach(self, plugin: Plugin, method: Any) -> str | None:
        """What a class lacks to be a method of this axis; ``None`` if it lacks nothing."""
        contract = cast("type[Method]", self.contract)
        expected = f"{contract.__module__.removesuffix('.base')}.{contract.__name__}"
        if not isinstance(method, type) or not issubclass(method, contract):
            return f"{plugin.target} must be a subclass of {expected}"
        if inspect.isabstract(method):
            return f"it lacks {', '.join(sorted(method.__abstractmethods__))}"
        if getattr(method, "name", None) != plugin.name:
            return f"its entry point is {plugin.name!r} and its name is {getattr(method, 'name', None)!r}"
        return method.find_breach()

    def choose(self, method: str | M) -> type[M] | M:
        """A method by its name, not built yet; one that is built already is itself."""
        if isinstance(method, Method):
            if method.kind != self.kind:
                raise ParameterError(f"`{self.kind}` must be a {self.kind}. Got the {method.kind} {method.name!r}.")
            return method
        if not isinstance(method, str):
            raise ParameterError(f"`{self.kind}` must be a name or a {self.kind}. Got {type(method).__name__} instead.")
        return cast("type[M]", self.load(method))

    def build(self, method: type[M] | M, *parts: Any, **options: Any) -> M:
        """Build a chosen method with its options; one that is built already takes none."""
        if not isinstance(method, Method):
            return method(*parts, **options)
        if options:
            raise ParameterError(f"`{self.kind}_options` go with the name of a {self.kind}; this one is built already.")
        return method

    def resolve(self, name: str) -> str:
        """The name that an alias stands for; what is not known stays as it is. Nothing is imported."""
        return self._aliases.get(name, name)

    def list_aliases(self, name: str) -> list[str]:
        """The other names of a method."""
        return [alias for alias, canonical in self._aliases.items() if canonical == name]

    def __iter__(self) -> Iterator[str]:
        """The methods of textveil itself; :meth:`list_names` has those of plugins, too."""
        return iter(self._targets)

    def __contains__(self, name: Any) -> bool:
        return self.resolve(name) in self.list_names()


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

    found = set()
    for entry in metadata.entry_points(group=group):
        package = ("unknown", "0") if entry.dist is None else (entry.dist.name, entry.dist.version)
        found.add(Plugin(group, entry.name, entry.value, *package))
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.package)))


def find_packages(method: type, group: str) -> dict[str, str]:
    """The packages, with their versions, whose plugin a class is, or one of its bases; none for our own classes."""
    if method.__module__.startswith(PREFIX):
        return {}
    targets = {f"{base.__module__}:{base.__qualname__}" for base in method.__mro__}
    return {
        plugin.package: plugin.version for plugin in find_plugins(group) if plugin.target.replace(" ", "") in targets
    }
