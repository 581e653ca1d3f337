"""From a file of tokens to a prior, against plain counts."""

import random
import zlib

import numpy as np
import pytest

from tests.corpus.test_kneser_ney import count
from textveil.bundles.prior import read_prior
from textveil.errors import InputError
from textveil.execution.local import LocalExecutor, ProcessExecutor
from textveil.lab.corpus import priors
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.priors import HELD_OUT, PriorBuilder, divide_lines, divide_rows, estimate, load_prior
from textveil.lab.corpus.resumption import Reading
from textveil.lab.corpus.settings import PriorOptions
from textveil.progress import ignore_progress

ENTRIES = [*"abcdefghijk", "green_tea"]


def make_lines(number=900, seed=6):
    """Sentences in which every word depends on the two words before it; "zzz" is not in the vocabulary."""
    generator = random.Random(seed)
    for _ in range(number):
        words = generator.choices(ENTRIES, k=2)
        for _ in range(generator.randrange(1, 14)):
            likely = ENTRIES[(ENTRIES.index(words[-1]) * 5 + ENTRIES.index(words[-2])) % len(ENTRIES)]
            words.append(generator.choices([likely, generator.choice(ENTRIES)], [3, 1])[0])
        if generator.random() < 0.3:
            words[generator.randrange(len(words))] = "zzz"
        yield " ".join(words)


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text("".join(f"{line}\n" for line in make_lines()), encoding="utf-8")
    return path


def to_rows(line):
    return [ENTRIES.index(word) if word in ENTRIES else None for word in line.split()]


def is_held_out(line):
    return zlib.crc32(line.encode() + b"\n") % HELD_OUT == 0


def build(tokens, folder, *, executor=None, memory=1 << 30, progress=ignore_progress, **options):
    folder.mkdir(exist_ok=True)
    chosen = PriorOptions(**{"min_documents": 3, **options})
    reading = Reading(Corpus(()), executor or LocalExecutor(), progress)
    return PriorBuilder(tokens, folder, chosen, reading, memory).run(ENTRIES)


def open_prior(table):
    return read_prior(
        lambda name, _: table.arrays[name], entries=len(ENTRIES), order=table.describe()["order"], identity={}
    )


@pytest.mark.parametrize("min_documents", [1, 4])
def test_counts_are_those_of_a_plain_count_without_held_out_documents(tokens, tmp_path, monkeypatch, min_documents):
    seen = []

    def note(counts, levels, **options):
        seen.append((counts, levels))
        return estimate(counts, levels, **options)

    monkeypatch.setattr(priors, "estimate", note)
    monkeypatch.setattr(priors, "BLOCK_BYTES", 1000)
    table = build(tokens, tmp_path / "words", min_documents=min_documents)
    lines = [line for line in make_lines() if not is_held_out(line)]
    assert 0 < len(list(make_lines())) - len(lines) == table.description["held_out"]
    assert table.description["documents"] == len(lines)
    expected_counts, expected = count(list(map(to_rows, lines)), 3, min_documents)
    counts, levels = seen[-1]
    assert counts.tolist() == expected_counts.tolist()
    assert table.description["tokens"] == counts.sum()
    for level, plain in zip(levels, expected, strict=True):
        for name in ("keys", "counts", "contexts", "totals"):
            assert getattr(level, name).tolist() == getattr(plain, name).tolist(), name
        assert level.histogram[1:].tolist() == plain.histogram[1:].tolist()


def test_blocks_memory_and_executor_do_not_change_the_prior(tokens, tmp_path, monkeypatch):
    whole = build(tokens, tmp_path / "whole")
    monkeypatch.setattr(priors, "BLOCK_BYTES", 700)
    monkeypatch.setattr(priors, "_LEAST_NGRAMS", 2000)
    with ProcessExecutor(2) as executor:
        ranges = []
        divided = build(
            tokens,
            tmp_path / "divided",
            executor=executor,
            memory=1,
            progress=lambda stage, *_: ranges.append(stage),
        )
    assert whole.description == divided.description
    assert whole.arrays.keys() == divided.arrays.keys()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, divided.arrays[name])
    assert ranges.count("numbering divided") > 10
    assert ranges.count("counting 3-grams of divided") > 2
    assert sorted(path.name for path in (tmp_path / "divided").iterdir()) == ["prior"]


def test_counting_merges_whenever_its_memory_is_full(tokens, tmp_path, monkeypatch):
    monkeypatch.setattr(priors, "BLOCK_BYTES", 700)
    merged = []

    def note(parts):
        merged.append(sum(part.shape[1] for part in parts))
        return real(parts)

    real = priors._merge
    monkeypatch.setattr(priors, "_merge", note)
    monkeypatch.setattr(priors, "divide_rows", lambda counts, most: iter([(0, 5), (5, len(counts))]))
    monkeypatch.setattr(priors, "_LEAST_NGRAMS", 300)
    small = build(tokens, tmp_path / "small", memory=1)
    assert len(merged) > 20
    assert max(merged) < 300 + 144 * 12  # the limit, and all trigrams
    merged.clear()
    whole = build(tokens, tmp_path / "whole")
    assert len(merged) == 4  # once for each of two ranges and two lengths
    np.testing.assert_array_equal(small.arrays["3_codes"], whole.arrays["3_codes"])


