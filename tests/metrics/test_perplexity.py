import math

import numpy as np
import pytest

from textveil.errors import InputError, ParameterError, ResourceError, UnknownNameError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.perplexity import LanguageModel, Perplexity
from textveil.models.files import ModelFiles
from textveil.randomness import SeededRandomness
from textveil.resources import locate

TEXTS = [
    "The soup was cold.",
    "The film begins in London, where a young actor looks for work, finds none, and writes a play about it; nobody "
    "wants to see the play, until one evening a famous critic walks in by mistake and stays to the end.",
    "Half \ud800 a character.",
    "Yes",
]


@pytest.fixture(scope="module")
def tiny_model(make_language_model):
    return make_language_model()


class FakeTokenizer:
    """One token per word."""

    bos_token_id = 1

    def __call__(self, text, **_):
        return {"input_ids": [7] * len(text.split())}


def compute_directly(language_model, text, tokens=32):
    """As the documentation of transformers has it: one text, its labels are its tokens."""
    text = text.replace("\ud800", "\N{REPLACEMENT CHARACTER}")
    ids = language_model.tokenizer(text, return_tensors="pt").input_ids[:, :tokens]
    return math.exp(language_model.model(input_ids=ids, labels=ids).loss.item())


def measure(perplexity, originals, obfuscated):
    dataset = Dataset(originals)
    return perplexity.measure(Case(dataset, dataset.pair(obfuscated)))


def test_it_equals_a_direct_computation(tiny_model):
    language_model = LanguageModel.load(ModelFiles.find(tiny_model))
    found = language_model.measure(TEXTS, 32, batch_size=3)
    assert found.tolist() == pytest.approx([compute_directly(language_model, text) for text in TEXTS], rel=1e-4)
    assert language_model.measure(TEXTS, 5, batch_size=2).tolist() == pytest.approx(
        [compute_directly(language_model, text, 5) for text in TEXTS], rel=1e-4
    )


def test_mean_and_median_have_intervals(tiny_model):
    perplexity = Perplexity(model=tiny_model)
    originals = [f"The soup of table {number} was {'very ' * (number % 7)}cold" for number in range(60)]
    found = measure(perplexity, originals, [f"{text[::-1]}" for text in originals])
    assert found.intervals.keys() == found.values.keys()
    for name, (low, high) in found.intervals.items():
        assert low <= found.values[name] <= high
        assert low < high
    assert found.line.startswith(f"The median perplexity of 60 texts is {found.values['median']:,.0f} (95 % interval ")
    assert found.caveats == ()
    few = measure(perplexity, originals[:9], originals[:9])
    assert few.caveats == ("Only 9 texts: too few for a conclusion, which needs at least 50.",)


def test_with_a_start_token_the_first_token_has_a_loss_too(tiny_model):
    language_model = LanguageModel.load(ModelFiles.find(tiny_model))
    language_model.tokenizer.bos_token = "[CLS]"
    start = language_model.tokenizer.bos_token_id
    torch = pytest.importorskip("torch")

    def compute(text, tokens):
        text = text.replace("\ud800", "\N{REPLACEMENT CHARACTER}")
        ids = language_model.tokenizer(text, add_special_tokens=False)["input_ids"]
        read = torch.tensor([[start, *ids[: tokens - 1]]])
        return math.exp(language_model.model(input_ids=read, labels=read).loss.item())

    for tokens in (32, 5):
        found = language_model.measure(TEXTS, tokens, batch_size=3, start_token=True)
        assert found.tolist() == pytest.approx([compute(text, tokens) for text in TEXTS], rel=1e-4)


def test_with_a_start_token_texts_of_one_token_count(tiny_model):
    perplexity = Perplexity(model=tiny_model, start_token=True)
    perplexity.language_model.tokenizer = FakeTokenizer()
    found = measure(perplexity, ["one two", "one two three", "one"], ["", "one", "one two"])
    assert found.details == {"texts": 2, "originals": 3}
    with pytest.raises(InputError, match="No text has the token that"):
        measure(perplexity, ["one two"], [""])


def test_a_model_without_a_start_token_is_refused(tiny_model):
    with pytest.raises(ResourceError, match="has no start token. Set `start_token=False`"):
        measure(Perplexity(model=tiny_model, start_token=True), TEXTS, TEXTS)


