"""Presidio: an operator for its anonymizer, and its analyzer as the finder of identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textveil.adapters.columns import choose_obfuscator
from textveil.errors import ParameterError
from textveil.extras import require, require_version
from textveil.facade import obfuscate
from textveil.obfuscator import Obfuscator
from textveil.redaction import Screen, Treatment
from textveil.text.identifiers import EXTRA, Found

_operators = require("presidio_anonymizer.operators", extra=EXTRA)

NAME = "textveil"
"""How Presidio's ``OperatorConfig`` names the operator."""
_ADDED = "entity_type"
"""The parameter that Presidio adds."""
_OWN = (_ADDED, "obfuscator")


class TextveilOperator(_operators.Operator):  # type: ignore[misc,name-defined] # imported when it is there
    """Perturbs an entity that Presidio found, word by word. No word of it is kept.

    Its parameters are the budget (``epsilon``, ``epsilon_per_word`` or ``level``) and either an ``obfuscator``, which
    perturbs stopwords, or the arguments of ``Obfuscator``. Every entity is a document of its own, with its own budget.

    Guarantee:
        Each entity has the guarantee of the obfuscator. The rest of the text, and the places of entities, are released.
    """

    def operate(self, text: str | None = None, params: Mapping[str, Any] | None = None) -> str:
        """The entity with all of its words perturbed."""
        given = {**(params or {})}
        given.pop(_ADDED, None)
        obfuscator: Obfuscator | None = given.pop("obfuscator", None)
        if obfuscator is None:
            result = obfuscate(text or "", **{"stopwords": "perturb", **given})
        else:
            result = obfuscator.obfuscate(text or "", **given)
        return " ".join(str(chunk.replacement) for chunk in result.chunks)

    def validate(self, params: Mapping[str, Any] | None = None) -> None:
        """Refuse parameters with which a word of an entity could be kept.

        Raises:
            ParameterError: Words of entities would be kept, noise would repeat, or there are settings beside an
                obfuscator.
        """
        given = {"stopwords": "perturb", **(params or {})}
        stopwords, profile, repeats = given["stopwords"], given.get("profile"), given.get("seed") is not None
        if (obfuscator := given.get("obfuscator")) is not None:
            choose_obfuscator(obfuscator, {name: given[name] for name in params or {} if name not in _OWN})
            stopwords, profile = obfuscator.stopwords, obfuscator.profile.name
            repeats = obfuscator.randomness.predictable
        if repeats:
            raise ParameterError("With `seed`, the noise of entities would repeat. Leave it out.")
        if stopwords != "perturb" or profile == "paper":
            raise ParameterError(
                "Words of entities would be kept. Set `stopwords='perturb'`, and no `profile='paper'`."
            )

    def operator_name(self) -> str:
        """The name of the operator."""
        return NAME

    def operator_type(self) -> Any:
        """It anonymizes; nothing can undo it."""
        return _operators.OperatorType.Anonymize


class AnalyzerFinder:
    """An analyzer of Presidio, with any recognizers, as the finder of identifiers.

    Args:
        analyzer: The ``AnalyzerEngine``.
        language: The language of the texts.
        least_score: The least confidence of an identifier; by default the analyzer decides.
    """

    def __init__(self, analyzer: Any, *, language: str = "en", least_score: float | None = None) -> None:
        self.analyzer = analyzer
        self.language = language
        self.least_score = least_score
        self.versions = {"presidio-analyzer": require_version("presidio-analyzer", extra=EXTRA)}
        self.model_used = {"name": type(analyzer).__name__, "sha256": "unknown"}

    @property
    def kinds(self) -> list[str]:
        """The kinds that it finds."""
        return sorted(self.analyzer.get_supported_entities(language=self.language))

    def find(self, texts: Sequence[str]) -> Iterator[list[Found]]:
        """The identifiers of every text, in order."""
        for text in texts:
            found = self.analyzer.analyze(text, language=self.language, score_threshold=self.least_score)
            yield sorted({Found(each.start, each.end, each.entity_type) for each in found})


def build_screen(
    analyzer: Any,
    *,
    treatment: Treatment = "redact",
    kinds: Sequence[str] | None = None,
    language: str = "en",
    least_score: float | None = None,
) -> Screen:
    """A screen that finds identifiers with an analyzer of Presidio, for ``Obfuscator(identifiers=...)``.

    What the analyzer finds is redacted or perturbed, and the rest of a text is obfuscated as ever.

    Args:
        analyzer: The ``AnalyzerEngine``.
        treatment: ``redact`` or ``perturb``.
        kinds: The kinds of entities to look for; by default all that the analyzer supports.
        language: The language of the texts.
        least_score: The least confidence of an identifier; by default the analyzer decides.
    """
    finder = AnalyzerFinder(analyzer, language=language, least_score=least_score)
    return Screen(treatment, finder, finder.kinds if kinds is None else kinds)
