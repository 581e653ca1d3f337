"""The certificate: what is guaranteed for a document or a file, and what is not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from textveil.budget import Budget
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.profiles import Form, Profile, Stopwords, load_profile
from textveil.redaction import TREATMENTS
from textveil.storage.atomic import writing
from textveil.storage.records import check_shape, dump_record, load_record, reading_record


class Versions(Mapping[str, str]):
    """Versions by the name of the software.

    The lookup reads the records of installed packages. That takes longer than to obfuscate a sentence, and most texts
    are written without a certificate.

    Args:
        find: Looks all of them up.

    >>> dict(Versions(lambda: {"textveil": "1.0"}))
    {'textveil': '1.0'}
    """

    def __init__(self, find: Callable[[], Mapping[str, str]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> dict[str, str]:
        return dict(self._find())

    def __getitem__(self, name: str) -> str:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(self._found)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._found,)  # another process gets the versions of this one


FORMAT_VERSION = 2

Repeat: TypeAlias = Literal["fresh", "same"]
"""What a ledger does with a text that comes again: it gets new noise, or its first answer."""
REPEATS: tuple[Repeat, ...] = get_args(Repeat)

MethodRecord = Mapping[str, Any]
"""A method of an axis: its ``name``, its ``options``, and its ``model`` (``name`` and ``sha256``), or ``None``."""


RETURN_BANDS = ("0%", "under 20%", "under 50%", "under 80%", "80% or more", "100%")
"""Bands of documents by how many of their perturbed words returned."""


def name_band(returned: int, perturbed: int) -> str:
    """The band of a document.

    >>> [name_band(returned, 10) for returned in (0, 1, 4, 7, 8, 10)]
    ['0%', 'under 20%', 'under 50%', 'under 80%', '80% or more', '100%']
    """
    if returned in (0, perturbed):
        return RETURN_BANDS[-1] if returned else RETURN_BANDS[0]
    limits = (0.2, 0.5, 0.8)
    return RETURN_BANDS[1 + sum(returned >= limit * perturbed for limit in limits)]


@dataclass(slots=True)
class Tally:
    """What became of the documents of a file, in numbers that can be added up."""

    words: Counter[Outcome] = field(default_factory=Counter)
    documents: Counter[DocumentOutcome] = field(default_factory=Counter)
    identifiers: Counter[str] = field(default_factory=Counter)
    """Identifiers that were found, by kind."""
    symbols: int = 0
    """Kept characters between words that are neither space nor punctuation."""
    dropped_symbols: int = 0
    """Characters between words that were dropped."""
    unscored: int = 0
    """Words that take part in the distribution but got no score from the distributor."""
    capped: int = 0
    """Words in chunks whose share was cut down to the largest one."""
    returned: int = 0
    """Words that the mechanism chose and that are the same as before."""
    hardly_english: int = 0
    """Documents with so many unknown words that they are hardly English. Certificates do not state it."""
    return_bands: Counter[str] = field(default_factory=Counter)
    """Documents by the share of their perturbed words that returned."""
    largest_budget: float = 0.0
    largest_spent: float = 0.0
    """The largest sum of shares of a document."""
    largest_chunk: float = 0.0
    """The largest share of a chunk; after a draft, with what that spent on each of its words."""
    largest_draft: float = 0.0
    """The largest sum of shares that a draft spent."""
    largest_refinement: float = 0.0
    """The largest sum of shares that were spent after a draft."""
    largest_refused: float = 0.0
    """The largest budget that a document would have needed where a ledger refused it. No certificate says it."""

    def add(self, other: Tally) -> None:
        """Count the documents of ``other`` in."""
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _LARGEST:
            setattr(self, name, max(getattr(self, name), getattr(other, name)))

    @classmethod
    def over(cls, tallies: Iterable[Tally]) -> Tally:
        """The sum of several tallies."""
        total = cls()
        for tally in tallies:
            total.add(tally)
        return total

    def as_dict(self) -> dict[str, Any]:
        """The tally as JSON can hold it: every outcome, including those that did not occur."""
        return {
            "words": {outcome.value: self.words[outcome] for outcome in Outcome},
            "documents": {outcome.value: self.documents[outcome] for outcome in DocumentOutcome},
            "return_bands": {band: self.return_bands[band] for band in RETURN_BANDS},
            "identifiers": dict(sorted(self.identifiers.items())),
            **{name: getattr(self, name) for name in (*_COUNTS, *_LARGEST)},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Tally:
        """The tally that :meth:`as_dict` returned.

        Raises:
            ValueError: A count or a budget is not a number.
        """
        counts = [values.get(name, {}) for name in _COUNTERS] + [{name: values[name] for name in _COUNTS}]
        if not all(type(count) is int and 0 <= count < _MOST for found in counts for count in found.values()):
            raise ValueError
        check_shape(values, dict.fromkeys(_LARGEST, float))
        return cls(
            words=Counter({Outcome(name): count for name, count in values["words"].items()}),
            documents=Counter({DocumentOutcome(name): count for name, count in values["documents"].items()}),
            return_bands=Counter(values["return_bands"]),
            identifiers=Counter(values.get("identifiers", {})),
            **{name: values[name] for name in (*_COUNTS, *_LARGEST)},
        )


_COUNTERS = ("words", "documents", "return_bands", "identifiers")
_COUNTS = ("symbols", "dropped_symbols", "unscored", "capped", "returned", "hardly_english")
_LARGEST = (
    "largest_budget",
    "largest_spent",
    "largest_chunk",
    "largest_draft",
    "largest_refinement",
    "largest_refused",
)
_MOST = 1 << 63
"""More than can be counted."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything about a guarantee that does not depend on the documents."""

    profile: Profile
    decomposition: MethodRecord
    distribution: MethodRecord
    mechanism: MethodRecord
    """With its ``guarantee``, ``index`` and ``cap`` besides."""
    allocation: str
    """``public``, ``public given the kept stopwords``, ``public given the draft``, or ``data-dependent``."""
    stopwords: Stopwords
    form: Form
    """How texts are written: ``keep``, ``plain`` or ``bare``."""
    emoji: str
    """``keep`` or ``drop``."""
    largest_share: float | None
    """The largest share of a chunk; ``None`` without a limit."""
    randomness: Mapping[str, Any]
    distance: Mapping[str, Any]
    bundle: Mapping[str, str]
    versions: Mapping[str, str]
    draft_share: float | None = None
    """The part of every budget that a draft spent; ``None`` without a draft."""
    ledger: Mapping[str, Any] | None = None
    """With a ledger: its ``budget_per_document`` and what it does with a text that comes again (``repeat``)."""
    deniability: Mapping[str, Any] | None = None
    """Quantiles over public words of how likely they stay and how many others they may become; ``None`` unless asked
    for."""
    identifiers: Mapping[str, Any] | None = None
    """If identifiers were looked for: their ``treatment``, their ``kinds``, and the ``model`` that finds them."""
    calibration: Mapping[str, Any] | None = None
    """With a calibration: the ``targets`` that decided the epsilon, and whether it is ``data_dependent``."""

    def describe(self) -> dict[str, Any]:
        """Everything that an answer depends on besides the text, the budget, noise and versions."""
        chosen = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _NOT_CHOSEN}
        return {**chosen, "profile": self.profile.name}


