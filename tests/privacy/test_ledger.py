import math
import multiprocessing
import pickle
import shutil
import sqlite3
from datetime import UTC, datetime

import pytest

from textveil.errors import BudgetError, LedgerError, ParameterError, SpentBudgetError, UnknownNameError
from textveil.ledger import Ledger, Release

SETTINGS = {"profile": "strict"}


def release(text="alpha", epsilon=1.0, answer="beta", noise=None):
    return Release(text, answer, epsilon, noise)


@pytest.fixture
def make(tmp_path):
    """Opens the ledger of the test, at nine o'clock."""
    return lambda name="spent.db", **options: Ledger(
        tmp_path / name, clock=lambda: datetime(2026, 5, 4, 9, 0, tzinfo=UTC), **options
    )


def change(ledger, *statements):
    connection = sqlite3.connect(ledger.path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_a_document_spends_over_all_releases(make):
    ledger = make()
    ledger.charge([release(epsilon=1.5), release("gamma", 4.0)], SETTINGS)
    make().charge([release(epsilon=0.25)], SETTINGS)
    assert [entry.epsilon for entry in ledger.find("alpha")] == [1.5, 0.25]
    assert [entry.released for entry in ledger.find("alpha")] == ["2026-05-04 09:00:00 UTC"] * 2
    assert ledger.find("alpha ") == []  # the exact text
    summary = ledger.summarize()
    assert (summary.releases, summary.documents, summary.spent, summary.largest_spent) == (3, 2, 5.75, 4.0)


def test_a_release_that_would_pass_the_budget_is_refused_with_what_was_spent_when(make):
    ledger = make(budget_per_document=10)
    allowed, other, refused = ledger.charge([release(epsilon=6), release("gamma", 6), release(epsilon=6)], SETTINGS)
    assert (allowed, other) == (None, None)
    with pytest.raises(
        SpentBudgetError,
        match=r"has spent 6 of 10 \(6 on 2026-05-04 09:00:00 UTC\). A release with 6 would pass that. Nothing was",
    ):
        raise refused.as_error()
    assert len(ledger.find("alpha")) == 1
    assert ledger.charge([release(epsilon=4)], SETTINGS) == [None]  # what is left
    assert make(budget_per_document=20).charge([release(epsilon=6)], SETTINGS) == [None]


def test_a_budget_is_not_passed_by_rounding(make):
    ledger = make(budget_per_document=1.0)
    assert ledger.charge([release(epsilon=0.1)] * 10, SETTINGS) == [None] * 10
    assert ledger.charge([release(epsilon=1e-6)], SETTINGS) != [None]


def test_a_long_history_is_shortened(make):
    ledger = make(budget_per_document=9)
    *_, refused = ledger.charge([release(epsilon=1)] * 10, SETTINGS)
    assert "(4 earlier releases, 1 on 2026" in str(refused.as_error())


def test_the_same_answer_from_the_same_noise_and_settings_is_free(make):
    ledger = make(budget_per_document=1)
    again = release(noise="keyed")
    assert ledger.charge([again, again], SETTINGS) == [None, None]
    assert len(ledger.find("alpha")) == 1


@pytest.mark.parametrize(
    ("other", "settings"),
    [
        (release(noise="other"), SETTINGS),
        (release(noise=None), SETTINGS),
        (release(noise="keyed"), {"profile": "proven"}),
    ],
    ids=["other noise", "fresh noise", "other settings"],
)
def test_anything_else_is_charged(make, other, settings):
    ledger = make()
    ledger.charge([release(noise="keyed")], SETTINGS)
    ledger.charge([other], settings)
    assert len(ledger.find("alpha")) == 2


def test_fresh_noise_is_charged_although_the_answer_is_the_same(make):
    ledger = make()
    ledger.charge([release(), release()], SETTINGS)
    assert len(ledger.find("alpha")) == 2  # two equal draws reveal more than one


def test_another_answer_from_the_same_noise_is_refused(make):
    ledger = make()
    _, refused = ledger.charge([release(noise="keyed"), release(noise="keyed", answer="eta")], SETTINGS)
    assert "cannot be given again" in str(refused.as_error())
    assert not ledger.has("alpha", "eta")


def test_a_ledger_knows_answers_of_their_documents(make):
    ledger = make()
    ledger.charge([release("alpha", answer="beta"), release("gamma", answer="delta")], SETTINGS)
    assert ledger.has("alpha", "beta")
    assert not ledger.has("alpha", "delta")
    assert not ledger.has("beta", "beta")


def test_no_text_is_in_the_file(make):
    ledger = make()
    ledger.charge([release("zucchini", answer="aubergine", noise="n")], SETTINGS)
    content = ledger.path.read_bytes() + ledger.key_path.read_bytes()
    assert b"zucchini" not in content
    assert b"aubergine" not in content


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf])
def test_a_budget_must_be_positive_and_finite(make, wrong):
    with pytest.raises(BudgetError, match="budget_per_document"):
        make(budget_per_document=wrong)


