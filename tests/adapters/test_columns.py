from __future__ import annotations

import math
import multiprocessing
import pickle

import pytest

from tests.adapters.conftest import TEXTS
from textveil import Budget, Obfuscator
from textveil.adapters.columns import (
    BatchObfuscator,
    DeferredObfuscator,
    ObfuscatedFrame,
    check_texts,
    choose_obfuscator,
    find_columns,
    obfuscate_columns,
)
from textveil.errors import BudgetError, ColumnError, InputError, ParameterError, TextveilWarning
from textveil.ledger import Ledger

BUDGET = Budget(epsilon=20.0)


def test_texts_are_obfuscated_row_by_row(settings):
    columns = {"title": TEXTS, "text": TEXTS[::-1]}
    done = obfuscate_columns(Obfuscator(**settings, seed=7), columns, BUDGET, other_columns=False)
    rows = [text for row in zip(*columns.values(), strict=True) for text in row]
    alone = [result.text for result in Obfuscator(**settings, seed=7).obfuscate_all(rows, epsilon=20)]
    assert (done.texts["title"], done.texts["text"]) == (alone[::2], alone[1::2])
    assert done.certificate.tally.documents.total() == 2 * len(TEXTS)


def test_missing_texts_stay_missing(obfuscator):
    values = ["good plot", None, math.nan]
    done = obfuscate_columns(obfuscator, {"text": values}, BUDGET, other_columns=True)
    assert done.texts["text"][1:] == [None, None]
    assert done.outcomes["text"][1:] == ["missing", "missing"]
    assert done.certificate.other_columns


def test_no_rows_give_an_empty_certificate(obfuscator):
    done = obfuscate_columns(obfuscator, {"text": []}, BUDGET, other_columns=False)
    assert (done.texts, done.outcomes) == ({"text": []}, {"text": []})
    assert done.certificate.tally.documents.total() == 0


def test_the_average_length_is_that_of_all_columns(obfuscator):
    budget = Budget(epsilon_per_word=2.0, length="average")
    columns = {"title": ["good"], "text": ["alpha beta gamma"]}
    done = obfuscate_columns(obfuscator, columns, budget, other_columns=False)
    assert done.certificate.budget.average_length == 2.0
    with pytest.raises(InputError, match="No text has a word"):
        obfuscate_columns(obfuscator, {"text": [None]}, budget, other_columns=False)