_NOT_CHOSEN = ("randomness", "distance", "versions", "ledger", "deniability", "calibration")
"""Terms that follow from others, or that do not change an answer."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A statement of what is and is not protected. It holds no text of any document."""

    terms: Terms
    budget: Budget
    tally: Tally
    other_columns: bool = False
    """Whether the documents stand in a file with other columns, which are carried along."""
    dropped_metadata: bool = False
    """Whether the file has metadata, such as that of a Parquet schema, which was not carried along."""
    _as_read: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """The certificate as JSON can hold it; one that was loaded says what its file says."""
        if self._as_read is not None:
            return dict(self._as_read)
        found: dict[str, Any] = {"certificate": FORMAT_VERSION}
        parts = {"tally": self.tally.as_dict(), "budget": self.budget.as_dict()}
        for place, source in _PLACES.items():
            part, _, name = source.partition(".")
            value = parts[part][name] if part in parts else attrgetter(source)(self)
            folder, _, last = place.rpartition(".")
            (found.setdefault(folder, {}) if folder else found)[last] = (
                dict(value) if isinstance(value, Mapping) else value
            )
        if self.terms.identifiers is not None:
            found["identifiers"]["found"] = parts["tally"]["identifiers"]
        return found

    @property
    def claim(self) -> str:
        """What may be claimed of the texts: what the profile claims; nothing for a mechanism without a guarantee."""
        if self._as_read is None and self.terms.mechanism.get("guarantee") == NO_GUARANTEE:
            return (
                f"None: the mechanism {self.terms.mechanism['name']!r} has no finite bound. It is for comparison only."
            )
        return self.terms.profile.claim

    @property
    def bounds(self) -> dict[str, float | None]:
        """The largest log-ratios for two words and two documents, whatever the distances; ``None`` without a cap.

        After a draft, they hold whatever the draft: a word can get all that the largest share and the budget allow.
        """
        cap = self.terms.mechanism.get("cap")
        if cap is None:
            return {"words": None, "document": None}
        largest = self.tally.largest_chunk
        if self.terms.draft_share is not None:
            largest = min(self.spent, math.inf if self.terms.largest_share is None else self.terms.largest_share)
        return {"words": cap * largest, "document": cap * self.spent}

    @property
    def spent(self) -> float:
        """The most that a document spent; after a draft, its whole budget, of which the draft decides the rest."""
        return self.tally.largest_spent if self.terms.draft_share is None else self.tally.largest_budget

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The two rounds of a draft and its refinement; none without a draft."""
        share = self.terms.draft_share
        if share is None:
            return []
        plain: MethodRecord = {"options": {}, "model": None}
        return [
            {
                "round": "draft",
                "budget_share": share,
                "decomposition": {"name": "words", **plain},
                "distribution": {"name": "uniform", **plain},
                "computed_from": "the number of words",
                "largest_spent": self.tally.largest_draft,
            },
            {
                "round": "refinement",
                "budget_share": 1 - share,
                "decomposition": dict(self.terms.decomposition),
                "distribution": dict(self.terms.distribution),
                "computed_from": "the draft",
                "largest_spent": self.tally.largest_refinement,
            },
        ]

    @property
    def not_protected(self) -> list[str]:
        """What the profile leaves open, and what this run adds to it."""
        if self._as_read is not None:
            return list(self._as_read["not_protected"])
        open_points = list(self.terms.profile.not_protected)
        if self.terms.stopwords == "keep":
            kept = "which are kept with their case" if self.terms.form == "keep" else "which are kept"
            open_points.append(f"stopwords, {kept}")
        if self.other_columns:
            open_points.append("the other columns of the file, which are carried along unchanged")
        if (self.terms.identifiers or {}).get("treatment") == "redact":
            open_points.append("the places and kinds of identifiers, which are written in their stead")
        if self.terms.emoji == "keep":
            open_points.append("emoji, which are kept")
        if self.budget.average_length is not None:
            open_points.append(
                "the average length of the documents, which decides every budget: a short document gets large shares, "
                "and a long one changes those of all others"
            )
        if self.terms.calibration is not None and self.terms.calibration["data_dependent"]:
            open_points.append("the epsilon, which was calibrated on private texts and so depends on them")
        if self.terms.randomness["predictable"]:
            open_points.append(
                "anything, from whoever knows or guesses the seed, or sees another text with the same seed"
            )
        if self.terms.ledger is not None and self.terms.ledger["repeat"] == "same":
            open_points.append("which texts are equal: they get the same answer")
            open_points.append("anything, from whoever has the key of the ledger")
        open_points.append("the counts in this certificate, if it is published with the texts")
        return open_points

    def write(self, path: Path, *, like: Path | None = None) -> None:
        """Write the certificate as JSON, to a file that is never more readable than the file ``like``."""
        with writing(path, like=like) as stream:
            stream.write(self.to_json().encode())

    def to_json(self) -> str:
        """The certificate as indented JSON."""
        return dump_record(self.as_dict())

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate from a JSON file.

        Raises:
            InputError: The file is not a certificate, or is one of another format.
        """
        return load_record(path, cls.from_dict)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The certificate that :meth:`as_dict` returned.

        Raises:
            InputError: It is not a certificate, or is one of another format.
        """
        with reading_record(values, "certificate", FORMAT_VERSION):
            return replace(cls._parse(values), _as_read=values)

    @classmethod
    def _parse(cls, values: Mapping[str, Any]) -> Certificate:
        values = {**_LATER, **values, "budget": {"largest_chunk": 0.0, **values["budget"]}}
        check_shape(values, _SHAPE)
        parts: dict[str, dict[str, Any]] = {"terms": {}, "budget": {}, "tally": {}, "": {}}
        for place, source in _PLACES.items():
            part, _, name = source.rpartition(".")
            if part in parts:
                folder, _, last = place.rpartition(".")
                parts[part][name] = (values[folder] if folder else values)[last]
        terms, tally, budget = parts["terms"], parts["tally"], parts["budget"]
        if terms["largest_share"] is None and tally["capped"]:  # words reached a limit that is not there
            raise ValueError
        profile = load_profile(values["profile"])
        form = profile.choose_form(values["form"] or profile.earlier_form)
        terms["profile"] = replace(profile.written(form), claim=values["claim"], neighbors=values["neighbors"])
        terms |= {"form": form, "stopwords": profile.choose_stopwords(terms["stopwords"])}
        tally["identifiers"] = (terms["identifiers"] or {}).get("found", {})
        for name in ("identifiers", "ledger", "calibration"):
            if (found := terms[name]) is not None:
                terms[name] = {each: found[each] for each in _SHAPE[name][1]}
        draft, refinement = values["rounds"] or (_NO_ROUND, _NO_ROUND)
        terms["draft_share"] = draft["budget_share"]
        tally |= {"largest_draft": draft["largest_spent"], "largest_refinement": refinement["largest_spent"]}
        tally |= {"hardly_english": 0, "largest_refused": 0.0}
        files = bool(values["other_columns"]), bool(values["dropped_metadata"])
        return cls(Terms(**terms), Budget(**budget), Tally.from_dict(tally), *files)


_PLACES = {
    "profile": "terms.profile.name",
    "claim": "claim",
    "neighbors": "terms.profile.neighbors",
    "not_protected": "not_protected",
    **{f"budget.{name}": f"budget.{name}" for name in ("epsilon", "epsilon_per_word", "length", "average_length")},
    "budget.largest_share": "terms.largest_share",
    **{f"budget.{name}": f"tally.{name}" for name in ("largest_budget", "largest_spent", "largest_chunk")},
    "calibration": "terms.calibration",
    "bounds": "bounds",
    "rounds": "rounds",
    **{name: f"terms.{name}" for name in ("deniability", "decomposition", "distribution", "mechanism", "allocation")},
    **{name: f"terms.{name}" for name in ("stopwords", "form", "emoji", "identifiers", "distance", "randomness")},
    "ledger": "terms.ledger",
    "words": "tally.words",
    "documents": "tally.documents",
    "returned.words": "tally.returned",
    "returned.documents": "tally.return_bands",
    "words_without_score": "tally.unscored",
    "words_with_largest_share": "tally.capped",
    "symbols_between_words": "tally.symbols",
    "dropped_symbols": "tally.dropped_symbols",
    "other_columns": "other_columns",
    "dropped_metadata": "dropped_metadata",
    "bundle": "terms.bundle",
    "versions": "terms.versions",
}
"""Where the JSON has what, in its order."""
_LATER: dict[str, Any] = {
    **dict.fromkeys(("form", "deniability", "identifiers", "ledger", "calibration")),
    "rounds": [],
    "dropped_metadata": False,
}
"""What certificates of earlier versions do not have."""
_NO_ROUND = {"budget_share": None, "largest_spent": 0.0}
_METHOD = {"name": str, "options": dict, "model": (None, {"name": str, "sha256": str})}
_SHAPE: dict[str, Any] = {
    **dict.fromkeys(("profile", "claim", "neighbors", "allocation", "emoji"), str),
    **dict.fromkeys(("decomposition", "distribution", "mechanism"), _METHOD),
    **dict.fromkeys(("distance", "versions"), dict),
    "not_protected": [str],
    "budget": {"largest_share": (None, float), "average_length": (None, float)},
    "calibration": (None, {"targets": {str: float}, "data_dependent": bool}),
    "rounds": [{"round": ("draft", "refinement"), "budget_share": float, "largest_spent": float}],
    "deniability": (None, dict),
    "identifiers": (None, {"treatment": TREATMENTS, "kinds": list, "model": dict}),
    "randomness": {"predictable": bool},
    "ledger": (None, {"budget_per_document": (None, float), "repeat": REPEATS}),
    "bundle": {"sha256": str},
}
"""The shape of the values whose types matter to readers."""