def test_an_unknown_way_to_repeat_is_refused(make):
    with pytest.raises(UnknownNameError, match="same"):
        make(repeat="sane")


def test_an_intact_ledger_has_no_problems(make):
    ledger = make()
    ledger.charge([release()] * 3, SETTINGS)
    assert ledger.verify() == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE releases SET epsilon = 0.1 WHERE number = 2", "release 2 was changed"),
        ("UPDATE releases SET released = '2020' WHERE number = 1", "release 1 was changed"),
        ("DELETE FROM releases WHERE number = 2", "releases 2 to 2 are missing"),
        ("DELETE FROM releases WHERE number = 3", "releases after 2 are missing"),
        ("DELETE FROM releases", "releases after 0 are missing"),
        ("UPDATE settings SET description = '{}'", "the description of settings was changed"),
        ("UPDATE settings SET description = x'00'", "the description of settings was changed"),
    ],
)
def test_changes_are_found(make, statement, problem):
    ledger = make()
    ledger.charge([release()] * 3, SETTINGS)
    change(ledger, statement)
    assert any(found.startswith(problem) for found in ledger.verify())


@pytest.mark.parametrize(
    "statement", ["UPDATE releases SET epsilon = 0.1", "DELETE FROM releases", "DELETE FROM meta WHERE name = 'head'"]
)
def test_a_changed_ledger_charges_nothing(make, statement):
    ledger = make(budget_per_document=1)
    ledger.charge([release()], SETTINGS)
    change(ledger, statement)
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.charge([release()], SETTINGS)


CHANGES = [
    "UPDATE releases SET epsilon = 0.1 WHERE number = 1",
    "UPDATE releases SET document = randomblob(32) WHERE number = 1",  # its document seems to have spent nothing
    "UPDATE releases SET released = '2020' WHERE number = 1",
    "UPDATE settings SET description = '{}'",
]


@pytest.mark.parametrize("statement", CHANGES)
@pytest.mark.parametrize("reopened", [True, False])
def test_a_changed_row_of_any_document_is_noticed_at_the_next_release(make, statement, reopened):
    ledger = make(budget_per_document=1)
    ledger.charge([release(), release("gamma")], SETTINGS)
    change(ledger, statement)
    ledger = make(budget_per_document=1) if reopened else ledger
    for text in ("alpha", "delta"):
        with pytest.raises(LedgerError, match="is damaged. Nothing more was released"):
            ledger.charge([release(text)], SETTINGS)


def test_a_ledger_that_is_replaced_by_an_older_copy_while_it_is_used_is_noticed(make, tmp_path):
    ledger = make(budget_per_document=1)
    shutil.copy(ledger.path, tmp_path / "older.db")
    ledger.charge([release()], SETTINGS)
    shutil.copy(tmp_path / "older.db", ledger.path)
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.charge([release()], SETTINGS)


def test_releases_of_another_process_are_no_damage(make):
    ours, theirs = make(), make()
    for ledger in (ours, theirs, theirs, ours):
        assert ledger.charge([release()], SETTINGS) == [None]
    assert len(ours.find("alpha")) == 4


