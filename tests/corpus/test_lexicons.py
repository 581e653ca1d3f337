import json

import numpy as np
import pytest

from tests.corpus.conftest import count, write_lines, zipf_documents
from textveil.errors import InputError, OutputError, OutputExistsError, ParameterError
from textveil.lab.corpus import lexicons
from textveil.lab.corpus.counting.ngrams import NgramCounts
from textveil.lab.corpus.lexicons import MEASURES, Lexicon, ScoreJob, count_occurrences


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counted")
    documents = zipf_documents(30_000, vocabulary=400) + ["new york city hall", "New York, city of lights"] * 40
    return count(write_lines(folder / "a.txt", documents), folder / "counts", min_count=5).folder


def plain_scores(folder, measure):
    """The score of every n-gram with more than one word."""
    counts = NgramCounts.load(folder)
    occurrences = count_occurrences(counts)
    return {
        ngram: score
        for length, found in occurrences.items()
        for ngram, score in zip(counts.tables[length].ngrams.to_pylist(), MEASURES[measure](found), strict=True)
    }


def test_the_pmi_lexicon_is_above_the_threshold(tmp_path, counted):
    ScoreJob(counted, tmp_path / "lexicons").run()
    lexicon = Lexicon.load(tmp_path / "lexicons", "pmi")
    expected = {ngram: score for ngram, score in plain_scores(counted, "pmi").items() if score > 2}
    assert dict(zip(lexicon.ngrams, lexicon.scores.tolist(), strict=True)) == expected
    assert "new york" in lexicon.ngrams
    assert lexicon.ngrams == sorted(lexicon.ngrams)


@pytest.mark.parametrize("measure", ["llr", "tscore"])
@pytest.mark.parametrize("top_share", [0.05, 0.2, 1.0])
def test_the_other_lexicons_are_the_top_of_all_lengths(tmp_path, counted, measure, top_share):
    manifest = ScoreJob(counted, tmp_path / "lexicons", top_share=top_share).run()
    lexicon = Lexicon.load(tmp_path / "lexicons", measure)
    scores = plain_scores(counted, measure)
    best = sorted(scores.values(), reverse=True)[: int(np.ceil(top_share * len(scores)))]
    assert dict(zip(lexicon.ngrams, lexicon.scores.tolist(), strict=True)) == {
        ngram: score for ngram, score in scores.items() if score >= best[-1]
    }
    assert manifest["lexicons"][measure]["threshold"] == best[-1]
    assert sum(manifest["lexicons"][measure]["entries"].values()) == len(lexicon)


def test_a_higher_min_count_leaves_out_more(tmp_path, counted):
    ScoreJob(counted, tmp_path / "lexicons", min_count=20).run()
    for measure in MEASURES:
        assert Lexicon.load(tmp_path / "lexicons", measure).counts.min() >= 20


def test_ngrams_rarer_than_by_chance_can_be_left_out(tmp_path):
    documents = ["a x"] * 50 + ["b y"] * 50 + ["a y"] * 5  # a and y are frequent, and avoid each other
    counts = count(write_lines(tmp_path / "a.txt", documents), tmp_path / "counts", min_count=5).folder
    manifest = ScoreJob(counts, tmp_path / "all", top_share=1.0).run()
    assert Lexicon.load(tmp_path / "all", "llr").ngrams == ["a x", "a y", "b y"]
    assert manifest["lexicons"]["llr"]["rarer_than_chance"] == 1
    manifest = ScoreJob(counts, tmp_path / "attracted", top_share=1.0, only_attracted=True).run()
    assert Lexicon.load(tmp_path / "attracted", "llr").ngrams == ["a x", "b y"]
    assert Lexicon.load(tmp_path / "attracted", "tscore").ngrams == ["a x", "a y", "b y"]
    assert manifest["lexicons"]["llr"]["rarer_than_chance"] == 0


