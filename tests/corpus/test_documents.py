"""Counting documents with an expression, on a few lines."""

import pytest

from textveil.errors import InputError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.resumption import Reading
from textveil.lab.corpus.splitting import count_documents
from textveil.progress import ignore_progress

EXPRESSIONS = ["green tea", "cup of tea", "a cup of tea", "of tea", "not there"]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("A cup of tea. Green tea, green tea!\nof\ntea\nGreen TEA\n", encoding="utf-8")
    return Corpus.find([path])


def count(corpus, tmp_path, expressions=EXPRESSIONS, progress=ignore_progress):
    return count_documents(Reading(corpus, LocalExecutor(), progress), tmp_path / "documents", expressions)


def test_a_document_counts_once_for_every_expression_in_it(corpus, tmp_path):
    assert count(corpus, tmp_path) == {
        "green tea": 2,
        "cup of tea": 1,
        "a cup of tea": 1,
        "of tea": 1,
        "not there": 0,
    }


def test_finished_blocks_are_not_read_again(corpus, tmp_path):
    first = count(corpus, tmp_path)
    told = []
    assert count(corpus, tmp_path, progress=lambda *values: told.append(values)) == first
    assert told == []


def test_other_expressions_are_counted_anew(corpus, tmp_path):
    count(corpus, tmp_path)
    assert count(corpus, tmp_path, ["green tea"]) == {"green tea": 2}


def test_a_damaged_block_is_refused(corpus, tmp_path):
    count(corpus, tmp_path)
    (tmp_path / "documents" / "000000-000000.npy").write_bytes(b"{")
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        count(corpus, tmp_path)
