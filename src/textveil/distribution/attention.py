"""Attention: words that an encoder attends to are important."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

from textveil.distribution.base import EncoderDistributor, Score
from textveil.extras import require
from textveil.language.text import Document
from textveil.models.encoders import Batch, Encoder
from textveil.models.files import EXTRA

IMPLEMENTATION = "textveil"
"""The name under which transformers knows our implementation of attention."""


class _Seen(NamedTuple):
    """The attention of every layer so far, averaged over its heads, and the number of layers."""

    layers: list[Any]
    wanted: int


_seen: ContextVar[_Seen | None] = ContextVar("seen", default=None)


class _EnoughSeenError(Exception):
    """The attention of the last layer is known; the rest of the pass is not needed."""


class Attention(EncoderDistributor):
    """The mean attention to a word over layers, heads and attending tokens (the paper's algorithm 4).

    The attention to the tokens of a word is summed. Special tokens attend but get no score.
    """

    name = "attention"
    invert = True

    def load(self) -> Encoder:
        """Load the encoder with our implementation of attention."""
        return Encoder.load(self.files, attention=_register(), batch_size=self.batch_size, device=self.device)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The mean attention to every word."""
        return self.encoder.score_words(documents, self._look)

    def _look(self, batch: Batch) -> Any:
        """The mean attention to every token: over layers, heads, and queries that are not padding."""
        model, torch = self.encoder.model, self.encoder.torch
        seen = _Seen([], model.config.num_hidden_layers)
        token = _seen.set(seen)
        try:
            with torch.inference_mode():
                output = model(input_ids=batch.ids, attention_mask=batch.mask, output_attentions=True)
            layers = [weights.mean(dim=1) for weights in output.attentions]  # a model with an attention of its own
        except _EnoughSeenError:
            layers = seen.layers
        finally:
            _seen.reset(token)
        queries = batch.mask.unsqueeze(-1)
        return (torch.stack(layers).mean(dim=0) * queries).sum(dim=1) / queries.sum(dim=1)


@cache
def _register() -> str:
    """Register our implementation of attention with transformers."""
    transformers = require("transformers", extra=EXTRA)
    masking = require("transformers.masking_utils", extra=EXTRA)
    transformers.AttentionInterface.register(IMPLEMENTATION, _attend)
    transformers.AttentionMaskInterface.register(IMPLEMENTATION, masking.eager_mask)
    return IMPLEMENTATION


def _attend(
    _module: Any, query: Any, key: Any, value: Any, attention_mask: Any, *, scaling: float | None = None, **_: Any
) -> tuple[Any, Any]:
    """Eager attention as in transformers; it also records the mean over the heads."""
    weights = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = weights.softmax(dim=-1)
    seen = _seen.get()
    if seen is not None:
        seen.layers.append(weights.mean(dim=1))
        if len(seen.layers) == seen.wanted:
            raise _EnoughSeenError
    return (weights @ value).transpose(1, 2).contiguous(), weights
