"""The reference of the command line, written from the Typer app."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from scripts.docs_site.rst import escape, indent, title
from textveil.cli.main import app

PROGRAM = "textveil"


def write_command_pages() -> dict[str, str]:
    """The pages by name: one for every command, and ``index``, which lists them."""
    root: Any = typer.main.get_command(app)
    context: Any = root.context_class(root, info_name=PROGRAM)
    commands: dict[str, Any] = {name: root.get_command(context, name) for name in root.list_commands(context)}
    pages = {name: _write_page(command, name, context) for name, command in commands.items()}
    lines = [".. list-table::", "   :widths: 25 75", ""]
    for name, command in commands.items():
        lines += [f"   * - :doc:`{PROGRAM} {name} <{name}>`", f"     - {escape(_first_sentence(command))}"]
    contents = ["", ".. toctree::", "   :hidden:", "", *(f"   {PROGRAM} {name} <{name}>" for name in commands), ""]
    note = "Every command has ``--help``, which prints the same. ``textveil --version`` prints the version."
    pages["index"] = "\n".join([*title("Command line"), note, "", *lines, *contents])
    return pages


def _write_page(command: Any, name: str, parent: Any) -> str:
    """The page of a command, with all its subcommands."""
    return "\n".join(_describe(command, f"{PROGRAM} {name}", command.context_class(command, parent, name), "="))


def _describe(command: Any, path: str, context: Any, line: str) -> Iterator[str]:
    yield from title(path, line)
    yield from escape(inspect.cleandoc(command.help or "")).splitlines()
    yield ""
    if hasattr(command, "commands"):
        yield from _quote(command.epilog)
        for name, each in command.commands.items():
            if not each.hidden:
                yield from _describe(each, f"{path} {name}", each.context_class(each, context, name), "-")
        return
    yield from _quote(command.get_usage(context).removeprefix("Usage: "))
    yield from [f".. program:: {path}", ""]
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            yield from [f".. option:: {_spell(parameter, record[0])}", ""]
            yield from indent([escape(" ".join(record[1].split())) or "(no description)", ""])
    yield from _quote(command.epilog)


def _spell(parameter: Any, shown: str) -> str:
    """The names of an option, with the type of its value; an argument is only its name."""
    return shown.split(maxsplit=1)[0].strip("[]") if parameter.param_type_name == "argument" else shown


def _quote(text: str | None) -> list[str]:
    """A block of commands, without the word before it."""
    lines = inspect.cleandoc(text or "").removeprefix("Examples:\n").splitlines()
    return [".. code-block:: text", "", *indent(inspect.cleandoc("\n".join(lines)).splitlines()), ""] if lines else []


def _first_sentence(command: Any) -> str:
    paragraph = " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".") + "."
