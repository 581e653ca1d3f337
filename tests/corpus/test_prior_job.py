"""Adding priors to a bundle that has none."""

import random
import shutil

import numpy as np
import pytest

from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
from textveil.bundles.bundle import MANIFEST, Bundle
from textveil.errors import BundleError, OutputError, OutputExistsError, ParameterError, UnknownNameError
from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.inputs import Corpus
from textveil.lab.corpus.preparation import PriorJob
from textveil.lab.corpus.settings import PriorOptions
from textveil.storage.atomic import hash_file

WORDS = "new york green tea a cup of good film the plot was bad it".split()
OPTIONS = PriorOptions(min_documents=3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    generator = random.Random(2)
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    phrases = ["New York", "green tea", "good film", "the plot was bad", "a cup of tea", "something unknown"]
    path.write_text("\n".join(", ".join(generator.choices(phrases, k=6)) for _ in range(400)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A bundle for words and for expressions, without a prior."""
    generator = np.random.default_rng(1)

    def table(entries):
        return VectorTable(entries, generator.standard_normal((len(entries), 5)).astype(np.float32))

    return build_bundle(
        tmp_path_factory.mktemp("bundles") / "plain",
        {"words": table(WORDS), "pmi": table([*WORDS, "green_tea", "new_york"])},
        lexicons={"pmi": LexiconTable(["green tea", "new york"])},
        name="plain",
        version="7",
        corpus="none",
        license="CC0",
    )


def add(corpus, bundle, output, **options):
    return PriorJob(Corpus.find([corpus]), bundle, output, **{"options": OPTIONS, **options}).run(LocalExecutor())


def test_the_copy_has_priors_and_the_same_files(corpus, plain, tmp_path):
    added = add(corpus, plain, tmp_path / "added")
    added.verify()
    for name in plain.manifest.files:
        assert (added.folder / name).read_bytes() == (plain.folder / name).read_bytes()
    new = added.manifest.files.keys() - plain.manifest.files.keys()
    assert {name.split("/")[1].split("_")[0] for name in new} == {"prior"}
    assert (added.manifest.name, added.manifest.version) == ("plain", "7")
    described = added.manifest.parts["pmi"]["prior"]
    assert described["corpus"]["files"][0]["sha256"] == hash_file(corpus)
    assert described["min_documents"] == 3
    assert str(tmp_path) not in added.manifest.to_json()
    assert plain.prior("words") is None
    assert not (tmp_path / "added.partial").exists()


def test_each_decomposition_has_a_prior_over_its_own_entries(corpus, plain, tmp_path):
    added = add(corpus, plain, tmp_path / "added")

    def most_likely(decomposition, *words):
        vectors, prior = added.vectors(decomposition), added.prior(decomposition)
        context = [-1] * (prior.order - 1 - len(words)) + [vectors.find(word) for word in words]
        return vectors.entries[prior.log_probabilities(np.array([context]))[0].argmax()]

    assert most_likely("words", "green") == "tea"
    assert most_likely("words", "plot", "was") == "bad"
    assert most_likely("pmi", "cup", "of") == "tea"
    assert np.exp(added.prior("pmi").log_probabilities(np.array([[-1, -1]]))[0]).sum() == pytest.approx(1, abs=1e-5)
    tea, green_tea = (added.vectors("pmi").find(entry) for entry in ("tea", "green_tea"))
    after_green = added.prior("pmi").log_probabilities(np.array([[-1, added.vectors("pmi").find("green")]]))[0]
    assert after_green[tea] < -1  # "green tea" is one entry here
    assert green_tea >= 0


def test_only_chosen_decompositions_get_a_prior_and_others_keep_theirs(corpus, plain, tmp_path):
    first = add(corpus, plain, tmp_path / "first", decompositions=("words",))
    assert first.prior("pmi") is None
    second = add(corpus, first, tmp_path / "second", decompositions=("pmi",))
    assert second.prior("words").identity == first.prior("words").identity
    assert second.prior("pmi").order == 3
    third = add(corpus, second, tmp_path / "third", decompositions=("words",), options=PriorOptions(2, 3))
    assert third.prior("words").order == 2
    assert not any("words/prior_3" in name for name in third.manifest.files)


def test_an_interrupted_run_resumes_with_the_same_settings_only(corpus, plain, tmp_path):
    stages = []

    def stop(stage, *_):
        stages.append(stage)
        if stage.startswith("counting 3-grams of pmi"):
            raise KeyboardInterrupt

    job = PriorJob(Corpus.find([corpus]), plain, tmp_path / "added", OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        job.run(LocalExecutor(), stop)
    with pytest.raises(ParameterError, match="other settings: prior"):
        add(corpus, plain, tmp_path / "added", options=PriorOptions(min_documents=4))
    stages.clear()
    resumed = job.run(LocalExecutor(), lambda stage, *_: stages.append(stage))
    assert not any("words" in stage or "splitting" in stage for stage in stages)
    assert resumed.manifest == add(corpus, plain, tmp_path / "whole").manifest


def test_bad_input_is_refused_before_any_work(corpus, plain, tmp_path):
    for options, error, message in [
        ({"decompositions": ("llr",)}, UnknownNameError, "llr.*Choose from: pmi, words"),
        ({"options": PriorOptions(order=5)}, ParameterError, "`order` must be from 1 to 4"),
        ({"options": PriorOptions(min_documents=0)}, ParameterError, "`min_documents` must be at least 1"),
    ]:
        with pytest.raises(error, match=message):
            add(corpus, plain, tmp_path / "added", **options)
    with pytest.raises(OutputError, match="Create it first"):
        add(corpus, plain, tmp_path / "none" / "added")
    with pytest.raises(OutputExistsError, match="is not a bundle"):
        add(corpus, plain, tmp_path, overwrite=True)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_bundle_is_not_copied(corpus, plain, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(plain.folder, damaged)
    content = bytearray((damaged / "pmi/lexicon.npy").read_bytes())
    content[-1] ^= 1
    (damaged / "pmi/lexicon.npy").write_bytes(content)
    with pytest.raises(BundleError, match="pmi/lexicon.npy'.*is not what its manifest says"):
        add(corpus, Bundle(damaged), tmp_path / "added", decompositions=("words",))
    assert not (tmp_path / "added" / MANIFEST).exists()


def test_an_output_may_replace_its_own_bundle(corpus, plain, tmp_path):
    output = tmp_path / "mine"
    shutil.copytree(plain.folder, output)
    with pytest.raises(OutputExistsError, match="overwrite=True"):
        add(corpus, Bundle(output), output, decompositions=("words",))
    assert add(corpus, Bundle(output), output, decompositions=("words",), overwrite=True).prior("words").order == 3
