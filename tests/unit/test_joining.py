"""Buckets that are joined with neighbours: what is alike is known better, what is not stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.cutting import joined
from onesided.mechanisms.joining import Runs
from onesided.randomness import seeded

SCALE = 100.0


def noisy(levels: list[float], sizes: np.ndarray, seed: int, scale: float = SCALE) -> np.ndarray:
    noise = seeded(seed).generator().laplace(0, scale, sizes.size)
    return np.rint(np.array(levels) * sizes + noise).astype(np.int64)


@given(
    st.lists(st.tuples(st.integers(-500, 2**40), st.integers(1, 64)), min_size=1, max_size=60),
    st.just(0.0) | st.floats(1e-4, 1e12),
)
def test_every_bucket_is_in_one_run_and_every_bin_in_one_bucket(
    buckets: list[tuple[int, int]], scale: float
) -> None:
    totals, sizes = (np.array(column) for column in zip(*buckets, strict=True))
    runs = Runs.along(totals, sizes, scale)
    assert set(runs.run) == set(range(runs.sizes.size))
    np.testing.assert_array_equal(np.bincount(runs.run, weights=sizes), runs.sizes)
    for each in range(runs.sizes.size):
        means = (totals / sizes)[runs.run == each]
        level = runs.totals[each] / runs.sizes[each]
        rounding = 1e-9 * np.abs(means).max()
        assert means.min() - rounding <= level <= means.max() + rounding


def test_buckets_of_one_level_are_known_better_together() -> None:
    sizes = np.full(1000, 8)
    totals = noisy([50.0] * 1000, sizes, 1)
    runs = Runs.along(totals, sizes, SCALE)
    alone, together = totals / sizes, (runs.totals / runs.sizes)[runs.run]
    assert np.abs(together - 50).mean() < 0.85 * np.abs(alone - 50).mean()


def test_levels_that_differ_beyond_noise_stay_apart() -> None:
    sizes = np.full(32, 8)
    levels = np.repeat([200.0, 900.0], 16)
    runs = Runs.along(noisy(list(levels), sizes, 2), sizes, SCALE)
    assert not set(runs.run[:16]) & set(runs.run[16:])


def test_small_counts_are_believed_together_that_are_not_alone() -> None:
    """Each of these totals may be noise; that all of them are, side by side, is unlikely."""
    sizes = np.full(24, 4)
    alone, along = [], []
    for seed in range(20):
        totals = noisy([60.0] * 24, sizes, seed)
        alone.append(Runs.alone(totals, sizes, SCALE).believed.mean())
        runs = Runs.along(totals, sizes, SCALE)
        along.append(runs.believed[runs.run].mean())
    assert np.mean(along) > 0.5 > 0.1 > np.mean(alone)


def test_hardly_any_empty_bucket_is_believed() -> None:
    sizes = np.full(4000, 4)
    totals = noisy([0.0] * 4000, sizes, 4)
    along = Runs.along(totals, sizes, SCALE)
    assert np.count_nonzero(along.believed[along.run]) <= 4


@pytest.mark.parametrize(("others", "level"), [(0.0, 0.0), (300.0, 300.0)])
def test_a_bin_in_doubt_follows_its_neighbours_unless_others_are_empty(
    others: float, level: float
) -> None:
    """Its total says nothing: half way between empty and as full as the run that it is beside."""
    sizes = np.append(np.full(40, 8), [64, 1])
    totals = np.append(noisy([others] * 40, sizes[:-2], 5), [64 * 300, 150])
    runs = Runs.along(totals, sizes, SCALE)
    given_to_it = runs.totals[runs.run[-1]] / runs.sizes[runs.run[-1]] * runs.believed[runs.run[-1]]
    assert given_to_it == pytest.approx(level, abs=10)


def test_the_noise_on_a_run_has_the_scale_that_is_stated() -> None:
    sizes = np.array([1, 5, 3, 20])
    found = [Runs.along(noisy([400.0] * 4, sizes, seed, 1.0), sizes, 1.0) for seed in range(2000)]
    whole = [each for each in found if each.sizes.size == 1]
    spread = np.std([each.totals[0] for each in whole])
    assert len(whole) > 500
    # Only those are looked at that are alike, which says nothing of the sum; the variance of
    # noise of scale s is 2s², and rounding adds 1/12 to that of each total.
    assert spread == pytest.approx(np.sqrt(2 + 1 / 12) * whole[0].scales[0], rel=0.1)


def test_totals_without_noise_are_not_joined() -> None:
    runs = Runs.along(np.array([7, 7, 7]), np.array([1, 1, 1]), 0.0)
    np.testing.assert_array_equal(runs.run, [0, 1, 2])


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3)), min_size=1, max_size=40))
def test_the_price_decides_how_many_runs_there_are(means: list[tuple[float, float]]) -> None:
    values, precisions = (np.array(column) for column in zip(*means, strict=True))
    counts = [int(joined(values, precisions, price)[-1]) + 1 for price in (0.0, 1.0, np.inf)]
    assert counts[0] == values.size
    assert counts[2] <= counts[1] <= counts[0]
    assert np.all(np.diff(joined(values, precisions, 1.0)) <= 1)
