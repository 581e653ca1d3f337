"""Which identifiers of the originals still stand in the obfuscated texts: found by Presidio."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from textveil.evaluation.base import EXTRA, Case, Measurement, Metric
from textveil.extras import require, require_version
from textveil.resources import find
from textveil.storage.hashing import hash_files
from textveil.storage.score_cache import Row, hash_text

# Presidio's configuration, pinned here so that a new release counts the same kinds.
RECOGNISERS = (
    "CreditCardRecognizer", "CryptoRecognizer", "DateRecognizer", "EmailRecognizer", "IbanRecognizer", "IpRecognizer",
    "MedicalLicenseRecognizer", "NhsRecognizer", "PhoneRecognizer", "UrlRecognizer", "UsBankRecognizer",
    "UsItinRecognizer", "UsLicenseRecognizer", "UsPassportRecognizer", "UsSsnRecognizer",
)  # fmt: skip
"""What finds identifiers that have a form."""
MODEL_KINDS = {
    "PERSON": "PERSON", "NORP": "NRP", "FAC": "LOCATION", "LOC": "LOCATION", "GPE": "LOCATION", "ORG": "ORGANIZATION",
    "DATE": "DATE_TIME", "TIME": "DATE_TIME", "EVENT": "EVENT", "LANGUAGE": "LANGUAGE", "LAW": "LAW",
    "PRODUCT": "PRODUCT", "WORK_OF_ART": "WORK_OF_ART", "CARDINAL": "CARDINAL", "MONEY": "MONEY", "ORDINAL": "ORDINAL",
    "PERCENT": "PERCENT", "QUANTITY": "QUANTITY",
}  # fmt: skip
"""What each kind of spaCy's model counts as: all of them do. Presidio leaves out organisations and the last ten."""
KINDS = tuple(sorted({
    *MODEL_KINDS.values(), "CREDIT_CARD", "CRYPTO", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "MEDICAL_LICENSE",
    "PHONE_NUMBER", "UK_NHS", "URL", "US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN",
}))  # fmt: skip
"""Every kind that is counted, in the order in which they are numbered on the disk."""
LEAST_SCORE = 0.0
"""How sure Presidio must be; its own default."""
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
    """The share of the identifiers of an original that stand in its obfuscated text as a whole, averaged over pairs.

    An identifier stands there if all of it does, whatever the case and the spaces between its words, and not as a part
    of a longer word. Pairs whose original has no identifier are left out.
    """

    name = "identifiers"

    def __init__(self) -> None:
        super().__init__()
        for package in _PACKAGES:
            require_version(package, extra=EXTRA)
        self._model = find(MODEL)

    @property
    def description(self) -> str:
        """The model of spaCy, and the configuration of Presidio, with their hashes."""
        configuration = repr((RECOGNISERS, MODEL_KINDS, KINDS, LEAST_SCORE))
        return f"{self.name} ({MODEL} {self._model_hash}, configuration {hash_text(configuration).hex()[:12]})"

    @property
    def versions(self) -> dict[str, str]:
        """Of Presidio and spaCy."""
        return {package: require_version(package, extra=EXTRA) for package in _PACKAGES}

    @cached_property
    def _model_hash(self) -> str:
        """Of the part of the model that finds names; worked out once, since every measurement asks for it."""
        return hash_files([self._model / "ner" / "model"])

    @cached_property
    def finder(self) -> Finder:
        """Presidio, loaded on first use."""
        return Finder(str(self._model))

    def find(self, case: Case) -> list[list[Found]]:
        """The identifiers of every original; found once, and kept as positions, not as texts."""
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
        """Look for the identifiers of every original in its obfuscated text."""
        shares: list[float] = []
        by_kind: dict[str, list[float]] = {}
        counts: dict[str, int] = {}
        for original, obfuscated, found in zip(case.originals, case.obfuscated, self.find(case), strict=True):
            stands = _look_for(original, obfuscated, found)
            if spans := {(each.start, each.stop): there for each, there in zip(found, stands, strict=True)}:
                shares.append(float(np.mean(list(spans.values()))))
            for kind in {each.kind for each in found}:
                there = [stand for each, stand in zip(found, stands, strict=True) if each.kind == kind]
                counts[kind] = counts.get(kind, 0) + len(there)
                by_kind.setdefault(kind, []).append(float(np.mean(there)))
        remaining = float(np.mean(shares)) if shares else 0.0
        kinds = {kind: {"found": counts[kind], "remaining": float(np.mean(by_kind[kind]))} for kind in sorted(by_kind)}
        return self.say(
            _tell(remaining, shares),
            {"remaining": remaining, "found": float(sum(counts.values())), "pairs": float(len(shares))},
            kinds=kinds,
        )


