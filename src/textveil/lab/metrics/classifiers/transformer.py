"""A transformer fine-tuned with the Trainer of Hugging Face, as in the paper."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from textveil.errors import InputError, ParameterError
from textveil.extras import require, require_version
from textveil.lab.metrics.base import EXTRA as EVALUATE
from textveil.lab.metrics.base import add_constants
from textveil.lab.metrics.classifiers.base import Classifier, Fitted
from textveil.lab.metrics.dataset import Classes, Codes, Texts
from textveil.models.files import (
    DEVICE_OPTION,
    EXTRA,
    MODEL_SOURCES,
    ModelFiles,
    choose_device,
    make_readable,
    reading_model,
)
from textveil.progress import Progress, ignore_progress
from textveil.registry import Option

DEFAULT_TRANSFORMER = "deberta-v3-base"
GAMMA = 2.0
"""The exponent of the focal loss, which reduces the weight of easy texts."""
LEARNING_RATE = 2e-5
WARMUP_STEPS = 500
BATCH_SIZE = 8
EPOCHS = 1
LONGEST = 512
"""Tokens to read of every text; the rest is cut, as in the paper."""
TESTED_AT_A_TIME = 32


class Transformer(Classifier):
    """A pretrained transformer with a new head, trained with focal loss and class weights.

    The default hyperparameters are those of the paper. After the warm-up the learning rate falls linearly, which is the
    Trainer's default. The warm-up takes at most half of all steps, so that small data sets are learned at all.

    Args:
        options: The pretrained ``model``, hyperparameters, and the ``device``.
    """

    name = "transformer"
    cached = 3
    packages = ("accelerate", "torch", "transformers")

    options = (
        Option(
            "model",
            str,
            DEFAULT_TRANSFORMER,
            f"Pretrained model to fine-tune: {MODEL_SOURCES}.",
            flag="--attacker-model",
            changes_results=False,  # its files do, and they are recorded
        ),
        Option("learning_rate", float, LEARNING_RATE, "The largest learning rate, reached after the warm-up."),
        Option("warmup_steps", int, WARMUP_STEPS, "Number of steps with a growing learning rate.", least=0),
        Option("batch_size", int, BATCH_SIZE, "Number of texts per step.", least=1),
        Option("epochs", int, EPOCHS, "Number of passes over the training texts.", least=1),
        Option("longest", int, LONGEST, "Number of tokens to read of every text; the rest is cut.", least=1),
        DEVICE_OPTION,
        Option(
            "keep",
            bool,
            True,
            "Store classifiers that were trained on originals in the folder of cached scores, so that later runs need "
            "not train them. Each has the size of the model.",
            changes_results=False,
        ),
    )
    model: str
    learning_rate: float
    warmup_steps: int
    batch_size: int
    epochs: int
    longest: int
    device: str | None
    keep: bool

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not 0 < self.learning_rate < 1:
            raise ParameterError(f"`learning_rate` must be between 0 and 1. Got {self.learning_rate!r} instead.")
        require_version("accelerate", extra=EVALUATE)
        require_version("transformers", extra=EXTRA)
        self.files = ModelFiles.find(self.model)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The pretrained model."""
        return self.files.as_dict()

    def as_dict(self) -> dict[str, Any]:
        """The record of the classifier, with the exponent of its loss."""
        return add_constants(super().as_dict(), focal_loss=GAMMA)

    @property
    def versions(self) -> dict[str, str]:
        """The packages that train it."""
        return {package: require_version(package, extra=EVALUATE) for package in self.packages}

    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> FittedTransformer:
        """Fine-tune on the texts at the given positions. This method leaves no files on disk."""
        codes = classes.codes[rows]
        transformers, torch = require("transformers", extra=EXTRA), require("torch", extra=EXTRA)
        with restoring_randomness(), TemporaryDirectory() as folder:
            transformers.set_seed(seed)  # loading the model initializes the new head at random
            tokenizer, model = self._load(len(classes.names))
            examples = [
                {**tokens, "labels": int(code)}
                for tokens, code in zip(self.tokenize(tokenizer, texts, rows), codes, strict=True)
            ]
            weights = torch.tensor(class_weights(codes), dtype=torch.float32, device=model.device)

            def compute_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:  # noqa: ARG001
                return focal_loss(outputs["logits"], labels, weights)

            trainer = transformers.Trainer(
                model=model,
                args=self._arguments(folder, len(examples), seed),
                train_dataset=examples,
                data_collator=transformers.DataCollatorWithPadding(tokenizer),
                compute_loss_func=compute_loss,
                callbacks=[_report_to(progress)],
            )
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
        return FittedTransformer(self, tokenizer, model.eval())

    @property
    def kept(self) -> bool:
        """As the option ``keep`` says."""
        return self.keep

    def unpack(self, content: bytes, classes: Classes) -> FittedTransformer:
        """The fine-tuned transformer with these weights.

        Raises:
            InputError: The weights are not those of this model.
        """
        weights = require("safetensors.torch", extra=EXTRA)
        with restoring_randomness():  # loading the model initializes the new head at random
            tokenizer, model = self._load(len(classes.names))
        try:
            model.load_state_dict(weights.load(content))
        except Exception as error:  # safetensors and PyTorch have no common base
            raise InputError(
                f"The stored classifier does not match the model {self.files.name!r}. Remove the folder of cached "
                "scores: the classifier is trained again."
            ) from error
        return FittedTransformer(self, tokenizer, model.eval())

    def _arguments(self, folder: str, examples: int, seed: int) -> Any:
        """The arguments of the Trainer. Others keep their defaults, as in the paper."""
        steps = -(-examples // self.batch_size) * self.epochs
        return require("transformers", extra=EXTRA).TrainingArguments(
            output_dir=folder,
            learning_rate=self.learning_rate,
            warmup_steps=min(self.warmup_steps, steps // 2),
            per_device_train_batch_size=self.batch_size,
            num_train_epochs=self.epochs,
            seed=seed,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=choose_device(self.device) == "cpu",
            dataloader_pin_memory=False,
        )

    def _load(self, classes: int) -> tuple[Any, Any]:
        transformers, torch = require("transformers", extra=EXTRA), require("torch", extra=EXTRA)
        options = {"local_files_only": True, "trust_remote_code": False}
        with reading_model(self.files, "transformer"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(self.files.folder), **options)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                str(self.files.folder),
                num_labels=classes,
                dtype=torch.float32,
                use_safetensors=True,  # other weights are pickles, which can run code
                **options,
            )
        return tokenizer, model.to(choose_device(self.device))

    def tokenize(self, tokenizer: Any, texts: Texts, rows: Codes) -> list[dict[str, Any]]:
        """The tokens of the texts at the given positions."""
        longest = min(self.longest, tokenizer.model_max_length)
        encoded = tokenizer(
            [make_readable(texts[int(row)]) for row in rows], truncation=True, max_length=longest, verbose=False
        )
        return [dict(zip(encoded, values, strict=True)) for values in zip(*encoded.values(), strict=True)]


class FittedTransformer(Fitted):
    """A fine-tuned transformer."""

    def __init__(self, classifier: Transformer, tokenizer: Any, model: Any) -> None:
        self._classifier = classifier
        self._tokenizer = tokenizer
        self._model = model

    def pack(self) -> bytes:
        """The weights as safetensors."""
        weights = require("safetensors.torch", extra=EXTRA)
        tensors = {name: tensor.detach().cpu().clone() for name, tensor in self._model.state_dict().items()}
        content: bytes = weights.save({name: tensor.contiguous() for name, tensor in tensors.items()})
        return content

    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The most probable class of each text, in batches of similar length."""
        torch = require("torch", extra=EXTRA)
        tokens = self._classifier.tokenize(self._tokenizer, texts, rows)
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]["input_ids"]))
        predicted = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(order), TESTED_AT_A_TIME):
            batch = order[start : start + TESTED_AT_A_TIME]
            padded = self._tokenizer.pad([tokens[i] for i in batch], return_tensors="pt").to(self._model.device)
            with torch.inference_mode():
                predicted[batch] = self._model(**padded).logits.argmax(dim=1).cpu().numpy()
        return predicted


def focal_loss(logits: Any, labels: Any, weights: Any) -> Any:
    """The focal loss (Lin et al. 2017): the mean of weight * (1 - p)^gamma * -log p, p of the right class."""
    log_probability = logits.log_softmax(dim=-1).gather(-1, labels[:, None]).squeeze(-1)
    return (weights[labels] * (1 - log_probability.exp()) ** GAMMA * -log_probability).mean()


def class_weights(codes: Codes) -> Any:
    """The weight of each class: texts / (classes * texts of the class), so that the mean weight of a text is 1.

    >>> class_weights(np.array([0, 0, 0, 1])).tolist()
    [0.6666666666666666, 2.0]
    """
    counts = np.bincount(codes)
    return len(codes) / (len(counts) * counts)


def _report_to(progress: Progress) -> Any:
    """A callback that reports the progress of the Trainer."""
    callback = require("transformers", extra=EXTRA).TrainerCallback

    class Reporter(callback):  # type: ignore[misc, valid-type]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress("fine-tuning", state.global_step, state.global_step / max(1, state.max_steps))

    return Reporter()


@contextmanager
def restoring_randomness() -> Iterator[None]:
    """Restore the global random generators, which the Trainer seeds."""
    torch = require("torch", extra=EXTRA)
    python, numbers = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
