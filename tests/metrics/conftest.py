"""A small data set with predictable authors and sentiments, and obfuscations of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from textveil.certificate import Certificate, Tally
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.obfuscator import Obfuscator
from textveil.testing.lab import make_rows


@pytest.fixture(scope="session")
def make_language_model(minilm, tmp_path_factory):
    """Writes a tiny language model with random weights and MiniLM's tokenizer."""
    import torch
    import transformers

    def make() -> Path:
        folder = tmp_path_factory.mktemp("models") / "tiny"
        config = transformers.GPT2Config(
            vocab_size=30522, n_embd=16, n_layer=2, n_head=2, n_positions=64, initializer_range=0.5,
            bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
        with torch.random.fork_rng():
            torch.manual_seed(3)
            transformers.GPT2LMHeadModel(config).save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(minilm).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def rows():
    return make_rows()


@pytest.fixture
def dataset(rows):
    texts, labels, authors = rows
    return Dataset(texts, label=labels, attribute=authors)


@pytest.fixture(scope="session")
def obfuscations(rows):
    return list(Obfuscator(mechanism="madlib", seed=1).obfuscate_all(rows[0], epsilon=120))  # attacked in little time


@pytest.fixture(scope="session")
def certificate(obfuscations):
    tally = Tally.over(result.certificate.tally for result in obfuscations)
    return Certificate(obfuscations[0].certificate.terms, 120, tally)


@pytest.fixture
def case(dataset, obfuscations, certificate):
    """A case with everything that a metric can need."""
    return Case(dataset, dataset.pair([result.text for result in obfuscations]), certificate, obfuscations)


@pytest.fixture
def unchanged(dataset):
    """A case with unchanged texts."""
    return Case(dataset, dataset.pair(list(dataset.originals)))
