"""A transformer that is fine-tuned by the Trainer of Hugging Face, as in the paper."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from textveil.errors import ParameterError
from textveil.evaluation.base import EXTRA as EVALUATE
from textveil.evaluation.classifiers.base import Classifier, Fitted
from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.texts import Texts
from textveil.extras import require, require_version
from textveil.models.files import EXTRA, ModelFiles, choose_device, make_readable, reading_model
from textveil.progress import Progress, ignore_progress

DEFAULT_TRANSFORMER = "deberta-v3-base"
GAMMA = 2.0
"""How strongly the focal loss looks away from texts that are easy."""
LEARNING_RATE = 2e-5
WARMUP_STEPS = 500
BATCH_SIZE = 8
EPOCHS = 1
LONGEST = 512
"""Tokens of a text that are read; the rest is cut, as the paper has it."""
TESTED_AT_A_TIME = 32


class Transformer(Classifier):
    """A transformer with a new head, trained with focal loss and class weights.

    Learning rate, warm-up, batch and epoch are the paper's; behind the warm-up the learning rate falls linearly, as the
    Trainer has it. The warm-up is half of all steps at most, or little data would be learnt at next to no rate.

    Args:
        model: A resource, a folder, or the OWNER/NAME of a model in the cache of Hugging Face.
        learning_rate: The largest, behind the warm-up.
        warmup_steps: Steps in which it grows.
        batch_size: Texts of a step.
        epochs: How often all texts are read.
        longest: Tokens of a text that are read.
        device: A device of PyTorch; by default a GPU if there is one.
    """

    name = "transformer"
    held = 3
    packages = ("accelerate", "torch", "transformers")

    def __init__(
        self,
        *,
        model: str | Path = DEFAULT_TRANSFORMER,
        learning_rate: float = LEARNING_RATE,
        warmup_steps: int = WARMUP_STEPS,
        batch_size: int = BATCH_SIZE,
        epochs: int = EPOCHS,
        longest: int = LONGEST,
        device: str | None = None,
    ) -> None:
        super().__init__()
        require_version("accelerate", extra=EVALUATE)
        require_version("transformers", extra=EXTRA)
        if not 0 < learning_rate < 1 or warmup_steps < 0 or min(batch_size, epochs, longest) < 1:
            raise ParameterError("Learning rate, batch size, epochs and length must be positive, the rate below 1.")
        self.files = ModelFiles.find(model)
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.batch_size = batch_size
        self.epochs = epochs
        self.longest = longest
        self._device = device

    @property
    def description(self) -> str:
        """The model with the hash of its files, and how it is trained."""
        return (
            f"{self.name} {self.files.description}, focal loss {GAMMA:g}, rate {self.learning_rate:g}, "
            f"warm-up {self.warmup_steps}, batch {self.batch_size}, epochs {self.epochs}, length {self.longest}"
        )

    @property
    def versions(self) -> dict[str, str]:
        """Of the packages that train it."""
        return {package: require_version(package, extra=EVALUATE) for package in self.packages}

    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> FittedTransformer:
        """Fine-tune on the texts at some positions; nothing is left on the disk."""
        codes = classes.codes[rows]
        transformers = require("transformers", extra=EXTRA)
        with keeping_randomness(), TemporaryDirectory() as folder:
            transformers.set_seed(seed)  # the new head is drawn when the model is made
            tokenizer, model = self._load(len(classes.names))
            examples = [
                {**tokens, "labels": int(code)}
                for tokens, code in zip(self.tokenise(tokenizer, texts, rows), codes, strict=True)
            ]
            trainer = transformers.Trainer(
                model=model,
                args=self._arguments(folder, len(examples), seed),
                train_dataset=examples,
                data_collator=transformers.DataCollatorWithPadding(tokenizer),
                compute_loss_func=_Focal(class_weights(codes), model.device),
                callbacks=[_telling(progress)],
            )
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
        return FittedTransformer(self, tokenizer, model.eval())

    def _arguments(self, folder: str, examples: int, seed: int) -> Any:
        """How the Trainer trains: what is not said here is its default, as in the paper."""
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
            use_cpu=choose_device(self._device) == "cpu",
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
                use_safetensors=True,  # other weights are pickles, which may run anything
                **options,
            )
        return tokenizer, model.to(choose_device(self._device))

    def tokenise(self, tokenizer: Any, texts: Texts, rows: Codes) -> list[dict[str, Any]]:
        """What the model reads of the texts at some positions."""
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

    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The most likely class of each text, those of about the same length at a time."""
        torch = require("torch", extra=EXTRA)
        tokens = self._classifier.tokenise(self._tokenizer, texts, rows)
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]["input_ids"]))
        predicted = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(order), TESTED_AT_A_TIME):
            batch = order[start : start + TESTED_AT_A_TIME]
            padded = self._tokenizer.pad([tokens[i] for i in batch], return_tensors="pt").to(self._model.device)
            with torch.inference_mode():
                predicted[batch] = self._model(**padded).logits.argmax(dim=1).cpu().numpy()
        return predicted


class _Focal:
    """The focal loss (Lin et al. 2017): what is easy counts less; each class counts as much as another."""

    def __init__(self, weights: Any, device: Any) -> None:
        self._torch = require("torch", extra=EXTRA)
        self._weights = self._torch.tensor(weights, dtype=self._torch.float32, device=device)

    def __call__(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        return focal_loss(outputs["logits"], labels, self._weights)


def focal_loss(logits: Any, labels: Any, weights: Any) -> Any:
    """The mean over texts of weight * (1 - p)^gamma * -log p, p being the probability of the right class."""
    log_probability = logits.log_softmax(dim=-1).gather(-1, labels[:, None]).squeeze(-1)
    return (weights[labels] * (1 - log_probability.exp()) ** GAMMA * -log_probability).mean()


def class_weights(codes: Codes) -> Any:
    """The weight of each class: all texts over those of the class and the number of classes, so that the mean is 1.

    >>> class_weights(np.array([0, 0, 0, 1])).tolist()
    [0.6666666666666666, 2.0]
    """
    counts = np.bincount(codes)
    return len(codes) / (len(counts) * counts)


def _telling(progress: Progress) -> Any:
    """What tells the progress of the Trainer."""
    callback = require("transformers", extra=EXTRA).TrainerCallback

    class Telling(callback):  # type: ignore[misc, valid-type]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress("fine-tuning", state.global_step, state.global_step / max(1, state.max_steps))

    return Telling()


@contextmanager
def keeping_randomness() -> Iterator[None]:
    """Give the global generators back as they were: the Trainer seeds all of them."""
    torch = require("torch", extra=EXTRA)
    python, numbers = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
