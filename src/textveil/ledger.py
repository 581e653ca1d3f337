"""The ledger: what every document has spent, over all releases, without any text.

A document is found by a keyed hash of its exact text. A release is recorded before anything of it is returned, so
whatever left the ledger's owner is in the ledger. After an interruption, the ledger may have releases that nobody saw.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textveil.budget import Budget
from textveil.certificate import REPEATS, Certificate, Repeat, Tally, Terms
from textveil.errors import LedgerError, ParameterError
from textveil.methods.distribution.allocation import check_budget
from textveil.outcomes import DocumentOutcome
from textveil.randomness import KeyedRandomness, Randomness, SystemRandomness
from textveil.registry import unknown_name
from textveil.results import Obfuscation, Refusal
from textveil.storage.ledger_file import LedgerFile, damaged
from textveil.storage.score_cache import hash_text

_ROUNDING = 1e-9
"""The relative error of sums of shares, which must not refuse a release."""
_COLUMNS = "number, id, document, settings, noise, answer, epsilon, released, seal"


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """A release that waits for the ledger's consent."""

    text: str
    answer: str
    epsilon: float
    noise: str | None
    """The noise if it can be repeated, ``None`` if it is fresh."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A release in the ledger. All hashes are keyed."""

    number: int
    id: bytes
    document: bytes
    settings: bytes
    noise: bytes | None
    answer: bytes
    epsilon: float
    released: str
    seal: bytes

    @property
    def sealed(self) -> tuple[str | bytes, ...]:
        """What the seal covers."""
        texts = (str(self.number), self.id, self.document, self.settings, self.noise or b"", self.answer)
        return (*texts, repr(self.epsilon), self.released)


@dataclass(frozen=True, slots=True)
class Summary:
    """A ledger in numbers."""

    releases: int
    documents: int
    spent: float
    largest_spent: float
    """The most that a document has spent."""
    first: str | None
    last: str | None


