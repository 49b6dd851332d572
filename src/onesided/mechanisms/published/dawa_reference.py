"""`dawa-reference`: DAWA as public code has it, for reproduction; it does not keep its promise.

What is wrong with it is in dawa_reference.md. Noise is in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers
from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.base import Kind
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.deviation import window_lengths, window_mean_deviations
from onesided.mechanisms.buckets.totals import checked_share, spread_evenly
from onesided.mechanisms.published.hilbert import hilbert_order
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class DawaReference(BucketAlgorithm):
    """The partition of least noisy cost, then bucket totals with Laplace noise of scale k/a₂.

    a₁ = γ·a and a₂ = (1−γ)·a share the budget a, where γ is `partition_share`. Several dimensions
    are laid out along a Hilbert curve.
    """

    name: ClassVar[str] = "dawa-reference"
    kind: ClassVar[Kind] = Kind.BROKEN
    summary: ClassVar[str] = "DAWA as in public code; its choice of buckets is not private"

    covers: ClassVar[tuple[Covers, ...]] = ()

    partition_share: Fraction = Fraction(1, 4)

    def __post_init__(self) -> None:
        share = checked_share(self.partition_share, "partition_share")
        object.__setattr__(self, "partition_share", share)

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        scale = float(k / (budget * (1 - self.partition_share)))
        return (
            f"floating-point Laplace of scale {scale:g} on bucket totals, and on "
            "the cost of buckets of two or more bins only"
        )

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        order = hilbert_order(counts.shape)
        ordered = counts.reshape(-1)[order]
        for_partition = float(budget * self.partition_share / k)
        for_totals = float(budget * (1 - self.partition_share) / k)
        starts = np.flatnonzero(reference_partitions(ordered, for_partition, for_totals, rng)[0])
        noise = rng.generator().laplace(0.0, 1 / for_totals, starts.size)
        totals = np.add.reduceat(ordered, starts) + noise
        numbers = np.empty(order.size, dtype=np.int64)
        numbers[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
        buckets = numbers.reshape(counts.shape)
        return Bucketed(
            value=spread_evenly(totals, buckets),
            buckets=buckets,
            parts={"bucket_totals": totals},
        )


def reference_partitions(
    counts: Counts, for_partition: float, for_totals: float, rng: Randomness, runs: int = 1
) -> NDArray[np.bool_]:
    """`runs` partitions of the same `counts`: entry [r, i] says whether a bucket starts at bin i.

    Buckets are windows of length L = 2ʲ with the cost max(0, Σ|xᵢ − mean| + noise) + 1/a₂, and a
    partition of least total cost is found. With d bins the noise is Laplace of scale
    (2 − 1/L − 1/d)/a₁, but none where L = 1; a₁ is `for_partition` and a₂ is `for_totals`.
    """
    costs = _noisy_costs(counts, for_partition, for_totals, rng, runs)
    lengths = np.array(window_lengths(counts.size))
    least = np.zeros((counts.size + 1, runs))
    for end in range(1, counts.size + 1):
        possible = end.bit_length()
        least[end] = (least[end - lengths[:possible]] + costs[end, :possible]).min(axis=0)
    chosen = np.zeros((counts.size + 1, runs), dtype=np.int64)
    for j, length in enumerate(lengths):
        # The very sums that were compared above; where several are least the longest is taken.
        is_least = least[:-length] + costs[length:, j] == least[length:]
        chosen[length:][is_least] = length
    return _trace_back(chosen)


def _noisy_costs(
    counts: Counts, for_partition: float, for_totals: float, rng: Randomness, runs: int
) -> Floats:
    """The cost of the window of length 2ʲ that ends before bin i, at [i, j, run]."""
    generator = rng.generator()
    lengths = window_lengths(counts.size)
    costs = np.full((counts.size + 1, len(lengths), runs), np.inf)
    for j, deviations in enumerate(window_mean_deviations(counts)):
        length = lengths[j]
        scale = (2 - 1 / length - 1 / counts.size) / for_partition if length > 1 else 0.0
        noisy = deviations[:, np.newaxis] + generator.laplace(0.0, scale, (deviations.size, runs))
        costs[length:, j] = np.maximum(noisy, 0.0) + 1 / for_totals
    return costs


def _trace_back(chosen: Counts) -> NDArray[np.bool_]:
    """Follows the lengths of the last buckets from the right end, for all runs at once."""
    bins, runs = chosen.shape[0] - 1, chosen.shape[1]
    starts = np.zeros((runs, bins), dtype=np.bool_)
    active = np.arange(runs)
    ends = np.full(runs, bins)
    while active.size:
        ends = ends - chosen[ends, active]
        starts[active, ends] = True
        active, ends = active[ends > 0], ends[ends > 0]
    return starts
