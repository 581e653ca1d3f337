"""Surviving identifiers: names, places, dates and numbers of the originals that the obfuscated texts still contain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from textveil.evaluation.base import EXTRA, Case, Measurement, Metric, add_constants
from textveil.extras import require, require_version
from textveil.resources import find
from textveil.storage.hashing import hash_files
from textveil.storage.score_cache import Row, hash_text

# Presidio's configuration is pinned here, so that a new release counts the same kinds.
RECOGNIZERS = (
    "CreditCardRecognizer", "CryptoRecognizer", "DateRecognizer", "EmailRecognizer", "IbanRecognizer", "IpRecognizer",
    "MedicalLicenseRecognizer", "NhsRecognizer", "PhoneRecognizer", "UrlRecognizer", "UsBankRecognizer",
    "UsItinRecognizer", "UsLicenseRecognizer", "UsPassportRecognizer", "UsSsnRecognizer",
)  # fmt: skip
"""Recognizers of identifiers with a fixed form."""
MODEL_KINDS = {
    "PERSON": "PERSON", "NORP": "NRP", "FAC": "LOCATION", "LOC": "LOCATION", "GPE": "LOCATION", "ORG": "ORGANIZATION",
    "DATE": "DATE_TIME", "TIME": "DATE_TIME", "EVENT": "EVENT", "LANGUAGE": "LANGUAGE", "LAW": "LAW",
    "PRODUCT": "PRODUCT", "WORK_OF_ART": "WORK_OF_ART", "CARDINAL": "CARDINAL", "MONEY": "MONEY", "ORDINAL": "ORDINAL",
    "PERCENT": "PERCENT", "QUANTITY": "QUANTITY",
}  # fmt: skip
"""The kind of every entity label of spaCy's model. Presidio itself skips organizations and the last ten labels."""
KINDS = tuple(sorted({
    *MODEL_KINDS.values(), "CREDIT_CARD", "CRYPTO", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "MEDICAL_LICENSE",
    "PHONE_NUMBER", "UK_NHS", "URL", "US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN",
}))  # fmt: skip
"""All kinds. Cached numbers refer to their order."""
LEAST_SCORE = 0.0
"""The least confidence of a match: Presidio's default."""
MODEL = "spacy-en"
_PACKAGES = ("presidio-analyzer", "spacy")
_INSIDE_WORD = re.compile(r"\w\w")
_SPACE = re.compile(r"\s+")


class Found(NamedTuple):
    """An identifier in a text."""

    start: int
    stop: int
    kind: str


class Identifiers(Metric):
    """The share of identifiers of an original that survive in its obfuscated text, averaged over pairs.

    An identifier survives if the obfuscated text contains all of it as whole words. Case and the amount of space
    between words do not matter. Pairs whose original has no identifier are skipped. Presidio finds the identifiers.
    """

    name = "identifiers"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for package in _PACKAGES:
            require_version(package, extra=EXTRA)
        self._model = find(MODEL)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The entity recognizer of spaCy's model."""
        return {"name": MODEL, "sha256": self._model_sha256}

    def as_dict(self) -> dict[str, Any]:
        """The record of the metric, with a hash of Presidio's configuration."""
        configuration = repr((RECOGNIZERS, MODEL_KINDS, KINDS, LEAST_SCORE))
        return add_constants(super().as_dict(), configuration=hash_text(configuration).hex()[:12])

    @property
    def versions(self) -> dict[str, str]:
        """Presidio and spaCy."""
        return {package: require_version(package, extra=EXTRA) for package in _PACKAGES}

    @cached_property
    def _model_sha256(self) -> str:
        """The hash of the entity recognizer, computed once."""
        return hash_files([self._model / "ner" / "model"])

    @cached_property
    def finder(self) -> Finder:
        """Presidio, loaded on first use."""
        return Finder(str(self._model))

    def find(self, case: Case) -> list[list[Found]]:
        """The identifiers of every original. They are cached as positions, not as text."""
        originals = case.originals

        def work(positions: list[int]) -> list[Row]:
            found = self.finder.find([originals[position] for position in positions])
            return [
                np.array([(start, stop, KINDS.index(kind)) for start, stop, kind in row], dtype=np.float64).ravel()
                for row in found
            ]

        rows = originals.score(self.identity, work, stage="originals, identifiers", progress=case.progress)
        return [[Found(a, b, KINDS[kind]) for a, b, kind in row.astype(int).reshape(-1, 3).tolist()] for row in rows]

    def measure(self, case: Case) -> Measurement:
        """Search every obfuscated text for the identifiers of its original."""
        shares: list[float] = []
        by_kind: dict[str, list[float]] = {}
        counts: dict[str, int] = {}
        for original, obfuscated, found in zip(case.originals, case.obfuscated, self.find(case), strict=True):
            survives = _search(original, obfuscated, found)
            if spans := {(each.start, each.stop): there for each, there in zip(found, survives, strict=True)}:
                shares.append(float(np.mean(list(spans.values()))))
            for kind in {each.kind for each in found}:
                there = [survived for each, survived in zip(found, survives, strict=True) if each.kind == kind]
                counts[kind] = counts.get(kind, 0) + len(there)
                by_kind.setdefault(kind, []).append(float(np.mean(there)))
        remaining = float(np.mean(shares)) if shares else 0.0
        kinds = {kind: {"found": counts[kind], "remaining": float(np.mean(by_kind[kind]))} for kind in sorted(by_kind)}
        return self.report(
            _write_line(remaining, shares),
            {"remaining": remaining, "found": float(sum(counts.values())), "pairs": float(len(shares))},
            kinds=kinds,
        )


