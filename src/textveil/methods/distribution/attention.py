"""Attention: words that an encoder attends to are important."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from textveil.extras import require
from textveil.methods.distribution.base import EncoderDistributor, Score
from textveil.models.encoders import Encoder
from textveil.models.files import EXTRA
from textveil.text.documents import Document

IMPLEMENTATION = "textveil"
"""The name under which transformers knows our implementation of attention."""


class _Seen:
    """The attention to every token, summed over the layers so far, and the number of layers to come."""

    def __init__(self, layers: int) -> None:
        self.total: Any = 0.0
        self.missing = layers

    def add(self, weights: Any) -> None:
        """Add a layer: the mean over its heads and attending tokens."""
        self.total = self.total + weights.mean(dim=(1, 2))
        self.missing -= 1


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
        return Encoder.load(self.files, attention=_register(), **self.settings)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The mean attention to every word."""
        return self.encoder.score_words(documents, self._look)

    def _look(self, ids: Any) -> Any:
        """The mean attention to every token: over layers, heads and attending tokens."""
        model = self.encoder.model
        layers = model.config.num_hidden_layers
        seen = _Seen(layers)
        token = _seen.set(seen)
        try:
            with self.encoder.torch.inference_mode():
                output = model(input_ids=ids, output_attentions=True)
            for weights in output.attentions:  # a model with an attention of its own
                seen.add(weights)
        except _EnoughSeenError:
            pass
        finally:
            _seen.reset(token)
        return seen.total / layers


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
    """Eager attention as in transformers; it also records the mean over heads and attending tokens."""
    query = query * (query.shape[-1] ** -0.5 if scaling is None else scaling)  # smaller than the weights
    weights = query @ key.transpose(2, 3)
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = weights.softmax(dim=-1)
    seen = _seen.get()
    if seen is not None:
        seen.add(weights)
        if not seen.missing:
            raise _EnoughSeenError
    return (weights @ value).transpose(1, 2).contiguous(), weights
