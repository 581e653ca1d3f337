"""Presets: study files with comments, to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from textveil.registry import unknown_name
from textveil.storage.atomic import writing

_FOLDER = files("textveil.experiments").joinpath("preset_files")


def list_presets() -> list[str]:
    """The names of the presets."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _FOLDER.iterdir() if entry.name.endswith(".yaml"))


def read_preset(name: str) -> str:
    """A study file with comments.

    Raises:
        UnknownNameError: There is no such preset.
    """
    if name not in list_presets():
        raise unknown_name("preset", name, list_presets())
    return _FOLDER.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def write_preset(name: str, path: Path) -> None:
    """Write a preset as a study file."""
    content = read_preset(name)
    with writing(path) as stream:
        stream.write(content.encode())
