"""Identifiers: the names, places, dates, numbers and addresses that Presidio finds in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, NamedTuple

from textveil.extras import require, require_version
from textveil.storage.atomic import hash_files

EXTRA = "presidio"
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
SKIPPED_BY_DEFAULT = (
    "ORGANIZATION", "CARDINAL", "EVENT", "LANGUAGE", "LAW", "MONEY", "ORDINAL", "PERCENT", "PRODUCT", "QUANTITY",
    "WORK_OF_ART",
)  # fmt: skip
"""The kinds that Presidio skips by default, and so in the paper, which names no other configuration."""
LEAST_SCORE = 0.0
"""The least confidence of a match: Presidio's default."""
MODEL = "spacy-en"
PACKAGES = ("presidio-analyzer", "spacy")
LONGEST = 200_000
"""Characters to search at a time. spaCy refuses a million."""
OVERLAP = 2_000
"""Characters that two parts of a long text have in common, so that no identifier is cut."""
_INSIDE_WORD = re.compile(r"\w\w")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACE = re.compile(r"\s")


class Harm(StrEnum):
    """How an identifier points to a person. The most harmful group comes first."""

    DIRECT = "direct"
    """It names or reaches one person."""
    INDIRECT = "indirect"
    """Together with others, it singles out a person."""
    OTHER = "other"
    """It says little about a person."""


_INDIRECT = ("LOCATION", "ORGANIZATION", "DATE_TIME", "NRP")
_OTHER = tuple(kind for kind in SKIPPED_BY_DEFAULT if kind not in _INDIRECT)
HARMS = {kind: Harm.INDIRECT if kind in _INDIRECT else Harm.OTHER if kind in _OTHER else Harm.DIRECT for kind in KINDS}
"""The group of every kind."""


class Found(NamedTuple):
    """An identifier in a text."""

    start: int
    stop: int
    kind: str


def is_whole(text: str, start: int, stop: int) -> bool:
    """Whether a part of a text is not blank, and neither starts nor ends inside a word.

    >>> [is_whole("a.sm b.smith", *span) for span in ((0, 4), (5, 9), (4, 5))]
    [True, False, False]
    """
    inside = any(_INSIDE_WORD.match(text, place - 1) for place in (start, stop) if place)
    return not inside and bool(text[start:stop].strip())


class Finder:
    """Presidio with the pinned configuration and a spaCy model, which are loaded on first use.

    Args:
        extra: The extra that errors name, if Presidio is not installed.

    Raises:
        MissingExtraError: Presidio is not installed.
        ResourceError: The model is not installed.
    """

    kinds = KINDS
    """The kinds that it finds."""

    def __init__(self, *, extra: str = EXTRA) -> None:
        self.versions = {package: require_version(package, extra=extra) for package in PACKAGES}
        """Presidio and spaCy."""
        from textveil.resources import find  # it takes long to import

        self.folder = find(MODEL)

    @cached_property
    def model_used(self) -> Mapping[str, str]:
        """The entity recognizer of spaCy's model."""
        return {"name": MODEL, "sha256": hash_files([self.folder / "ner" / "model"])}

    @property
    def analyzer(self) -> Any:
        """Presidio's engine."""
        return _load_analyzer(str(self.folder))

    def find(self, texts: Sequence[str]) -> Iterator[list[Found]]:
        """The identifiers of every text in order, each span once per kind. A span may begin or end inside a word."""
        parts = [(number, start, part) for number, text in enumerate(texts) for start, part in _cut(text)]
        found: list[set[Found]] = [set() for _ in texts]
        done = 0
        engine = self.analyzer.nlp_engine
        searched = engine.process_batch([part for _, _, part in parts], language="en", batch_size=64)
        for (number, offset, _), (part, artifacts) in zip(parts, searched, strict=True):
            while done < number:
                yield sorted(found[done])
                done += 1
            results = self.analyzer.analyze(part, language="en", nlp_artifacts=artifacts)
            found[number] |= {Found(offset + each.start, offset + each.end, each.entity_type) for each in results}
        for number in range(done, len(texts)):
            yield sorted(found[number])


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text with their offsets, cut at spaces. What UTF-8 cannot write is replaced, one by one."""
    text = _SURROGATE.sub("\ufffd", text)
    start = 0
    while len(text) - start > LONGEST:
        stop = start + LONGEST
        spaces = [space.start() for space in _SPACE.finditer(text, stop - OVERLAP, stop)]
        stop = spaces[-1] if spaces else stop
        yield start, text[start:stop]
        begin = _SPACE.search(text, stop - OVERLAP, stop)
        start = stop - OVERLAP if begin is None else begin.start()
    yield start, text[start:]


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
