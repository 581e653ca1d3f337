"""Alternatives: what else the chunks of a text could have become, and how likely each of it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.language.text import spoken
from textveil.mechanisms import Mechanism, Request
from textveil.mechanisms.base import ASKED
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.fluent import Fluent

BLOCK = 32
"""Chunks whose probabilities are computed at a time."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The most probable replacements of a chunk. They reveal the original, so they are for its owner only."""

    stays: float
    """The probability that the chunk replaces itself."""
    probability: float
    """The probability of the replacement that was drawn."""
    likeliest: tuple[tuple[str, float], ...]
    """The most probable replacements with their probabilities, best first."""


def has_closed_form(mechanism: Mechanism | type[Mechanism]) -> bool:
    """Whether the probabilities of replacements can be computed."""
    kind = mechanism if isinstance(mechanism, type) else type(mechanism)
    return issubclass(kind, Exponential)


def list_alternatives(
    mechanism: Mechanism, request: Request, chosen: RowNumbers, *, number: int
) -> list[Alternatives] | None:
    """The most probable replacements of every chunk that a mechanism was asked for.

    The probabilities are those of the draw that was made. With a language model, they are conditional on the words that
    were written before.

    Args:
        mechanism: The mechanism.
        request: What it was asked for.
        chosen: The rows that it chose.
        number: The number of replacements to list for each chunk.

    Returns:
        The alternatives in the order of the chunks; ``None`` for a mechanism without a closed form.
    """
    if not isinstance(mechanism, Exponential):
        return None
    found: list[Alternatives] = []
    for start in range(0, len(request.rows), BLOCK):
        part = slice(start, start + BLOCK)
        probabilities = np.exp(_compute(mechanism, request, chosen, part))
        own, drawn = (_find_columns(mechanism, rows[part]) for rows in (request.rows, chosen))
        for row, stays, taken in zip(probabilities, own, drawn, strict=True):
            best = np.argsort(-row, kind="stable")[:number] if number >= len(row) else _find_best(row, number)
            listed = tuple(
                (spoken(mechanism.vectors.entries[mechanism.space.writable[column]]), float(row[column]))
                for column in best
            )
            found.append(Alternatives(0.0 if stays == UNKNOWN else float(row[stays]), float(row[taken]), listed))
    return found


def _compute(mechanism: Exponential, request: Request, chosen: RowNumbers, part: slice) -> Floats:
    """The log-probabilities of all writable entries for some chunks, as they were when each was drawn."""
    points, shares = mechanism.place(request, part), request.shares[part]
    if not isinstance(mechanism, Fluent):
        return mechanism.log_channel(points, shares)
    written = np.full(len(chosen), ASKED) if request.context is None else request.context.copy()
    places = np.flatnonzero(written == ASKED)
    written[places] = chosen
    reach = mechanism.prior.order - 1
    padded = np.concatenate([np.full(reach, UNKNOWN), written])
    return mechanism.log_channel(points, shares, padded[places[part, None] + np.arange(reach)])


def _find_columns(mechanism: Mechanism, rows: RowNumbers) -> RowNumbers:
    """The columns of rows among the writable entries; ``UNKNOWN`` for one that is never written."""
    writable = mechanism.space.writable
    places = np.minimum(np.searchsorted(writable, rows), len(writable) - 1)
    return np.where(writable[places] == rows, places, UNKNOWN)


def _find_best(row: Floats, number: int) -> RowNumbers:
    best = np.argpartition(-row, number)[:number]
    found: RowNumbers = best[np.argsort(-row[best], kind="stable")]
    return found
