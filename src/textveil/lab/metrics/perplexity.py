"""Fluency: the perplexity of the first tokens of a text under a causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np

from textveil.errors import InputError, ResourceError
from textveil.extras import require
from textveil.lab.metrics.base import EXTRA as EVALUATE
from textveil.lab.metrics.base import SAMPLE_OPTION, Case, Measurement, ModelMetric, Reading, identify
from textveil.lab.metrics.dataset import Texts
from textveil.lab.metrics.uncertainty import average, bootstrap, describe_few
from textveil.models.encoders import Values
from textveil.models.files import (
    DEVICE_OPTION,
    EXTRA,
    MODEL_SOURCES,
    ModelFiles,
    choose_device,
    make_readable,
    reading_model,
)
from textveil.progress import Progress
from textveil.registry import Option
from textveil.storage.score_cache import Row

DEFAULT_LANGUAGE_MODEL = "smollm2"
TOKENS = 32
BATCH_SIZE = 32
"""Texts to read at a time."""


class Perplexity(ModelMetric):
    """The perplexity of the first tokens of a text: the exponential of their mean loss, without the first token.

    With a start token, the first token of the text has a loss, too: the paper's perplexity. The start token is one of
    the tokens that are read, so the model reads one token less of the text.

    Texts of fewer than two tokens, or of none if there is a start token, have no perplexity and are skipped.

    Args:
        options: The language ``model``, the number of ``tokens``, the ``start_token``, the ``sample`` of pairs, the
            ``batch_size`` and the ``device``.
    """

    name = "perplexity"
    packages = ("torch", "transformers")

    options = (
        Option(
            "model",
            str,
            DEFAULT_LANGUAGE_MODEL,
            f"Causal language model: {MODEL_SOURCES}.",
            flag="--language-model",
            changes_results=False,  # its files do, and they are recorded
        ),
        Option("tokens", int, TOKENS, "Number of tokens to read of every text.", least=2),
        Option("start_token", bool, False, "Read the model's start token before every text, as one of the tokens."),
        SAMPLE_OPTION,
        Option("batch_size", int, BATCH_SIZE, "Texts to read at a time.", least=1, changes_results=False),
        DEVICE_OPTION,
    )
    tokens: int
    start_token: bool
    sample: int | None
    batch_size: int
    device: str | None

    @cached_property
    def language_model(self) -> LanguageModel:
        """The model, loaded on first use."""
        return LanguageModel.load(self.files, device=self.device)

    def measure(self, case: Case) -> Measurement:
        """Read the first tokens of all texts. Originals are read once."""
        original = self.score(case.originals.sample(self.sample), "originals, perplexity", case.progress)
        obfuscated = self.score(case.obfuscated.sample(self.sample), "perplexity", case.progress)
        if not len(original) or not len(obfuscated):
            needed = "token" if self.start_token else "two tokens"
            raise InputError(f"No text has the {needed} that a perplexity needs. Remove perplexity from `metrics`.")
        readings = {}
        for prefix, found in (("", obfuscated), ("original_", original)):
            readings[f"{prefix}mean"] = average(found)
            readings[f"{prefix}median"] = Reading(float(np.median(found)), bootstrap(_median, found))
        line = (
            f"The median perplexity of {len(obfuscated):,} texts is {readings['median'].show(',.0f', first=True)}; of "
            f"the originals it is {readings['original_median'].show(',.0f')}. Lower is more fluent."
        )
        caveats = describe_few(len(obfuscated))
        return self.report(line, readings, caveats=caveats, texts=len(obfuscated), originals=len(original))

    def score(self, texts: Texts, stage: str, progress: Progress) -> Values:
        """The perplexity of every text that has one."""

        def work(positions: list[int]) -> list[Row]:
            chosen = [texts[position] for position in positions]
            found = self.language_model.measure(chosen, self.tokens, self.batch_size, start_token=self.start_token)
            return list(found[:, None])

        identity = identify(
            self.name, self.versions, model=self.files.as_dict(), tokens=self.tokens, start_token=self.start_token
        )
        rows = texts.score(identity, work, part_texts=self.batch_size, stage=stage, progress=progress)
        values = np.concatenate(rows)
        return values[~np.isnan(values)]


def _median(rows: Values) -> Values:
    found: Values = np.median(rows, axis=1)
    return found


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
        weights: dict[str, Any] = {"use_safetensors": True}  # other weights are pickles, which can run code
        if packed := sorted(files.folder.glob("*.gguf")):
            require("gguf", extra=EVALUATE)
            options["gguf_file"], weights = packed[0].name, {}
        with reading_model(files, "causal language model"), redirect_stderr(StringIO()):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(files.folder), **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(files.folder), dtype=torch.float32, **weights, **options
            )
        return cls(files, model, tokenizer, device)

    def _check_reads_one_way(self) -> None:
        """Refuse a model whose tokens see later tokens: its loss is not a perplexity."""
        ids = self.torch.tensor([[1, 2], [1, 3]], device=self.device)
        with self.torch.inference_mode():
            first, second = self.model(input_ids=ids).logits[:, 0]
        if not self.torch.allclose(first, second, atol=1e-4):
            raise ResourceError(
                f"The model {self.files.name!r} is not a causal language model: its tokens see later tokens. Choose "
                f"another, such as {DEFAULT_LANGUAGE_MODEL}."
            )

    def measure(self, texts: Sequence[str], tokens: int, batch_size: int, *, start_token: bool = False) -> Values:
        """The perplexity of the first tokens of every text; NaN for fewer than two tokens, with the start token."""
        start = [self._find_start()] if start_token else []
        ids = [[*start, *self._tokenize(text, tokens - len(start), special=not start)] for text in texts]
        found = np.full(len(texts), np.nan)
        order = sorted((i for i in range(len(ids)) if len(ids[i]) > 1), key=lambda i: len(ids[i]))
        for first in range(0, len(order), batch_size):
            batch = order[first : first + batch_size]
            found[batch] = self._read([ids[i] for i in batch])
        return found

    def _find_start(self) -> int:
        """The number of the start token."""
        start = self.tokenizer.bos_token_id
        if start is None:
            raise ResourceError(
                f"The model {self.files.name!r} has no start token. Set `start_token=False`, or choose another model."
            )
        return int(start)

    def _tokenize(self, text: str, tokens: int, *, special: bool) -> list[int]:
        # Tokens rarely exceed 30 characters. Long texts are cut before they are tokenized, which saves time.
        head = make_readable(text)[: 100 * tokens]
        return list(self.tokenizer(head, verbose=False, add_special_tokens=special)["input_ids"][:tokens])

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
            raise ResourceError(f"The model {self.files.name!r} returns values that are not finite. Choose another.")
        return values
