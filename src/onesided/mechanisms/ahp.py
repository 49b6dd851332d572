"""`ahp`: clusters of bins with similar noisy counts, each measured as one bucket.

After "Towards accurate histogram publication under differential privacy" (Zhang et al. 2014), with
the clustering that is optimal for its error estimate in the place of a greedy one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed, measured_alone
from onesided.mechanisms.buckets.totals import (
    bucket_totals,
    checked_share,
    checked_shrink,
    measure_totals,
    shrunk,
    spread_evenly,
)
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class AHP(BucketAlgorithm):
    """Noisy counts at rate a₁/k; the small ones become 0; cluster them by value; measure clusters.

    - a₁ = `partition_share` of the budget pays for the noisy counts, the rest for the totals;
    - `cutoff` η: noisy counts below η·ln(d)·k/a₁ count as 0, where d is the number of bins;
    - `shrink` c: a total t becomes t − τ²/t, and 0 below τ, c times the scale of its noise.

    Bins of a cluster need not be neighbours, so the order of the bins means nothing to it.
    """

    name: ClassVar[str] = "ahp"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets of bins whose noisy counts are alike"

    partition_share: Fraction = Fraction(85, 100)
    cutoff: float = 0.35
    shrink: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        share = checked_share(self.partition_share, "partition_share")
        object.__setattr__(self, "partition_share", share)
        object.__setattr__(self, "shrink", checked_shrink(self.shrink))
        if not 0 <= self.cutoff < float("inf"):
            raise InputError("cutoff must be a number that is not negative.")

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        return measured_alone(public, budget * (1 - self.partition_share), self.shrink)

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        first_rate, second_rate = rates = self.rates(k, budget)
        noise = rng.two_sided_geometric(first_rate, counts.size)
        noisy = counts + noise.reshape(counts.shape)
        buckets = self.clustered(noisy, rates)

        measured = measure_totals(bucket_totals(counts, buckets), second_rate, rng)
        totals = shrunk(measured.values, float(self.shrink / second_rate))
        return Bucketed(
            value=spread_evenly(totals, buckets),
            buckets=buckets,
            intervals=(measured.interval,),
            parts={"bucket_totals": measured.values},
        )

    def run_many(
        self, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
    ) -> NDArray[np.int64] | None:
        """For each run the number, the size and the noisy total of the cluster of each bin.

        On few bins the clusters are the same in many runs, and are looked for once. A cluster's
        number goes by the value of the noisy counts.
        """
        count_rate, total_rate = rates = self.rates(k, budget)
        noise = rng.two_sided_geometric(count_rate, runs * counts.size)
        noisy = counts.reshape(-1) + noise.reshape(runs, -1)
        different, where = np.unique(noisy, axis=0, return_inverse=True)
        which = where.reshape(-1)
        labels = np.array([self.clustered(each, rates) for each in different])
        together = labels[:, :, None] == labels[:, None, :]
        sizes, totals = together.sum(axis=2), together @ counts.reshape(-1)
        clusters = labels[which]
        fresh = rng.two_sided_geometric(total_rate, clusters.size).reshape(clusters.shape)
        noisy_totals = totals[which] + np.take_along_axis(fresh, clusters, axis=1)
        return np.hstack([clusters, sizes[which], noisy_totals])

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        first_rate, second_rate = self.rates(k, budget)
        return (
            f"two-sided geometric: rate {first_rate} on each count for the clusters, "
            f"rate {second_rate} on the total of each cluster"
        )

    def rates(self, k: int, budget: Fraction) -> tuple[Fraction, Fraction]:
        """The rate of the noise on each count, and of that on each cluster's total."""
        return budget * self.partition_share / k, budget * (1 - self.partition_share) / k

    def clustered(self, noisy: Counts, rates: tuple[Fraction, Fraction]) -> NDArray[np.int64]:
        """The cluster of each bin, from noisy counts alone."""
        first_rate, second_rate = map(float, rates)
        smallest = self.cutoff * log(noisy.size) / first_rate
        return clusters(np.where(noisy < smallest, 0, noisy), 2 / second_rate**2)


def clusters(noisy: Counts, variance: float) -> NDArray[np.int64]:
    """The cluster of each bin, such that Σ over clusters C of Σ(yᵢ − ȳ)² + `variance`/|C| is least.

    That estimates the squared error: a bin is off by its distance from the cluster's mean, and the
    noise of the cluster's total is shared by |C| bins. Clusters are intervals of values y; equal
    values stay together.
    """
    values, where, sizes = np.unique(noisy, return_inverse=True, return_counts=True)
    # The error does not move with the origin, and sums of small numbers lose fewer digits.
    centred = (values - values[values.size // 2]).astype(np.float64)
    starts = _cheapest_cuts(centred, sizes, variance)
    labels = np.zeros(values.size, dtype=np.int64)
    labels[starts[1:]] = 1
    return np.asarray(np.cumsum(labels)[where].reshape(noisy.shape), dtype=np.int64)


def _cheapest_cuts(values: Floats, sizes: NDArray[np.int64], variance: float) -> list[int]:
    """The first position of each cluster of sorted `values` that occur `sizes` times.

    The cost w(i, j) of a cluster i … j−1 meets the quadrangle inequality: so does the squared
    deviation of sorted values, and so does a convex function of the length. Hence a later cut, once
    it is the better one, stays so, and a queue of cuts with the position from which each is the
    best finds the optimum in O(d log d).
    """
    mass: list[int] = [0, *accumulate(sizes.tolist())]
    linear: list[float] = [0.0, *accumulate((values * sizes).tolist())]
    square: list[float] = [0.0, *accumulate((values * values * sizes).tolist())]
    best = [0.0] * len(mass)
    previous = [0] * len(mass)

    def cost(i: int, j: int) -> float:
        """The least cost of the first j values if the last cluster among them begins at i."""
        total = linear[j] - linear[i]
        return best[i] + square[j] - square[i] + (variance - total * total) / (mass[j] - mass[i])

    queue: deque[tuple[int, int]] = deque([(0, 1)])
    for j in range(1, len(mass)):
        while len(queue) > 1 and queue[1][1] <= j:
            queue.popleft()
        previous[j] = queue[0][0]
        best[j] = cost(previous[j], j)
        # Cuts that j beats from where they begin will never be the best again.
        while queue and queue[-1][1] > j and cost(j, queue[-1][1]) <= cost(*queue[-1]):
            queue.pop()
        since = _overtakes(cost, j, *queue[-1], end=len(mass)) if queue else j + 1
        if since < len(mass):
            queue.append((j, since))
    return _follow(previous)


def _overtakes(
    cost: Callable[[int, int], float], cut: int, rival: int, since: int, end: int
) -> int:
    """The first position after `since` at which `cut` is no worse than `rival`; `end` if none."""
    low = max(since, cut) + 1
    step = 1
    # Mostly it is not far: ever longer steps, and then halves of the last one.
    while low + step < end and cost(cut, low + step) > cost(rival, low + step):
        low, step = low + step + 1, 2 * step
    end = min(low + step, end)
    while low < end:
        middle = (low + end) // 2
        if cost(cut, middle) <= cost(rival, middle):
            end = middle
        else:
            low = middle + 1
    return end


def _follow(previous: list[int]) -> list[int]:
    starts = [previous[-1]]
    while starts[-1] > 0:
        starts.append(previous[starts[-1]])
    return starts[::-1]
