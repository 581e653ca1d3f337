"""Flags for the options that methods declare."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from textveil.errors import ParameterError
from textveil.registry import Method, Option, Registry

R = TypeVar("R")

HIDDEN = ("batch_size",)
"""Options that only Python offers."""
GENERIC = "option"
"""The parameter of commands that takes the options of plugins, which have no flags of their own."""


def flag_of(option: Option) -> str:
    """How the command line spells an option."""
    return option.flag or f"--{option.name.replace('_', '-')}"


def collect_options(*registries: Registry[Any]) -> dict[str, tuple[Option, list[str]]]:
    """The options of all methods of some axes, each with the names of the methods that take it."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for registry in registries:
        for name in registry:
            for option in registry.load(name).list_options().values():
                if option.name not in HIDDEN:
                    found.setdefault(option.name, (option, []))[1].append(name)
    return found


def with_method_options(*registries: Registry[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add a flag for every option of the methods of some axes.

    The command takes them as ``method_options``: the options that were given, by name.
    """
    options = collect_options(*registries)

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> R:
            given = {name: value for name in options if (value := kwargs.pop(name)) is not None}
            for setting in kwargs.pop(GENERIC) or ():
                name, equals, value = setting.partition("=")
                if not equals or name in given:
                    raise ParameterError(f"--{GENERIC} must be NAME=VALUE, once for each name.")
                given[name] = _Written(value)
            return command(*args, method_options=given, **kwargs)

        hints = get_type_hints(command, include_extras=True)
        flags = {
            name: Annotated[option.kind | None, typer.Option(flag_of(option), help=_describe(option, methods))]
            for name, (option, methods) in options.items()
        }
        flags[GENERIC] = Annotated[
            list[str] | None,
            typer.Option(f"--{GENERIC}", metavar="NAME=VALUE", help="An option of a method of a plugin; repeatable."),
        ]
        signature = inspect.signature(command)
        kept = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
        kept = [parameter for parameter in kept if parameter.name != "method_options"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for name, hint in flags.items()
        ]
        run.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {**{name: hint for name, hint in hints.items() if name != "method_options"}, **flags}
        return run

    return decorate


def _describe(option: Option, methods: Iterable[str]) -> str:
    default = "" if option.default is None else f" Default: {option.default}."
    return f"For {', '.join(methods)}: {option.help}{default}"


class _Written(str):
    """The value of an option, as it was written: its kind is known once the method is."""

    def read(self, option: Option) -> Any:
        """The value in the kind that the option has; one that cannot be read stays text, which the method refuses."""
        if option.kind is bool:
            return {"true": True, "false": False}.get(self.lower(), str(self))
        try:
            return option.kind(self) if option.kind in (int, float) else str(self)
        except ValueError:
            return str(self)


def choose_options(method: type[Method], given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options that were given, those that a method takes."""
    taken = method.list_options()
    return {
        name: value.read(taken[name]) if isinstance(value, _Written) else value
        for name, value in given.items()
        if name in taken
    }


def refuse_unused(given: Mapping[str, Any], methods: Iterable[type[Method]], registries: Mapping[str, Any]) -> None:
    """Refuse an option that none of the chosen methods takes.

    Args:
        given: The options.
        methods: The chosen methods.
        registries: The axes to choose from, by the flag that chooses.
    """
    taken = {name for method in methods for name in method.list_options()}
    for name in given:
        if name not in taken:
            if name not in collect_options(*registries.values()):
                raise ParameterError(f"None of the chosen methods has the option {name!r}. Remove --{GENERIC}.")
            places = [
                f"{flag} {' or '.join(takers)}"
                for flag, registry in registries.items()
                if (takers := [known for known in registry if name in registry.load(known).list_options()])
            ]
            option, _ = collect_options(*registries.values())[name]
            raise ParameterError(f"{flag_of(option)} goes with {', or '.join(places)}.")