class Ledger:
    """Records what every document spends, and refuses what would pass its budget. Several processes may share it.

    Args:
        path: An SQLite file. It is created if it does not exist; only the user may read it.
        key_path: The file with the secret key of its hashes. By default the name of the ledger with ``.key`` at its
            end. A new ledger gets a new key, unless there is one.
        budget_per_document: What all releases of a document may spend together; ``None`` only records.
        repeat: ``fresh`` draws new noise for every release. ``same`` derives the noise from the key, the text and the
            settings, so the same text with the same settings gets its first answer again, which spends nothing.
        create: Whether a ledger that does not exist is created.
        clock: The time of a release.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        key_path: str | Path | None = None,
        budget_per_document: float | None = None,
        repeat: Repeat = "fresh",
        create: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if budget_per_document is not None:
            check_budget(budget_per_document, "budget_per_document")
        if repeat not in REPEATS:
            raise unknown_name("repeat", repeat, REPEATS)
        self.budget_per_document = None if budget_per_document is None else float(budget_per_document)
        self.repeat = repeat
        self._clock = clock
        self._file = LedgerFile(Path(path), None if key_path is None else Path(key_path), create=create)
        self._left: tuple[int, tuple[int, ...]] | None = None
        """The last release, and the stamp of the file, after this object wrote to it; ``None`` before."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the files again. The key does not travel."""
        return _reopen, (self.path, self.key_path, self.budget_per_document, self.repeat)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, budget_per_document={self.budget_per_document}, repeat={self.repeat!r})"

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def key_path(self) -> Path:
        """The file with the key."""
        return self._file.key_path

    @property
    def created(self) -> bool:
        """Whether the ledger did not exist before."""
        return self._file.created

    @property
    def fingerprint(self) -> str:
        """An identifier for resumed runs: equal for ledgers with the same key."""
        return self._file.sign("fingerprint").hex()[:8]

    def as_dict(self) -> dict[str, Any]:
        """What certificates say about the ledger."""
        return {"budget_per_document": self.budget_per_document, "repeat": self.repeat}

    def build_randomness(self) -> KeyedRandomness:
        """The noise of ``repeat="same"``."""
        return KeyedRandomness(self._file.sign("noise key"))

    def charge(self, releases: Sequence[Release], settings: Mapping[str, Any]) -> list[Refusal | None]:
        """Record releases. Those without a refusal may be made once this returns, and not before.

        A release whose noise, settings and answer are those of an earlier one reveals nothing new, so it is allowed and
        not recorded again. All others are checked in order, each against what those before it spend.

        The first call checks the seals of all releases. Later calls check those of the given documents, and all of them
        again if the file was changed without a release.

        Raises:
            LedgerError: The ledger cannot be read or written, or was changed by somebody else. None of the releases may
                be made.
        """
        described = json.dumps(settings, sort_keys=True, allow_nan=False)
        used = self._file.sign("settings", described)
        verdicts: list[Refusal | None] = []
        with self._file.writing() as connection:
            head = self._check(connection)
            for release in releases:
                document = self._file.sign("document", release.text)
                answer = self._file.sign("answer", release.text, release.answer)
                noise = release.noise and self._file.sign("noise", described, release.noise, release.text)
                entries = self._load(connection, document)
                first = next((entry for entry in entries if noise and entry.noise == noise), None)
                if first is not None:
                    verdicts.append(None if first.answer == answer else _refuse(release, [first], None))
                elif not self._allows(entries, release.epsilon):
                    verdicts.append(_refuse(release, entries, self.budget_per_document))
                else:
                    head += 1
                    connection.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (used, described))
                    now = self._clock().astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
                    values = (document, used, noise or None, answer, float(release.epsilon), now)
                    self._append(connection, Entry(head, secrets.token_bytes(16), *values, seal=b""))
                    verdicts.append(None)
            self._write_head(connection, head)
        self._left = head, self._file.stamp()
        return verdicts

    def _check(self, connection: sqlite3.Connection) -> int:
        """Refuse a ledger with changed releases, or one that was replaced by an older copy; the last release."""
        head = self._read_head(connection)
        left, stamp = self._left or (head, None)
        if head < left or (head == left and stamp != self._file.stamp() and self._list_problems(connection)):
            self._fail()
        return head

    def _allows(self, entries: Iterable[Entry], epsilon: float) -> bool:
        if self.budget_per_document is None or epsilon == 0:
            return True
        spent = math.fsum(entry.epsilon for entry in entries)
        return spent + epsilon <= self.budget_per_document * (1 + _ROUNDING)

    def find(self, text: str) -> list[Entry]:
        """The releases of a document, in order."""
        with self._file.reading() as connection:
            return self._load(connection, self._file.sign("document", text))

    def has(self, text: str, answer: str) -> bool:
        """Whether a document was released as ``answer``."""
        signed = self._file.sign("answer", text, answer)
        return any(entry.answer == signed for entry in self.find(text))

    def summarize(self) -> Summary:
        """The ledger in numbers."""
        with self._file.reading() as connection:
            totals = connection.execute("SELECT COUNT(*), MIN(released), MAX(released) FROM releases").fetchone()
            spent = [total for (total,) in connection.execute("SELECT SUM(epsilon) FROM releases GROUP BY document")]
        return Summary(totals[0], len(spent), math.fsum(spent), max(spent, default=0.0), *totals[1:])

    def describe_entries(self, entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
        """Entries as JSON can hold them, with their settings."""
        with self._file.reading() as connection:
            known = dict(connection.execute("SELECT hash, description FROM settings"))
        for entry in entries:
            yield {
                "released": entry.released,
                "epsilon": entry.epsilon,
                "noise": "fresh" if entry.noise is None else "repeatable",
                "settings": json.loads(known[entry.settings]),
            }

    def list_largest(self, count: int) -> list[tuple[str, int, float]]:
        """The documents that have spent most: the first digits of their keyed hash, their releases, and the sum."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT document, COUNT(*), SUM(epsilon) AS spent FROM releases GROUP BY document "
                "ORDER BY spent DESC, document LIMIT ?",
                (count,),
            ).fetchall()
        return [(document.hex()[:12], releases, spent) for document, releases, spent in rows]

    def verify(self) -> list[str]:
        """Everything that is wrong with the ledger; nothing if it is intact.

        A ledger that was replaced by an older copy of itself looks intact.
        """
        with self._file.reading() as connection:
            return self._list_problems(connection)

    def _list_problems(self, connection: sqlite3.Connection) -> list[str]:
        problems: list[str] = []
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        if checked != [("ok",)]:
            problems.append(f"the database is damaged in {len(checked):,} places or more")
        described = dict(connection.execute("SELECT hash, description FROM settings"))
        for known, description in described.items():
            if not isinstance(description, str) or known != self._file.sign("settings", description):
                problems.append("the description of settings was changed")
        last = 0
        for entry in self._read(connection, "ORDER BY number"):
            if entry.number != last + 1:
                problems.append(f"releases {last + 1:,} to {entry.number - 1:,} are missing")
            if not self._is_sealed(entry) or entry.settings not in described:
                problems.append(f"release {entry.number:,} was changed")
            last = entry.number
        if not self._is_head(connection, last):
            problems.append(f"releases after {last:,} are missing, or the head was changed")
        return problems

    def merge(self, other: Ledger) -> int:
        """Add the releases of another ledger with the same key. Those that are here already are left out.

        Returns:
            The number of releases that were added.
        """
        if self.path.resolve() == other.path.resolve():
            raise ParameterError("A ledger cannot be merged with itself. Give another one.")
        if not hmac.compare_digest(self._file.key, other._file.key):
            raise LedgerError(
                f"{str(other.path)!r} has another key than {str(self.path)!r}, so their documents cannot be matched. "
                "Only ledgers with the same key can be merged."
            )
        with other._file.reading() as source, self._file.writing() as connection:
            other._read_head(source)
            head = before = self._check(connection)
            known = {found for (found,) in connection.execute("SELECT id FROM releases")}
            connection.executemany(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)", source.execute("SELECT hash, description FROM settings")
            )
            for entry in other._read(source, "ORDER BY number"):
                if not other._is_sealed(entry):
                    raise damaged(other.path)
                if entry.id not in known:
                    head += 1
                    self._append(connection, replace(entry, number=head))
            self._write_head(connection, head)
        return head - before

    def _load(self, connection: sqlite3.Connection, document: bytes) -> list[Entry]:
        entries = self._read(connection, "WHERE document = ? ORDER BY number", document)
        return [entry if self._is_sealed(entry) else self._fail() for entry in entries]

    def _read(self, connection: sqlite3.Connection, condition: str, *values: bytes) -> Iterator[Entry]:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM releases {condition}", values)  # noqa: S608 # our own
        return (Entry(*row) for row in rows)

    def _append(self, connection: sqlite3.Connection, entry: Entry) -> None:
        row = astuple(replace(entry, seal=self._file.sign("release", *entry.sealed)))
        connection.execute(f"INSERT INTO releases ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608

    def _is_sealed(self, entry: Entry) -> bool:
        try:
            return _is_equal(entry.seal, self._file.sign("release", *entry.sealed))
        except AttributeError:  # a column of another type, which SQLite allows
            return False

    def _read_head(self, connection: sqlite3.Connection) -> int:
        """The number of the last release, which is sealed, too."""
        last, number = connection.execute("SELECT COALESCE(MAX(number), 0), COUNT(*) FROM releases").fetchone()
        return int(last) if last == number and self._is_head(connection, last) else self._fail()

    def _is_head(self, connection: sqlite3.Connection, last: int) -> bool:
        found = connection.execute("SELECT value FROM meta WHERE name = 'head'").fetchone()
        return isinstance(found, tuple) and _is_equal(found[0], self._file.sign("head", str(last)))

    def _write_head(self, connection: sqlite3.Connection, last: int) -> None:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'head'", (self._file.sign("head", str(last)),))

    def _fail(self) -> Any:
        raise damaged(self.path)


def _refuse(release: Release, entries: Iterable[Entry], limit: float | None) -> Refusal:
    spent = tuple((entry.released, entry.epsilon) for entry in entries)
    return Refusal(release.epsilon, limit, spent)


def _is_equal(found: Any, expected: bytes) -> bool:
    """Whether a stored seal is the expected one; SQLite allows other types in its place."""
    return isinstance(found, bytes) and hmac.compare_digest(found, expected)


def _reopen(path: Path, key_path: Path, budget_per_document: float | None, repeat: Repeat) -> Ledger:
    return Ledger(path, key_path=key_path, budget_per_document=budget_per_document, repeat=repeat, create=False)


@dataclass(frozen=True, slots=True)
class Account:
    """A ledger, as an obfuscator uses it for documents with one budget.

    Args:
        ledger: The ledger.
        terms: The terms of the obfuscator.
        budget: The budget of every document.
        randomness: The noise of the obfuscator.
    """

    ledger: Ledger
    terms: Terms
    budget: Budget
    randomness: Randomness

    def describe(self) -> dict[str, Any]:
        """Everything besides text and noise that an answer depends on."""
        terms = self.terms
        others = {"calibration": terms.calibration, "versions": dict(terms.versions), "budget": self.budget.as_dict()}
        return {**terms.describe(), **others}

    def number(self, texts: Sequence[str | None], numbers: Iterator[int]) -> list[int]:
        """The number of every text, which selects its noise.

        Keyed noise is selected by a hash of settings and text, so that no two answers share it. In a run with fresh
        noise, the position of the text is in the hash, too.
        """
        taken = [next(numbers) for _ in texts]
        if not isinstance(self.randomness, KeyedRandomness):
            return taken
        settings = json.dumps(self.describe(), sort_keys=True)
        positions = [None if self.ledger.repeat == "same" else number for number in taken]
        return [
            int.from_bytes(hash_text(settings, str(position), text or ""))
            for position, text in zip(positions, texts, strict=True)
        ]

    def charge(
        self, texts: Sequence[str | None], numbers: Sequence[int], results: Sequence[Obfuscation]
    ) -> list[Obfuscation]:
        """Record results; those that the ledger refuses are replaced by refusals. Missing texts cost nothing."""
        asked = [
            Release(text, result.text, result.certificate.spent, self._name_noise(number))
            for text, number, result in zip(texts, numbers, results, strict=True)
            if text is not None
        ]
        verdicts = iter(self.ledger.charge(asked, self.describe()))
        return [
            result if text is None or (refusal := next(verdicts)) is None else self._refuse(refusal)
            for text, result in zip(texts, results, strict=True)
        ]

    def _name_noise(self, number: int) -> str | None:
        if isinstance(self.randomness, SystemRandomness):
            return None
        return f"{self.randomness.fingerprint} {number}"

    def _refuse(self, refusal: Refusal) -> Obfuscation:
        tally = Tally(documents=Counter([DocumentOutcome.REFUSED]), largest_refused=refusal.needed)
        return Obfuscation("", DocumentOutcome.REFUSED, (), Certificate(self.terms, self.budget, tally), refusal)
