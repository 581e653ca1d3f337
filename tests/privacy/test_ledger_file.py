import os
import resource
import signal
import sqlite3
import tempfile
from pathlib import Path

import pytest

from textveil.errors import LedgerError, ParameterError
from textveil.storage import ledger_file
from textveil.storage.ledger_file import LedgerFile

ADD = "INSERT INTO settings VALUES (?, ?)"


def test_only_the_user_may_read_a_ledger_and_its_key(tmp_path):
    LedgerFile(tmp_path / "spent.db")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"spent.db": 0o600, "spent.db.key": 0o600}


def test_a_ledger_that_must_exist_is_not_created(tmp_path):
    with pytest.raises(ParameterError, match="There is no ledger"):
        LedgerFile(tmp_path / "spent.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_needs_its_folder(tmp_path):
    with pytest.raises(ParameterError, match="There is no folder .* Make it first"):
        LedgerFile(tmp_path / "no" / "spent.db")


def test_a_ledger_knows_its_key(tmp_path):
    LedgerFile(tmp_path / "spent.db")
    LedgerFile(tmp_path / "other.db")
    with pytest.raises(LedgerError, match="has another key than .*other.db.key"):
        LedgerFile(tmp_path / "spent.db", tmp_path / "other.db.key")


def test_a_lost_key_is_not_replaced_by_a_new_one(tmp_path):
    (LedgerFile(tmp_path / "spent.db").key_path).unlink()
    with pytest.raises(LedgerError, match="is missing. Restore it"):
        LedgerFile(tmp_path / "spent.db")
    assert not (tmp_path / "spent.db.key").exists()


def test_a_key_that_others_may_read_is_refused(tmp_path):
    LedgerFile(tmp_path / "spent.db").key_path.chmod(0o640)
    with pytest.raises(LedgerError, match="chmod 600"):
        LedgerFile(tmp_path / "spent.db")


def test_a_key_of_another_length_is_refused(tmp_path):
    LedgerFile(tmp_path / "spent.db").key_path.write_bytes(b"short")
    with pytest.raises(LedgerError, match="must have 32 bytes"):
        LedgerFile(tmp_path / "spent.db")


@pytest.mark.parametrize("content", [b"", b"some text, no ledger", b"\0" * 5000], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_ledger_is_refused_and_stays(tmp_path, content):
    path = tmp_path / "spent.db"
    LedgerFile(path)
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="is not a ledger|is damaged"):
        LedgerFile(path)
    assert path.read_bytes() == content


def test_a_damaged_ledger_is_refused(tmp_path):
    file = LedgerFile(tmp_path / "spent.db")
    with file.writing() as connection:
        connection.executemany(ADD, [(bytes([number]) * 32, "x" * 500) for number in range(200)])
    content = bytearray(file.path.read_bytes())
    content[5 * 4096 : 8 * 4096] = os.urandom(3 * 4096)
    file.path.write_bytes(content)
    with pytest.raises(LedgerError, match="is damaged. Nothing more was released"):
        LedgerFile(tmp_path / "spent.db")


def test_a_newer_format_is_refused(tmp_path):
    path = LedgerFile(tmp_path / "spent.db").path
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(LedgerError, match="has format 9; textveil reads up to 1"):
        LedgerFile(path)


def test_a_transaction_with_an_error_leaves_nothing(tmp_path):
    file = LedgerFile(tmp_path / "spent.db")
    with pytest.raises(RuntimeError), file.writing() as connection:
        connection.execute(ADD, (b"1", "lost"))
        raise RuntimeError
    with file.reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM settings").fetchone() == (0,)


def test_a_transaction_is_synchronized_with_the_disk(tmp_path):
    with LedgerFile(tmp_path / "spent.db").writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA: the folder, too
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_busy_ledger_is_awaited_and_then_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file, "BUSY_SECONDS", 0.05)
    file = LedgerFile(tmp_path / "spent.db")
    with (
        file.writing(),
        pytest.raises(LedgerError, match="Another process keeps the ledger .* busy"),
        LedgerFile(tmp_path / "spent.db").writing(),
    ):
        pass


def test_a_full_disk_is_reported_and_the_ledger_stays_as_it_was(tmp_path):
    file = LedgerFile(tmp_path / "spent.db")
    before = file.path.read_bytes()
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), old[1]))
    try:
        with pytest.raises(LedgerError, match="cannot be written"), file.writing() as connection:
            connection.executemany(ADD, [(bytes([number]) * 32, "x" * 5000) for number in range(200)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    with LedgerFile(tmp_path / "spent.db").reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM settings").fetchone() == (0,)


def test_a_full_database_is_reported_as_a_full_disk(tmp_path):
    file = LedgerFile(tmp_path / "spent.db")
    with pytest.raises(LedgerError, match="the disk is full"), file.writing() as connection:
        connection.execute("PRAGMA max_page_count = 1")
        connection.executemany(ADD, [(bytes([number]) * 32, "x" * 5000) for number in range(200)])


@pytest.fixture
def nobody():
    """A folder, and the rights of a user who is not root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)


def test_a_read_only_ledger_is_refused_before_anything_is_released(nobody):
    file = LedgerFile(nobody / "spent.db")
    file.path.chmod(0o400)
    with pytest.raises(LedgerError, match="cannot be written: it is read-only"), file.writing() as connection:
        connection.execute(ADD, (b"1", "x"))


def test_a_folder_that_is_read_only_is_reported(nobody):
    file = LedgerFile(nobody / "spent.db")
    nobody.chmod(0o500)
    try:
        with pytest.raises(LedgerError, match="cannot be written"), file.writing() as connection:
            connection.execute(ADD, (b"1", "x"))
        (name,) = {path.name for path in nobody.iterdir()} - {"spent.db.key"}
        assert name == "spent.db"
    finally:
        nobody.chmod(0o700)


def test_kinds_and_parts_of_hashes_are_kept_apart(tmp_path):
    file = LedgerFile(tmp_path / "spent.db")
    signed = {
        file.sign("document", "ab", "c"),
        file.sign("document", "a", "bc"),
        file.sign("answer", "ab", "c"),
        LedgerFile(tmp_path / "other.db").sign("document", "ab", "c"),
    }
    assert len(signed) == 4
    assert file.sign("document", "\ud800") != file.sign("document", "?")
