import json
import lzma
import tempfile
from itertools import islice

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.metrics.conftest import make_rows
from textveil.errors import ParameterError, ResourceError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classification import Scenario, majority_f1
from textveil.lab.metrics.classifiers.transformer import Transformer, class_weights, focal_loss
from textveil.lab.metrics.dataset import Classes, Texts

TEXTS, _, AUTHORS = make_rows(40)
CLASSES = Classes.of(AUTHORS, range(40), "author")


def test_the_papers_parameters(make_encoder):
    classifier = Transformer(model=make_encoder())
    arguments = classifier._arguments("folder", 9000, 43)
    assert (arguments.learning_rate, arguments.warmup_steps, arguments.seed) == (2e-5, 500, 43)
    assert (arguments.per_device_train_batch_size, arguments.num_train_epochs) == (8, 1)
    assert arguments.save_strategy.value == "no"
    assert arguments.lr_scheduler_type.value == "linear"
    assert classifier._arguments("folder", 80, 1).warmup_steps == 5  # half of ten steps
    assert classifier.as_dict()["options"] == {
        "learning_rate": 2e-5, "warmup_steps": 500, "batch_size": 8, "epochs": 1, "longest": 512, "focal_loss": 2.0,
    }  # fmt: skip
    assert classifier.description == f"transformer ({classifier.files.description}, focal_loss 2.0)"
    assert "epochs 3" in Transformer(model=make_encoder(), epochs=3).description


def test_the_papers_model_is_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_DEBERTA_V3_BASE", str(tmp_path))
    with pytest.raises(ResourceError, match="deberta-v3-base"):
        Transformer()


def test_the_focal_loss_by_hand():
    import torch

    logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    labels, weights = torch.tensor([0, 1]), torch.tensor([0.5, 2.0, 1.0])
    easy, hard = np.exp(2) / (np.exp(2) + 2), 1 / (np.exp(1) + 2)
    expected = (0.5 * (1 - easy) ** 2 * -np.log(easy) + 2.0 * (1 - hard) ** 2 * -np.log(hard)) / 2
    assert focal_loss(logits, labels, weights).item() == pytest.approx(expected)


def test_every_class_weighs_the_same():
    codes = np.array([0] * 6 + [1] * 3 + [2])
    weights = class_weights(codes)
    sums = [weights[code] * np.sum(codes == code) for code in range(3)]
    assert sums == pytest.approx([10 / 3] * 3)


def test_the_focal_loss_is_used_in_training(make_encoder, monkeypatch):
    asked = []

    def note(logits, labels, weights):
        asked.append((tuple(logits.shape), weights.tolist()))
        return logits.sum() * 0

    monkeypatch.setattr("textveil.lab.metrics.classifiers.transformer.focal_loss", note)
    classes = Classes.of(["a"] * 30 + ["b"] * 10, range(40), "author")
    reports = []
    Transformer(model=make_encoder()).fit(
        Texts(TEXTS), np.arange(40), classes, seed=1, progress=lambda *values: reports.append(values)
    )
    assert [shape for shape, _ in asked] == [(8, 2)] * 5
    assert asked[0][1] == pytest.approx([40 / 60, 2.0])
    assert reports[-1] == ("fine-tuning", 5, 1.0)


def test_training_leaves_no_file_and_prints_nothing(make_encoder, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    classifier = Transformer(model=make_encoder())
    capfd.readouterr()
    classifier.fit(Texts(TEXTS), np.arange(40), CLASSES, seed=1)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_models_that_cannot_be_loaded(make_encoder, tmp_path):
    import torch

    with pytest.raises(ResourceError, match="no readable transformer"):
        Transformer(model=tmp_path).fit(Texts(TEXTS), np.arange(40), CLASSES, seed=1)
    folder = make_encoder()
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ResourceError, match="weights as safetensors"):
        Transformer(model=folder).fit(Texts(TEXTS), np.arange(40), CLASSES, seed=1)
    for wrong in (
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"batch_size": 0},
        {"epochs": 0},
        {"longest": 0},
        {"warmup_steps": -1},
    ):
        with pytest.raises(ParameterError, match="must be a whole number of at least|must be between 0 and 1"):
            Transformer(model=make_encoder(), **wrong)


@pytest.mark.slow
def test_a_real_encoder_learns_authors_from_real_reviews(minilm):
    path = SHARED / "scale_reviews.jsonl.xz"
    if not path.exists():
        pytest.skip("the shared data sets are not at hand")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, 8)]
    texts = [" ".join(row["text"].split()[:60]) for row in rows]
    dataset = Dataset(texts, attribute=[row["author"] for row in rows])
    classifier = Transformer(model=minilm, learning_rate=2e-4, warmup_steps=10, epochs=2)
    metric = AttributeInference(classifier=classifier, seeds=[42])
    case = Case(dataset, dataset.pair(texts))
    assert len(texts) > 500
    (baseline,) = metric.predict(case, Scenario.BASELINE).by_seed
    assert baseline > majority_f1(dataset.attribute, [42]) + 0.3
    assert metric.predict(case, Scenario.STATIC).by_seed == [baseline]
