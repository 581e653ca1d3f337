"""Rows on their way through a job: texts alone for measuring, and obfuscated rows for a writer."""

import io
import math

import pytest

from textveil.budget import Budget
from textveil.jobs.workers import obfuscate_rows, read_texts, write_rows
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome
from textveil.tables import FileSource, Layout, Result, Rows, StreamSource, Writer

TEXTS = ["alpha beta", None, "", "the and of", "gamma"]


class Recorder(Writer):
    """Keeps what is written."""

    def __init__(self):
        self.written = []

    def write(self, rows, results):
        self.written.append((rows, list(results)))


@pytest.fixture
def seeded(tiny):
    return lambda: Obfuscator(tiny, seed=5)


def write(obfuscator, texts=TEXTS, epsilon=30.0, first_document=None):
    writer = Recorder()
    (done,) = obfuscate_rows(obfuscator, Budget(epsilon), [(first_document, Rows(texts, list(texts)))])
    return writer.written, write_rows(*done, writer)


def test_rows_are_written_once_with_their_results_in_order(seeded):
    ((rows, results),), _ = write(seeded())
    assert rows == Rows(TEXTS, TEXTS)
    expected = list(seeded().obfuscate_all(TEXTS, epsilon=30.0))
    assert [result.text or "" for result in results] == [obfuscation.text for obfuscation in expected]
    assert [result.outcome for result in results] == [obfuscation.outcome.value for obfuscation in expected]


def test_a_missing_text_stays_missing_and_an_empty_one_stays_empty(seeded):
    ((_, results),), _ = write(seeded())
    assert results[1] == Result(None, "missing")
    assert results[2] == Result("", "no_words")
    assert results[3] == Result("The and of.", "only_stopwords")


def test_the_tally_counts_every_row(seeded):
    _, tally = write(seeded())
    changed = tally.documents.pop(DocumentOutcome.OBFUSCATED, 0) + tally.documents.pop(DocumentOutcome.RETURNED, 0)
    assert changed == 2
    assert tally.documents == {
        DocumentOutcome.MISSING: 1,
        DocumentOutcome.NO_WORDS: 1,
        DocumentOutcome.ONLY_STOPWORDS: 1,
    }
    assert tally.words.total() == 6
    assert tally.largest_budget == 30.0


def test_the_number_of_the_first_document_chooses_the_noise(seeded):
    texts = ["alpha beta gamma delta"] * 4
    ((_, whole),), _ = write(seeded(), texts, epsilon=0.1, first_document=0)
    ((_, rest),), _ = write(seeded(), texts[2:], epsilon=0.1, first_document=2)
    ((_, other),), _ = write(seeded(), texts[2:], epsilon=0.1, first_document=0)
    assert rest == whole[2:]
    assert other == whole[:2] != rest


def test_without_a_number_documents_are_numbered_on(seeded):
    texts = ["alpha beta gamma delta"] * 2
    obfuscator = seeded()
    ((_, first),), _ = write(obfuscator, texts, epsilon=0.1)
    ((_, second),), _ = write(obfuscator, texts, epsilon=0.1)
    ((_, whole),), _ = write(seeded(), texts * 2, epsilon=0.1)
    assert first + second == whole


def test_texts_are_read_alone_and_in_order_with_progress(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    source, reported = FileSource(path), []
    texts = read_texts(source, Layout().table(source), 2, lambda *progress: reported.append(progress))
    assert list(texts) == ["one", "two", "three"]
    assert [amounts for _, *amounts in reported] == [[2, 8 / 14], [3, 1.0]]  # of 14 bytes
    assert len({stage for stage, *_ in reported}) == 1


def test_the_progress_of_a_stream_has_no_fraction():
    source, reported = StreamSource(io.BytesIO(b"one\ntwo\n")), []
    texts = read_texts(source, Layout().table(source), 1, lambda *progress: reported.append(progress))
    assert next(texts) == "one"
    assert reported == []  # a batch is reported when all of its texts were taken
    assert next(texts) == "two"
    assert [amounts for _, *amounts in reported] == [[1, None]]


@pytest.mark.parametrize(("profile", "outcome"), [("strict", "returned"), ("proven", "obfuscated")])
def test_a_row_confirms_no_original_where_everything_must_be_covered(tiny, profile, outcome):
    obfuscator = Obfuscator(tiny, profile=profile, largest_share=math.inf, seed=1)
    ((_, (result,)),), tally = write(obfuscator, ["alpha"], 1e6)
    assert (result.text.strip(".").lower(), result.outcome) == ("alpha", outcome)
    assert tally.documents[DocumentOutcome.RETURNED] == 1