def test_an_ngram_of_few_documents_is_left_out_however_often_it_occurs(tmp_path):
    path = tmp_path / "tokens.txt"
    lines = ["a b " * 50, *(f"c d {word}" for word in "efghijk"), *(["e f"] * 4)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    table = build(path, tmp_path / "words", min_documents=4)
    pairs = {tuple(divmod(int(key), len(ENTRIES))) for key in keys_of(table, 2)}
    assert pairs == {(2, 3), (4, 5)}  # c d, e f
    assert "3_codes" not in table.arrays
    assert table.describe()["order"] == 2


def keys_of(table, length):
    sizes = np.diff(table.arrays[f"{length}_offsets"])
    contexts = np.repeat(table.arrays[f"{length}_contexts"].astype(np.int64), sizes)
    return contexts * len(ENTRIES) + table.arrays[f"{length}_entries"]


def test_the_lines_of_a_long_document_are_one_document(tmp_path, monkeypatch):
    monkeypatch.setattr(priors, "LONGEST_LINE", 4)
    monkeypatch.setattr(priors, "BLOCK_BYTES", 5)
    path = tmp_path / "tokens.txt"
    path.write_text("a b c d\n" * 9 + "a b\n" + "e f g\n" * 6, encoding="utf-8")
    assert next(divide_lines(path, 5)) == (0, 9 * 8 + 4)
    table = build(path, tmp_path / "words", min_documents=5)
    assert table.description["documents"] + table.description["held_out"] == 7
    assert {key // len(ENTRIES) for key in keys_of(table, 2).tolist()} == {4, 5}


@pytest.mark.parametrize("size", [1, 7, 100, 5000, 1 << 20])
def test_blocks_cover_a_file_in_whole_documents(tokens, size):
    content = tokens.read_bytes()
    blocks = list(divide_lines(tokens, size))
    assert [stop for _, stop in blocks[:-1]] == [start for start, _ in blocks[1:]]
    assert (blocks[0][0], blocks[-1][1]) == (0, len(content))
    assert all(content[stop - 1 : stop] == b"\n" for _, stop in blocks)


def test_ranges_of_rows_have_a_limited_number_of_occurrences():
    counts = np.array([9, 1, 1, 50, 0, 3, 3, 3])
    ranges = list(divide_rows(counts, 10))
    assert ranges == [(0, 2), (2, 3), (3, 4), (4, 8)]
    assert list(divide_rows(counts, 1000)) == [(0, 8)]


def test_longer_contexts_predict_better_and_the_measured_prior_is_the_written_one(tokens, tmp_path):
    table = build(tokens, tmp_path / "words", min_documents=1)
    perplexity = table.description["perplexity"]
    assert perplexity["3"] < 0.7 * min(perplexity["1"], perplexity["2"])  # of two words, not of one
    held_out = [to_rows(line) for line in make_lines() if is_held_out(line)]
    documents = [np.array([-1 if row is None else row for row in rows]) for rows in held_out]
    assert open_prior(table).perplexity(documents) == pytest.approx(perplexity["3"], abs=0.01)


def test_rounding_costs_nearly_nothing(tokens, tmp_path, monkeypatch):
    from textveil.bundles import prior as module

    rounded = build(tokens, tmp_path / "rounded", min_documents=1).description["perplexity"]["3"]
    monkeypatch.setattr(module, "_CODES", 1 << 16)
    monkeypatch.setattr(np, "uint8", np.uint16)
    exact = build(tokens, tmp_path / "exact", min_documents=1).description["perplexity"]["3"]
    assert rounded == pytest.approx(exact, rel=0.005)


def test_the_number_of_ngrams_can_be_limited(tokens, tmp_path):
    table = build(tokens, tmp_path / "words", most_ngrams=50)
    ngrams = table.describe()["ngrams"]
    assert sum(ngrams.values()) == 50
    assert ngrams["2"] >= 1  # the level below must not be empty, though trigrams say more here


@pytest.mark.parametrize("stage", ["numbering words", "counting 2-grams of words", "counting 3-grams of words"])
def test_an_interrupted_run_resumes_and_writes_the_same(tokens, tmp_path, monkeypatch, stage):
    whole = build(tokens, tmp_path / "whole")
    monkeypatch.setattr(priors, "BLOCK_BYTES", 9000)
    monkeypatch.setattr(priors, "divide_rows", lambda counts, most: iter([(0, 5), (5, len(counts))]))

    def stop(now, *_):
        if now == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tokens, tmp_path / "words", progress=stop)
    folder = tmp_path / "words"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.np?")}
    assert before
    monkeypatch.setattr(priors.shutil, "rmtree", lambda path, **_: None)  # their times are compared
    resumed = build(tokens, folder)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, resumed.arrays[name])


def test_other_settings_do_not_use_the_counts_of_an_interrupted_run(tokens, tmp_path):
    def stop(now, *_):
        if now.startswith("estimating"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tokens, tmp_path / "words", progress=stop, min_documents=9)
    resumed = build(tokens, tmp_path / "words", min_documents=2)
    np.testing.assert_array_equal(
        resumed.arrays["3_codes"], build(tokens, tmp_path / "other", min_documents=2).arrays["3_codes"]
    )


def test_a_finished_prior_is_read_back_and_a_damaged_one_is_refused(tokens, tmp_path):
    table = build(tokens, tmp_path / "words")
    loaded = load_prior(tmp_path / "words" / "prior")
    assert loaded.description == table.description
    assert loaded.arrays.keys() == table.arrays.keys()
    (tmp_path / "words" / "prior" / "3_codes.npy").write_bytes(b"damaged")
    with pytest.raises(InputError, match="Set `overwrite=True` to start over"):
        load_prior(tmp_path / "words" / "prior")


def test_a_corpus_without_known_words_gives_equal_probabilities(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text("zzz zzz\n", encoding="utf-8")
    prior = open_prior(build(path, tmp_path / "words"))
    assert prior.order == 1
    np.testing.assert_allclose(
        prior.log_probabilities(np.zeros((1, 0), dtype=np.int64)), -np.log(len(ENTRIES)), rtol=1e-6
    )
