"""What is believed of buckets: pools, shares of means, and totals that may be noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.believed import (
    NEIGHBOURS,
    Pooled,
    half_means,
    is_more_than_noise,
    likely_shares,
    odds_of_emptiness,
    pools,
    shares_of_means,
    too_even,
    too_many_empty,
)
from onesided.randomness import seeded


@given(
    st.lists(st.tuples(st.integers(-50, 10**6), st.integers(2, 64)), min_size=1, max_size=60),
    st.floats(1, 1e6),
)
def test_pools_hold_buckets_of_like_means_and_enough_of_them(
    buckets: list[tuple[int, int]], least: float
) -> None:
    totals, sizes = (np.array(column) for column in zip(*buckets, strict=True))
    pool = pools(totals, sizes, least)
    assert set(pool) == set(range(pool.max() + 1))
    assert np.all(np.diff(pool[np.argsort(totals / sizes, kind="stable")]) >= 0)
    if pool.max() > 0:
        assert totals.sum() >= least


@pytest.mark.parametrize("spread", [0.1, 0.5, 1.0])
def test_the_share_of_the_mean_is_the_value_of_least_relative_error(spread: float) -> None:
    counts = 1000 * np.exp(spread * seeded(1).generator().standard_normal(200_000))
    deviation = np.abs(counts - np.median(counts)).sum()
    share = shares_of_means(np.array([deviation / counts.sum()]))[0]
    tried = counts.mean() * share * np.array([0.9, 1.0, 1.1])
    below, best, above = (float(np.mean(np.abs(counts - each) / counts)) for each in tried)
    assert best < min(below, above)


def test_the_share_falls_with_the_deviation() -> None:
    shares = shares_of_means(np.array([-0.05, 0, 0.1, 0.5, 1, 3]))
    assert shares[0] == shares[1] == 1
    assert np.all(np.diff(shares[1:5]) < 0)
    assert shares[4] == shares[5] < 1e-6


def one_bucket_each(totals: np.ndarray, scale: float = 1.0) -> Pooled:
    scales = np.full(totals.size, scale)
    return Pooled.of(totals, np.full(totals.size, 4), np.arange(totals.size), scales)


def test_a_total_that_may_be_nothing_gives_nothing() -> None:
    assert likely_shares(one_bucket_each(np.array([-3])), np.array([0]), 1.0)[0] < 1e-6


@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.8])
def test_neighbours_that_differ_by_noise_alone_are_believed_together(ratio: float) -> None:
    totals = np.full(NEIGHBOURS, 800)
    noise = seeded(5).generator().laplace(0, 100, NEIGHBOURS)
    shares = likely_shares(one_bucket_each(totals), ratio * totals + noise, 100.0)
    expected = shares_of_means(np.array([ratio]))[0]
    usual = np.median(shares)
    assert usual == pytest.approx(expected, abs=0.15)
    assert np.mean(np.abs(shares - usual) < 0.05) > 0.9


def test_a_pool_that_stands_out_of_its_neighbours_is_not_believed_with_them() -> None:
    totals, deviations = np.full(NEIGHBOURS, 800), np.full(NEIGHBOURS, 80)
    deviations[7] = 800
    shares = likely_shares(one_bucket_each(totals), deviations, 100.0)
    assert shares[7] < 1e-3
    assert np.delete(shares, 7).min() > 0.9


def test_pools_that_differ_beyond_noise_keep_their_own_deviations() -> None:
    totals = np.full(NEIGHBOURS, 8000)
    deviations = np.where(np.arange(NEIGHBOURS) % 2, 800, 7000)
    shares = likely_shares(one_bucket_each(totals), deviations, 100.0)
    assert shares[1::2].min() > 0.8
    assert shares[::2].max() < 0.05


def believed(totals: np.ndarray, sizes: np.ndarray, scale: float) -> np.ndarray:
    return is_more_than_noise(totals, sizes, scale, odds_of_emptiness(totals, sizes))


@pytest.mark.parametrize("width", [1, 64])
@pytest.mark.parametrize("empty", [0.2, 0.8])
def test_what_is_believed_costs_little_more_than_the_best_threshold(
    width: int, empty: float
) -> None:
    """Relative errors of noise that is believed and of counts that are not, each in all."""
    dice, scale, sizes = seeded(6).generator(), 50.0, np.full(20_000, width)
    full = dice.random(sizes.size) >= empty
    counts = np.where(full, scale * np.exp(dice.uniform(0, 6, sizes.size)), 0)
    totals = np.rint(counts + dice.laplace(0, scale, sizes.size)).astype(np.int64)

    def cost(taken: np.ndarray) -> int:
        return int(totals[taken & ~full].sum() + sizes[~taken & full].sum())

    best = min(cost(totals > times * scale) for times in np.arange(0, 12, 0.25))
    assert cost(believed(totals, sizes, scale)) < 1.5 * best
    assert max(cost(totals > 0), cost(totals > 8 * scale)) > 1.5 * best


def test_exact_totals_are_believed() -> None:
    found = believed(np.array([0, 4, 10**6]), np.array([4, 4, 4]), 0.0)
    np.testing.assert_array_equal(found, [False, True, True])


def test_bins_of_which_most_must_be_empty_are_released_as_such() -> None:
    found = believed(np.array([3_900, 4_100]), np.array([4_000, 4_000]), 1.0)
    np.testing.assert_array_equal(found, [False, True])


def test_full_buckets_need_less_to_be_believed() -> None:
    sizes = np.full(101, 4)
    full = np.append(np.full(100, 9_000), 500)
    half_empty = np.append(np.where(np.arange(100) % 2, 9_000, -20), 500)
    assert believed(full, sizes, 100.0)[-1]
    assert not believed(half_empty, sizes, 100.0)[-1]


def test_wide_buckets_of_which_others_are_empty_need_more_to_be_believed() -> None:
    """A thousand full buckets of one bin say nothing about the gaps between them."""
    sizes = np.repeat([1, 64], [1000, 12])
    full = np.repeat([10_000, 2_000, 450], [1000, 11, 1])
    gaps = np.repeat([10_000, 30, -40, 450], [1000, 5, 6, 1])
    assert believed(full, sizes, 100.0)[-1]
    assert not believed(gaps, sizes, 100.0)[-1]


def test_half_of_a_mean_is_at_least_one() -> None:
    found = half_means(np.array([-4, 3, 80, 2**60]), np.array([4, 4, 4, 1]))
    np.testing.assert_array_equal(found, [1, 1, 10, 2**59])


def test_pools_with_too_many_empty_bins_are_told_alone_and_together() -> None:
    pooled, given = one_bucket_each(np.full(100, 4000)), np.ones(100)
    none, one, everywhere = np.zeros(100), np.zeros(100), np.full(100, 20)
    one[3] = 50_000
    assert not too_many_empty(pooled, none, 10.0, given).any()
    np.testing.assert_array_equal(np.flatnonzero(too_many_empty(pooled, one, 10.0, given)), [3])
    assert too_many_empty(pooled, everywhere, 10.0, given).all()
    assert not too_many_empty(pooled, everywhere, 10.0, np.zeros(100)).any()


@pytest.mark.parametrize(
    ("total", "deviation", "scale", "expected"),
    [
        (6000, 100, 1000.0, True),  # six scales of noise on empty bins
        (6000, 2700, 1000.0, False),  # as uneven as chance makes three units a bin
        (20_000, 100, 1000.0, False),  # even, but no noise
        (6000, 100, 0.0, False),  # a total without noise
    ],
)
def test_a_total_whose_bins_deviate_less_than_chance_is_noise(
    total: int, deviation: int, scale: float, expected: bool
) -> None:
    one = np.zeros(1, dtype=np.int64)
    pooled = Pooled.of(np.array([total]), np.array([2000]), one, np.array([scale]))
    assert too_even(pooled, np.array([deviation]), 300.0).tolist() == [expected]
