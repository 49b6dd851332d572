"""Totals for ranges and prefixes: least squares, and less error than cells give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.mechanisms.buckets.workload import (
    Hierarchy,
    Workload,
    choose_hierarchy,
    least_squares,
    measure_for,
)
from onesided.mechanisms.dawa import Dawa
from onesided.randomness import seeded

IMPROVEMENT = 1.5
"""How many times smaller the mean error of a workload is when it was measured for."""


@given(st.integers(1, 30), st.integers(2, 5), st.integers(1, 3), st.integers(0, 99))
def test_least_squares_is_least_squares(size: int, fanout: int, height: int, seed: int) -> None:
    rows = [np.eye(size)]
    for _ in range(height - 1):
        rows.append(np.add.reduceat(rows[-1], np.arange(0, len(rows[-1]), fanout), axis=0))
    measured = [seeded(seed).below(100, len(each)) for each in rows]
    expected = np.linalg.lstsq(np.concatenate(rows), np.concatenate(measured), rcond=None)[0]
    assert least_squares(measured, fanout) == pytest.approx(expected, abs=1e-8)


def test_cells_are_measured_once_with_all_of_the_budget() -> None:
    totals = measure_for(Workload.CELLS, np.array([3, 1, 2]), Fraction(1, 2), seeded(1))
    assert (totals.levels, totals.rate) == (1, Fraction(1, 2))
    assert totals.estimates.tolist() == totals.measured.values.tolist()


@pytest.mark.parametrize("workload", [Workload.RANGES, Workload.PREFIXES])
@pytest.mark.parametrize("buckets", [1, 2, 3, 100, 1000, 4097])
def test_levels_share_the_budget_and_reach_every_bucket(workload: Workload, buckets: int) -> None:
    hierarchy = choose_hierarchy(workload, buckets)
    assert hierarchy.fanout**hierarchy.levels >= buckets
    totals = measure_for(workload, np.arange(buckets), Fraction(1), seeded(1))
    assert totals.rate * totals.levels == 1


def test_few_buckets_need_no_hierarchy() -> None:
    assert choose_hierarchy(Workload.RANGES, 8) == Hierarchy(fanout=8, levels=1)


def cumulated_error(workload: Workload, counts: np.ndarray, seed: int) -> np.ndarray:
    data = Histogram(counts, counts)
    mechanism = Dawa(workload=workload, shrink=Fraction(0))
    value = mechanism.release(data, epsilon="0.5", rng=seeded(seed)).value
    return np.concatenate([[0.0], np.cumsum(value - counts)])


def test_measuring_for_a_workload_makes_its_error_smaller() -> None:
    counts = seeded(0).below(10_000, 1024)
    ends = np.sort(seeded(1).below(1025, 2000).reshape(-1, 2), axis=1)
    ranges, prefixes = {}, {}
    for workload in Workload:
        errors = np.array([cumulated_error(workload, counts, seed) for seed in range(8)])
        ranges[workload] = np.abs(errors[:, ends[:, 1]] - errors[:, ends[:, 0]]).mean()
        prefixes[workload] = np.abs(errors).mean()
    assert ranges[Workload.RANGES] * IMPROVEMENT < ranges[Workload.CELLS]
    assert prefixes[Workload.PREFIXES] * IMPROVEMENT < prefixes[Workload.CELLS]
