"""Distributions of the DAWA family: partitions, noise, coverage, detection, and the broken one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from onesided.data import Histogram
from onesided.mechanisms.buckets.deviation import box_deviations
from onesided.mechanisms.buckets.partition import PruningLaw
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.buckets.workload import Workload
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.published.dawa_reference import reference_partitions
from onesided.mechanisms.recipe import Dawaz
from onesided.randomness import seeded
from support.pruning_law import EnumeratedLaw
from support.statistics import (
    CONTROL_FACTOR,
    agrees,
    binomial_p_value,
    chi_square_p_value,
    goodness_of_fit_p_value,
    too_few_p_value,
)

DRAWS = 4000
RATE = Fraction(1, 3)
STAY = Fraction(3, 5)
ALWAYS_EXACT = 2.0
"""A margin that sends every draw of a partition to integer arithmetic."""

HISTOGRAMS = [np.array([0, 0, 5, 4, 4, 1, 0]), np.array([[3, 0, 0], [1, 4, 4]])]


def partition_p_value(counts: np.ndarray, drawn_rate: Fraction, least_margin: float) -> float:
    """Whether partitions drawn at `drawn_rate` follow the enumerated law at RATE."""
    tree = halving_tree(counts.shape)
    deviations = box_deviations(counts.reshape(-1)[tree.order], tree)
    law = PruningLaw(tree, deviations, drawn_rate, STAY)
    rng = seeded(11)
    seen: Counter[frozenset[frozenset[tuple[int, ...]]]] = Counter()
    for _ in range(DRAWS):
        starts = law.draw(rng, least_margin=least_margin)
        seen[_as_pruning(np.split(tree.order, starts[1:]), counts.shape)] += 1
    expected = EnumeratedLaw(RATE, STAY).probabilities(dict(np.ndenumerate(counts)))
    assert set(seen) <= set(expected)
    observed = np.array([seen[pruning] for pruning in expected])
    return goodness_of_fit_p_value(observed, np.array([float(p) for p in expected.values()]))


def _as_pruning(
    buckets: list[np.ndarray], shape: tuple[int, ...]
) -> frozenset[frozenset[tuple[int, ...]]]:
    cells = list(np.ndindex(shape))
    return frozenset(frozenset(cells[each] for each in bucket.tolist()) for bucket in buckets)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("counts", HISTOGRAMS, ids=["1-D", "2-D"])
@pytest.mark.parametrize("least_margin", [0.0, 0.05, ALWAYS_EXACT])
def test_partitions_follow_the_exponential_mechanism(
    counts: np.ndarray, least_margin: float
) -> None:
    assert agrees(partition_p_value(counts, RATE, least_margin))


@pytest.mark.parametrize("counts", HISTOGRAMS, ids=["1-D", "2-D"])
def test_partitions_drawn_with_too_little_noise_are_noticed(counts: np.ndarray) -> None:
    assert not agrees(partition_p_value(counts, RATE * CONTROL_FACTOR, 0.0))


def test_bucket_totals_have_two_sided_geometric_noise() -> None:
    """A histogram of one bin is one bucket, so its total shows the noise alone."""
    data = Histogram([1000], [1000])
    rng = seeded(12)
    totals = [Dawa().release(data, epsilon=1, rng=rng).parts["bucket_totals"] for _ in range(DRAWS)]
    noise = np.concatenate(totals) - 1000
    assert agrees(chi_square_p_value(noise, stats.dlaplace(0.25)))
    assert not agrees(chi_square_p_value(noise, stats.dlaplace(0.25 * float(CONTROL_FACTOR))))


@pytest.mark.parametrize("workload", list(Workload))
def test_intervals_cover_the_bucket_totals(workload: Workload) -> None:
    counts = seeded(13).below(200, 300)
    rng = seeded(14)
    errors, reaches = [], []
    for _ in range(30):
        result = Dawa(workload=workload).release(Histogram(counts, counts), epsilon=1, rng=rng)
        assert result.buckets is not None
        (interval,) = result.intervals
        assert interval.upper is not None
        totals = result.parts["bucket_totals"]
        errors.append(np.abs(np.bincount(result.buckets, weights=counts) - totals))
        reaches.append(interval.upper - totals)
    error, reach = np.concatenate(errors), np.concatenate(reaches)
    assert agrees(too_few_p_value(error <= reach, interval.confidence))
    assert not agrees(too_few_p_value(error <= reach / float(CONTROL_FACTOR), interval.confidence))


@pytest.mark.parametrize("k", [1, 2])
def test_detection_misses_a_bin_as_often_as_promised(k: int) -> None:
    counts = np.repeat([0, 1, 5, 20], DRAWS)
    data = Histogram(counts, counts, k=k)
    result = Dawaz().release(data, epsilon=2, rng=seeded(15))
    missed = result.parts["looks_empty"].reshape(4, DRAWS).sum(axis=1)
    assert missed[0] == DRAWS
    for units, number in zip([1, 5, 20], missed[1:], strict=True):
        assert agrees(binomial_p_value(number, DRAWS, exp(-0.2 * units / k)))
    too_weak = exp(-0.2 * 5 / k / float(CONTROL_FACTOR))
    assert not agrees(binomial_p_value(missed[2], DRAWS, too_weak))


def stands_alone(record: bool, runs: int) -> int:
    """In how many runs bin 15 of 32 empty ones, or one with a record, is a bucket of its own."""
    counts = np.zeros(32, dtype=np.int64)
    counts[15] = record
    starts = reference_partitions(counts, 1.0, 3.0, seeded(16 + record), runs)
    return int((starts[:, 15] & starts[:, 16]).sum())


def test_the_reference_betrays_a_single_record() -> None:
    """It claims e¹ for the partition; measured: 0.0266 against 0.0003."""
    runs = 40_000
    with_record, without = stands_alone(True, runs), stands_alone(False, runs)
    assert agrees(binomial_p_value(with_record, runs, 0.0266))
    least = stats.binomtest(with_record, runs).proportion_ci(0.999).low
    most = stats.binomtest(without, runs).proportion_ci(0.999).high
    assert log(least / most) > 3
