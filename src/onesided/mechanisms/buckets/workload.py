"""Measuring the totals of buckets in a row for the questions that will be asked of them.

For single cells each total is measured once. For ranges and prefixes, groups of neighbouring
buckets are measured too: a long range is then the sum of a few groups instead of many buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.buckets.totals import NoisyTotals, measure_totals
from onesided.randomness import Randomness


class Workload(Enum):
    """The questions for which the error should be small."""

    CELLS = "cells"
    RANGES = "ranges"
    PREFIXES = "prefixes"


@dataclass(frozen=True)
class WorkloadTotals:
    """`estimates` of the buckets' totals; `measured` is what was measured of single buckets."""

    estimates: Floats
    measured: NoisyTotals
    rate: Fraction
    levels: int


@dataclass(frozen=True)
class Hierarchy:
    """Groups of `fanout` neighbours, groups of groups, and so on: `levels` with the buckets."""

    fanout: int
    levels: int


def measure_for(
    workload: Workload, totals: Counts, rate: Fraction, rng: Randomness
) -> WorkloadTotals:
    """Totals of disjoint buckets with integer noise, at the loss of noise of `rate` on each.

    With h levels each gets noise of rate/h: a unit moves every level as it moves the buckets, so
    the losses of the levels add up to that of `rate`. Least squares over all levels is free.
    """
    hierarchy = choose_hierarchy(workload, totals.size)
    level_rate = rate / hierarchy.levels
    measured = measure_totals(totals, level_rate, rng)
    levels = [measured.values]
    sums = totals
    for _ in range(hierarchy.levels - 1):
        sums = _group_sums(sums, hierarchy.fanout)
        levels.append(sums + rng.two_sided_geometric(level_rate, sums.size))
    estimates = least_squares(levels, hierarchy.fanout)
    return WorkloadTotals(estimates, measured, level_rate, hierarchy.levels)


def choose_hierarchy(workload: Workload, buckets: int) -> Hierarchy:
    """The hierarchy of least expected variance over m `buckets`; cells are measured alone."""
    if workload is Workload.CELLS or buckets < 2:
        return Hierarchy(fanout=max(buckets, 1), levels=1)
    candidates = [
        Hierarchy(_least_fanout(buckets, levels), levels)
        for levels in range(1, buckets.bit_length() + 1)
    ]
    return min(candidates, key=lambda each: _expected_variance(workload, each))


def least_squares(levels: list[Counts], fanout: int) -> Floats:
    """The estimate of the buckets nearest to all measurements, which have the same variance.

    `levels` go from the buckets up to the largest groups. From the bottom up, each group combines
    its own measurement with the sum of its parts in inverse proportion to their variances. From the
    top down, the difference between a group and the sum of its parts is shared out by variance.
    """
    estimates, variances = [levels[0].astype(np.float64)], [np.ones(levels[0].size)]
    for measured in levels[1:]:
        sums, spread = (_group_sums(each[-1], fanout) for each in (estimates, variances))
        estimates.append((measured * spread + sums) / (spread + 1))
        variances.append(spread / (spread + 1))
    result = estimates.pop()
    while estimates:
        variances.pop()
        parts, part_variances = estimates.pop(), variances[-1]
        gap = (result - _group_sums(parts, fanout)) / _group_sums(part_variances, fanout)
        result = parts + part_variances * np.repeat(gap, fanout)[: parts.size]
    return result


def _group_sums(values: NDArray[Any], fanout: int) -> NDArray[Any]:
    """The sums of `fanout` neighbours each; the last group may be smaller."""
    return np.add.reduceat(values, np.arange(0, values.size, fanout))


def _least_fanout(buckets: int, levels: int) -> int:
    """The least b ≥ 2 with b^levels ≥ buckets."""
    fanout = max(2, int(buckets ** (1 / levels)))
    while fanout**levels < buckets:
        fanout += 1
    return fanout


def _expected_variance(workload: Workload, hierarchy: Hierarchy) -> float:
    """About the mean variance of an answer, in units of the variance of a total measured alone.

    Each of h levels has variance h². In a full tree a prefix takes (b − 1)/2 groups a level on
    average, and a range (b − 1) a level but 2(b + 1)/3 fewer altogether. Least squares does better
    by a similar factor for all shapes; a poor choice costs accuracy, never privacy.
    """
    b, h = hierarchy.fanout, hierarchy.levels
    if workload is Workload.PREFIXES:
        return (b - 1) * h**3 / 2
    return (b - 1) * h**3 - 2 * (b + 1) * h**2 / 3