def _tell(remaining: float, shares: Sequence[float]) -> str:
    if not shares:
        return "No identifiers (names, places, dates, numbers) were found in the originals."
    return (
        f"{remaining:.1%} of a text's identifiers (names, places, dates, numbers) still stand in the obfuscated text."
    )


def _look_for(original: str, obfuscated: str, found: Sequence[Found]) -> list[bool]:
    """Whether each identifier stands in the obfuscated text."""
    hidden = _normalise(obfuscated)
    return [stands_in(original[each.start : each.stop], hidden) for each in found]


def stands_in(identifier: str, text: str) -> bool:
    """Whether an identifier stands in a text, which is in lower case with single spaces, as a whole.

    >>> [stands_in("Ann  Lee", text) for text in ("with ann lee.", "joann lee", "ann leer")]
    [True, False, False]
    """
    wanted = re.escape(_normalise(identifier).strip())
    return re.search(rf"(?<!\w){wanted}(?!\w)", text) is not None


def _normalise(text: str) -> str:
    return _SPACE.sub(" ", text.casefold())


def is_whole(text: str, start: int, stop: int) -> bool:
    """Whether a part of a text has something in it, and ends inside no word.

    >>> [is_whole("a.sm b.smith", *span) for span in ((0, 4), (5, 9), (4, 5))]
    [True, False, False]
    """
    inside = any(_INSIDE_WORD.match(text, place - 1) for place in (start, stop) if place)
    return not inside and bool(text[start:stop].strip())


class Finder:
    """Presidio with the pinned configuration, on a model of spaCy in a folder."""

    def __init__(self, model: str) -> None:
        self.analyzer = _load_analyzer(model)

    def find(self, texts: Sequence[str]) -> Iterator[list[Found]]:
        """The identifiers of every text, in order, each span once for each kind; nothing that ends inside a word."""
        engine = self.analyzer.nlp_engine
        for text, artifacts in engine.process_batch(texts, language="en", batch_size=64):
            results = self.analyzer.analyze(text, language="en", nlp_artifacts=artifacts)
            found = {Found(result.start, result.end, result.entity_type) for result in results}
            yield sorted(each for each in found if is_whole(text, each.start, each.stop))


@cache
def _load_analyzer(model: str) -> Any:
    """Presidio's engine; it is loaded once in a process."""
    presidio = require("presidio_analyzer", extra=EXTRA)
    recognisers = require("presidio_analyzer.predefined_recognizers", extra=EXTRA)
    engines = require("presidio_analyzer.nlp_engine", extra=EXTRA)
    configuration = engines.NerModelConfiguration(
        model_to_presidio_entity_mapping=MODEL_KINDS, labels_to_ignore=[], low_score_entity_names=[]
    )
    engine = engines.SpacyNlpEngine(
        models=[{"lang_code": "en", "model_name": model}], ner_model_configuration=configuration
    )
    registry = presidio.RecognizerRegistry(supported_languages=["en"])
    for name in RECOGNISERS:
        registry.add_recognizer(
            _offline(recognisers.EmailRecognizer)() if name == "EmailRecognizer" else getattr(recognisers, name)()
        )
    registry.add_recognizer(recognisers.SpacyRecognizer(supported_entities=sorted(set(MODEL_KINDS.values()))))
    return presidio.AnalyzerEngine(
        registry=registry, nlp_engine=engine, supported_languages=["en"], default_score_threshold=LEAST_SCORE
    )


def _offline(recogniser: Any) -> Any:
    """Presidio's recogniser of e-mail addresses, with the installed list of domains: it would fetch a new one."""
    extract = require("tldextract", extra=EXTRA).TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmailRecogniser(recogniser):  # type: ignore[misc]
        def validate_result(self, pattern_text: str) -> bool:
            return bool(extract(pattern_text).fqdn)

    return OfflineEmailRecogniser
