"""Commands and their flags: dataclasses of flags, flags of methods, and those that many commands share."""

from __future__ import annotations

import functools
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from textveil.cli.reporting import reporting_errors
from textveil.errors import ParameterError
from textveil.execution import EXECUTORS, Executor
from textveil.execution.base import DEFAULT_EXECUTOR
from textveil.registry import Method, Option, Registry

R = TypeVar("R")

HIDDEN = ("batch_size",)
"""Options that only Python offers."""
GENERIC = "option"
"""The parameter of commands that takes the options of plugins, which have no flags of their own."""
METHOD_OPTIONS = "method_options"
"""The parameter of functions that gets the options of methods that were given."""
SETTINGS = "settings"
"""The parameter of functions that gets the settings that were given."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BundleName = Annotated[str, typer.Option("--bundle", help="The name or folder of a bundle.")]
Column = Annotated[str, typer.Option("--column", "-c", help="The column with the texts.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")]
Axes: TypeAlias = Mapping[str, Registry[Any]]


@dataclass(frozen=True, kw_only=True)
class ExecutorFlags:
    """Where work runs.

    Attributes:
        executor: Where the work runs: {textveil.execution:EXECUTORS}.
        workers: The number of workers. By default, one per core.
        address: The address of a running Ray cluster, or auto. Its machines must share the files.
    """

    executor: str = DEFAULT_EXECUTOR
    workers: int | None = None
    address: str | None = None

    def start(self, *more: Any) -> Executor:
        """The executor, which is to be closed."""
        return EXECUTORS.load(self.executor)(self.workers, self.address, *more)


def build_app(description: str | None = None, **settings: Any) -> typer.Typer:
    """A command, or a group of commands."""
    return typer.Typer(help=description, add_completion=False, no_args_is_help=True, rich_markup_mode=None, **settings)


def command(
    app: typer.Typer,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    methods: Axes | None = None,
    no_args_is_help: bool = True,
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Register a function as a command: flags for its parameters, lines and exit codes for its errors.

    Its docstring is the help, with a section ``Args`` for parameters that do not declare their help, and examples.

    Args:
        app: Where the command belongs.
        name: Its name.
        settings: The annotations of settings, of which the function gets those that are given, as ``settings``.
        methods: The axes whose methods it may choose, by the flag that chooses.
        no_args_is_help: Show the help if there is no argument.
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        run = reporting_errors(expand_flags(function, settings, methods))
        described, _, examples = (inspect.getdoc(function) or "").partition("Examples:\n")
        app.command(
            name,
            cls=TyperCommand if methods is None else _MethodCommand,
            help=described.partition("Args:\n")[0].rstrip(),
            epilog=keep_lines(f"Examples:\n{examples}") if examples else None,
            no_args_is_help=no_args_is_help,
        )(run)
        return run

    return decorate


def keep_lines(text: str) -> str:
    """The text with marks for the parser, which otherwise fills the lines of a paragraph."""
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in text.split("\n\n"))


class _MethodCommand(TyperCommand):
    """A command whose help names the methods of plugins. They are looked for only when the help is shown."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the plugins above the examples."""
        from textveil.cli.methods import AXES

        plugins = [(registry.kind, plugin) for registry in AXES.values() for plugin in registry.list_plugins()]
        if plugins:
            with formatter.section("Methods of plugins"):
                formatter.write_dl(
                    [(plugin.name, f"{kind} of {plugin.package} {plugin.version}") for kind, plugin in plugins]
                )
        super().format_epilog(ctx, formatter)


