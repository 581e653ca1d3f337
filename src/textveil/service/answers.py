"""The answers to requests about texts, made from results of the library."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from fastapi import Response
from pydantic import BaseModel

from textveil.budget import Budget
from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.certificate import Certificate, Tally
from textveil.deniability import Alternatives, has_closed_form, list_alternatives
from textveil.errors import BundleError, MissingExtraError, ResourceError
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import Distributor
from textveil.methods.distribution.allocation import check_budget
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome
from textveil.planning import divide, mark_kept_words
from textveil.profiles import load_profile
from textveil.results import Obfuscation
from textveil.service.models import ObfuscatedChunk, ObfuscateRequest, RefusedError
from textveil.summary import list_warnings, summarize
from textveil.text.documents import Document

MOST_EXPLAINED = 500
"""Chunks of a request whose alternatives are computed. Each takes milliseconds, in which others wait."""


def respond(value: Any) -> Response:
    """A value as an answer in JSON."""
    content = value.model_dump() if isinstance(value, BaseModel) else value
    return Response(json.dumps(content, allow_nan=False), media_type="application/json")


class Answer:
    """Makes the answer to a request from the results of its texts.

    Args:
        request: The request.
        obfuscator: Its obfuscator.
        budget: The budget of each text.
    """

    def __init__(self, request: ObfuscateRequest, obfuscator: Obfuscator, budget: Budget) -> None:
        self._request, self._obfuscator, self._budget = request, obfuscator, budget
        self._started = time.monotonic()
        self._explained = 0

    def __call__(self, results: list[Obfuscation]) -> Response:
        """The answer as JSON."""
        texts = [self._request.text] if self._request.texts is None else self._request.texts
        described = [self._describe(text, result) for text, result in zip(texts, results, strict=True)]
        tally = Tally.over(result.certificate.tally for result in results)
        certificate = Certificate(self._obfuscator.terms, self._budget, tally)
        closing = {
            "certificate": certificate.as_dict() if self._request.certificate else None,
            "summary": summarize(certificate, time.monotonic() - self._started),
            "warnings": list_warnings(certificate),
        }
        return respond(
            {**described[0], **closing} if self._request.texts is None else {"results": described, **closing}
        )

    def _describe(self, text: str | None, result: Obfuscation) -> dict[str, Any]:
        missing = result.outcome is DocumentOutcome.MISSING
        chunks = None
        if (self._request.chunks or self._request.alternatives) and not missing:
            chunks = self._describe_chunks(text or "", result)
        return {"text": None if missing else result.text, "outcome": result.outcome.value, "chunks": chunks}

    def _describe_chunks(self, text: str, result: Obfuscation) -> list[dict[str, Any]]:
        found = iter(self._find_alternatives(text, result) or ())
        likely = [next(found, None) if chunk.outcome.is_chosen else None for chunk in result.chunks]
        return [
            ObfuscatedChunk(**chunk.as_dict(), **_describe_alternatives(each)).model_dump()
            for chunk, each in zip(result.chunks, likely, strict=True)
        ]

    def _find_alternatives(self, text: str, result: Obfuscation) -> list[Alternatives] | None:
        obfuscator, number = self._obfuscator, self._request.alternatives
        if not number or obfuscator.draft_share is not None or not has_closed_form(obfuscator.mechanism):
            return None
        _, asked = obfuscator.plan(text, self._budget)
        self._explained += len(asked.rows)
        if self._explained > MOST_EXPLAINED:
            message = f"Alternatives are listed for at most {MOST_EXPLAINED} chunks. Send shorter texts."
            raise RefusedError(413, message, "SizeError")
        return list_alternatives(
            obfuscator.mechanism, asked, find_rows(obfuscator.mechanism.vectors, result), number=number
        )


def find_rows(vectors: Vectors, result: Obfuscation) -> RowNumbers:
    """The rows of the entries that the mechanism chose for a result."""
    chosen = [chunk.replacement for chunk in result.chunks if chunk.replacement and chunk.outcome.is_chosen]
    return np.array([vectors.spoken_rows[replacement] for replacement in chosen], dtype=np.int64)


def _describe_alternatives(found: Alternatives | None) -> dict[str, Any]:
    if found is None:
        return {}
    listed = [{"replacement": name, "probability": probability} for name, probability in found.likeliest]
    return {"stays": found.stays, "probability": found.probability, "alternatives": listed}


def decompose(text: str, names: Sequence[str] | None, find: Callable[[str], Decomposer]) -> dict[str, Any]:
    """The chunks of a text under some decompositions, by default under all that are available.

    Args:
        text: The text.
        names: The names of the decompositions.
        find: Finds the decomposer of a name.
    """
    document = Document.parse(text)
    found: dict[str, Any] = {}
    unavailable: dict[str, str] = {}
    for name in names or DECOMPOSERS:
        try:
            decomposer = find(name)
            (chunks,) = decomposer.decompose([document])
        except (BundleError, MissingExtraError, ResourceError) as error:
            if names:
                raise
            unavailable[name] = str(error)
        else:
            found[decomposer.name] = [
                {"start": chunk.start, "stop": chunk.stop, "text": document.written(chunk)} for chunk in chunks
            ]
    return {"decompositions": found, "unavailable": unavailable}


def distribute(
    text: str, epsilon: float, distributors: Sequence[Distributor], *, profile: str, stopwords: str | None
) -> dict[str, Any]:
    """The shares of the words of a text under some distributions, as :class:`Obfuscator` would give them."""
    budget, rules, document = check_budget(epsilon), load_profile(profile), Document.parse(text)
    takes_part = [not keeps for keeps in mark_kept_words(document, profile=rules, stopwords=stopwords)]
    words = [document.text[start:stop] for start, stop in document.spans]
    found = {}
    for distributor in distributors:
        (scores,) = distributor.score([document])
        shares = divide(distributor, scores, takes_part, budget=budget, profile=rules)
        listed = [
            {"word": word, "score": score, "share": share}
            for word, score, share in zip(words, scores, shares, strict=True)
        ]
        found[distributor.name] = {"description": distributor.description, "words": listed}
    return {"distributions": found}
