from itertools import product

import numpy as np
import pytest

from textveil.bundles.vectors import Vectors
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.base import Draft
from textveil.methods.mechanisms.noise import NoisyVector, fuse
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


def test_two_noisy_points_are_averaged_by_the_squares_of_their_shares(keeping):
    (draft,) = keeping.draft([ask([1, 0, 1], 3.0)])
    first = draft.points * (draft.reaches / draft.shares)[:, None]
    keeping.perturb([ask([0, 0, 1], 2.0)])
    second = keeping.block.points / keeping.block.weights[:, None]
    keeping.perturb([ask([0, 0, 1], 2.0)._replace(draft=draft)])
    fused = keeping.block.points / keeping.block.weights[:, None]
    np.testing.assert_allclose(fused, (9 * first + 4 * second) / 13, rtol=1e-5)
    assert keeping.block.shares.tolist() == [5, 5, 5]


def test_the_noise_of_both_rounds_has_the_variance_of_the_mean(keeping):
    squares = {1.0: [], 3.0: []}
    for share, document in product(squares, range(20)):
        request = Request(np.zeros(500, dtype=int), np.ones(500), SeededRandomness(1).stream(document))
        (draft,) = keeping.draft([request._replace(shares=np.full(500, share))])
        keeping.perturb([request._replace(draft=draft)])  # the stream goes on, so this is other noise
        squares[share].append((keeping.noise**2).sum(axis=1).mean())
    # |z|^2 has the mean d (d + 1) / share^2, and weights are proportional to share^2: 6 / (1 + share^2).
    assert np.mean(squares[1.0]) == pytest.approx(6 / 2, rel=0.1)
    assert np.mean(squares[3.0]) == pytest.approx(6 / 10, rel=0.1)


@pytest.mark.parametrize(("new", "old"), [(1e300, 1e300), (1e-300, 1e-300), (1e300, 1e-300), (1e-300, 1e300)])
def test_no_share_is_too_large_or_too_small_to_be_fused(keeping, new, old):
    old_point, new_point = np.array([[0.6, 0.8]]), np.array([[0.8, -0.6]])
    draft = Draft(np.zeros(1, dtype=int), np.array([old]), old_point.astype(np.float32), np.array([old + 2]))
    points, weights = fuse(new_point, np.array([new]), np.array([new + 2]), draft, slice(None))
    expected = (new_point + old_point) / 2 if new == old else new_point if new > old else old_point
    np.testing.assert_allclose(points, expected, rtol=1e-6)
    assert weights[0] == pytest.approx(1.0 if max(new, old) > 1 else 0.0)


def test_a_draft_of_another_mechanism_is_refused(keeping):
    with pytest.raises(RuntimeError):
        keeping.perturb([ask([1], 1.0)._replace(draft=Draft(np.zeros(1, dtype=int), np.ones(1)))])
