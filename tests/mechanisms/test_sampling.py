"""Sampling is exact to the stated precision, for every share."""

import numpy as np
import pytest
from scipy import special, stats

from textveil.methods.mechanisms import sampling
from textveil.methods.mechanisms.sampling import PRECISION, TILE_ENTRIES, Exponents, draw, squared_distances

generator = np.random.default_rng(8)
ENTRIES = generator.normal(size=(2 * TILE_ENTRIES + 77, 6)).astype(np.float32)
POINTS = np.concatenate([ENTRIES[[0, 5, TILE_ENTRIES]].astype(float), generator.normal(size=(4, 6))])


def exact_exponents(shares, cap=np.inf):
    differences = POINTS[:, None] - ENTRIES[None].astype(float)
    return -shares[:, None] * np.minimum(np.sqrt((differences**2).sum(axis=2)), cap) / 2


@pytest.mark.parametrize("share", [0.0, 1e-300, 0.1, 5.0, 80.0, 200.0, 1e4, 1e9])
@pytest.mark.parametrize("cap", [None, 2.0])
def test_probabilities_are_exact_to_the_stated_precision(share, cap):
    shares = np.full(len(POINTS), share)
    found = special.log_softmax(Exponents(ENTRIES, cap).compute(POINTS, shares).astype(float), axis=1)
    expected = special.log_softmax(exact_exponents(shares, np.inf if cap is None else cap), axis=1)
    likely = expected > -80
    assert np.abs(found - expected)[likely].max() < PRECISION / 10
    assert (found[~likely] < -70).all()


def test_an_immense_share_leaves_the_nearest_entry():
    for share in (1e290, 1e300, np.finfo(float).max):
        exponents = Exponents(ENTRIES, None).compute(POINTS, np.full(len(POINTS), share))
        nearest = squared_distances(POINTS, ENTRIES).argmin(axis=1)
        np.testing.assert_array_equal(draw(exponents, np.full(len(POINTS), 0.999999)), nearest)


def test_a_row_does_not_depend_on_the_others():
    table, shares = Exponents(ENTRIES, None), np.full(len(POINTS), 6.0)
    together = table.compute(POINTS, shares)
    for row in range(len(POINTS)):
        np.testing.assert_array_equal(table.compute(POINTS[row : row + 1], shares[:1])[0], together[row])


@pytest.mark.parametrize("dimensions", [1, 64, 300])
def test_a_row_does_not_depend_on_its_place(dimensions):
    """Libraries round the rows of a product by their place in a block, in different ways for each processor."""
    draws = np.random.default_rng(4)
    entries = draws.normal(size=(TILE_ENTRIES + 300, dimensions)).astype(np.float32)
    table, point = Exponents(entries, None), draws.normal(size=(1, dimensions))
    alone = table.compute(point, np.array([3.0]))[0]
    for rows in (2, 12, 16, 45):
        for place in range(rows):
            points = draws.normal(size=(rows, dimensions))
            points[place] = point
            np.testing.assert_array_equal(table.compute(points, np.full(rows, 3.0))[place], alone)


def test_a_point_far_from_all_entries_is_computed_alone():
    table, far = Exponents(ENTRIES, None), 1e4 * POINTS[:1]
    exponents = table.compute(np.concatenate([far, POINTS[1:]]), np.full(len(POINTS), 1e-4))
    np.testing.assert_array_equal(exponents[0], table.compute(far, np.array([1e-4]))[0])
    distances = np.linalg.norm(far - ENTRIES, axis=1)
    np.testing.assert_allclose(exponents[0], -1e-4 * (distances - distances.min()) / 2, atol=1e-6)


def test_a_row_does_not_depend_on_a_huge_share_of_another():
    table, shares = Exponents(ENTRIES, None), np.full(len(POINTS), 6.0)
    alone = table.compute(POINTS, shares)
    shares[2] = 1e5
    np.testing.assert_array_equal(table.compute(POINTS, shares)[[0, 1, 3, 4, 5, 6]], alone[[0, 1, 3, 4, 5, 6]])


@pytest.mark.parametrize("cap", [None, 1.5])
def test_exponents_of_measured_points_are_the_same(cap):
    table, shares = Exponents(ENTRIES, cap), np.array([0.0, 0.3, 5.0, 1e5, 8.0, 2.0, 9.0])
    np.testing.assert_array_equal(table.compute(POINTS, shares, table.measure(POINTS)), table.compute(POINTS, shares))


@pytest.mark.parametrize("share", [100.0, 1e3, 1e4, 1e6])
def test_near_entries_at_large_shares_keep_the_bound(share):
    """Entries that nearly coincide: no log-ratio passes share * distance, and an entry is at distance 0 from itself."""
    spread = np.random.default_rng(3)
    base = 4 * spread.normal(size=(20, 30))
    entries = np.concatenate([base, base + 1e-3 * spread.normal(size=base.shape)]).astype(np.float32)
    points = entries.astype(float)
    logs = special.log_softmax(Exponents(entries, None).compute(points, np.full(40, share)).astype(float), axis=1)
    exact = special.log_softmax(-share * np.linalg.norm(points[:, None] - points[None], axis=2) / 2, axis=1)
    likely = exact > -50
    assert np.abs(logs - exact)[likely].max() < PRECISION
    for one in range(20):
        both = likely[one] & likely[one + 20]
        bound = share * np.linalg.norm(points[one] - points[one + 20])
        assert np.abs(logs[one] - logs[one + 20])[both].max(initial=0) <= bound + PRECISION


def test_the_uniform_number_selects_by_the_cumulative_sum():
    weights = np.array([0.0, 0.25, 0.0, 0.5, 0.25, 0.0])
    with np.errstate(divide="ignore"):
        exponents = np.log(weights)
    uniforms = np.array([0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2**-53])
    chosen = draw(np.tile(exponents, (6, 1)), uniforms)
    assert chosen.tolist() == [1, 1, 3, 3, 4, 4]


def test_several_uniform_numbers_draw_from_one_row():
    exponents, random = np.random.default_rng(1).normal(size=(3, 700)), np.random.default_rng(2)
    rows, uniforms = np.array([0, 0, 2, 2, 2]), random.random(5)
    np.testing.assert_array_equal(draw(exponents.copy(), uniforms, rows), draw(exponents[rows], uniforms))


def test_draws_over_several_blocks_have_the_right_frequencies(monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK_ENTRIES", 4)
    exponents = np.random.default_rng(1).normal(size=11)
    draws = 50_000
    chosen = draw(np.tile(exponents, (draws, 1)), np.random.default_rng(2).random(draws))
    assert stats.chisquare(np.bincount(chosen, minlength=11), draws * special.softmax(exponents)).pvalue > 1e-4


def test_exponents_that_are_all_alike_are_uniform():
    chosen = draw(np.zeros((10_000, 50)), (np.arange(10_000) + 0.5) / 10_000)
    np.testing.assert_array_equal(np.bincount(chosen), np.full(50, 200))


def test_squared_distances_are_those_of_the_definition():
    expected = ((POINTS[:, None] - ENTRIES[None].astype(float)) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(POINTS, ENTRIES), expected, atol=1e-12)