def test_without_ngrams_lexicons_are_empty(tmp_path):
    counts = count(write_lines(tmp_path / "a.txt", ["a b", "c d", "e f"]), tmp_path / "counts", min_count=2)
    manifest = ScoreJob(counts.folder, tmp_path / "lexicons").run()
    assert manifest["ngrams"] == 0
    assert all(len(Lexicon.load(tmp_path / "lexicons", measure)) == 0 for measure in MEASURES)


def test_the_same_counts_give_the_same_bytes(tmp_path, counted):
    for name in ("one", "two"):
        ScoreJob(counted, tmp_path / name).run()
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["lexicons.json", "llr.parquet", "pmi.parquet", "tscore.parquet"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_share_is_not_changed_by_rounding_errors(tmp_path):
    documents = [f"a{number} b{number}" for number in range(100) for _ in range(2)]
    counts = count(write_lines(tmp_path / "a.txt", documents), tmp_path / "counts", min_count=2).folder
    job = ScoreJob(counts, tmp_path / "lexicons", top_share=0.07)
    chosen, _ = job._choose("llr", np.arange(100.0), np.ones(100, bool))
    assert chosen.tolist() == list(range(93, 100))


def test_a_full_disk_leaves_old_lexicons_alone(tmp_path, counted, monkeypatch):
    ScoreJob(counted, tmp_path / "lexicons").run()
    before = {path.name: path.read_bytes() for path in (tmp_path / "lexicons").iterdir()}

    def fail(*arguments):
        raise OutputError("no space")

    monkeypatch.setattr(lexicons, "write_table", fail)
    with pytest.raises(OutputError):
        ScoreJob(counted, tmp_path / "lexicons", overwrite=True).run()
    assert {path.name: path.read_bytes() for path in (tmp_path / "lexicons").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["lexicons"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 4}, "occur at least 5 times. Count again with `min_count=4`"),
        ({"top_share": 0.0}, r"\(0, 1\]"),
        ({"top_share": 1.5}, r"\(0, 1\]"),
        ({"min_pmi": float("nan")}, "finite"),
    ],
)
def test_invalid_parameters_are_refused(tmp_path, counted, options, message):
    with pytest.raises(ParameterError, match=message):
        ScoreJob(counted, tmp_path / "lexicons", **options).run()
    assert not list(tmp_path.iterdir())


def test_lexicons_are_replaced_only_on_request(tmp_path, counted):
    ScoreJob(counted, tmp_path / "lexicons").run()
    with pytest.raises(OutputExistsError, match="`overwrite=True`"):
        ScoreJob(counted, tmp_path / "lexicons").run()
    ScoreJob(counted, tmp_path / "lexicons", min_pmi=5.0, overwrite=True).run()
    assert json.loads((tmp_path / "lexicons" / "lexicons.json").read_bytes())["min_pmi"] == 5.0
    (tmp_path / "photos").mkdir()
    with pytest.raises(OutputExistsError, match=r"has no lexicons\.json"):
        ScoreJob(counted, tmp_path / "photos", overwrite=True).run()


def test_damaged_counts_leave_old_lexicons_alone(tmp_path, counted):
    ScoreJob(counted, tmp_path / "lexicons").run()
    before = (tmp_path / "lexicons" / "pmi.parquet").read_bytes()
    (tmp_path / "counts").mkdir()
    with pytest.raises(InputError, match="prepare count"):
        ScoreJob(tmp_path / "counts", tmp_path / "lexicons", overwrite=True).run()
    assert (tmp_path / "lexicons" / "pmi.parquet").read_bytes() == before


def test_a_missing_or_changed_lexicon_is_refused(tmp_path, counted):
    ScoreJob(counted, tmp_path / "lexicons").run()
    with pytest.raises(InputError, match="no readable lexicon 'dice'"):
        Lexicon.load(tmp_path / "lexicons", "dice")
    (tmp_path / "lexicons" / "pmi.parquet").write_bytes(b"changed")
    with pytest.raises(InputError, match="was changed"):
        Lexicon.load(tmp_path / "lexicons", "pmi")
    with pytest.raises(InputError, match="prepare score"):
        Lexicon.load(tmp_path, "pmi")
