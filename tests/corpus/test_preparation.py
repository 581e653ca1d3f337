"""From a corpus to a bundle, on a few thousand words."""

import lzma
import os
import random
import re

import numpy as np
import pytest

from textveil.bundles.bundle import Bundle
from textveil.errors import OutputError, OutputExistsError, ParameterError, SmallCorpusError
from textveil.execution.local import LocalExecutor, ProcessExecutor
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.preparation import PrepareJob
from textveil.lab.corpus.settings import Labels, PriorOptions, Selection, Thresholds, Training, VectorOptions
from textveil.obfuscator import Obfuscator
from textveil.storage.atomic import hash_file

PHRASES = ["new york", "green tea", "box office hit", "good film", "the plot", "was bad", "it was", "a cup of tea"]
SMALL = {
    "labels": Labels("tiny"),
    "thresholds": Thresholds(min_count=3, top_share=0.5),
    "selection": Selection(min_entry_count=2),
    "vectors": VectorOptions(training=Training(dimensions=8, epochs=1)),
    "decompositions": ("words", "pmi", "llr", "tscore", "pos"),
}


@pytest.fixture
def corpus(tmp_path):
    generator = random.Random(2)
    path = tmp_path / "corpus.txt"
    lines = (" ".join(generator.choices(PHRASES, k=8)).capitalize() + "." for _ in range(300))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def prepare(corpus, output, **options):
    return PrepareJob(Corpus.find([corpus]), output, **{**SMALL, **options}).run(LocalExecutor())


def test_the_prepared_bundle_obfuscates(corpus, tmp_path):
    bundle = prepare(corpus, tmp_path / "bundle")
    bundle.verify()
    assert bundle.decompositions == SMALL["decompositions"]
    assert "green tea" in bundle.lexicon("pmi").spelled
    assert "green_tea" in bundle.vectors("pmi")
    counts = dict(zip(bundle.vectors("words").entries, bundle.counts("words").tolist(), strict=True))
    assert counts["green"] == corpus.read_text().lower().count("green")
    assert bundle.manifest.tokens == len(corpus.read_text().split())
    assert not (tmp_path / "bundle.partial").exists()
    result = Obfuscator(bundle, decomposition="pmi").obfuscate("Green tea in New York.", epsilon=9)
    assert [chunk.original for chunk in result.chunks] == ["Green tea", "in", "New York"]


def test_a_killed_run_reuses_its_finished_steps(corpus, tmp_path, monkeypatch):
    from textveil.lab.corpus import preparation

    trained = []

    def fail_at_third(tokens, *arguments, **options):
        trained.append(tokens.parent.name)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return real(tokens, *arguments, **options)

    real = preparation.train
    monkeypatch.setattr(preparation, "train", fail_at_third)
    with pytest.raises(KeyboardInterrupt):
        prepare(corpus, tmp_path / "bundle")
    prepare(corpus, tmp_path / "bundle")
    assert trained == ["words", "pmi", "llr", "llr", "tscore", "pos"]
    with pytest.raises(ParameterError, match="exists"):
        prepare(corpus, tmp_path / "bundle")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_that_was_killed_while_it_removed_its_folder_succeeds_when_it_is_repeated(
    corpus, tmp_path, monkeypatch, overwrite
):
    from textveil.storage import resumable

    def stop_at_settings(path):
        if path.name == "job.json":
            raise KeyboardInterrupt
        remove(path)

    remove = resumable._remove
    small = {"decompositions": ("words",), "overwrite": overwrite}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(resumable, "_remove", stop_at_settings)
        prepare(corpus, tmp_path / "bundle", **small)
    assert (tmp_path / "bundle.partial").exists()
    monkeypatch.setattr("textveil.lab.corpus.preparation._Preparation.run", lambda *_: pytest.fail("prepared again"))
    assert prepare(corpus, tmp_path / "bundle", **small).decompositions == ("words",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "corpus.txt"]


