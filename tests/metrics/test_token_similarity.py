import numpy as np
import pytest

from textveil.errors import ResourceError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.token_similarity import TokenSimilarity, choose_others, match_tokens

PAIRS = [
    ("The soup was cold.", "The soup was cold."),
    ("The waiter was friendly to us.", "A kind server helped."),
    ("The engine is loud.", "Parliament passed the bill in the autumn."),
]


def measure(metric, pairs, folder=None):
    dataset = Dataset([pair[0] for pair in pairs], folder=folder)
    return metric.measure(Case(dataset, dataset.pair([pair[1] for pair in pairs])))


@pytest.fixture(scope="module")
def metric(minilm):
    return TokenSimilarity()


@pytest.fixture(scope="module")
def read_tokens(minilm):
    """The token embeddings of transformers, without special tokens."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    model = transformers.AutoModel.from_pretrained(minilm).eval()

    def read(text):
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1]
        return states.double().numpy()

    return read


def plain_bertscore(original, obfuscated):
    """The definition: every token has the cosine of its best match."""

    def cosine(a, b):
        return a @ b / np.sqrt((a @ a) * (b @ b))

    recall = np.mean([max(cosine(token, other) for other in obfuscated) for token in original])
    precision = np.mean([max(cosine(token, other) for other in original) for token in obfuscated])
    return 2 * precision * recall / (precision + recall), precision, recall


def test_it_equals_the_definition_with_the_states_of_transformers(metric, read_tokens):
    found = measure(metric, PAIRS)
    expected = [plain_bertscore(read_tokens(first), read_tokens(second)) for first, second in PAIRS]
    for number, name in enumerate(("f1", "precision", "recall")):
        assert found.values[name] == pytest.approx(np.mean([row[number] for row in expected]), abs=1e-5)
    others = choose_others(*map(list, zip(*PAIRS, strict=True)))
    unrelated = [
        plain_bertscore(read_tokens(other), read_tokens(pair[1]))[0] for other, pair in zip(others, PAIRS, strict=True)
    ]
    assert found.values["unrelated"] == pytest.approx(np.mean(unrelated), abs=1e-5)
    assert found.details["texts"] == 3


def test_similar_texts_score_higher_than_unrelated_ones(metric):
    same, near, far = (measure(metric, [pair] * 2).values["f1"] for pair in PAIRS)
    assert same == pytest.approx(1, abs=1e-5)
    assert same > near > far
    found = measure(metric, PAIRS[:2])
    assert found.values["unrelated"] < found.values["f1"]


def test_a_long_text_is_read_in_windows(metric):
    long = " ".join(f"word{number} and another" for number in range(150))
    assert measure(metric, [(long, long)]).values["f1"] == pytest.approx(1, abs=1e-5)
    changed = measure(metric, [(long, f"{long} Parliament passed the bill in the autumn.")])
    assert changed.values["precision"] < changed.values["recall"]


def test_an_empty_text_scores_nothing(metric):
    assert measure(metric, [(PAIRS[0][0], "")]).values == {"f1": 0, "precision": 0, "recall": 0}
    assert match_tokens(np.zeros((2, 3)), np.ones((1, 3))) == (0, 0, 0)


def test_an_unrelated_original_belongs_to_another_text():
    originals, obfuscated = list("ABCD"), ["x" * size for size in (3, 9, 1, 4)]
    others = choose_others(originals, obfuscated)
    assert others == ["C", "D", "B", "A"]
    assert sorted(others) == originals


def test_a_sample_is_read_and_equal_texts_once(make_encoder, monkeypatch):
    metric = TokenSimilarity(model=make_encoder(), sample=2)
    calls = []
    model = metric.encoder.model
    embed = model.embed_tokens
    monkeypatch.setattr(model, "embed_tokens", lambda texts: calls.append(texts) or embed(texts))
    found = measure(metric, PAIRS * 3)
    assert found.details["texts"] == 2
    assert len(calls) == 1
    assert len(calls[0]) == len(set(calls[0])) <= 4
    assert metric.identity != TokenSimilarity(model=metric.model).identity


def test_scores_are_cached_and_have_intervals(make_encoder, tmp_path, monkeypatch):
    metric = TokenSimilarity(model=make_encoder())
    first = measure(metric, PAIRS, tmp_path)
    assert first.intervals["f1"].low <= first.values["f1"] <= first.intervals["f1"].high
    assert first.caveats
    monkeypatch.setattr(metric.encoder.model, "embed_tokens", lambda _: pytest.fail("read again"))
    assert measure(metric, PAIRS, tmp_path) == first


def test_progress_names_the_encoder(make_encoder):
    metric, seen = TokenSimilarity(model=make_encoder()), []
    dataset = Dataset([pair[0] for pair in PAIRS])
    metric.measure(Case(dataset, dataset.pair([pair[1] for pair in PAIRS]), progress=lambda *step: seen.append(step)))
    assert {step[0] for step in seen} == {f"token similarity, {metric.files.name}"}


def test_an_encoder_that_is_not_there():
    with pytest.raises(ResourceError, match="no model 'nowhere'"):
        TokenSimilarity(model="nowhere")
