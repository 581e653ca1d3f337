"""Integrated gradients: words whose embedding moves an encoder's output are important."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from textveil.methods.distribution.base import EncoderDistributor, Score
from textveil.models.encoders import Encoder
from textveil.registry import Option
from textveil.text.documents import Document

STEPS = 5
"""With MiniLM and kept stopwords, 0.34 % of the budget is elsewhere on average than in a converged integral. If
stopwords take part, it is 0.7 %, and more for short texts: 20 steps are then needed for 1 %."""
PAPER_STEPS = 50
DENSEST = 0.25
"""The place around which steps are densest. With MiniLM, this place and width were the best of 48 that were tried."""
WIDTH = 0.15
"""Within this distance from the densest place, steps are about equally far apart."""
BATCH_SIZE = 2
"""Windows to encode at a time: few, since each passes through all steps."""
_PASS = 2048
"""About how many tokens pass through the encoder at a time; more are no faster and need more memory."""


class Gradients(EncoderDistributor):
    """Integrated gradients of the encoder's output (Sundararajan et al. 2017; the paper's algorithm 5).

    The output is the sum of the mean-pooled last hidden state. Its gradients are integrated from a baseline of zeros to
    the embeddings of the tokens, by Gauss-Legendre quadrature as in Captum, with steps that are denser where gradients
    change fast (:func:`place_steps`). A token's score is the L2 norm of its attribution; the scores of a word's tokens
    are summed.
    """

    name = "gradients"
    invert = True

    options = (
        Option("steps", int, STEPS, f"Number of integration steps. The paper's: {PAPER_STEPS}.", least=1),
        replace(EncoderDistributor.list_options()["batch_size"], default=BATCH_SIZE),
    )
    steps: int

    def load(self) -> Encoder:
        """Load the encoder with the default attention of transformers."""
        return Encoder.load(self.files, attention=None, **self.settings)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The norm of the attribution to every word."""
        return self.encoder.score_words(documents, lambda ids: self._attribute(ids).norm(dim=-1))

    def _attribute(self, ids: Any) -> Any:
        """The attribution to every number of every embedding: the embedding times the integral of the gradients."""
        embeddings, torch = self._embed(ids), self.encoder.torch
        integral = torch.zeros(embeddings.shape, device=embeddings.device)
        steps = torch.tensor(place_steps(self.steps), device=embeddings.device)
        for some in steps.split(max(1, _PASS // ids.numel())):
            places, weights = some.T[:, :, None, None, None]
            with torch.enable_grad():
                inputs = (places.to(embeddings.dtype) * embeddings).requires_grad_()
                output = self._pool(inputs.flatten(0, 1)).sum()  # rows do not see each other
            (gradients,) = torch.autograd.grad(output, inputs)
            integral += (weights * gradients).sum(dim=0)
        return integral * embeddings

    def _embed(self, ids: Any) -> Any:
        with self.encoder.torch.no_grad():
            return self.encoder.model.get_input_embeddings()(ids)

    def _pool(self, embeddings: Any) -> Any:
        """The sum of the mean-pooled last hidden state, for every row."""
        return self.encoder.model(inputs_embeds=embeddings).last_hidden_state.float().sum(dim=-1).mean(dim=-1)


@cache
def place_steps(steps: int) -> tuple[tuple[float, float], ...]:
    """The places and weights of Gauss-Legendre quadrature between 0 and 1, denser around :data:`DENSEST`.

    With MiniLM and gte-small, gradients are largest and change fastest at about a quarter of the way. The variable of
    the quadrature is therefore the inverse hyperbolic sine of the distance from there. With it, five steps do what
    eight do without it.

    >>> [(round(place, 4), round(weight, 4)) for place, weight in place_steps(2)]
    [(0.1678, 0.3076), (0.5884, 0.6655)]
    """
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    low, high = np.arcsinh([-DENSEST / WIDTH, (1 - DENSEST) / WIDTH])
    scale = (high - low) / 2
    variable = low + scale * (nodes + 1)
    places, slopes = DENSEST + WIDTH * np.sinh(variable), WIDTH * np.cosh(variable)
    return tuple(zip(places.tolist(), (scale * weights * slopes).tolist(), strict=True))
