"""From a corpus to a bundle, on a few thousand words."""

import random

import pytest

from textveil.bundle import Bundle
from textveil.corpus.inputs import Corpus
from textveil.corpus.preparation import Labels, PrepareJob, Thresholds
from textveil.corpus.training import Training
from textveil.errors import InputError, OutputError, ParameterError
from textveil.execution.local import LocalExecutor
from textveil.obfuscation import Obfuscator

PHRASES = ["new york", "green tea", "box office hit", "good film", "the plot", "was bad", "it was", "a cup of tea"]
SMALL = {
    "labels": Labels("tiny"),
    "thresholds": Thresholds(min_count=3, top_share=0.5),
    "training": Training(dimensions=8, epochs=1, min_count=2),
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


def test_a_bundle_comes_out_that_obfuscates(corpus, tmp_path):
    bundle = prepare(corpus, tmp_path / "bundle")
    bundle.verify()
    assert bundle.decompositions == SMALL["decompositions"]
    assert "green tea" in bundle.lexicon("pmi").spelt
    assert "green_tea" in bundle.vectors("pmi")
    counts = dict(zip(bundle.vectors("words").entries, bundle.counts("words").tolist(), strict=True))
    assert counts["green"] == corpus.read_text().lower().count("green")
    assert bundle.manifest.tokens == len(corpus.read_text().split())
    assert not (tmp_path / "bundle.partial").exists()
    result = Obfuscator(bundle, decomposition="pmi").obfuscate("Green tea in New York.", epsilon=9)
    assert [chunk.original for chunk in result.chunks] == ["Green tea", "in", "New York"]


def test_a_killed_run_goes_on_with_what_is_finished(corpus, tmp_path, monkeypatch):
    from textveil.corpus import preparation

    trained = []

    def fail_at_third(tokens, training, **options):
        trained.append(tokens.parent.name)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return real(tokens, training, **options)

    real = preparation.train
    monkeypatch.setattr(preparation, "train", fail_at_third)
    with pytest.raises(KeyboardInterrupt):
        prepare(corpus, tmp_path / "bundle")
    prepare(corpus, tmp_path / "bundle")
    assert trained == ["words", "pmi", "llr", "llr", "tscore", "pos"]
    with pytest.raises(ParameterError, match="exists"):
        prepare(corpus, tmp_path / "bundle")


def test_another_setting_is_not_a_resumption(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("textveil.corpus.preparation.train", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        prepare(corpus, tmp_path / "bundle")
    with pytest.raises(ParameterError, match="other settings: training"):
        prepare(corpus, tmp_path / "bundle", training=Training(dimensions=9))


def test_a_corpus_too_small_for_the_thresholds(corpus, tmp_path):
    with pytest.raises(InputError, match="too small for --min-count 100000.*Lower it"):
        prepare(corpus, tmp_path / "bundle", thresholds=Thresholds(min_count=100_000))
    with pytest.raises(InputError, match="occurs 100000 times. Lower --min-entry-count"):
        prepare(corpus, tmp_path / "other", training=Training(min_count=100_000), decompositions=("words",))


def test_a_disk_too_small(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(OutputError, match="MiB of disk.*Make room"):
        prepare(corpus, tmp_path / "bundle")


def test_lexicons_that_are_there_are_not_counted_again(corpus, tmp_path):
    first = prepare(corpus, tmp_path / "first")
    from textveil.corpus.counting import CountJob
    from textveil.corpus.lexicons import ScoreJob

    CountJob(Corpus.find([corpus]), tmp_path / "counts", 3).run(LocalExecutor())
    ScoreJob(tmp_path / "counts", tmp_path / "lexicons", top_share=0.5).run()
    second = prepare(corpus, tmp_path / "second", lexicons=tmp_path / "lexicons")
    assert second.lexicon("llr").spelt == first.lexicon("llr").spelt
    assert isinstance(Bundle.load(tmp_path / "second"), Bundle)
