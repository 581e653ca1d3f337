import os
import stat

import numpy as np
import pytest

from textveil.models.encoders import SentenceEncoder
from textveil.models.files import ModelFiles
from textveil.models.word_embeddings import WordEmbeddings, normalize

WORDS = ["soup", "naïve", "antidisestablishmentarian", "soup", "café_42"]
IDENTITY = {"model": "abc"}


@pytest.fixture(scope="module")
def encoder(make_encoder):
    return SentenceEncoder.open(ModelFiles.find(make_encoder()), batch_size=8, device="cpu")


@pytest.fixture(scope="module")
def kept(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    WordEmbeddings(encoder, IDENTITY, keep=True, folder=folder).find(["soup"])
    return folder


class Counting:
    """An encoder that notes the texts that it embeds."""

    def __init__(self, encoder):
        self._encoder, self.embedded = encoder, []

    def __getattr__(self, name):
        return getattr(self._encoder, name)

    def embed(self, texts):
        self.embedded += texts
        return self._encoder.embed(texts)


def test_a_word_is_embedded_once(encoder, tmp_path):
    counting = Counting(encoder)
    words = WordEmbeddings(counting, IDENTITY, folder=tmp_path)
    first, again = words.find(WORDS), words.find(WORDS[::-1])[::-1]
    assert counting.embedded == list(dict.fromkeys(WORDS))
    assert np.array_equal(first, again)
    assert np.allclose(first, normalize(encoder.embed(WORDS)), atol=1e-6)


def test_words_of_texts_are_never_written(encoder, tmp_path):
    WordEmbeddings(encoder, IDENTITY, folder=tmp_path).find(WORDS)
    assert not list(tmp_path.rglob("*"))


def test_the_file_does_not_depend_on_the_words(encoder, kept, tmp_path):
    WordEmbeddings(encoder, IDENTITY, keep=True, folder=tmp_path).find(WORDS)
    (one,), (other,) = kept.rglob("*.npy"), tmp_path.rglob("*.npy")
    assert one.read_bytes() == other.read_bytes()
    assert one.name == other.name


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_only_the_user_may_read_the_file(kept):
    (path,) = kept.rglob("*.npy")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_kept_vocabulary_is_found_and_used(encoder, kept):
    counting = Counting(encoder)
    found = WordEmbeddings(counting, IDENTITY, folder=kept).find(WORDS)
    assert "soup" not in counting.embedded
    assert "antidisestablishmentarian" in counting.embedded  # it has several tokens
    assert np.allclose(found, normalize(encoder.embed(WORDS)), atol=1e-5)


@pytest.mark.parametrize("content", [b"", b"no numbers", b"\x93NUMPY"])
def test_a_damaged_file_is_not_used(encoder, tmp_path, content):
    words = WordEmbeddings(encoder, IDENTITY, folder=tmp_path)
    words.path.parent.mkdir()
    words.path.write_bytes(content)
    assert np.allclose(words.find(["soup"]), normalize(encoder.embed(["soup"])))


def test_another_encoder_has_another_file(encoder, tmp_path):
    paths = {WordEmbeddings(encoder, {"model": model}, folder=tmp_path).path for model in ("abc", "abd")}
    assert len(paths) == 2


def test_memory_is_bounded(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("textveil.models.word_embeddings.LARGEST", 3)
    words = WordEmbeddings(encoder, IDENTITY, folder=tmp_path)
    for place in range(3):
        words.find([f"word{place}", f"other{place}"])
    assert len(words._seen) <= 3
