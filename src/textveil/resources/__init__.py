"""External things that textveil uses: what they are, where they may be, and how they are fetched when asked for."""

from textveil.resources.catalogue import RESOURCES
from textveil.resources.installation import Installation, install
from textveil.resources.lookup import Location, find, locate, own_folder
from textveil.resources.resource import Resource
from textveil.resources.verification import CheckedFile, verify

__all__ = [
    "RESOURCES",
    "CheckedFile",
    "Installation",
    "Location",
    "Resource",
    "find",
    "install",
    "locate",
    "own_folder",
    "verify",
]
