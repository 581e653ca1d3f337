"""Settings on the command line: flags for all commands that build an obfuscator, a TOML file, and the environment."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.budget import LEVELS, MEASURED, describe_level
from textveil.bundles.bundle import Bundle
from textveil.cli.options import choose_options, refuse_unused
from textveil.cli.reporting import USAGE, report
from textveil.errors import InputError, ParameterError, TextveilError, UnknownNameError
from textveil.profiles import PROFILES
from textveil.registry import unknown_name
from textveil.settings import AXES, HELP, Settings

SETTINGS = (
    *("epsilon", "epsilon_per_word", "level", "length", "largest_share", "draft_share", "profile", "decomposition"),
    *("distribution", "mechanism", "stopwords", "form", "keep_emoji", "identifiers", "seed"),
)
"""The settings that have flags everywhere alike. A bundle and a ledger are chosen in other ways."""
METHODS = {f"--{axis}": registry for axis, registry in AXES.items()}
"""The axes by their flags."""
BUDGET = ("epsilon", "epsilon_per_word", "level")
_NUMBERS = ("epsilon", "epsilon_per_word", "largest_share", "draft_share")
_KINDS: Mapping[str, Any] = {**dict.fromkeys(_NUMBERS, float), "keep_emoji": bool, "seed": int}
_SPELLED = {"epsilon": ("--epsilon", "-e"), "keep_emoji": ("--keep-emoji",)}
SECTIONS = ("obfuscate", "serve")
"""The commands that can be configured, each by a table of its own."""
REFUSED = {"seed": "A seed there would make all noise predictable. Give it on the command line."}
"""Parameters that are refused in a file or the environment, and why."""


def pick(*names: str) -> dict[str, Any]:
    """The flags of some settings. None has a default here: what is not given is left to the library."""
    return {
        name: Annotated[_KINDS.get(name, str) | None, typer.Option(*_SPELLED.get(name, ()), help=_describe(name))]
        for name in names
    }


def _describe(name: str) -> str:
    """The help of a setting, with flags for the names of settings, and the names that it may have."""
    text = re.sub(": a name or a (decomposer|distributor|mechanism)", "", HELP[name])
    if name == "level":
        text += f" {'; '.join(f'{level}: {describe_level(level)}' for level in LEVELS)} ({MEASURED})."
    text = text.replace("infinity", "inf").partition(" A Screen")[0]
    text = re.sub(r"\b[a-z]+(_[a-z]+)+\b", lambda found: f"--{found[0].replace('_', '-')}", text)
    known = PROFILES if name == "profile" else AXES.get(name)
    return text if known is None else f"{text} Names: {', '.join(known)}."


def build_settings(bundle: str, given: Mapping[str, Any], method_options: Mapping[str, Any], **more: Any) -> Settings:
    """The settings, with every option handed to the methods that take it."""
    settings = Settings(Bundle.load(bundle), **given, **more)
    chosen = settings.complete()
    methods = {axis: registry.load(getattr(chosen, axis)) for axis, registry in AXES.items()}
    refuse_unused(method_options, methods.values(), METHODS)
    options = {f"{axis}_options": choose_options(method, method_options) for axis, method in methods.items()}
    return settings.replace(**options)


def read_section(path: Path, section: str) -> dict[str, Any]:
    """The table of a command in a configuration file; all others must be known, too.

    Raises:
        InputError: The file cannot be read, or is not TOML.
        ParameterError: It has an unknown table.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not TOML in UTF-8: {error}.") from error
    for name, values in content.items():
        if name not in SECTIONS:
            raise unknown_name(f"table of {path.name}", name, SECTIONS)
        if not isinstance(values, dict):
            raise ParameterError(f"{name!r} in {path.name} must be a table: put its keys below a line [{name}].")
    return dict(content.get(section, {}))


def check_keys(given: Mapping[str, Any], known: Mapping[str, str], place: str) -> dict[str, Any]:
    """The values by the names of parameters.

    Args:
        given: Values by key. A key is a flag without its dashes in front; underscores are allowed.
        known: The names of parameters by key.
        place: Where the values are, for errors.

    Raises:
        ParameterError: A key is unknown, or refused here.
    """
    found = {}
    for key, value in given.items():
        flag = key.replace("_", "-")
        if flag in REFUSED:
            raise ParameterError(f"{key!r} is not allowed in {place}. {REFUSED[flag]}")
        if flag not in known:
            raise UnknownNameError(f"{place}: {unknown_name('setting', key, known)}")
        if isinstance(value, dict):
            raise ParameterError(f"{key!r} in {place} must not be a table.")
        found[known[flag]] = value
    return found


def _find_flags(context: typer.Context) -> dict[str, str]:
    """The parameters of a command by their flags, without dashes in front."""
    return {
        flag.removeprefix("--"): str(parameter.name)
        for parameter in context.command.params
        for flag in parameter.opts
        if flag.startswith("--") and parameter.name not in ("config", "help")
    }


def _read_environment(command: str, known: Mapping[str, str]) -> dict[str, Any]:
    """The values of variables such as ``TEXTVEIL_SERVE_PORT``."""
    start = f"TEXTVEIL_{command.upper()}_"
    given = {name.removeprefix(start).lower(): value for name, value in os.environ.items() if name.startswith(start)}
    return check_keys(given, known, f"the environment ({start}...)")


def _list_values(context: typer.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with a list for every flag that may be repeated; a variable separates its values by commas."""
    repeated = {parameter.name for parameter in context.command.params if getattr(parameter, "multiple", False)}
    return {
        name: value.split(",") if name in repeated and isinstance(value, str) else value
        for name, value in values.items()
    }


_CONTEXT: ContextVar[typer.Context] = ContextVar("context")
"""The command that is run, which knows where its parameters come from."""


def configure(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults of a command from a file, and from the environment, which comes first."""
    command = str(context.info_name)
    _CONTEXT.set(context)
    try:
        known = _find_flags(context)
        values = {} if path is None else check_keys(read_section(path, command), known, f"[{command}] of {path.name}")
        values |= _read_environment(command, known)
        context.default_map = {**(context.default_map or {}), **_list_values(context, values)}
    except TextveilError as error:
        report(f"Error: {error}")
        raise typer.Exit(USAGE) from error
    return path


def prefer_flags(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of which only one is used: if one is given as a flag, without those of a file or variable."""
    context = _CONTEXT.get()
    flags = {name for name in values if getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE"}
    return {name: value if not flags or name in flags else None for name, value in values.items()}


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=configure,
        is_eager=True,
        help="A TOML file with values of flags, in a table with the name of the command; see docs/service.md.",
    ),
]
"""The flag of a command that can be configured."""