def test_a_resumption_may_have_more_decompositions(corpus, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("textveil.lab.corpus.preparation.load_vectors", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepare(corpus, tmp_path / "bundle", decompositions=("words",))
    assert prepare(corpus, tmp_path / "bundle", decompositions=("words", "pmi")).decompositions == ("words", "pmi")


def test_a_run_does_not_resume_with_other_settings(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("textveil.lab.corpus.preparation.train", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        prepare(corpus, tmp_path / "bundle")
    with pytest.raises(ParameterError, match="other settings: vectors"):
        prepare(corpus, tmp_path / "bundle", vectors=VectorOptions(dimensions=9))


def test_a_corpus_too_small_for_the_thresholds_is_refused_with_better_ones(corpus, tmp_path):
    output = tmp_path / "bundle"
    for option, value, message in [
        ("thresholds", Thresholds(min_count=100_000), "too small for `min_count=100000`.*Try `min_count=2`"),
        ("selection", Selection(min_documents=10_000), "lexicon is empty: no expression is in 10000 documents. Lower"),
        ("thresholds", Thresholds(3, min_pmi=50), r"above `min_pmi=50`, the highest has \d.*Try `min_pmi="),
        (
            "selection",
            Selection(min_entry_count=10_000),
            r"too small for `min_entry_count=10000`.*occurs \d+ times. Lower",
        ),
    ]:
        with pytest.raises(SmallCorpusError, match=message) as caught:
            prepare(corpus, output, **{option: value})
        assert not (tmp_path / "bundle.partial").exists()  # the next command is not a resumption
    most = int(re.search(r"occurs (\d+) times", str(caught.value))[1])
    pmi = {"thresholds": Thresholds(2, min_pmi=1.5, top_share=0.5), "decompositions": ("words",)}
    assert len(prepare(corpus, output, selection=Selection(most), **pmi).vectors("words")) == 1


def test_trained_vectors_remain_if_another_decomposition_is_too_small(corpus, tmp_path):
    most = int(prepare(corpus, tmp_path / "words", decompositions=("words",)).counts("words")[0])
    with pytest.raises(SmallCorpusError, match="too small for `min_entry_count"):
        prepare(corpus, tmp_path / "bundle", selection=Selection(most))
    assert (tmp_path / "bundle.partial" / "words" / "vectors").exists()


def test_a_resumption_with_other_workers_reads_the_same_blocks(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("textveil.lab.corpus.inputs.SENT_BYTES", 1 << 10)
    monkeypatch.setattr("textveil.lab.corpus.inputs._READ_BYTES", 1 << 10)
    packed = tmp_path / "corpus.txt.xz"
    packed.write_bytes(lzma.compress(corpus.read_bytes()))
    job = PrepareJob(Corpus.find([packed]), tmp_path / "bundle", **SMALL)
    done = []

    def stop(stage, amount, fraction):
        done.append(stage)
        if done.count("splitting by words") == 3:
            raise KeyboardInterrupt

    with ProcessExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        job.run(executor, stop)
    assert 0 < len(list((tmp_path / "bundle.partial" / "words" / "split").glob("*.txt"))) < 10
    assert job.run(LocalExecutor(1)).manifest.tokens == len(corpus.read_text().split())


def test_the_manifest_makes_the_build_repeatable(corpus, tmp_path):
    first = prepare(corpus, tmp_path / "first")
    again = prepare(corpus, tmp_path / "again")
    assert first.manifest == again.manifest
    said = first.manifest.parameters
    assert said["corpus"]["files"] == [
        {"name": "corpus.txt", "bytes": corpus.stat().st_size, "sha256": hash_file(corpus)}
    ]
    assert said["vectors"]["word2vec"]["dimensions"] == said["vectors"]["dimensions"] == 8
    assert said["selection"]["min_documents"] == 20
    assert said["thresholds"] == {"min_count": 3, "min_pmi": 2.0, "top_share": 0.5, "only_attracted": False}
    assert said["software"].keys() >= {"textveil", "gensim", "numpy", "nupunkt"}
    assert str(tmp_path) not in first.manifest.to_json()


def test_cbow_and_storage_are_optional(corpus, tmp_path):
    skip_gram = prepare(corpus, tmp_path / "one", storage="float32", decompositions=("words",))
    cbow = prepare(
        corpus,
        tmp_path / "two",
        storage="float32",
        decompositions=("words",),
        vectors=VectorOptions(training=Training(dimensions=8, epochs=1, architecture="cbow")),
    )
    assert not np.allclose(skip_gram.vectors("words").matrix, cbow.vectors("words").matrix)
    assert skip_gram.manifest.vectors["words"]["changed_neighbors"] == 0
    with pytest.raises(ParameterError, match="Did you mean 'int8'"):
        prepare(corpus, tmp_path / "three", storage="int4")


def test_a_folder_that_is_not_a_bundle_is_never_replaced(corpus, tmp_path):
    with pytest.raises(OutputExistsError, match="is not a bundle"):
        prepare(corpus, tmp_path, overwrite=True)
    assert corpus.exists()


def test_a_bundle_with_other_files_is_never_replaced(corpus, tmp_path):
    folder = prepare(corpus, tmp_path / "bundle", decompositions=("words",)).folder
    (folder / "words" / "me.jpg").touch()
    with pytest.raises(OutputExistsError, match="not part of the bundle"):
        prepare(corpus, folder, decompositions=("words",), overwrite=True)
    assert (folder / "words" / "me.jpg").exists()


@pytest.mark.parametrize("name", ["photos", "words", "counts"])
def test_a_folder_that_is_not_from_a_run_is_never_removed(corpus, tmp_path, name):
    photo = tmp_path / "bundle.partial" / name / "me.jpg"
    photo.parent.mkdir(parents=True)
    photo.touch()
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="not from an unfinished run"):
            prepare(corpus, tmp_path / "bundle", overwrite=overwrite)
    assert photo.exists()


def test_a_foreign_folder_survives_the_run_that_it_was_put_into(corpus, tmp_path):
    partial = tmp_path / "bundle.partial"

    def put_photo(stage, amount, fraction):
        (partial / "photos").mkdir(exist_ok=True)
        (partial / "photos" / "me.jpg").touch()

    PrepareJob(Corpus.find([corpus]), tmp_path / "bundle", **SMALL).run(LocalExecutor(), put_photo)
    assert [path.name for path in partial.iterdir()] == ["photos"]
    assert (partial / "photos" / "me.jpg").exists()


def test_a_corpus_is_hashed_once_with_progress(corpus, tmp_path, monkeypatch):
    hashed, stages = [], []

    def note(path):
        hashed.append(path)
        return hash_file(path)

    monkeypatch.setattr("textveil.lab.corpus.inputs.hash_file", note)
    job = PrepareJob(Corpus.find([corpus]), tmp_path / "bundle", **SMALL)
    job.run(LocalExecutor(), lambda stage, *_: stages.append(stage))
    assert hashed == [corpus]
    assert stages[0] == "hashing files"
    assert "hashing files" not in stages[stages.index("reading") :]


@pytest.mark.parametrize("stage", ["reading", "counting 3-grams", "splitting by pmi"])
def test_a_copied_corpus_resumes_and_a_changed_one_does_not(corpus, tmp_path, stage):
    output = tmp_path / "bundle"

    def stop(now, amount, fraction):
        if now == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PrepareJob(Corpus.find([corpus]), output, **SMALL).run(LocalExecutor(), stop)
    (tmp_path / "mount").mkdir()
    copy = tmp_path / "mount" / "corpus.txt"
    copy.write_bytes(corpus.read_bytes().replace(b"tea", b"TEA"))
    with pytest.raises(ParameterError, match="other settings: files"):
        prepare(copy, output)
    copy.write_bytes(corpus.read_bytes())
    os.utime(copy, (10**9, 10**9))
    resumed = prepare(copy, output)
    whole = prepare(corpus, tmp_path / "whole")
    assert resumed.manifest.files == whole.manifest.files
    assert resumed.manifest.parameters == whole.manifest.parameters


def test_a_full_disk_is_reported_before_the_work(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(OutputError, match="MiB of disk.*Free some space"):
        prepare(corpus, tmp_path / "bundle")
    monkeypatch.undo()
    prepare(corpus, tmp_path / "bundle")  # the same command goes on


def test_existing_lexicons_are_used(corpus, tmp_path):
    first = prepare(corpus, tmp_path / "first")
    from textveil.lab.corpus.counting.job import CountJob
    from textveil.lab.corpus.lexicons import ScoreJob

    CountJob(Corpus.find([corpus]), tmp_path / "counts", 3).run(LocalExecutor())
    ScoreJob(tmp_path / "counts", tmp_path / "lexicons", top_share=0.5).run()
    second = prepare(corpus, tmp_path / "second", lexicons=tmp_path / "lexicons")
    assert second.lexicon("llr").spelled == first.lexicon("llr").spelled
    assert isinstance(Bundle.load(tmp_path / "second"), Bundle)


def test_the_prepared_bundle_has_priors(corpus, tmp_path):
    bundle = prepare(corpus, tmp_path / "bundle", decompositions=("words", "pmi"))
    words = bundle.vectors("words")
    after_green = bundle.prior("words").log_probabilities(np.array([[-1, words.find("green")]]))[0]
    assert words.entries[after_green.argmax()] == "tea"
    for decomposition in ("words", "pmi"):
        vectors, prior = bundle.vectors(decomposition), bundle.prior(decomposition)
        assert prior.entries == len(vectors)
        logs = prior.log_probabilities(np.array([[-1, vectors.find("tea")], [-1, -1]]))
        np.testing.assert_allclose(np.exp(logs.astype(np.float64)).sum(axis=1), 1, atol=1e-5)
    described = bundle.manifest.parts["words"]["prior"]
    assert described["perplexity"]["2"] < described["perplexity"]["1"]
    assert described["documents"] + described["held_out"] == 300
    without = prepare(corpus, tmp_path / "without", decompositions=("words",), prior=None)
    assert without.prior("words") is None
    assert without.manifest.files.items() <= bundle.manifest.files.items()


def test_other_settings_of_a_prior_keep_the_trained_vectors(corpus, tmp_path, monkeypatch):
    from textveil.lab.corpus import preparation

    trained = []

    def note(tokens, *arguments, **options):
        trained.append(tokens.parent.name)
        return real(tokens, *arguments, **options)

    real = preparation.train
    monkeypatch.setattr(preparation, "train", note)
    with monkeypatch.context() as patch:
        patch.setattr(preparation, "build_bundle", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepare(corpus, tmp_path / "bundle", decompositions=("words",), lexicons=tmp_path)
    bundle = prepare(
        corpus, tmp_path / "bundle", decompositions=("words",), lexicons=tmp_path, prior=PriorOptions(2, 5)
    )
    assert trained == ["words"]
    assert (bundle.prior("words").order, bundle.manifest.parts["words"]["prior"]["min_documents"]) == (2, 5)


def test_a_run_that_was_killed_while_it_built_a_prior_trains_no_vectors_again(corpus, tmp_path, monkeypatch):
    job = PrepareJob(Corpus.find([corpus]), tmp_path / "bundle", **{**SMALL, "decompositions": ("words",)})

    def stop(stage, *_):
        if stage == "counting 3-grams of words":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(LocalExecutor(), stop)
    monkeypatch.setattr("textveil.lab.corpus.preparation.train", lambda *_, **__: pytest.fail("trained again"))
    resumed = job.run(LocalExecutor())
    monkeypatch.undo()
    assert resumed.manifest == prepare(corpus, tmp_path / "whole", decompositions=("words",)).manifest


def test_distances_have_a_median_of_one(corpus, tmp_path):
    bundle = prepare(corpus, tmp_path / "bundle", storage="float32", decompositions=("words", "pmi"))
    for decomposition in ("words", "pmi"):
        assert bundle.distance(decomposition)["pairs"]["0.5"] == pytest.approx(1, abs=1e-3)
        assert 0 < bundle.manifest.vectors[decomposition]["unit"] < 1  # one epoch on so little text


def test_an_expression_of_one_document_is_not_in_the_bundle(corpus, tmp_path):
    corpus.write_text(corpus.read_text() + "\n" + "my secret word. " * 99, encoding="utf-8")
    bundle = prepare(corpus, tmp_path / "bundle", decompositions=("words", "pmi"))
    assert "secret" not in bundle.vectors("words")
    assert "green tea" in bundle.lexicon("pmi").spelled
    assert not any("secret" in expression for expression in bundle.lexicon("pmi").spelled)
    assert bundle.manifest.lexicons["pmi"]["min_documents"] == 20
    every = {"selection": Selection(min_documents=1), "prior": PriorOptions(min_documents=1)}
    bundle = prepare(corpus, tmp_path / "every", decompositions=("words", "pmi"), **every)
    assert "secret" in bundle.vectors("words")
    assert any("secret" in expression for expression in bundle.lexicon("pmi").spelled)


def test_words_of_the_background_are_known_and_never_written(corpus, tmp_path):
    novels = tmp_path / "novels.txt"
    novels.write_text("Thou art a good film.\n" * 30, encoding="utf-8")
    job = PrepareJob(
        Corpus.find([corpus], background=[novels]), tmp_path / "bundle", **{**SMALL, "decompositions": ("words", "pmi")}
    )
    bundle = job.run(LocalExecutor())
    for decomposition in ("words", "pmi"):
        vectors = bundle.vectors(decomposition)
        assert {"thou", "art"} <= set(vectors.entries)
        written = {vectors.entries[row] for row in vectors.writable}
        assert written.isdisjoint({"thou", "art"})
        assert "tea" in written or "green_tea" in written
    assert bundle.manifest.parts["words"]["prior"]["documents"] < 300
    cited = bundle.manifest.parameters["corpus"]
    assert [file["name"] for file in cited["files"]] == ["corpus.txt"]
    assert [file["name"] for file in cited["background"]] == ["novels.txt"]
    assert not list((tmp_path).glob("*.partial"))


@pytest.mark.parametrize("source", ["encoder", "both"])
def test_an_encoder_gives_vectors(corpus, tmp_path, minilm, source, monkeypatch):
    options = {
        "vectors": VectorOptions(source, 5, str(minilm), Training(dimensions=8, epochs=1)),
        "decompositions": ("words",),
    }
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr("textveil.lab.corpus.preparation.join_vectors", lambda *_: 1 / 0)
        prepare(corpus, tmp_path / "bundle", **options)
    monkeypatch.setattr("textveil.lab.corpus.preparation.train", lambda *_, **__: pytest.fail("trained again"))
    bundle = prepare(corpus, tmp_path / "bundle", **options)
    said = bundle.manifest.parameters["vectors"]
    assert bundle.vectors("words").dimensions == said["dimensions"] == 5
    assert said["encoder"]["sha256"]
    assert ("word2vec" in said) == (source == "both")
    assert {"torch", "transformers"} <= bundle.manifest.parameters["software"].keys()
    assert str(minilm) not in bundle.manifest.to_json()


def prepare_with(executor, corpus, output, progress=None, **options):
    job = PrepareJob(Corpus.find([corpus]), output, **{**SMALL, **options})
    return job.run(executor, *([] if progress is None else [progress]))


def test_decompositions_are_trained_side_by_side_with_the_same_result(corpus, tmp_path):
    """Two workers train on one thread each, so vectors are those of one worker, byte for byte."""
    alone = prepare(corpus, tmp_path / "alone", decompositions=("words", "pmi", "llr", "pos"))
    stages = []
    with ProcessExecutor(2) as executor:
        beside = prepare_with(
            executor,
            corpus,
            tmp_path / "beside",
            lambda stage, *amount: stages.append((stage, *amount)),
            decompositions=("words", "pmi", "llr", "pos"),
        )
    trained = [stage for stage in stages if stage[0].startswith("training")]
    assert trained[:2] == [("training words", 0, 0.0), ("training pmi", 0, 0.0)]
    assert {stage for stage in trained if stage[1]} == {
        (f"training {name}", 1, 1.0) for name in ("words", "pmi", "llr", "pos")
    }
    assert beside.manifest.files == alone.manifest.files


def test_a_run_that_was_stopped_between_trainings_repeats_none(corpus, tmp_path):
    done = []

    def stop(stage, amount, fraction):
        if stage.startswith("training") and amount:
            done.append(stage)
            raise KeyboardInterrupt

    options = {"decompositions": ("words", "pmi")}
    with pytest.raises(KeyboardInterrupt), ProcessExecutor(2) as executor:
        prepare_with(executor, corpus, tmp_path / "bundle", stop, **options)
    (name,) = (stage.removeprefix("training ") for stage in done)
    trained = tmp_path / "bundle.partial" / name / "word2vec"
    before = {path.name: path.stat().st_mtime_ns for path in trained.iterdir()}
    kept = {}

    def look(stage, amount, fraction):
        if trained.exists():
            kept.update({path.name: path.stat().st_mtime_ns for path in trained.iterdir()})

    with ProcessExecutor(2) as executor:
        bundle = prepare_with(executor, corpus, tmp_path / "bundle", look, **options)
    assert kept == before
    assert bundle.decompositions == ("words", "pmi")


def test_a_full_disk_trains_one_decomposition_at_a_time(corpus, tmp_path, monkeypatch):
    from textveil.lab.corpus import preparation

    job = PrepareJob(Corpus.find([corpus]), tmp_path / "bundle", **SMALL)
    assert job.estimate_disk(3) >= job.estimate_disk()
    monkeypatch.setattr(PrepareJob, "estimate_disk", lambda self, beside=1: 1 if beside == 1 else 1 << 62)
    monkeypatch.setattr(preparation, "train_beside", lambda *_: pytest.fail("trained side by side"))
    with ProcessExecutor(2) as executor:
        assert prepare_with(executor, corpus, tmp_path / "bundle", decompositions=("words", "pmi"))


def test_a_background_is_trained_with_each_decomposition(corpus, tmp_path):
    background = tmp_path / "novels.txt"
    background.write_text("thou art a good film\n" * 30, encoding="utf-8")
    bundles = []
    for executor in (LocalExecutor(), ProcessExecutor(2)):
        found = Corpus.find([corpus], background=[background])
        with executor:
            job = PrepareJob(found, tmp_path / executor.name, **{**SMALL, "decompositions": ("words", "pmi")})
            bundles.append(job.run(executor))
    assert bundles[0].manifest.files == bundles[1].manifest.files
    assert "thou" in bundles[1].vectors("words")
