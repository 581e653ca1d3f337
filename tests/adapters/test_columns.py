from __future__ import annotations

import math

import pytest

from tests.adapters.conftest import TEXTS
from textveil import Budget, Obfuscator
from textveil.adapters.columns import ObfuscatedFrame, check_texts, choose_obfuscator, find_columns, obfuscate_columns
from textveil.errors import ColumnError, InputError, ParameterError
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
