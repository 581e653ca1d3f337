import numpy as np
import pytest

from textveil.lab.metrics.dataset import Texts
from textveil.lab.metrics.encoding import PACKAGES, CachedEncoder, normalize_rows, read_versions
from textveil.models.encoders import SentenceEncoder
from textveil.models.files import ModelFiles

TEXTS = ["The soup was cold.", "Parliament passed the bill.", "The soup was cold.", "A longer text about a meal."]


@pytest.fixture
def files(make_encoder):
    return ModelFiles.find(make_encoder())


@pytest.fixture
def calls(monkeypatch):
    """The number of texts of every call of an encoder."""
    found = []
    embed = SentenceEncoder.embed
    monkeypatch.setattr(
        SentenceEncoder, "embed", lambda self, texts, **how: found.append(len(texts)) or embed(self, texts, **how)
    )
    return found


def test_embeddings_are_those_of_the_encoder(files):
    expected = SentenceEncoder.open(files, batch_size=8, device="cpu").embed(TEXTS)
    np.testing.assert_allclose(CachedEncoder(files).embed_all(Texts(TEXTS)), expected, atol=1e-5)
    some = CachedEncoder(files).embed(Texts(TEXTS), [3, 0])
    np.testing.assert_allclose(some, expected[[3, 0]], atol=1e-5)


def test_a_text_is_read_once_by_all_encoders_with_the_same_files(files, calls):
    texts = Texts(TEXTS)
    CachedEncoder(files).embed(texts, [1])
    CachedEncoder(files).embed_all(texts)
    CachedEncoder(files, batch_size=2).embed_all(texts)
    assert calls == [1, 2]  # the third text equals the first
    CachedEncoder(files, truncate=True).embed_all(texts)
    assert calls == [1, 2, 3]


def test_an_encoder_is_loaded_once(files):
    assert CachedEncoder(files).model is CachedEncoder(files, truncate=True).model
    assert CachedEncoder(files).model is not CachedEncoder(files, batch_size=3).model


def test_only_embeddings_of_originals_are_written_and_only_on_request(files, tmp_path, calls):
    keeping = CachedEncoder(files, keep_embeddings=True)
    keeping.embed_all(Texts(TEXTS, tmp_path))
    CachedEncoder(files).embed_all(Texts(TEXTS, tmp_path), originals=True)
    assert not list(tmp_path.rglob("*.npz"))
    keeping.embed_all(Texts(TEXTS, tmp_path), originals=True)
    assert list(tmp_path.rglob("*.npz"))
    keeping.embed_all(Texts(TEXTS, tmp_path), originals=True)
    assert calls == [3, 3, 3]


def test_progress_is_reported(files):
    seen = []
    CachedEncoder(files).embed_all(Texts(TEXTS), progress=lambda *report: seen.append(report))
    assert seen[0] == (f"embeddings, {files.name}", 0, 0.0)
    assert seen[-1] == (f"embeddings, {files.name}", 3, 1.0)


def test_the_record_and_the_versions(files):
    assert CachedEncoder(files).record == {"model": files.as_dict(), "truncate": False}
    assert set(read_versions(PACKAGES)) == {"sentence-transformers", "torch", "transformers"}


def test_normalized_rows_have_length_one_and_zeros_stay():
    found = normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)
