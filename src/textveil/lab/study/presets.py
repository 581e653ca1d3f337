"""Presets: study files with comments, to start from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from textveil.errors import ParameterError
from textveil.registry import unknown_name
from textveil.storage.atomic import writing

_FOLDER = files("textveil.lab.study").joinpath("preset_files")


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


def fill_preset(name: str, *, scale: float = 1.0, samples: Mapping[str, int] | None = None) -> str:
    """A study file with comments, for a part of the texts.

    Args:
        name: The preset.
        scale: The share of every sample to use.
        samples: The numbers of texts of data sets. Samples are not larger.

    Raises:
        ParameterError: The scale is not above 0 and at most 1.
        UnknownNameError: There is no such preset.
    """
    if not 0 < scale <= 1:
        raise ParameterError(f"`scale` must be greater than 0 and at most 1. Got {scale!r} instead.")
    content = re.sub(r"^scale: .*$", f"scale: {scale:g}", read_preset(name), flags=re.MULTILINE)
    for dataset, texts in (samples or {}).items():
        pattern = rf"^  {dataset}:\n(?:    .*\n)*?    sample: {{size: (\d+)"
        if size := re.search(pattern, content, flags=re.MULTILINE):
            content = f"{content[: size.start(1)]}{min(int(size[1]), texts)}{content[size.end(1) :]}"
    return content


def write_preset(name: str, path: Path, *, scale: float = 1.0, samples: Mapping[str, int] | None = None) -> None:
    """Write a preset as a study file, as :func:`fill_preset` returns it."""
    content = fill_preset(name, scale=scale, samples=samples)
    with writing(path) as stream:
        stream.write(content.encode())
