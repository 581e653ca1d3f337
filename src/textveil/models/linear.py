"""Linear layers whose weights are packed once for the kernels of a CPU."""

from __future__ import annotations

from functools import cache
from typing import Any

from textveil.extras import require
from textveil.models.files import EXTRA

ROWS = 512
"""The number of tokens that weights are packed for. Others can be read, too."""
_TOLERANCE = 1e-4


def pack_weights(model: Any, ids: Any) -> bool:
    """Replace the linear layers of a model, if PyTorch has the kernels and the model gives the same results.

    The weights are those of float32. PyTorch otherwise packs them again for every product. Gradients with regard to
    the inputs can be computed; the weights cannot be trained anymore.

    Args:
        model: A model in inference mode, on a CPU, as transformers or sentence-transformers has it.
        ids: Tokens to try it with.
    """
    torch = require("torch", extra=EXTRA)
    found = [
        (parent, name, layer)
        for parent in model.modules()
        for name, layer in parent.named_children()
        if type(layer) is torch.nn.Linear and layer.weight.dtype == torch.float32
    ]
    if not found or not _has_kernels():
        return False
    before = _try(model, ids)
    for parent, name, layer in found:
        setattr(parent, name, _packed_linear()(layer))
    try:
        after = _try(model, ids)
        same = before is not None and after is not None and torch.allclose(before, after, atol=_TOLERANCE)
    except (AttributeError, RuntimeError, TypeError):  # the model wants more of a layer than its product
        same = False
    if not same:
        for parent, name, layer in found:
            setattr(parent, name, layer)
    return same


def _try(model: Any, ids: Any) -> Any:
    """The last states of a model; ``None`` for a model that does not take tokens."""
    torch = require("torch", extra=EXTRA)
    with torch.inference_mode():
        try:
            if hasattr(model, "encode"):  # of sentence-transformers
                return model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["token_embeddings"]
            return model(input_ids=ids).last_hidden_state
        except (AttributeError, KeyError, TypeError, ValueError):
            return None


@cache
def _has_kernels() -> bool:
    """Whether this PyTorch has oneDNN with packed weights, as its compiler uses them."""
    torch = require("torch", extra=EXTRA)
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        weights, inputs = torch.ones(16, 16), torch.ones(2, 16)
        product = torch.ops.mkldnn._linear_pointwise(
            inputs, torch.ops.mkldnn._reorder_linear_weight(weights, ROWS), None, "none", [], ""
        )
        return bool((product == 16).all())
    except (AttributeError, RuntimeError, TypeError):
        return False


@cache
def _packed_linear() -> Any:
    """The class of packed layers, which exists when PyTorch is loaded."""
    torch = require("torch", extra=EXTRA)
    pack, multiply = torch.ops.mkldnn._reorder_linear_weight, torch.ops.mkldnn._linear_pointwise

    class Product(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """The product with packed weights, and the gradient with regard to the inputs."""

        @staticmethod
        def forward(context: Any, inputs: Any, layer: Any) -> Any:
            context.layer = layer
            return multiply(inputs, layer.packed, layer.bias, "none", [], "")

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            return multiply(gradient.contiguous(), context.layer.packed_transposed, None, "none", [], ""), None

    class PackedLinear(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A linear layer with packed weights."""

        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.packed = pack(layer.weight.detach(), ROWS)
            self.bias = None if layer.bias is None else layer.bias.detach()
            self._transposed: Any = None

        @property
        def packed_transposed(self) -> Any:
            """The weights for gradients, packed on first use."""
            if self._transposed is None:
                self._transposed = pack(self.packed.to_dense().t().contiguous(), ROWS)
            return self._transposed

        def forward(self, inputs: Any) -> Any:
            if torch.is_grad_enabled() and inputs.requires_grad:
                return Product.apply(inputs, self)
            return multiply(inputs, self.packed, self.bias, "none", [], "")

    return PackedLinear
