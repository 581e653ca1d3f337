"""Reassembly: texts through obfuscators of all profiles, and the certificates of the results."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import make_text, texts
from soak.tiny import build_tiny
from soak.watching import BrokenPromiseError
from textveil import Certificate, DocumentOutcome, Obfuscation, Obfuscator, Outcome

SETTINGS: tuple[dict[str, Any], ...] = (
    {"profile": "strict"},
    {"profile": "strict", "decomposition": "words", "stopwords": "perturb"},
    {"profile": "strict", "form": "keep", "keep_emoji": True, "largest_share": math.inf},
    {"profile": "paper"},
    {"profile": "paper", "decomposition": "words"},
    {"profile": "proven"},
)
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1e-6},
    {"epsilon": 30.0},
    {"epsilon": 1e9},
    {"epsilon_per_word": 2.0},
    {"epsilon_per_word": 1e300},
)


class Request(NamedTuple):
    """Texts, and the numbers of an obfuscator and of a budget."""

    texts: list[str | None]
    setting: int
    budget: int
    batch_size: int


class Obfuscations(Part):
    """Obfuscates texts with a tiny bundle."""

    name = "obfuscation"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        bundle = build_tiny(folder / "tiny")
        self._obfuscators = [Obfuscator(bundle, seed=7, **setting) for setting in SETTINGS]

    def strategy(self, marker: str) -> st.SearchStrategy[Request]:
        """Drawn texts."""
        return st.builds(
            Request,
            st.lists(st.one_of(st.none(), texts(marker), st.text(max_size=20)), min_size=1, max_size=4),
            st.integers(0, len(SETTINGS) - 1),
            st.integers(0, len(BUDGETS) - 1),
            st.integers(1, 5),
        )

    def draw(self, random: Random, marker: str) -> Request:
        """Random texts."""
        count = random.randrange(1, 4)
        return Request(
            [None if random.random() < 0.05 else make_text(random, marker, hostile=True) for _ in range(count)],
            random.randrange(len(SETTINGS)),
            random.randrange(len(BUDGETS)),
            random.randrange(1, 5),
        )

    def use(self, given: Request, marker: str) -> None:
        """Obfuscate the texts, and check what the profile promises."""
        obfuscator = self._obfuscators[given.setting]
        results = list(
            obfuscator.obfuscate_all(
                given.texts, batch_size=given.batch_size, first_document=0, **BUDGETS[given.budget]
            )
        )
        if len(results) != len(given.texts):
            raise BrokenPromiseError("the number of results is not that of the texts")
        for text, result in zip(given.texts, results, strict=True):
            self._check(text, result, marker, hides=not obfuscator.profile.releases_unperturbed)

    @staticmethod
    def _check(text: str | None, result: Obfuscation, marker: str, *, hides: bool) -> None:
        if hides and marker in result.text.casefold():
            raise BrokenPromiseError("a word that is not a stopword is in the output")
        if hides and any(
            chunk.outcome.in_clear and chunk.outcome is not Outcome.KEPT_STOPWORD for chunk in result.chunks
        ):
            raise BrokenPromiseError("a profile that hides every word released one")
        if (text is None) != (result.outcome is DocumentOutcome.MISSING):
            raise BrokenPromiseError("a missing text is not reported as missing")
        tally = result.certificate.tally
        if tally.largest_spent > tally.largest_budget * (1 + 1e-9):
            raise BrokenPromiseError("more than the budget was spent")
        if marker in f"{result!r} {result.chunks!r} {result.certificate!r} {result.certificate.to_json()}":
            raise BrokenPromiseError("an object or a certificate shows the text")
        values = json.loads(result.certificate.to_json())
        stated = replace(tally, hardly_english=0, largest_refused=0.0)  # no certificate has these
        if Certificate.from_dict(values).tally.as_dict() != stated.as_dict():
            raise BrokenPromiseError("a certificate is not read as it was written")
