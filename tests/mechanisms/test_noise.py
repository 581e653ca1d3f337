import numpy as np
import pytest

from textveil.bundles.vectors import Vectors
from textveil.mechanisms import Request
from textveil.mechanisms.noise import NoisyVector
from textveil.randomness import SeededRandomness


class Keeping(NoisyVector):
    """Keeps the noise of a block."""

    name = guarantee = "keeping"

    def choose(self, block):
        self.noise = block.points / block.weights[:, None] - self.searched.place(block.rows)
        self.block = block
        return block.rows


@pytest.fixture
def keeping():
    return Keeping(Vectors(["a", "b"], np.array([[0.0, 1.0], [2.0, 5.0]], dtype=np.float32)))


def ask(rows, share):
    return Request(np.array(rows), np.full(len(rows), share), SeededRandomness(1).stream(0))


def test_noise_is_longer_for_smaller_shares(keeping):
    lengths = {}
    for share in (0.5, 5.0):
        keeping.perturb([ask([0, 1] * 200, share)])
        lengths[share] = np.linalg.norm(keeping.noise, axis=1).mean()
    assert lengths[0.5] == pytest.approx(2 / 0.5, rel=0.1)  # the mean of Gamma(d, 1/share)
    assert lengths[5.0] == pytest.approx(2 / 5.0, rel=0.1)


def test_a_matrix_shapes_the_noise(keeping):
    keeping.stretch = np.diag([10.0, 0.1])
    keeping.perturb([ask([0] * 200, 1.0)])
    assert np.abs(keeping.noise[:, 0]).mean() > 50 * np.abs(keeping.noise[:, 1]).mean()


def test_uniform_numbers_are_drawn_only_on_demand(keeping):
    keeping.perturb([ask([0] * 3, 1.0)])
    before = keeping.noise.copy()
    assert len(keeping.block.uniforms) == 0
    keeping.needs_uniforms = True
    keeping.perturb([ask([0] * 3, 1.0)])
    assert len(set(keeping.block.uniforms.tolist())) == 3
    assert not np.array_equal(before, keeping.noise)  # the stream goes on after them
