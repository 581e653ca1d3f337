"""Splitting a corpus into tokens, and counting documents with an expression."""

import lzma
import random

import pytest

from tests.corpus.conftest import write_lines
from textveil.bundles.building import LexiconTable, build_bundle
from textveil.errors import InputError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus import inputs
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.resumption import Reading
from textveil.lab.corpus.splitting import LONGEST_LINE, count_documents, join_tokens, read_split, split_corpus
from textveil.progress import ignore_progress

PHRASES = ["new york", "green tea", "box office hit", "good film", "the plot", "was bad", "it was", "a cup of tea"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A bundle with a lexicon and no vectors."""
    folder = tmp_path_factory.mktemp("splitting") / "first"
    lexicon = LexiconTable(["box office hit", "green tea", "new york"])
    build_bundle(folder, {}, lexicons={"pmi": lexicon}, name="first", version="1", corpus="none", license="MIT")
    return folder


@pytest.fixture
def corpus(tmp_path):
    generator = random.Random(2)
    lines = (" ".join(generator.choices(PHRASES, k=8)).capitalize() + "." for _ in range(300))
    return write_lines(tmp_path / "corpus.txt", lines)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 1 << 11)


def split(path, folder, bundle, *, executor=None, workers=1, decomposition="pmi", progress=ignore_progress):
    reading = Reading(Corpus.find([path]), executor or LocalExecutor(), progress, workers)
    return split_corpus(reading, folder, bundle=bundle, decomposition=decomposition)


def test_a_chunk_is_a_token_and_a_document_is_a_line(tmp_path, bundle):
    path = write_lines(tmp_path / "a.txt", ["Green tea, in New York!", "", "A box-office hit: green"])
    tokens = split(path, tmp_path / "out", bundle)
    lines = tokens.read_text(encoding="utf-8").splitlines()
    assert lines == ["green_tea in new_york", "a box_office_hit green"]
    assert read_split(tmp_path / "out" / "split.json") == (3, 10)


def test_words_are_split_one_by_one(tmp_path, bundle):
    path = write_lines(tmp_path / "a.txt", ["Green tea, in New York!"])
    tokens = split(path, tmp_path / "out", bundle, decomposition="words")
    assert tokens.read_text(encoding="utf-8") == "green tea in new york\n"


def test_a_long_document_has_several_lines(tmp_path, bundle):
    path = write_lines(tmp_path / "a.txt", ["tea " * (2 * LONGEST_LINE + 5)])
    lines = split(path, tmp_path / "out", bundle, decomposition="words").read_text(encoding="utf-8").splitlines()
    assert [len(line.split()) for line in lines] == [LONGEST_LINE, LONGEST_LINE, 5]
    assert read_split(tmp_path / "out" / "split.json")[0] == 1


def test_the_parts_are_removed_when_they_are_joined(tmp_path, bundle, corpus, small_blocks):
    split(corpus, tmp_path / "out", bundle)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["split.json", "tokens.txt"]


@pytest.mark.parametrize(
    ("name", "workers"), [("processes", 1), ("processes", 3), pytest.param("ray", 3, marks=pytest.mark.slow)]
)
def test_tokens_do_not_depend_on_the_executor(corpus, tmp_path, bundle, open_executor, name, workers):
    expected = split(corpus, tmp_path / "here", bundle)
    assert expected.read_text(encoding="utf-8").count("green_tea")
    packed = tmp_path / "corpus.txt.xz"
    packed.write_bytes(lzma.compress(corpus.read_bytes()))
    with open_executor(name, 2) as executor:
        found = split(packed, tmp_path / "there", bundle, executor=executor, workers=workers)
    assert found.read_bytes() == expected.read_bytes()
    assert read_split(found.with_name("split.json"))[0] == 300


def test_a_resumption_splits_only_the_missing_blocks(tmp_path, bundle, corpus, small_blocks):
    expected = split(corpus, tmp_path / "whole", bundle).read_bytes()
    told = []

    def stop(stage, amount, fraction):
        told.append(fraction)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        split(corpus, tmp_path / "out", bundle, progress=stop)
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "split").glob("*.json")}
    assert len(finished) == 3
    resumed = []

    def note(stage, amount, fraction):
        resumed.append((stage, fraction))
        assert {path: path.stat().st_mtime_ns for path in finished} == finished

    assert split(corpus, tmp_path / "out", bundle, progress=note).read_bytes() == expected
    assert resumed[0][0] == "splitting by pmi"
    assert resumed[0][1] > told[-1]  # progress resumes where it was
    assert resumed[-1][1] == pytest.approx(1.0)


def test_finished_tokens_are_not_split_again(tmp_path, bundle, corpus):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tokens.txt").write_text("finished")
    assert split(corpus, tmp_path / "out", bundle).read_text() == "finished"


@pytest.mark.parametrize("content", [None, "", "[]", '{"rows": 1}', "null", "[1]"])
def test_a_damaged_mark_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "mark.json").write_text(content)
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        read_split(tmp_path / "mark.json")


def test_a_background_is_joined_behind_the_corpus(tmp_path):
    (tmp_path / "background").mkdir()
    parts = [tmp_path / "tokens.txt", tmp_path / "background" / "tokens.txt"]
    for path, text in zip(parts, ("one\n", "two\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    assert join_tokens(parts[:1]) == parts[0]
    joined = join_tokens(parts)
    assert joined.read_text(encoding="utf-8") == "one\ntwo\n"
    assert joined.parent == parts[1].parent


EXPRESSIONS = ["green tea", "cup of tea", "a cup of tea", "of tea", "not there"]


@pytest.fixture
def teas(tmp_path):
    path = tmp_path / "teas.txt"
    path.write_text("A cup of tea. Green tea, green tea!\nof\ntea\nGreen TEA\n", encoding="utf-8")
    return Corpus.find([path])


def count(teas, tmp_path, expressions=EXPRESSIONS, progress=ignore_progress):
    return count_documents(Reading(teas, LocalExecutor(), progress), tmp_path / "documents", expressions)


def test_a_document_counts_once_for_every_expression_in_it(teas, tmp_path):
    assert count(teas, tmp_path) == {
        "green tea": 2,
        "cup of tea": 1,
        "a cup of tea": 1,
        "of tea": 1,
        "not there": 0,
    }


def test_finished_blocks_are_not_read_again(teas, tmp_path):
    first = count(teas, tmp_path)
    told = []
    assert count(teas, tmp_path, progress=lambda *values: told.append(values)) == first
    assert told == []


def test_other_expressions_are_counted_anew(teas, tmp_path):
    count(teas, tmp_path)
    assert count(teas, tmp_path, ["green tea"]) == {"green tea": 2}


def test_a_damaged_block_is_refused(teas, tmp_path):
    count(teas, tmp_path)
    (tmp_path / "documents" / "000000-000000.npy").write_bytes(b"{")
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        count(teas, tmp_path)
