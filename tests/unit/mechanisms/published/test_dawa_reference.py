"""`dawa-reference`: that it is what public code does, and is marked for what it is."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.loss import Loss
from onesided.mechanisms.base import Kind
from onesided.mechanisms.published.dawa_reference import DawaReference, reference_partitions
from onesided.randomness import seeded

NOISELESS = 1e9
"""A budget at which the noise on costs is as good as none."""


def partitions(bins: int) -> list[tuple[int, ...]]:
    """Where the buckets start, for every partition into buckets of power-of-two length."""
    if bins == 0:
        return [()]
    lengths = [1 << j for j in range(bins.bit_length())]
    return [(*left, bins - each) for each in lengths for left in partitions(bins - each)]


def cost(counts: np.ndarray, starts: tuple[int, ...], per_bucket: float) -> float:
    buckets = [counts[a:b] for a, b in pairwise((*starts, counts.size))]
    return sum(per_bucket + np.abs(each - each.mean()).sum() for each in buckets)


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_it_finds_the_partition_of_least_cost(seed: int) -> None:
    counts = seeded(seed).below(6, 11)
    drawn = reference_partitions(counts, NOISELESS, 0.5, seeded(seed))[0]
    found = cost(counts, tuple(np.flatnonzero(drawn).tolist()), 2.0)
    least = min(cost(counts, each, 2.0) for each in partitions(counts.size))
    assert found == pytest.approx(least, abs=1e-6)


def test_many_runs_are_partitions_each() -> None:
    drawn = reference_partitions(np.arange(13), 0.1, 0.3, seeded(1), runs=50)
    assert drawn.shape == (50, 13)
    for starts in drawn:
        sizes = np.diff(np.flatnonzero(starts), append=13)
        assert starts[0]
        assert np.all(sizes & (sizes - 1) == 0)
    assert len({tuple(each) for each in drawn.tolist()}) > 1


def test_it_states_what_it_claims_and_is_marked_broken() -> None:
    assert DawaReference().loss(Fraction(1)) == Loss("1/2", "1/2")
    assert DawaReference.kind is Kind.BROKEN


@pytest.mark.parametrize("shape", [(1,), (100,), (7, 9)])
@pytest.mark.parametrize("epsilon", ["1e-9", "1", "1000"])
def test_values_are_totals_spread_over_buckets(shape: tuple[int, ...], epsilon: str) -> None:
    counts = seeded(3).below(100, int(np.prod(shape))).reshape(shape)
    result = DawaReference().release(Histogram(counts, counts), epsilon=epsilon, rng=seeded(1))
    assert result.buckets is not None
    totals = np.bincount(result.buckets.reshape(-1), weights=result.value.reshape(-1))
    assert totals == pytest.approx(np.maximum(result.parts["bucket_totals"], 0))
