"""The certificate: what is guaranteed for a document or a file, and what is not."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from textveil.budget import Budget
from textveil.errors import InputError, TextveilError
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.profiles import Form, Profile, Stopwords, load_profile
from textveil.redaction import TREATMENTS
from textveil.storage.atomic import writing


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

    def copy(self) -> Tally:
        """The same numbers in another tally."""
        copied = Tally()
        for name in _COUNTERS:
            setattr(copied, name, getattr(self, name).copy())
        for name in (*_COUNTS, *_LARGEST):
            setattr(copied, name, getattr(self, name))
        return copied

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
        counts = [count for name in _COUNTERS for count in values.get(name, {}).values()] + [
            values[name] for name in _COUNTS
        ]
        if not all(type(count) is int and 0 <= count < _MOST for count in counts):
            raise ValueError
        if not all(_is_number(values[name]) for name in _LARGEST):
            raise ValueError
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


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max  # a huge int is less than infinity


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
        terms, tally = self.terms, self.tally.as_dict()
        return {
            "certificate": FORMAT_VERSION,
            "profile": terms.profile.name,
            "claim": self.claim,
            "neighbors": terms.profile.neighbors,
            "not_protected": self.not_protected,
            "budget": {
                **self.budget.as_dict(),
                "largest_share": terms.largest_share,
                "largest_budget": tally["largest_budget"],
                "largest_spent": tally["largest_spent"],
                "largest_chunk": tally["largest_chunk"],
            },
            "calibration": None if terms.calibration is None else dict(terms.calibration),
            "bounds": self.bounds,
            "rounds": self.rounds,
            "deniability": None if terms.deniability is None else dict(terms.deniability),
            "decomposition": dict(terms.decomposition),
            "distribution": dict(terms.distribution),
            "mechanism": dict(terms.mechanism),
            "allocation": terms.allocation,
            "stopwords": terms.stopwords,
            "form": terms.form,
            "emoji": terms.emoji,
            "identifiers": None if terms.identifiers is None else {**terms.identifiers, "found": tally["identifiers"]},
            "distance": dict(terms.distance),
            "randomness": dict(terms.randomness),
            "ledger": None if terms.ledger is None else dict(terms.ledger),
            "words": tally["words"],
            "documents": tally["documents"],
            "returned": {"words": tally["returned"], "documents": tally["return_bands"]},
            "words_without_score": tally["unscored"],
            "words_with_largest_share": tally["capped"],
            "symbols_between_words": tally["symbols"],
            "dropped_symbols": tally["dropped_symbols"],
            "other_columns": self.other_columns,
            "dropped_metadata": self.dropped_metadata,
            "bundle": dict(terms.bundle),
            "versions": dict(terms.versions),
        }

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
        if self.terms.draft_share is not None:
            budget, largest = self.tally.largest_budget, self.terms.largest_share
            return {"words": cap * (budget if largest is None else min(budget, largest)), "document": cap * budget}
        return {"words": cap * self.tally.largest_chunk, "document": cap * self.tally.largest_spent}

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
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate from a JSON file.

        Raises:
            InputError: The file is not a certificate, or is one of another format.
        """
        try:
            values = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{str(path)!r} is not JSON. Give a certificate that textveil wrote.") from error
        try:
            return cls.from_dict(values)
        except InputError as error:
            raise InputError(f"{str(path)!r}: {error}") from error

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The certificate that :meth:`as_dict` returned, now or in an earlier version.

        Raises:
            InputError: It is not a certificate, or is one of another format.
        """
        version = values.get("certificate") if isinstance(values, dict) else None
        if type(version) is not int:
            raise InputError("This is not a certificate. Give one that textveil wrote.")
        if version > FORMAT_VERSION:
            raise InputError(
                f"The certificate has format {version}; textveil reads up to {FORMAT_VERSION} here. Update it."
            )
        if version < FORMAT_VERSION:
            raise InputError(f"The certificate has format {version}, which textveil no longer reads. Issue it again.")
        try:
            return replace(cls._parse(values), _as_read=values)
        except (KeyError, TypeError, ValueError, AttributeError, TextveilError) as error:
            raise InputError("The certificate is incomplete or damaged. Give one that textveil wrote.") from error

    @classmethod
    def _parse(cls, values: Mapping[str, Any]) -> Certificate:
        profile = load_profile(values["profile"])
        form = profile.choose_form(values.get("form", profile.earlier_form))  # those of earlier versions have none
        profile = replace(profile.written(form), claim=values["claim"], neighbors=values["neighbors"])
        for axis in ("decomposition", "distribution", "mechanism"):
            method = values[axis]
            if not isinstance(method["name"], str) or not isinstance(method["options"], dict):
                raise ValueError
            if (model := method["model"]) is not None and not all(
                isinstance(model[name], str) for name in ("name", "sha256")
            ):
                raise ValueError
        budget, returned = values["budget"], values["returned"]
        rounds = values.get("rounds", [])  # certificates of earlier versions have none
        if [each["round"] for each in rounds] not in ([], ["draft", "refinement"]) or not all(
            _is_number(each["budget_share"]) for each in rounds
        ):
            raise ValueError
        if not all(budget[name] is None or _is_number(budget[name]) for name in ("largest_share", "average_length")):
            raise ValueError
        if (
            budget["largest_share"] is None and values["words_with_largest_share"]
        ):  # words reached a limit that is not there
            raise ValueError
        if not all(isinstance(line, str) for line in (values["claim"], values["neighbors"], *values["not_protected"])):
            raise ValueError
        terms = Terms(
            profile=profile,
            decomposition=values["decomposition"],
            distribution=values["distribution"],
            mechanism=values["mechanism"],
            allocation=values["allocation"],
            stopwords=profile.choose_stopwords(values["stopwords"]),
            form=form,
            emoji=values["emoji"],
            largest_share=budget["largest_share"],
            randomness={"predictable": bool(values["randomness"]["predictable"]), **values["randomness"]},
            distance=dict(values["distance"]),
            bundle={**values["bundle"], "sha256": str(values["bundle"]["sha256"])},
            versions=dict(values["versions"]),
            draft_share=rounds[0]["budget_share"] if rounds else None,
            ledger=_parse_ledger(values.get("ledger")),  # certificates of earlier versions have none
            deniability=None if (found := values.get("deniability")) is None else dict(found),
            identifiers=_parse_identifiers(values.get("identifiers")),
            calibration=_parse_calibration(values.get("calibration")),
        )
        tally = Tally.from_dict(
            {
                "words": values["words"],
                "documents": values["documents"],
                "return_bands": returned["documents"],
                "identifiers": (values.get("identifiers") or {}).get("found", {}),
                "symbols": values["symbols_between_words"],
                "dropped_symbols": values["dropped_symbols"],
                "unscored": values["words_without_score"],
                "capped": values["words_with_largest_share"],
                "returned": returned["words"],
                "hardly_english": 0,
                "largest_budget": budget["largest_budget"],
                "largest_spent": budget["largest_spent"],
                "largest_chunk": budget.get("largest_chunk", 0.0),  # certificates of earlier versions have none
                "largest_draft": rounds[0]["largest_spent"] if rounds else 0.0,
                "largest_refinement": rounds[1]["largest_spent"] if rounds else 0.0,
                "largest_refused": 0.0,
            }
        )
        given = Budget(**{name: budget[name] for name in ("epsilon", "epsilon_per_word", "length", "average_length")})
        return cls(
            terms,
            given,
            tally,
            other_columns=bool(values["other_columns"]),
            dropped_metadata=bool(values.get("dropped_metadata", False)),
        )


def _parse_identifiers(values: Any) -> Mapping[str, Any] | None:
    if values is None:
        return None
    if values["treatment"] not in TREATMENTS or not isinstance(values["kinds"], list):
        raise ValueError
    return {name: values[name] for name in ("treatment", "kinds", "model")}


def _parse_calibration(values: Any) -> Mapping[str, Any] | None:
    if values is None:
        return None
    targets, dependent = dict(values["targets"]), values["data_dependent"]
    if not all(map(_is_number, targets.values())) or not isinstance(dependent, bool):
        raise ValueError
    return {"targets": targets, "data_dependent": dependent}


def _parse_ledger(values: Any) -> Mapping[str, Any] | None:
    if values is None:
        return None
    from textveil.ledger import REPEATS

    limit, repeat = values["budget_per_document"], values["repeat"]
    if not (limit is None or _is_number(limit)) or repeat not in REPEATS:
        raise ValueError
    return {"budget_per_document": limit, "repeat": repeat}
