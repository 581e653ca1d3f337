"""How fluent texts are: the perplexity of their beginning under a causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from textveil.errors import InputError, ParameterError, ResourceError
from textveil.evaluation.base import EXTRA as EVALUATE
from textveil.evaluation.base import Case, Measurement, Metric
from textveil.evaluation.texts import Texts
from textveil.extras import require, require_version
from textveil.models.encoders import Values
from textveil.models.files import EXTRA, ModelFiles, choose_device, make_readable, reading_model
from textveil.progress import Progress
from textveil.storage.score_cache import Row

DEFAULT_LANGUAGE_MODEL = "smollm2"
PAPER_LANGUAGE_MODEL = "gpt2"
TOKENS = 32
"""How many tokens of a text are looked at."""
BATCH_SIZE = 32
"""Texts that are read at a time."""
_PACKAGES = ("torch", "transformers")


class Perplexity(Metric):
    """The perplexity of a text's first 32 tokens: the exponential of their mean loss, but for the first of them.

    A text of less than two tokens has none and is left out.

    Args:
        model: A causal language model: a resource, a folder, or OWNER/NAME in the cache of Hugging Face.
        tokens: How many tokens of a text are looked at.
        sample: Pairs that are read at most, always the same ones; by default all.
        batch_size: Texts that are read at a time.
        device: A device of PyTorch; by default a GPU if there is one.
    """

    name = "perplexity"

    def __init__(
        self,
        *,
        model: str | Path = DEFAULT_LANGUAGE_MODEL,
        tokens: int = TOKENS,
        sample: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
    ) -> None:
        super().__init__()
        for package in _PACKAGES:
            require_version(package, extra=EXTRA)
        self.files = ModelFiles.find(model)
        if tokens < 2 or (sample is not None and sample < 1):
            raise ParameterError("Perplexity needs two tokens of a text, and a sample of one text, at least.")
        self.tokens = tokens
        self._sample = sample
        self._batch_size = batch_size
        self._device = device

    @property
    def description(self) -> str:
        """The model with the hash of its files, and the number of tokens."""
        return f"{self.name} ({self.files.description}, {self.tokens} tokens)"

    @property
    def versions(self) -> dict[str, str]:
        """Of the packages that run the model."""
        return {package: require_version(package, extra=EXTRA) for package in _PACKAGES}

    @cached_property
    def language_model(self) -> LanguageModel:
        """The model, loaded on first use."""
        return LanguageModel.load(self.files, device=self._device)

    def measure(self, case: Case) -> Measurement:
        """Read the beginnings of all texts, of the originals once."""
        original = self.score(case.originals.sample(self._sample), "originals, perplexity", case.progress)
        obfuscated = self.score(case.obfuscated.sample(self._sample), "perplexity", case.progress)
        if not len(original) or not len(obfuscated):
            raise InputError("No text is long enough for a perplexity. Leave out perplexity.")
        values = {
            "mean": float(obfuscated.mean()),
            "median": float(np.median(obfuscated)),
            "original_mean": float(original.mean()),
            "original_median": float(np.median(original)),
        }
        line = (
            f"{values['mean']:,.0f}, where the originals have {values['original_mean']:,.0f} (median "
            f"{values['median']:,.0f} and {values['original_median']:,.0f}): how surprised {self.files.name} is by the "
            f"first {self.tokens} tokens. Less is more fluent."
        )
        return self.say(line, values, texts=len(obfuscated), originals=len(original))

    def score(self, texts: Texts, stage: str, progress: Progress) -> Values:
        """The perplexity of every text that is long enough to have one."""

        def work(positions: list[int]) -> list[Row]:
            chosen = [texts[position] for position in positions]
            return list(self.language_model.measure(chosen, self.tokens, self._batch_size)[:, None])

        values = np.concatenate(texts.score(self.identity, work, stage=stage, progress=progress))
        return values[~np.isnan(values)]


class LanguageModel:
    """A causal language model with its tokenizer."""

    def __init__(self, files: ModelFiles, model: Any, tokenizer: Any, device: str | None) -> None:
        self.torch = require("torch", extra=EXTRA)
        self.files = files
        self.device = choose_device(device)
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self._check_reads_one_way()

    @classmethod
    def load(cls, files: ModelFiles, *, device: str | None = None) -> LanguageModel:
        """Load a model from safetensors, or from one GGUF file.

        Raises:
            ResourceError: The folder has no causal language model.
        """
        transformers, torch = require("transformers", extra=EXTRA), require("torch", extra=EXTRA)
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        weights: dict[str, Any] = {"use_safetensors": True}  # other weights are pickles, which may run anything
        if packed := sorted(files.folder.glob("*.gguf")):
            require("gguf", extra=EVALUATE)
            options["gguf_file"], weights = packed[0].name, {}
        with reading_model(files, "causal language model"), redirect_stderr(StringIO()):  # a bar that cannot be put out
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(files.folder), **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(files.folder), dtype=torch.float32, **weights, **options
            )
        return cls(files, model, tokenizer, device)

    def _check_reads_one_way(self) -> None:
        """Refuse a model in which a token sees what comes after it, whose loss would mean nothing."""
        ids = self.torch.tensor([[1, 2], [1, 3]], device=self.device)
        with self.torch.inference_mode():
            first, second = self.model(input_ids=ids).logits[:, 0]
        if not self.torch.allclose(first, second, atol=1e-4):
            raise ResourceError(
                f"The model {self.files.name!r} is no causal language model: its tokens see those that come after "
                f"them. Choose another, such as {DEFAULT_LANGUAGE_MODEL}."
            )

    def measure(self, texts: Sequence[str], tokens: int, batch_size: int) -> Values:
        """The perplexity of the first tokens of every text; NaN where there are less than two."""
        ids = [self._tokenise(text, tokens) for text in texts]
        found = np.full(len(texts), np.nan)
        order = sorted((i for i in range(len(ids)) if len(ids[i]) > 1), key=lambda i: len(ids[i]))
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            found[batch] = self._read([ids[i] for i in batch])
        return found

    def _tokenise(self, text: str, tokens: int) -> list[int]:
        # A token has 30 characters or less, nearly always; a text is cut before it is split, as it may be long.
        head = make_readable(text)[: 100 * tokens]
        return list(self.tokenizer(head, verbose=False)["input_ids"][:tokens])

    def _read(self, rows: Sequence[Sequence[int]]) -> Values:
        longest = max(map(len, rows))
        ids = self.torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.device)
        mask = self.torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.device)
        with self.torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        losses = self.torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        seen = mask[:, 1:]
        values: Values = ((losses * seen).sum(dim=1) / seen.sum(dim=1)).exp().double().cpu().numpy()
        if not np.isfinite(values).all():
            raise ResourceError(f"The model {self.files.name!r} gives results that are no numbers. Choose another.")
        return values
