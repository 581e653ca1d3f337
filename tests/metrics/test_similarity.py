import numpy as np
import pytest

from textveil.errors import ParameterError, ResourceError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.similarity import Similarity
from textveil.resources import RESOURCES

PAIRS = [
    ("The soup was cold.", "The soup was cold."),
    ("The soup was cold.", "The meal was chilly."),
    ("The soup was cold.", "Parliament passed the bill."),
]


def measure(similarity, pairs, folder=None):
    dataset = Dataset([pair[0] for pair in pairs], folder=folder)
    return similarity.measure(Case(dataset, dataset.pair([pair[1] for pair in pairs])))


@pytest.fixture(scope="module")
def similarity(minilm):
    return Similarity()


def test_identical_texts_have_similarity_one(similarity):
    assert measure(similarity, PAIRS[:1]).values["cosine"] == pytest.approx(1, abs=1e-6)
    long = " ".join(f"word{number} and another" for number in range(400))  # several windows
    assert measure(similarity, [(long, long)]).values["cosine"] == pytest.approx(1, abs=1e-6)


def test_it_equals_the_cosine_of_sentence_transformers(similarity, minilm):
    import sentence_transformers

    plain = sentence_transformers.SentenceTransformer(str(minilm), device="cpu")
    for pair in PAIRS:
        first, second = plain.encode(list(pair))
        expected = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
        assert measure(similarity, [pair]).values["cosine"] == pytest.approx(expected, abs=1e-4)


def test_truncated_texts_have_the_cosine_of_sentence_transformers(similarity, minilm):
    import sentence_transformers

    plain = sentence_transformers.SentenceTransformer(str(minilm), device="cpu")
    long = " ".join(f"word{number} and another" for number in range(200))  # several windows
    pair = (f"The soup was cold. {long}", f"Parliament passed the bill. {long[::-1]}")
    first, second = plain.encode(list(pair))  # it cuts texts after the window
    expected = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert measure(Similarity(truncate=True), [pair]).values["cosine"] == pytest.approx(expected, abs=1e-4)
    assert abs(measure(similarity, [pair]).values["cosine"] - expected) > 0.01


def test_truncated_and_whole_texts_have_different_records_and_caches(similarity, minilm, tmp_path):
    cut = Similarity(truncate=True)
    assert cut.identity != similarity.identity
    assert cut.description.endswith(", truncate)")
    long = " ".join(f"word{number} and another" for number in range(200))
    pairs = [(long, f"Parliament passed the bill. {long[::-1]}")]
    whole = measure(similarity, pairs, tmp_path).values["cosine"]
    assert measure(cut, pairs, tmp_path).values["cosine"] != whole


def test_more_similar_texts_have_a_higher_cosine(similarity):
    _, near, far = (measure(similarity, [pair]).values["cosine"] for pair in PAIRS)
    assert near > far + 0.3
    assert measure(similarity, PAIRS).values["cosine"] == pytest.approx((1 + near + far) / 3, abs=1e-5)


def test_the_mean_has_an_interval_over_pairs(similarity):
    few = measure(similarity, PAIRS)
    assert few.caveats == ("Only 3 pairs of texts: too few for a conclusion, which needs at least 50.",)
    many = measure(similarity, PAIRS * 20)
    low, high = many.intervals["cosine"]
    assert 0.4 < low < many.values["cosine"] < high < 0.8
    assert high - low < few.intervals["cosine"].high - few.intervals["cosine"].low
    assert many.caveats == ()
    assert f"of 60 original and obfuscated texts is {many.values['cosine']:.3f} (95 % interval {low:.3f}" in many.line
    assert measure(similarity, PAIRS[:1]).intervals == {}


def test_several_encoders_are_averaged(make_encoder, minilm):
    other = make_encoder()
    both = measure(Similarity(models=[minilm, other]), PAIRS)
    assert set(both.details["encoders"]) == {minilm.name, other.name}
    assert both.values["cosine"] == pytest.approx(np.mean(list(both.details["encoders"].values())))
    assert all(name in both.description for name in both.details["encoders"])


def test_a_sample_of_pairs_is_always_the_same(similarity, minilm):
    some = Similarity(sample=2)
    alone = [measure(similarity, [pair]).values["cosine"] for pair in PAIRS]
    found = measure(some, PAIRS).values["cosine"]
    assert found == measure(Similarity(sample=2), PAIRS).values["cosine"]
    means = [np.mean([alone[i] for i in kept]) for kept in ((0, 1), (0, 2), (1, 2))]
    assert sum(abs(found - mean) < 1e-5 for mean in means) == 1
    assert measure(Similarity(sample=3), PAIRS).values["cosine"] == pytest.approx(np.mean(alone), abs=1e-5)
    with pytest.raises(ParameterError, match="`sample` of similarity must be a whole number of at least 1"):
        Similarity(sample=0)


def test_an_empty_obfuscated_text(similarity):
    assert -1 <= measure(similarity, [("The soup was cold.", "")]).values["cosine"] < 0.5


@pytest.mark.parametrize(("keep", "expected"), [(False, [1, 3]), (True, [3])])
def test_pairs_are_cached_and_originals_on_request(minilm, tmp_path, monkeypatch, keep, expected):
    similarity = Similarity(keep_embeddings=keep)
    first = measure(similarity, PAIRS, tmp_path)
    calls = []
    encoder = similarity.encoders[0]
    embed = encoder.model.embed
    monkeypatch.setattr(encoder.model, "embed", lambda texts, **how: calls.append(len(texts)) or embed(texts, **how))
    assert measure(similarity, PAIRS, tmp_path).values == first.values
    assert calls == []
    changed = [(original, f"{obfuscated} Again.") for original, obfuscated in PAIRS]
    measure(similarity, changed, tmp_path)
    assert calls == expected


def test_the_encoders_of_the_paper_are_resources():
    assert {"all-minilm-l6-v2", "all-mpnet-base-v2", "gte-small"} < set(RESOURCES)


def test_the_record_has_every_encoder_and_the_sample(minilm, make_encoder):
    other = make_encoder()
    metric = Similarity(models=[minilm, other], sample=9)
    assert [model["name"] for model in metric.as_dict()["models"]] == [minilm.name, other.name]
    assert all(len(model["sha256"]) == 64 for model in metric.as_dict()["models"])
    assert metric.description.endswith(", sample 9)")
    assert metric.identity != Similarity(models=[minilm, other]).identity
    assert metric.identity != Similarity(models=[minilm], sample=9).identity
    assert metric.identity == Similarity(models=[minilm, other], sample=9, batch_size=2, device="cpu").identity


def test_invalid_models(tmp_path):
    with pytest.raises(ResourceError, match="no model 'nowhere'"):
        Similarity(models=["nowhere"])
    with pytest.raises(ParameterError, match="list of at least one encoder"):
        Similarity(models=[])
    with pytest.raises(ParameterError, match="list of at least one encoder"):
        Similarity(models="all-minilm-l6-v2")
    with pytest.raises(ParameterError, match="have the same name"):
        Similarity(models=[tmp_path, tmp_path])
    with pytest.raises(ResourceError, match="no readable encoder"):
        measure(Similarity(models=[tmp_path]), PAIRS)
