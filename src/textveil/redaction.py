"""Screening: identifiers are found in a text before anything else is done, and redacted or marked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

from textveil.errors import ParameterError, ProfileError
from textveil.profiles import Profile
from textveil.registry import unknown_name
from textveil.text.codes import Code, find_codes
from textveil.text.documents import Chunk, Document, Span
from textveil.text.identifiers import HARMS, KINDS, Finder, Found, Harm

Treatment: TypeAlias = Literal["redact", "perturb"]
"""What becomes of identifiers: their kind is written in their stead, or all of their words are perturbed."""
TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)
SCREENED = tuple(kind for kind in KINDS if HARMS[kind] is not Harm.OTHER)
"""The kinds that are looked for: those that can point to a person. Amounts, products and the like are mere words."""


class Redaction(NamedTuple):
    """An identifier that was replaced by its kind."""

    written: Span
    """The offsets of what is written in its stead."""
    original: Span
    kind: str


@dataclass(frozen=True, slots=True)
class Screened:
    """A text whose identifiers were found.

    Attributes:
        document: The text to obfuscate, in which identifiers may be redacted.
        original: The text before.
        identifiers: What was found: parts of the original that do not overlap, each with one kind.
        redactions: The identifiers that were redacted, by the chunk of the document that is written in their stead.
        marked: The words of the document that are never released in clear.
    """

    document: Document
    original: Document
    identifiers: Sequence[Found] = ()
    redactions: Mapping[Chunk, Redaction] = field(default_factory=dict)
    marked: frozenset[int] = frozenset()

    @property
    def edits(self) -> Sequence[Redaction]:
        """The identifiers that were redacted, in order."""
        return tuple(self.redactions.values())

    @property
    def codes(self) -> list[Code]:
        """The chunks of what was redacted, with their offsets in the document."""
        return [Code(chunk, *redaction.written) for chunk, redaction in self.redactions.items()]

    def write(self, chunk: Chunk) -> str:
        """What is written for a chunk that was redacted."""
        return write_kind(self.redactions[chunk].kind)

    def is_marked(self, chunk: Chunk) -> bool:
        """Whether a word of a chunk must not be released in clear."""
        return bool(self.marked) and not self.marked.isdisjoint(range(chunk.start, chunk.stop))

    def locate(self, chunk: Chunk, span: Span) -> tuple[Chunk, Span]:
        """The words and the offsets that a chunk of the document has in the original."""
        if not self.redactions:
            return chunk, span
        if chunk in self.redactions:
            span = self.redactions[chunk].original
        else:
            span = self._shift(span[0]), self._shift(span[1])
        return cover(self.original, *span), span

    def _shift(self, offset: int) -> int:
        """The offset in the original of a place in the document that is not redacted."""
        before = bisect_right(self.edits, offset, key=lambda edit: edit.written[1]) - 1
        return offset if before < 0 else offset - self.edits[before].written[1] + self.edits[before].original[1]

    def count(self) -> Counter[str]:
        """The number of identifiers of every kind."""
        return Counter(each.kind for each in self.identifiers)


class FindsIdentifiers(Protocol):
    """A finder of identifiers, as far as a screen knows it."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The software that finds them."""

    @property
    def model_used(self) -> Mapping[str, str]:
        """The model that finds them: its ``name`` and ``sha256``."""

    def find(self, texts: Sequence[str]) -> Iterable[list[Found]]:
        """The identifiers of every text, in order."""


class Screen:
    """Finds the identifiers of texts, and redacts or marks them.

    Args:
        treatment: ``redact`` or ``perturb``.
        finder: What finds them; by default Presidio in the configuration of textveil.
        kinds: The kinds to look for; all others are mere words.
    """

    def __init__(
        self,
        treatment: Treatment,
        finder: FindsIdentifiers | None = None,
        kinds: Sequence[str] = SCREENED,
    ) -> None:
        if treatment not in TREATMENTS:
            raise unknown_name("treatment of identifiers (`identifiers`)", treatment, TREATMENTS)
        self.treatment: Treatment = treatment
        self.finder: FindsIdentifiers = Finder() if finder is None else finder
        self.kinds = _check_kinds(kinds, getattr(self.finder, "kinds", None))

    def as_dict(self) -> dict[str, Any]:
        """The screen as a certificate records it."""
        return {"treatment": self.treatment, "kinds": list(self.kinds), "model": dict(self.finder.model_used)}

    def for_workers(self) -> Treatment:
        """What builds the same screen in another process.

        Raises:
            ParameterError: It has a finder or kinds of its own, which another process cannot build by name.
        """
        if type(self.finder) is not Finder or self.kinds != SCREENED:
            raise ParameterError(
                "Workers can only build the screen of textveil. Give `identifiers` as 'redact' or 'perturb', or leave "
                "out `executor` and `workers`."
            )
        return self.treatment

    def screen(self, texts: Sequence[str]) -> list[Screened]:
        """Find the identifiers of texts."""
        documents = map(Document.parse, texts)
        treat = redact if self.treatment == "redact" else mark
        return [
            treat(document, merge_found(widen(document, (each for each in found if each.kind in self.kinds))))
            for document, found in zip(documents, self.finder.find(texts), strict=True)
        ]