def _write_line(remaining: float, shares: Sequence[float]) -> str:
    if not shares:
        return "No identifiers (names, places, dates, numbers) were found in the originals."
    return f"On average, {remaining:.1%} of a text's identifiers (names, places, dates, numbers) survive obfuscation."


def _search(original: str, obfuscated: str, found: Sequence[Found]) -> list[bool]:
    """Whether the obfuscated text contains each identifier."""
    hidden = _normalize(obfuscated)
    return [contains_identifier(original[each.start : each.stop], hidden) for each in found]


def contains_identifier(identifier: str, text: str) -> bool:
    """Whether a lowercase text with single spaces contains an identifier as whole words.

    >>> [contains_identifier("Ann  Lee", text) for text in ("with ann lee.", "joann lee", "ann leer")]
    [True, False, False]
    """
    wanted = re.escape(_normalize(identifier).strip())
    return re.search(rf"(?<!\w){wanted}(?!\w)", text) is not None


def _normalize(text: str) -> str:
    return _SPACE.sub(" ", text.casefold())


def is_whole(text: str, start: int, stop: int) -> bool:
    """Whether a part of a text is not blank, and neither starts nor ends inside a word.

    >>> [is_whole("a.sm b.smith", *span) for span in ((0, 4), (5, 9), (4, 5))]
    [True, False, False]
    """
    inside = any(_INSIDE_WORD.match(text, place - 1) for place in (start, stop) if place)
    return not inside and bool(text[start:stop].strip())


class Finder:
    """Presidio with the pinned configuration and a spaCy model."""

    def __init__(self, model: str) -> None:
        self.analyzer = _load_analyzer(model)

    def find(self, texts: Sequence[str]) -> Iterator[list[Found]]:
        """The identifiers of every text in order, each span once per kind, without spans that split a word."""
        engine = self.analyzer.nlp_engine
        for text, artifacts in engine.process_batch(texts, language="en", batch_size=64):
            results = self.analyzer.analyze(text, language="en", nlp_artifacts=artifacts)
            found = {Found(result.start, result.end, result.entity_type) for result in results}
            yield sorted(each for each in found if is_whole(text, each.start, each.stop))


@cache
def _load_analyzer(model: str) -> Any:
    """Presidio's engine, loaded once per process."""
    presidio = require("presidio_analyzer", extra=EXTRA)
    recognizers = require("presidio_analyzer.predefined_recognizers", extra=EXTRA)
    engines = require("presidio_analyzer.nlp_engine", extra=EXTRA)
    configuration = engines.NerModelConfiguration(
        model_to_presidio_entity_mapping=MODEL_KINDS, labels_to_ignore=[], low_score_entity_names=[]
    )
    engine = engines.SpacyNlpEngine(
        models=[{"lang_code": "en", "model_name": model}], ner_model_configuration=configuration
    )
    registry = presidio.RecognizerRegistry(supported_languages=["en"])
    for name in RECOGNIZERS:
        registry.add_recognizer(
            _offline(recognizers.EmailRecognizer)() if name == "EmailRecognizer" else getattr(recognizers, name)()
        )
    registry.add_recognizer(recognizers.SpacyRecognizer(supported_entities=sorted(set(MODEL_KINDS.values()))))
    return presidio.AnalyzerEngine(
        registry=registry, nlp_engine=engine, supported_languages=["en"], default_score_threshold=LEAST_SCORE
    )


def _offline(recognizer: Any) -> Any:
    """Presidio's recognizer of email addresses, with the installed list of domains instead of a download."""
    extract = require("tldextract", extra=EXTRA).TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmailRecognizer(recognizer):  # type: ignore[misc]
        def validate_result(self, pattern_text: str) -> bool:
            return bool(extract(pattern_text).fqdn)

    return OfflineEmailRecognizer
