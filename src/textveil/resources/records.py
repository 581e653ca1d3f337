"""The record of an installed resource: its source and the hashes of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from textveil.errors import ResourceError
from textveil.resources.resource import install_command
from textveil.version import __version__

RECORD = "resource.json"


def write_record(folder: Path, *, name: str, source: str, hashes: Mapping[str, str]) -> None:
    """Write the record of a resource into its folder."""
    record = {"resource": name, "source": source, "textveil": __version__, "files": dict(sorted(hashes.items()))}
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def recorded_hashes(folder: Path) -> dict[str, str]:
    """The recorded hashes of a folder; empty if textveil did not install it.

    Raises:
        ResourceError: The record is damaged.
    """
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(folder) from error
    try:
        files = json.loads(text)["files"]
        return {str(path): str(digest) for path, digest in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder) from error


def _damaged(folder: Path) -> ResourceError:
    return ResourceError(
        f"Cannot read {str(folder / RECORD)!r}. "
        f"Install the resource again with: {install_command(folder.name, force=True)}"
    )
