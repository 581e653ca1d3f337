"""External data and models: the catalog, where they are on this machine, and how they are installed."""

from textveil.resources.catalog import RESOURCES, Resource, install_command
from textveil.resources.installation import CheckedFile, Installation, install, verify
from textveil.resources.lookup import Location, find, locate, own_folder

__all__ = [
    "RESOURCES",
    "CheckedFile",
    "Installation",
    "Location",
    "Resource",
    "find",
    "install",
    "install_command",
    "locate",
    "own_folder",
    "verify",
]
