"""``textveil methods``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from textveil.cli.reporting import report, reporting_errors
from textveil.errors import PluginError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.registry import Method, Registry
from textveil.version import __version__

AXES: dict[str, Registry[Any]] = {
    "decompositions": DECOMPOSERS,
    "distributions": DISTRIBUTORS,
    "mechanisms": MECHANISMS,
    "metrics": METRICS,
    "classifiers": CLASSIFIERS,
}
EXAMPLES = """
\b
Examples:
  textveil methods
  textveil methods --json
"""


class _Listed(NamedTuple):
    """A method, and the package that has it; or the reason why it cannot be used."""

    name: str
    aliases: list[str]
    package: str
    version: str
    method: type[Method] | None
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The method as JSON can hold it."""
        options = {} if self.method is None else self.method.list_options()
        return {
            "name": self.name,
            "aliases": self.aliases,
            "description": self.description,
            "options": {name: option.help for name, option in options.items()},
            "package": self.package,
            "version": self.version,
            "problem": self.problem,
        }

    @property
    def description(self) -> str:
        """The first sentence of its documentation."""
        return "" if self.method is None else (self.method.__doc__ or "").strip().partition("\n")[0]


@reporting_errors
def methods(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List all methods, including those of plugins.

    A plugin that cannot be used is reported with the reason. All other methods work without it.
    """
    found = {title: list(_list_methods(registry)) for title, registry in AXES.items()}
    if as_json:
        listed = {title: [each.as_dict() for each in methods] for title, methods in found.items()}
        typer.echo(json.dumps(listed, indent=2))
        return
    for title, each_of in found.items():
        typer.echo(title)
        for each in each_of:
            if each.problem is None:
                origin = "" if each.package == "textveil" else f" ({each.package} {each.version})"
                typer.echo(f"  {each.name:<17} {each.description}{origin}")
    for each in (each for each_of in found.values() for each in each_of if each.problem is not None):
        report(f"Warning: {each.problem}")


def _list_methods(registry: Registry[Any]) -> Iterator[_Listed]:
    for name in registry:
        yield _Listed(name, registry.list_aliases(name), "textveil", __version__, registry.load(name))
    for plugin in registry.list_plugins():
        try:
            method, problem = registry.load_plugin(plugin), None
        except PluginError as error:
            method, problem = None, str(error)
        yield _Listed(plugin.name, [], plugin.package, plugin.version, method, problem)


class MethodCommand(TyperCommand):
    """A command whose help names the methods of plugins. They are looked for only when the help is shown."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the plugins above the examples."""
        plugins = [(registry.kind, plugin) for registry in AXES.values() for plugin in registry.list_plugins()]
        if plugins:
            with formatter.section("Methods of plugins"):
                formatter.write_dl(
                    [(plugin.name, f"{kind} of {plugin.package} {plugin.version}") for kind, plugin in plugins]
                )
        super().format_epilog(ctx, formatter)
