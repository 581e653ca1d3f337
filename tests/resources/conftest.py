"""A small resource, archives that have it, and a machine on which nothing is installed."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from textveil.resources import RESOURCES, Resource
from textveil.resources.catalog import LocalCopy, Package, PyPIPackages, Source

CONTENT = {"data.noun": b"tea n 1\n", "tables/ic.dat": b"\x00\x01\x02" * 5000}
COMPANION = {"LICENSE": b"Do what you like.\n"}
PREFIX = "tiny_data/files/"
ENVIRONMENT = dict(os.environ)
"""The environment of the test run, before the fixture hides it."""


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_files(folder: Path, content: Mapping[str, bytes]) -> Path:
    for path, written in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(written)
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def write_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write_wheel(index: Path, name: str, members: Mapping[str, bytes]) -> Package:
    """A wheel in a folder that pip takes for an index, and how it would be pinned."""
    module = name.replace("-", "_")
    information = f"{module}-1.0.dist-info"
    wheel = write_zip(
        index / f"{module}-1.0-py3-none-any.whl",
        {
            **members,
            f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
            f"{information}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{information}/RECORD": b"",
        },
    )
    return Package(name, "1.0", digest(wheel.read_bytes()), wheel.stat().st_size)


def prefixed(content: Mapping[str, bytes], prefix: str = PREFIX) -> dict[str, bytes]:
    return {prefix + path: written for path, written in content.items()}


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """Hide the folders and variables of the machine."""
    for variable in list(os.environ):
        if variable.startswith(("TEXTVEIL_RESOURCE", "HF_", "HUGGINGFACE_", "NLTK_", "PIP_", "XDG_")):
            monkeypatch.delenv(variable)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("TEXTVEIL_RESOURCES", str(tmp_path / "own"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An empty folder, which is all the packages that pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def add_resource(monkeypatch):
    """Puts a resource ``tiny`` with some sources into the catalog."""

    def add(*sources: Source, **options) -> Resource:
        options = {
            "files": {path: digest(content) for path, content in CONTENT.items()},
            "companions": {"LICENSE": None},
            "size": 15_000,
            **options,
        }
        resource = Resource(name="tiny", purpose="tests", license="MIT", sources=sources, **options)
        monkeypatch.setitem(RESOURCES, "tiny", resource)
        return resource

    return add


@pytest.fixture
def tiny(add_resource, tmp_path):
    """A resource whose only source is a folder."""
    folder = write_files(tmp_path / "source", {**CONTENT, **COMPANION, "other.txt": b"not a part of it"})
    return add_resource(LocalCopy(folder))


@pytest.fixture
def pinned_wheel(index, add_resource):
    """A resource whose only source is a wheel on the index."""
    package = write_wheel(index, "tiny-data", prefixed({**CONTENT, **COMPANION}))
    return add_resource(PyPIPackages((package,), PREFIX))