def _check_kinds(wanted: Sequence[str], known: Collection[str] | None) -> tuple[str, ...]:
    """The kinds to look for, if the finder knows them. Otherwise nothing would be found, without a word."""
    if isinstance(wanted, str) or not wanted or not all(wanted):
        raise ParameterError(f"`kinds` must be several names of kinds, such as ['PERSON']. Got {wanted!r} instead.")
    for kind in wanted:
        if known is not None and kind not in known:
            raise unknown_name("kind of identifier", kind, known)
    return tuple(wanted)


def check_treatment(profile: Profile, wanted: Treatment | Screen | None) -> None:
    """Refuse a treatment of identifiers that does not exist, or that the profile does not allow.

    Raises:
        ProfileError: Under the profile, places of identifiers must not be released.
    """
    treatment = wanted.treatment if isinstance(wanted, Screen) else wanted
    if treatment is not None and treatment not in TREATMENTS:
        raise unknown_name("treatment of identifiers (`identifiers`)", treatment, TREATMENTS)
    if treatment == "redact" and profile.public_allocation:
        raise ProfileError(
            f"The profile {profile.name!r} does not allow `identifiers='redact'`: it would release where identifiers "
            "are, which no bound covers. Use `identifiers='perturb'`, or another profile."
        )


def write_kind(kind: str) -> str:
    """What is written in the stead of an identifier.

    >>> write_kind("PERSON")
    '<PERSON>'
    """
    return f"<{_NOT_IN_WORDS.sub('_', kind)}>"


_NOT_IN_WORDS = re.compile(r"\W+", re.ASCII)


def merge_found(found: Iterable[Found]) -> list[Found]:
    """Identifiers that do not overlap: those that do become one, with the kind of the most harmful and longest one.

    >>> merge_found([Found(0, 9, "PERSON"), Found(4, 12, "LOCATION"), Found(12, 14, "URL")])
    [Found(start=0, stop=12, kind='PERSON'), Found(start=12, stop=14, kind='URL')]
    """
    merged: list[list[Found]] = []
    stop = 0
    for each in sorted(found):
        if merged and each.start < stop:
            merged[-1].append(each)
        else:
            merged.append([each])
        stop = max(stop, each.stop)
    return [Found(group[0].start, max(each.stop for each in group), min(group, key=_rank).kind) for group in merged]


def _rank(found: Found) -> tuple[int, int, str]:
    return list(Harm).index(HARMS.get(found.kind, Harm.DIRECT)), found.start - found.stop, found.kind


def cover(document: Document, start: int, stop: int) -> Chunk:
    """The words that a part of a text has at least one character of."""
    return Chunk(
        bisect_right(document.spans, start, key=lambda span: span[1]),
        bisect_left(document.spans, stop, key=lambda span: span[0]),
    )


def widen(document: Document, found: Iterable[Found]) -> list[Found]:
    """Identifiers with the whole words and codes that they touch; those without a word are left out.

    A code, such as an address on the web, is one chunk: what is left of it would tell more than other words do.

    >>> document = Document.parse("Ask _Ann_ or see http://x.org/bob?me=now.")
    >>> found = [Found(5, 8, "PERSON"), Found(30, 33, "PERSON")]
    >>> [document.text[start:stop] for start, stop, _ in widen(document, found)]
    ['_Ann_', 'http://x.org/bob?me=now']
    """
    widened = []
    codes: list[Code] | None = None
    for each in found:
        chunk = cover(document, each.start, each.stop)
        if chunk.size == 0:
            continue
        codes = find_codes(document) if codes is None else codes
        spans = [document.span(chunk), each[:2]]
        spans += [code[1:] for code in codes if code.chunk.start < chunk.stop and chunk.start < code.chunk.stop]
        widened.append(Found(min(span[0] for span in spans), max(span[1] for span in spans), each.kind))
    return widened


def mark(document: Document, found: Sequence[Found]) -> Screened:
    """A text whose identifiers are marked: their words are never released in clear."""
    chunks = [cover(document, each.start, each.stop) for each in found]
    marked = frozenset(position for chunk in chunks for position in range(chunk.start, chunk.stop))
    return Screened(document, document, found, {}, marked)


def redact(original: Document, found: Sequence[Found]) -> Screened:
    """A text whose identifiers are replaced by their kinds. Everything else is as it was.

    Args:
        original: The text.
        found: Identifiers that do not overlap, in order, each of whole words.

    >>> document = Document.parse("Ask Ann Lee, please.")
    >>> redact(document, [Found(4, 11, "PERSON")]).document.text
    'Ask <PERSON>, please.'
    """
    pieces: list[str] = []
    edits: list[Redaction] = []
    done = length = 0
    for start, stop, kind in found:
        kept, written = original.text[done:start], write_kind(kind)
        begin = length + len(kept)
        length = begin + len(written)
        edits.append(Redaction((begin, length), (start, stop), kind))
        pieces += [kept, written]
        done = stop
    document = Document.parse("".join([*pieces, original.text[done:]])) if edits else original
    return Screened(document, original, found, {cover(document, *edit.written): edit for edit in edits})
