from __future__ import annotations

import pickle

import pytest

from textveil.adapters.columns import BatchObfuscator
from textveil.errors import ColumnError, ParameterError, TextveilWarning

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
