"""Attention and gradients as they were computed before: in padded batches, by Captum with 50 steps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.distribution.plain import Scores, add_up, load_plainly
from textveil.text.documents import Document

Score = Callable[[Sequence[Document]], list[Scores]]

STEPS = 50
_PASS = 2048


class _EnoughSeenError(Exception):
    """The attention of the last layer is known."""


def read_padded(tokenizer: Any, look: Callable[..., Any], size: int, documents: Sequence[Document]) -> list[Scores]:
    """The scores of documents that fit into a window, in batches that are padded to the longest document."""
    import torch

    order = sorted(range(len(documents)), key=lambda number: -len(documents[number].text))

    def read(batch: Sequence[int]) -> list[Scores]:
        texts = [documents[number].text for number in batch]
        tokens = tokenizer(texts, return_tensors="pt", padding=True, return_offsets_mapping=True)
        offsets, mask = tokens["offset_mapping"].tolist(), tokens["attention_mask"]
        rows, lengths = look(tokens["input_ids"], mask).tolist(), mask.sum(dim=1).tolist()
        return [
            add_up(documents[number], places[1 : length - 1], row[1 : length - 1])
            for number, places, row, length in zip(batch, offsets, rows, lengths, strict=True)
        ]

    batches = [order[start : start + size] for start in range(0, len(order), size)]
    threads = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as executor:
            found = [row for rows in executor.map(read, batches) for row in rows]
    finally:
        torch.set_num_threads(threads)
    scores = dict(zip(order, found, strict=True))
    return [scores[number] for number in range(len(documents))]


def attend_before(folder: Path) -> Score:
    """Attention in padded batches of eight, with the mean over heads of every layer."""
    import torch
    import transformers
    from transformers.masking_utils import eager_mask

    seen = threading.local()

    def attend(_: Any, query: Any, key: Any, value: Any, mask: Any, *, scaling: float, **__: Any) -> Any:
        weights = query @ key.transpose(2, 3) * scaling
        weights = (weights if mask is None else weights + mask).softmax(dim=-1)
        seen.layers.append(weights.mean(dim=1))
        if len(seen.layers) == model.config.num_hidden_layers:
            raise _EnoughSeenError
        return (weights @ value).transpose(1, 2).contiguous(), weights

    def look(ids: Any, mask: Any) -> Any:
        seen.layers = []
        with torch.inference_mode(), suppress(_EnoughSeenError):
            model(input_ids=ids, attention_mask=mask, output_attentions=True)
        queries = mask.unsqueeze(-1)
        return (torch.stack(seen.layers).mean(dim=0) * queries).sum(dim=1) / queries.sum(dim=1)

    transformers.AttentionInterface.register("before", attend)
    transformers.AttentionMaskInterface.register("before", eager_mask)
    model, tokenizer = load_plainly(folder, attn_implementation="before")
    return partial(read_padded, tokenizer, look, 8)


def attribute_before(folder: Path) -> Score:
    """Captum's integrated gradients with 50 steps, in padded batches of two."""
    from captum.attr import IntegratedGradients

    model, tokenizer = load_plainly(folder)
    model.requires_grad_(False)

    def pool(embeddings: Any, mask: Any) -> Any:
        states = model(inputs_embeds=embeddings, attention_mask=mask).last_hidden_state
        return (states.sum(dim=-1) * mask).sum(dim=-1) / mask.sum(dim=-1)

    def look(ids: Any, mask: Any) -> Any:
        rows, length = ids.shape
        attributions = IntegratedGradients(pool).attribute(
            model.get_input_embeddings()(ids),
            additional_forward_args=(mask,),
            n_steps=STEPS,
            internal_batch_size=rows * max(1, _PASS // (rows * length)),
        )
        return attributions.norm(dim=-1)

    return partial(read_padded, tokenizer, look, 2)