@pytest.mark.parametrize(
    "statements",
    [
        (
            "CREATE TRIGGER t BEFORE INSERT ON releases BEGIN SELECT RAISE(IGNORE); END",
            "CREATE TRIGGER u BEFORE UPDATE ON meta BEGIN SELECT RAISE(IGNORE); END",
        ),
        (
            "ALTER TABLE releases RENAME TO hidden",
            "CREATE VIEW releases AS SELECT * FROM hidden WHERE epsilon < 0",
        ),
        (
            "DROP INDEX releases_by_document",
            "CREATE INDEX releases_by_document ON releases (document) WHERE number < 0",
        ),
        ("CREATE TABLE more (column)",),
    ],
    ids=["triggers", "a view", "a partial index", "a table"],
)
def test_parts_that_textveil_did_not_make_are_refused(make, statements):
    ledger = make(budget_per_document=1)
    ledger.charge([release()], SETTINGS)
    change(ledger, *statements)
    for use in (make, ledger.verify, lambda: ledger.charge([release("gamma")], SETTINGS)):
        with pytest.raises(LedgerError, match="such as triggers or views. Nothing more was released. Restore it from"):
            use()


def test_merging_adds_every_release_once(make, tmp_path):
    ours, key = make(), tmp_path / "spent.db.key"
    ours.charge([release()], SETTINGS)
    shutil.copy(ours.path, tmp_path / "theirs.db")
    theirs = make("theirs.db", key_path=key)
    theirs.charge([release(epsilon=2.0), release("gamma")], {"profile": "proven"})
    ours.charge([release(epsilon=4.0)], SETTINGS)
    assert ours.merge(theirs) == 2
    assert ours.merge(theirs) == 0
    assert sorted(entry.epsilon for entry in ours.find("alpha")) == [1.0, 2.0, 4.0]
    assert ours.verify() == []
    assert {entry["settings"]["profile"] for entry in ours.describe_entries(ours.find("alpha"))} == {"strict", "proven"}


def test_only_other_ledgers_with_the_same_key_can_be_merged(make):
    ledger = make()
    with pytest.raises(LedgerError, match="Only ledgers with the same key"):
        ledger.merge(make("other.db"))
    with pytest.raises(ParameterError, match="with itself"):
        ledger.merge(make())


def test_a_damaged_ledger_is_not_merged(make, tmp_path):
    ours = make()
    theirs = make("theirs.db", key_path=tmp_path / "spent.db.key")
    theirs.charge([release()], SETTINGS)
    change(theirs, "UPDATE releases SET epsilon = 0")
    with pytest.raises(LedgerError, match="theirs.db' is damaged"):
        ours.merge(theirs)
    assert ours.summarize().releases == 0


def test_the_documents_that_spent_most_come_first(make):
    ledger = make()
    ledger.charge([release("a", 1.0), release("b", 2.0), release("b", 2.0), release("c", 3.0)], SETTINGS)
    assert [(releases, spent) for _, releases, spent in ledger.list_largest(2)] == [(2, 4.0), (1, 3.0)]


def _spend(path, start):
    ledger = Ledger(path, budget_per_document=50)
    start.wait()
    for _ in range(20):
        ledger.charge([release(epsilon=1.0), release("gamma", 1.0)], SETTINGS)


def test_processes_that_create_and_charge_together_never_pass_the_budget(tmp_path):
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    started = [context.Process(target=_spend, args=(tmp_path / "spent.db", start)) for _ in range(4)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
        assert process.exitcode == 0
    ledger = Ledger(tmp_path / "spent.db")
    assert [len(ledger.find(text)) for text in ("alpha", "gamma")] == [50, 50]  # of 80 that were asked for
    assert ledger.verify() == []


def test_a_ledger_travels_without_its_key(tmp_path):
    ledger = Ledger(tmp_path / "spent.db", budget_per_document=3.0)
    sent = pickle.dumps(ledger)  # by libraries such as joblib
    assert ledger.key_path.read_bytes().strip() not in sent
    assert pickle.loads(sent).fingerprint == ledger.fingerprint  # noqa: S301
