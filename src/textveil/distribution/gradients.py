"""Integrated gradients: words whose embedding moves an encoder's output are important."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textveil.distribution.base import EncoderDistributor, Score
from textveil.extras import require
from textveil.language.text import Document
from textveil.models.encoders import Batch, Encoder
from textveil.models.files import EXTRA
from textveil.registry import Option

STEPS = 50
BATCH_SIZE = 2
"""Windows to encode at a time: few, since each passes through all steps."""
_PASS = 2048
"""About how many tokens pass through the encoder at a time; more are no faster and need more memory."""


class Gradients(EncoderDistributor):
    """Integrated gradients of the encoder's output, by Captum (the paper's algorithm 5).

    The output is the sum of the mean-pooled last hidden state. Its gradients are integrated
    from a baseline of zeros to the embeddings of the tokens. A token's score is the L2 norm of its attribution; the
    scores of a word's tokens are summed.
    """

    name = "gradients"
    invert = True
    packages = ("captum", "torch", "transformers")

    options = (
        Option("steps", int, STEPS, "Number of integration steps.", least=1),
        replace(EncoderDistributor.list_options()["batch_size"], default=BATCH_SIZE),
    )
    steps: int

    def load(self) -> Encoder:
        """Load the encoder with the default attention of transformers."""
        return Encoder.load(self.files, attention=None, batch_size=self.batch_size, device=self.device)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The norm of the attribution to every word."""
        return self.encoder.score_words(documents, self._look)

    def measure_convergence(self, documents: Sequence[Document]) -> list[float]:
        """Captum's convergence delta of each document: by how much its attributions miss their expected sum.

        For a document of several windows it is the largest of theirs. More steps make it smaller.
        """
        read = self.encoder.read([document.text for document in documents], self._look_at_convergence)
        return [float(max(abs(row[0]) for _, row in text.seen)) for text in read]

    def _look(self, batch: Batch) -> Any:
        return self._attribute(batch).norm(dim=-1)

    def _look_at_convergence(self, batch: Batch) -> Any:
        _, deltas = self._attribute(batch, return_convergence_delta=True)
        return deltas.unsqueeze(-1)

    def _attribute(self, batch: Batch, **options: Any) -> Any:
        captum = require("captum.attr", extra=EXTRA)
        rows, length = batch.ids.shape
        return captum.IntegratedGradients(self._pool).attribute(
            self.encoder.model.get_input_embeddings()(batch.ids),
            additional_forward_args=(batch.mask,),
            n_steps=self.steps,
            internal_batch_size=rows * max(1, _PASS // (rows * length)),
            **options,
        )

    def _pool(self, embeddings: Any, mask: Any) -> Any:
        """The sum of the mean-pooled last hidden state, for every row."""
        states = self.encoder.model(inputs_embeds=embeddings, attention_mask=mask).last_hidden_state
        return (states.sum(dim=-1) * mask).sum(dim=-1) / mask.sum(dim=-1)