def test_the_mean_and_the_median_over_texts(tiny_model):
    perplexity = Perplexity(model=tiny_model)
    direct = [compute_directly(perplexity.language_model, text) for text in TEXTS]
    found = measure(perplexity, TEXTS, TEXTS[::-1])
    assert found.values["mean"] == pytest.approx(np.mean(direct), rel=1e-4)
    assert found.values["median"] == pytest.approx(np.median(direct), rel=1e-4)
    assert found.values["original_mean"] == found.values["mean"]
    assert "tiny" in found.description


def test_short_texts_are_skipped_and_counted(tiny_model):
    import transformers

    perplexity = Perplexity(model=tiny_model)
    model = perplexity.language_model
    model.tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model, cls_token=None, sep_token=None)
    bare = model.measure(["", "The soup was cold."], 32, batch_size=2)
    assert np.isnan(bare[0]) == (len(model.tokenizer("")["input_ids"]) < 2)
    perplexity.language_model.tokenizer = FakeTokenizer()
    found = measure(perplexity, ["one two", "one two three", "one"], ["", "one", "one two"])
    assert found.details == {"texts": 1, "originals": 2}
    with pytest.raises(InputError, match="No text has the two tokens"):
        measure(perplexity, ["one two"], ["one"])


def test_the_record_has_everything_that_changes_values(tiny_model):
    metric = Perplexity(model=tiny_model)
    assert metric.as_dict()["model"] == {"name": "tiny", "sha256": metric.files.sha256}
    assert metric.identity == Perplexity(model=tiny_model, batch_size=2, device="cpu").identity
    for other in ({"tokens": 8}, {"sample": 5}, {"start_token": True}):
        assert metric.identity != Perplexity(model=tiny_model, **other).identity
    with pytest.raises(UnknownNameError, match="Did you mean 'tokens'"):
        Perplexity(model=tiny_model, token=8)


def test_a_sample(tiny_model):
    texts = [f"The soup was cold, said {number}." for number in range(20)]
    found = measure(Perplexity(model=tiny_model, sample=5), texts, texts)
    assert found.details == {"texts": 5, "originals": 5}


def test_an_interrupted_measurement_loses_only_the_batch_in_progress(tiny_model, tmp_path, monkeypatch):
    texts = [f"The soup was cold, said {number}." for number in range(40)]
    read, batches = LanguageModel._read, []

    def measure_again(interrupt_at=None):
        def noting(self, rows):
            if len(batches) == interrupt_at:
                raise KeyboardInterrupt
            batches.append(len(rows))
            return read(self, rows)

        monkeypatch.setattr(LanguageModel, "_read", noting)
        dataset = Dataset(texts, folder=tmp_path)
        return Perplexity(model=tiny_model, batch_size=8).measure(Case(dataset, dataset.pair(texts[::-1])))

    with pytest.raises(KeyboardInterrupt):
        measure_again(interrupt_at=7)  # five batches of originals, two of obfuscated texts
    found = measure_again()
    assert batches == [8] * 10
    assert found == measure(Perplexity(model=tiny_model, batch_size=8), texts, texts[::-1])


def test_models_that_are_not_causal_or_not_there(make_encoder, tmp_path):
    with pytest.raises(ResourceError, match="not a causal language model"):
        Perplexity(model=make_encoder()).language_model  # noqa: B018
    with pytest.raises(ResourceError, match="no readable causal language model"):
        Perplexity(model=tmp_path).language_model  # noqa: B018
    with pytest.raises(ResourceError, match="no model 'nowhere'"):
        Perplexity(model="nowhere")
    for wrong in ({"tokens": 1}, {"sample": 0}):
        with pytest.raises(ParameterError, match="at least"):
            Perplexity(model=make_encoder(), **wrong)


@pytest.mark.slow
def test_scrambled_text_scores_far_worse_with_a_real_model(capfd):
    if locate("smollm2") is None:
        pytest.skip("smollm2 is not installed")
    perplexity = Perplexity()
    plain = [
        "The film begins in London, where a young actor looks for work and finds none.",
        "I have never been so disappointed by a restaurant, and I will not come back.",
        "It was a cold morning in the middle of winter, and nobody was in the street.",
    ]
    generator = SeededRandomness(1).stream(0)
    scrambled = [" ".join(generator.permutation(text.split())) for text in plain]
    found = measure(perplexity, plain, scrambled)
    assert found.values["mean"] > 5 * found.values["original_mean"]
    assert found.values["original_mean"] < 150
    direct = [compute_directly(perplexity.language_model, text) for text in plain]
    assert found.values["original_mean"] == pytest.approx(np.mean(direct), rel=1e-3)
    assert capfd.readouterr().err == ""
