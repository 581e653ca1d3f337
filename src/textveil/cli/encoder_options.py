"""What the commands that distribute a budget let choose."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from textveil.distribution import DISTRIBUTORS
from textveil.errors import ParameterError
from textveil.models.encoders import DEFAULT_ENCODER, PAPER_ENCODER

_TAKES = {"model": ("attention", "gradients", "keybert"), "steps": ("gradients",)}

EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help=f"For {', '.join(_TAKES['model'])}: a resource, a folder, or OWNER/NAME in the Hugging Face cache; "
        f"by default {DEFAULT_ENCODER}. The paper's is {PAPER_ENCODER}.",
    ),
]
Steps = Annotated[int | None, typer.Option("--steps", help="For gradients: how many an integral is made of.")]


def choose_options(distribution: str, encoder: str | None, steps: int | None, *, strict: bool) -> dict[str, Any]:
    """The options that a distribution takes, of those that are given.

    Args:
        distribution: Its name.
        encoder: The encoder, if one is given.
        steps: The number of steps, if one is given.
        strict: Refuse an option that the distribution does not take.
    """
    name = DISTRIBUTORS.load(distribution).name
    given = {option: value for option, value in (("model", encoder), ("steps", steps)) if value is not None}
    for option in [option for option in given if name not in _TAKES[option]]:
        if strict:
            flag = "--encoder" if option == "model" else "--steps"
            raise ParameterError(f"{flag} goes with --distribution {' or '.join(_TAKES[option])}.")
        del given[option]
    return given