def test_a_ledger_that_refuses_a_text_leaves_nothing(settings, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", budget_per_document=25)
    obfuscator = Obfuscator(**settings, mechanism="exponential", largest_share=math.inf, ledger=ledger)
    columns = {"text": ["good plot", "good plot"]}
    done = obfuscate_columns(obfuscator, columns, BUDGET, other_columns=False)
    assert done.outcomes["text"][1] == "refused"
    assert done.texts["text"][1] is None


def test_a_value_that_is_no_text_is_named_by_its_place():
    with pytest.raises(ParameterError, match=r"Row 2 of the column 'stars' must be a string, or missing. Got int"):
        check_texts("stars", ["a", 5])


def test_columns_exist_once():
    assert find_columns("text", ["id", "text"], "The frame") == ("text",)
    assert find_columns(["b", "a"], ["a", "b"], "The frame") == ("b", "a")
    with pytest.raises(ColumnError, match="The frame has no column 'txt'. It has: 'id', 'text'. Choose with `columns`"):
        find_columns("txt", ["id", "text"], "The frame")
    with pytest.raises(ColumnError, match="more than once: columns 1 and 2"):
        find_columns("a", ["a", "a"], "The frame")
    with pytest.raises(ParameterError, match="`columns` names no column"):
        find_columns([], ["a"], "The frame")
    with pytest.raises(ParameterError, match="`columns` has the name 'a' more than once"):
        find_columns(["a", "a"], ["a"], "The frame")


def test_an_error_does_not_quote_a_header_that_is_a_text():
    with pytest.raises(ColumnError) as caught:
        find_columns("text", ["I have been ill since May, and my doctor knows"], "The frame")
    assert "ill" not in str(caught.value)


def test_an_obfuscator_is_given_or_built(obfuscator, settings):
    assert choose_obfuscator(obfuscator, {"epsilon": 20}) == (obfuscator, BUDGET)
    assert choose_obfuscator(None, {**settings, "profile": "paper"})[0].profile.name == "paper"
    with pytest.raises(ParameterError, match=r"Set `obfuscator`, or the settings of a new one \(`seed`\), not both"):
        choose_obfuscator(obfuscator, {"seed": 1})
    with pytest.raises(ParameterError, match="There is no argument 'levle'. Did you mean 'level'?"):
        choose_obfuscator(None, {"levle": "high"})
    with pytest.raises(ParameterError, match="`obfuscator` must be an Obfuscator. Got str instead"):
        choose_obfuscator("strict", {})  # type: ignore[arg-type]


def test_a_result_that_is_logged_reveals_no_text(obfuscator):
    done = obfuscate_columns(obfuscator, {"text": ["good plot", None]}, BUDGET, other_columns=False)
    shown = repr(ObfuscatedFrame(done.texts, done.outcomes, done.certificate))
    assert shown == "ObfuscatedFrame(1 obfuscated, 1 missing)"


BATCH = {"title": ["good film", None], "text": ["bad plot", "of the"], "stars": [1, 5]}


def test_a_batch_gets_new_texts_and_outcomes(obfuscator):
    obfuscate = BatchObfuscator(["title", "text"], epsilon=20, obfuscator=obfuscator)
    changed = obfuscate(BATCH)
    assert list(changed) == ["title", "text", "textveil_outcome_title", "textveil_outcome_text"]
    assert changed["title"][1] is None
    assert changed["textveil_outcome_title"][1] == "missing"
    assert changed["textveil_outcome_text"][1] == "only_stopwords"


def test_outcomes_can_be_left_out_or_named(obfuscator):
    assert list(BatchObfuscator(epsilon=20, outcome_column=None, obfuscator=obfuscator)(BATCH)) == ["text"]
    named = BatchObfuscator(epsilon=20, outcome_column="fate", obfuscator=obfuscator)
    assert list(named(BATCH)) == ["text", "fate"]
    with pytest.raises(ParameterError, match="Texts and outcomes cannot be in the same column"):
        BatchObfuscator(epsilon=20, outcome_column="text", obfuscator=obfuscator)
    with pytest.raises(ColumnError, match="has a column 'stars' already. Set `outcome_column`"):
        BatchObfuscator(epsilon=20, outcome_column="stars", obfuscator=obfuscator)(BATCH)


def test_outcomes_of_an_earlier_run_are_replaced(obfuscator):
    obfuscate = BatchObfuscator(epsilon=20, obfuscator=obfuscator)
    with pytest.warns(TextveilWarning, match="'textveil_outcome' of the input is replaced"):
        done = obfuscate({"text": [None], "textveil_outcome": ["obfuscated"]})
    assert done["textveil_outcome"] == ["missing"]
    assert not obfuscate.certificate.other_columns


def test_the_certificate_covers_all_batches(obfuscator):
    obfuscate = BatchObfuscator(epsilon=20, obfuscator=obfuscator)
    assert obfuscate.certificate.tally.documents.total() == 0
    obfuscate(BATCH)
    earlier = obfuscate.certificate
    obfuscate(BATCH)
    assert earlier.tally.documents.total() == 2  # it does not change any more
    assert obfuscate.certificate.tally.documents.total() == 4
    assert obfuscate.certificate.other_columns
    assert obfuscate.certificate.budget.epsilon == 20


def test_its_state_is_never_the_same_twice(settings):
    obfuscate = BatchObfuscator(epsilon=20, **settings)
    assert pickle.dumps(obfuscate) != pickle.dumps(obfuscate)


def test_a_copy_works_and_counts_from_zero(settings):
    obfuscate = BatchObfuscator(epsilon=20, **settings)
    obfuscate(BATCH)
    copied = pickle.loads(pickle.dumps(obfuscate))  # noqa: S301 # our own
    assert copied.certificate.tally.documents.total() == 0
    assert copied(BATCH)["textveil_outcome"][1] == "only_stopwords"


def test_a_column_that_is_not_there(obfuscator):
    with pytest.raises(ColumnError, match="The data set has no column 'txt'. It has: 'title', 'text', 'stars'"):
        BatchObfuscator("txt", epsilon=20, obfuscator=obfuscator)(BATCH)


SPAWN = multiprocessing.get_context("spawn")


def obfuscate(deferred: DeferredObfuscator) -> list[str]:
    return [result.outcome.value for result in deferred.obfuscate_all(["good plot", None])]


def test_another_process_builds_its_own(settings):
    deferred = DeferredObfuscator({**settings, "epsilon": 20})
    with SPAWN.Pool(1) as pool:
        assert pool.apply(obfuscate, [deferred])[1] == "missing"


def test_only_settings_travel_and_models_are_kept(settings):
    deferred = DeferredObfuscator({**settings, "epsilon": 20})
    state = pickle.dumps(deferred)
    assert len(state) < 2000
    first, second = pickle.loads(state), pickle.loads(state)  # noqa: S301 # our own
    assert first.obfuscator is second.obfuscator  # as if a worker got them with two tasks
    assert first.obfuscator is not deferred.obfuscator


def test_two_of_them_do_not_share(settings):
    states = [pickle.dumps(DeferredObfuscator({**settings, "epsilon": 20})) for _ in range(2)]
    first, second = [pickle.loads(state) for state in states]  # noqa: S301 # our own
    assert first.obfuscator is not second.obfuscator


def test_a_seed_is_for_one_process(settings):
    deferred = DeferredObfuscator({**settings, "seed": 1, "epsilon": 20})
    expected = [result.text for result in Obfuscator(**settings, seed=1).obfuscate_all(["good plot"], epsilon=20)]
    assert [result.text for result in deferred.obfuscate_all(["good plot"])] == expected
    with SPAWN.Pool(1) as pool, pytest.raises(ParameterError, match="With `seed`, all processes would draw the same"):
        pool.apply(obfuscate, [deferred])
    with pytest.raises(ParameterError, match="With `seed`"):
        pickle.loads(pickle.dumps(deferred)).ready()  # noqa: S301 # a copy would begin the noise again


def test_an_obfuscator_stays_where_it_is(obfuscator):
    deferred = DeferredObfuscator({"epsilon": 20}, obfuscator)
    assert deferred.obfuscator is obfuscator
    with pytest.raises(ParameterError, match="Give its settings instead of `obfuscator`"):
        pickle.dumps(deferred)


def test_wrong_settings_are_found_at_once(settings):
    with pytest.raises(ParameterError, match="no argument 'sed'. Did you mean 'seed'?"):
        DeferredObfuscator({"sed": 1})
    with pytest.raises(BudgetError, match="must be positive"):
        DeferredObfuscator({**settings, "epsilon": -1})
    with pytest.raises(BudgetError, match="`length='average'` needs all texts at once"):
        DeferredObfuscator({**settings, "epsilon_per_word": 1, "length": "average"})
    with pytest.raises(BudgetError, match="Set `length='own'`, or `epsilon`"):
        DeferredObfuscator({**settings, "profile": "paper", "epsilon_per_word": 1})  # its default is the average