def expand_flags(
    function: Callable[..., R], settings: Mapping[str, Any] | None = None, methods: Axes | None = None
) -> Callable[..., R]:
    """The function with a flag for every field of its dataclasses, for settings, and for the options of methods.

    The help of a flag is what the docstring of the function or the dataclass says about it.
    The settings and options that are given arrive as dictionaries ``settings`` and ``method_options``.
    """
    options = {} if methods is None else collect_options(*methods.values())
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flags: dict[str, inspect.Parameter] = {}
    texts = _read_help(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in groups:
            flags |= _list_fields(groups[parameter.name])
        elif parameter.name == SETTINGS:
            flags |= {name: _build_parameter(name, hint) for name, hint in (settings or {}).items()}
        elif parameter.name == METHOD_OPTIONS:
            flags |= _list_method_flags(options)
        else:
            flags[parameter.name] = _declare(parameter, hints[parameter.name], texts)

    @functools.wraps(function)
    def run(**given: Any) -> R:
        for name, group in groups.items():
            given[name] = group(**{field: given.pop(field) for field in _list_fields(group)})
        if SETTINGS in hints:
            given[SETTINGS] = {name: value for name in settings or () if (value := given.pop(name)) is not None}
        if METHOD_OPTIONS in hints:
            given[METHOD_OPTIONS] = _take_options(given, options)
        return function(**given)

    run.__signature__ = inspect.Signature(list(flags.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: flag.annotation for name, flag in flags.items()}
    return run


def _build_parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _list_fields(group: Any) -> dict[str, inspect.Parameter]:
    """The fields of a dataclass as parameters."""
    hints = get_type_hints(group, include_extras=True)
    texts: dict[str, str] = {}
    for base in reversed(group.__mro__[:-1]):
        texts |= _read_help(base)
    return {
        name: _declare(parameter, hints[name], texts) for name, parameter in inspect.signature(group).parameters.items()
    }


def _read_help(documented: Any) -> dict[str, str]:
    """What a docstring says about parameters or attributes, with lists such as ``{textveil.tables:FORMATS}``."""
    section = re.search(r"^(?:Args|Attributes):\n((?: .*\n?)+)", inspect.getdoc(documented) or "", re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section[1] if section else "", re.MULTILINE)
    return {name: re.sub(r"{(.+?)}", _spell_list, " ".join(text.split())) for name, text in entries}


def _spell_list(place: re.Match[str]) -> str:
    """The names in the list at a place such as ``textveil.tables:FORMATS``, or its value."""
    found = pkgutil.resolve_name(place[1])
    return str(found) if isinstance(found, str | int | float) else ", ".join(map(str, found))


def _declare(parameter: inspect.Parameter, hint: Any, texts: Mapping[str, str]) -> inspect.Parameter:
    """The parameter with everything that the command line needs to know."""
    kind, *infos = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if infos:
        info = copy(infos[0])
    elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        spelled = f"--{parameter.name.replace('_', '-')}"
        info = typer.Option(spelled) if kind is bool else typer.Option()
    else:
        info = typer.Argument()
    info.help = info.help or texts.get(parameter.name)
    return parameter.replace(annotation=Annotated[kind, info])


def _list_method_flags(options: Mapping[str, tuple[Option, list[str]]]) -> dict[str, inspect.Parameter]:
    """The options of methods as parameters, and one for those of plugins."""
    hints: dict[str, Any] = {
        name: Annotated[option.kind | None, typer.Option(flag_of(option), help=_describe(option, methods))]
        for name, (option, methods) in options.items()
    }
    hints[GENERIC] = Annotated[
        list[str] | None,
        typer.Option(f"--{GENERIC}", metavar="NAME=VALUE", help="An option of a method of a plugin; repeatable."),
    ]
    return {name: _build_parameter(name, hint) for name, hint in hints.items()}


def _take_options(given: dict[str, Any], options: Iterable[str]) -> dict[str, Any]:
    """Remove the options of methods from the values of flags: those that were given, by name."""
    taken = {name: value for name in options if (value := given.pop(name)) is not None}
    for setting in given.pop(GENERIC) or ():
        name, equals, value = setting.partition("=")
        if not equals or name in taken:
            raise ParameterError(f"--{GENERIC} must be NAME=VALUE, once for each name.")
        taken[name] = _Written(value)
    return taken


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
            takers = {flag: collect_options(registry).get(name) for flag, registry in registries.items()}
            places = [f"{flag} {' or '.join(found[1])}" for flag, found in takers.items() if found]
            option, _ = collect_options(*registries.values())[name]
            raise ParameterError(f"{flag_of(option)} goes with {', or '.join(places)}.")
