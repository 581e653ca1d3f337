"""The flags of settings, for all commands that build an obfuscator. Their help is that of the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from textveil.bundles.bundle import Bundle
from textveil.cli.options import choose_options, refuse_unused
from textveil.profiles import PROFILES
from textveil.settings import AXES, HELP, Settings

SETTINGS = (
    *("epsilon", "epsilon_per_word", "level", "length", "largest_share", "draft_share"),
    *(
        "profile",
        "decomposition",
        "distribution",
        "mechanism",
        "stopwords",
        "form",
        "keep_emoji",
        "identifiers",
        "seed",
    ),
)
"""The settings that have flags everywhere alike. A bundle and a ledger are chosen in other ways."""
METHODS = {f"--{axis}": registry for axis, registry in AXES.items()}
"""The axes by their flags."""
BUDGET = ("epsilon", "epsilon_per_word", "level")
_KINDS: Mapping[str, Any] = {
    "epsilon": float,
    "epsilon_per_word": float,
    "largest_share": float,
    "draft_share": float,
    "keep_emoji": bool,
    "seed": int,
}
_SPELLED = {"epsilon": ("--epsilon", "-e"), "keep_emoji": ("--keep-emoji",)}


def pick(*names: str) -> dict[str, Any]:
    """The flags of some settings. None has a default here: what is not given is left to the library."""
    return {
        name: Annotated[_KINDS.get(name, str) | None, typer.Option(*_SPELLED.get(name, ()), help=_describe(name))]
        for name in names
    }


def _describe(name: str) -> str:
    """The help of a setting, with flags for the names of settings, and the names that it may have."""
    text = HELP[name].replace(": a name or a decomposer", "").replace(": a name or a distributor", "")
    text = text.replace(": a name or a mechanism", "").replace("infinity", "inf").partition(" A Screen")[0]
    text = re.sub(r"\b[a-z]+(_[a-z]+)+\b", lambda found: f"--{found[0].replace('_', '-')}", text)
    known = PROFILES if name == "profile" else AXES.get(name)
    return text if known is None else f"{text} Names: {', '.join(known)}."


def build_settings(bundle: str, given: Mapping[str, Any], method_options: Mapping[str, Any], **more: Any) -> Settings:
    """The settings, with every option handed to the methods that take it."""
    settings = Settings(Bundle.load(bundle), **given, **more)
    chosen = settings.complete()
    methods = {axis: registry.load(getattr(chosen, axis)) for axis, registry in AXES.items()}
    refuse_unused(method_options, methods.values(), METHODS)
    options = {f"{axis}_options": choose_options(method, method_options) for axis, method in methods.items()}
    return settings.replace(**options)
