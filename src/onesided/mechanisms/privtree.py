"""`privtree`: a tree that splits where counts are high, with noise that does not grow with depth.

The domain is halved along its longest side again and again, for any data, which gives one
fixed binary tree over the bins. PrivTree (Zhang, Xiao, Xie 2016) decides which of its nodes to
split; the leaves are the buckets. The proof, for integer noise, is in privtree.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.errors import InputError
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed, measured_alone
from onesided.mechanisms.buckets.many import parents, sizes_and_totals
from onesided.mechanisms.buckets.totals import (
    checked_share,
    checked_shrink,
    measure_totals,
    shrunk,
    spread_evenly,
)
from onesided.mechanisms.buckets.tree import HalvingTree, halving_tree
from onesided.randomness import Randomness

LN_2_ABOVE = Fraction(6_931_471_806, 10**10)
"""A rational just above ln 2; the decay δ must not be too small."""

LARGEST_THRESHOLD = 2**53
"""No count is larger than this, so neither need a threshold be."""

GRID = 1000
"""Path constants are rounded up to multiples of 1/GRID, so that rates stay short."""


@dataclass(frozen=True, kw_only=True)
class PrivTree(BucketAlgorithm):
    """Split node v at depth i iff max(θ − δ, c(v) − i·δ) + Z > θ, with Z of rate r; then measure.

    - c(v): the count of v's box; Z: two-sided geometric, r = a₁ / (k·κ), see `Calibration`;
    - a₁ = `partition_share` of the budget pays for the tree, the rest for the leaves' totals;
    - β = 2^`halvings`: the number of children, which come from halving the longest side that often;
    - θ = `threshold`: the count above which a box is worth splitting;
    - `shrink` c: a total t becomes t − τ²/t, and 0 below τ, c times the scale of its noise.
    """

    name: ClassVar[str] = "privtree"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets from a tree that splits where noisy counts are high"

    partition_share: Fraction = Fraction(1, 2)
    halvings: int = 2
    threshold: int = 0
    shrink: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        share = checked_share(self.partition_share, "partition_share")
        object.__setattr__(self, "partition_share", share)
        object.__setattr__(self, "shrink", checked_shrink(self.shrink))
        if self.halvings not in range(1, 11):
            raise InputError("halvings must be an integer from 1 to 10.")
        if not isinstance(self.threshold, int) or abs(self.threshold) > LARGEST_THRESHOLD:
            raise InputError("threshold must be an integer of at most 2^53 in size.")

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        return measured_alone(public, budget * (1 - self.partition_share), self.shrink)

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        tree = halving_tree(counts.shape)
        cumulated = np.concatenate(([0], np.cumsum(tree.along(counts))))
        plan = self.calibration(counts.shape, k, budget * self.partition_share)
        starts = self._leaves(tree, cumulated, plan, rng)
        ends = np.append(starts[1:], tree.bins)

        rate = budget * (1 - self.partition_share) / k
        measured = measure_totals(cumulated[ends] - cumulated[starts], rate, rng)
        totals = shrunk(measured.values, float(self.shrink / rate))
        buckets = tree.back(np.repeat(np.arange(starts.size), ends - starts))
        return Bucketed(
            value=spread_evenly(totals, buckets),
            buckets=buckets,
            intervals=(measured.interval,),
            parts={"bucket_totals": measured.values},
        )

    def run_many(
        self, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
    ) -> NDArray[np.int64] | None:
        """The decisions of all runs are drawn together, level by level of the tree."""
        tree = halving_tree(counts.shape)
        ordered = tree.along(counts)
        plan = self.calibration(counts.shape, k, budget * self.partition_share)
        levels = self.levels(tree)
        starts = np.zeros((runs, tree.bins), dtype=np.bool_)
        active = np.ones((runs, 1), dtype=np.bool_)
        for depth, (boxes, parts) in enumerate(pairwise(levels)):
            parent = parents(boxes, parts)
            tested = active & (np.bincount(parent) > 1)
            totals = np.broadcast_to(np.add.reduceat(ordered, boxes), tested.shape)
            goes_on = active.copy()
            goes_on[tested] = self.splits(totals[tested], depth, plan, rng)
            starts[:, boxes] |= active & ~goes_on
            active = goes_on[:, parent]
        starts[:, levels[-1]] |= active
        rate = budget * (1 - self.partition_share) / k
        return sizes_and_totals(tree, starts, counts, rate, rng)

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        plan = self.calibration(shape, k, budget * self.partition_share)
        rate = budget * (1 - self.partition_share) / k
        return (
            f"two-sided geometric: rate {plan.rate} on the count of each tested tree node, "
            f"rate {rate} on the total of each leaf"
        )

    def calibration(self, shape: tuple[int, ...], k: int, budget: Fraction) -> Calibration:
        """The noise under which drawing the tree over `shape` costs `budget`."""
        return Calibration.of(
            fanout_bits=self.halvings, tests=self.tests(shape), k=k, budget=budget
        )

    def tests(self, shape: tuple[int, ...]) -> int:
        """The most nodes on a path of the tree that may be split."""
        deepest = sum((side - 1).bit_length() for side in shape)
        return -(-deepest // self.halvings)

    def levels(self, tree: HalvingTree) -> tuple[Counts, ...]:
        """Where the nodes of each depth begin, from the root to single bins."""
        return (*tree.levels[: -1 : self.halvings], tree.levels[-1])

    def _leaves(
        self, tree: HalvingTree, cumulated: Counts, plan: Calibration, rng: Randomness
    ) -> Counts:
        """Where the leaves begin, ascending, in the tree's order; each reaches to the next."""
        levels = self.levels(tree)
        leaves = []
        active = np.ones(1, dtype=np.bool_)
        for depth, (boxes, parts) in enumerate(pairwise(levels)):
            parent = parents(boxes, parts)
            # A box with a single part goes on without a test, which its shape says, not its count.
            tested = active & (np.bincount(parent) > 1)
            ends = np.append(boxes[1:], tree.bins)
            counts = cumulated[ends[tested]] - cumulated[boxes[tested]]
            goes_on = active.copy()
            goes_on[tested] = self.splits(counts, depth, plan, rng)
            leaves.append(boxes[active & ~goes_on])
            active = goes_on[parent]
        return np.sort(np.concatenate([*leaves, levels[-1][active]]))

    def splits(
        self, counts: Counts, depth: int, plan: Calibration, rng: Randomness
    ) -> NDArray[np.bool_]:
        """Which of several nodes of a given `depth` are split; each draws noise of its own."""
        # The noise first: it refuses rates whose decay would not fit into 64 bits.
        noise = rng.two_sided_geometric(plan.rate, counts.size)
        biased = np.maximum(counts - depth * plan.decay, self.threshold - plan.decay)
        return biased + noise > self.threshold


@dataclass(frozen=True)
class Calibration:
    """The noise of the tree: `rate` r of Z, and `decay` δ, the bias for each level of depth."""

    rate: Fraction
    decay: int

    @classmethod
    def of(cls, *, fanout_bits: int, tests: int, k: int, budget: Fraction) -> Calibration:
        """r = a₁ / (k·κ) and δ = ⌈ln β / r⌉ for a₁ = `budget` and β = 2^`fanout_bits`."""
        rate = budget / (k * path_constant(fanout_bits, tests))
        return cls(rate, ceil(fanout_bits * LN_2_ABOVE / rate))


def path_constant(fanout_bits: int, tests: int) -> Fraction:
    """κ = 1 + Σ 1/(2βⁱ − 1) over 0 ≤ i ≤ `tests` − 2, rounded up: r·κ bounds a path's loss."""
    terms = (Fraction(1, 2 ** (fanout_bits * i + 1) - 1) for i in range(tests - 1))
    return Fraction(ceil(GRID * sum(terms, start=Fraction(1))), GRID)
