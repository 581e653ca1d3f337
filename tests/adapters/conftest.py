"""What the tests of adapters share: settings with a small bundle, which every process can load, and texts."""

from __future__ import annotations

from typing import Any

import pytest

from textveil import Obfuscator
from textveil.bundles.bundle import Bundle

TEXTS = ["good story, bad plot", "the music was good", "alpha beta gamma", "of the", ""]


@pytest.fixture
def settings(tiny: Bundle) -> dict[str, Any]:
    """The arguments of an obfuscator; they can be sent to other processes."""
    return {"bundle": str(tiny.folder), "decomposition": "words", "form": "keep"}


@pytest.fixture
def obfuscator(settings: dict[str, Any]) -> Obfuscator:
    return Obfuscator(**settings, seed=7)
