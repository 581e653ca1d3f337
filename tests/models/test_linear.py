import pytest
import torch

from textveil.models.encoders import pack_weights

IDS = torch.tensor([[101, 2023, 2003, 102]])


def load(folder):
    import transformers

    return transformers.AutoModel.from_pretrained(folder).eval().requires_grad_(False)


def test_packed_weights_give_the_same_states_and_gradients(minilm):
    model = load(minilm)
    inputs = model.get_input_embeddings()(IDS).requires_grad_()
    states = model(inputs_embeds=inputs).last_hidden_state
    (gradients,) = torch.autograd.grad(states[:, 0].sum(), inputs)
    if not pack_weights(model, IDS):
        pytest.skip("this PyTorch has no packed weights")
    assert not any(type(layer) is torch.nn.Linear for layer in model.modules())
    packed = model(inputs_embeds=inputs).last_hidden_state
    (others,) = torch.autograd.grad(packed[:, 0].sum(), inputs)
    assert torch.allclose(packed, states, atol=1e-5)
    assert torch.allclose(others, gradients, atol=1e-4)


class Curious(torch.nn.Module):
    """A model that looks at the weights of its layer."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, input_ids):
        states = self.layer(input_ids.float() * self.layer.weight.mean())
        return type("Output", (), {"last_hidden_state": states})


def test_a_model_that_needs_its_layers_keeps_them():
    model = Curious().requires_grad_(False)
    assert not pack_weights(model, IDS)
    assert type(model.layer) is torch.nn.Linear


def test_other_precisions_are_left_alone(make_encoder):
    assert not pack_weights(load(make_encoder()).bfloat16(), IDS)
