"""The file of a ledger: an SQLite database, its key, and transactions that are on disk when they end.

The journal is a rollback journal, not a write-ahead log: a ledger at rest is one file, which can be copied.
With ``synchronous=EXTRA``, a transaction that has ended survives a power failure.
"""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from textveil.errors import LedgerError, ParameterError
from textveil.storage.atomic import sync_folder
from textveil.storage.score_cache import KEY_SIZE, create_key

BUSY_SECONDS = 60.0
"""How long a process waits for another one that writes to the ledger."""
FORMAT = 1
_APPLICATION = 0x74766C67
"""The number that marks an SQLite file as a ledger: ``tvlg``."""

_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE settings (hash BLOB PRIMARY KEY, description TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    document BLOB NOT NULL,
    settings BLOB NOT NULL REFERENCES settings (hash),
    noise BLOB,
    answer BLOB NOT NULL,
    epsilon REAL NOT NULL,
    released TEXT NOT NULL,
    seal BLOB NOT NULL
);
CREATE INDEX releases_by_document ON releases (document);
"""


class LedgerFile:
    """The database of a ledger. A connection lives for one transaction, so forks and threads share none.

    Args:
        path: The database; it is created if it does not exist.
        key_path: The file with the key; by default the name of the database with ``.key`` at its end.
        create: Whether a ledger that does not exist is created.
    """

    def __init__(self, path: Path, key_path: Path | None = None, *, create: bool = True) -> None:
        self.path = path
        self.key_path = key_path or path.with_name(f"{path.name}.key")
        if not path.parent.is_dir():
            raise ParameterError(f"There is no folder {str(path.parent)!r} for the ledger. Make it first.")
        self.created = not path.exists()
        if self.created and not create:
            raise ParameterError(f"There is no ledger {str(path)!r}. Check the path.")
        if self.created and not self.key_path.exists():
            create_key(self.key_path)
        self.key = _read_key(self.key_path)
        if self.created:
            self._create()
        self._check()

    def sign(self, kind: str, *parts: str | bytes) -> bytes:
        """The HMAC-SHA256 of some parts; no two kinds of hashes are ever equal."""
        signed = [f"textveil ledger {kind}".encode()]
        for part in parts:
            encoded = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            signed += b"\n%d:" % len(encoded), encoded  # so that "ab", "c" differs from "a", "bc"
        return hmac.digest(self.key, b"".join(signed), "sha256")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the ledger."""
        with self._connected() as connection:
            connection.execute("BEGIN")
            self._check_schema(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that keeps other writers out. All of it is on disk when it ends, or nothing of it."""
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_schema(connection)
            yield connection
            connection.execute("COMMIT")

    def stamp(self) -> tuple[int, ...]:
        """What the system changes whenever anybody writes to the file."""
        found = self.path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        """Refuse another format, and triggers, views or changed tables, which could undo what is recorded."""
        marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if marks[0] != _APPLICATION:
            raise LedgerError(f"{str(self.path)!r} is not a ledger. Choose another name.")
        if marks[1] > FORMAT:
            raise LedgerError(
                f"The ledger {str(self.path)!r} has format {marks[1]}; textveil reads up to {FORMAT} here. "
                "Update textveil."
            )
        if _read_schema(connection) != _expect_schema():
            raise LedgerError(
                f"The ledger {str(self.path)!r} has parts that textveil did not make, such as triggers or views. "
                "Nothing more was released. Restore it from a copy."
            )

    @contextmanager
    def _connected(self, path: Path | None = None) -> Iterator[sqlite3.Connection]:
        try:
            # A connection that is closed without COMMIT is rolled back.
            with closing(_connect(path or self.path)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise _explain(self.path, error) from error

    def _create(self) -> None:
        """Create the database under another name and link it: it is never seen half-made, and never replaced."""
        unfinished = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.unfinished")
        try:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with self._connected(unfinished) as connection:
                connection.executescript(_SCHEMA)
                rows = [("key", self.sign("key")), ("head", self.sign("head", "0"))]
                connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            os.link(unfinished, self.path)
            sync_folder(self.path.parent)
        except FileExistsError:  # another process was faster
            self.created = False
        except OSError as error:
            raise LedgerError(
                f"The ledger {str(self.path)!r} cannot be created: {error.strerror}. Choose another folder."
            ) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def _check(self) -> None:
        """Refuse a file that is damaged or has another key."""
        with self.reading() as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise damaged(self.path)
            found = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
        if found is None or not hmac.compare_digest(found[0], self.sign("key")):
            raise LedgerError(
                f"The ledger {str(self.path)!r} has another key than {str(self.key_path)!r}. "
                "Give the file with its key as `key_path`."
            )


def _read_schema(connection: sqlite3.Connection) -> set[tuple[str | None, ...]]:
    return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@cache
def _expect_schema() -> set[tuple[str | None, ...]]:
    """The schema of a ledger, as SQLite stores it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _read_schema(connection)


def damaged(path: Path) -> LedgerError:
    """The error for a ledger that is damaged."""
    return LedgerError(f"The ledger {str(path)!r} is damaged. Nothing more was released. Restore it from a copy.")


def _read_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise LedgerError(
            f"The key {str(path)!r} of the ledger is missing. Restore it, or give another file as `key_path`."
        ) from error
    except OSError as error:
        raise LedgerError(f"The key {str(path)!r} cannot be read: {error.strerror}. Check its permissions.") from error
    if sys.platform != "win32" and mode & 0o077:
        raise LedgerError(f"Others may use the key {str(path)!r}. Keep it for yourself: chmod 600")
    if len(key) != KEY_SIZE:
        raise LedgerError(f"The key {str(path)!r} must have {KEY_SIZE} bytes. Restore it from a copy.")
    return key


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database that exists."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        for pragma in ("journal_mode = DELETE", "synchronous = EXTRA", "fullfsync = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:  # the file is damaged or locked
        connection.close()
        raise
    return connection


def _explain(path: Path, error: sqlite3.Error) -> LedgerError:
    """The error of the database in plain words."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the primary code
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerError(f"Another process keeps the ledger {str(path)!r} busy. Run again when it is done.")
    reasons = {
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened for writing",
        sqlite3.SQLITE_IOERR: "the system reports an error of input or output",
    }
    if code in reasons:
        return LedgerError(
            f"The ledger {str(path)!r} cannot be written: {reasons[code]}. Nothing more was released. "
            "Check the free space and the permissions there, then run again."
        )
    return damaged(path)
