"""`privtree`: a tree that splits where counts are high, with noise that does not grow with depth.

The domain is halved along its longest side again and again, whatever the data, which gives one
fixed binary tree over the bins. PrivTree (Zhang, Xiao, Xie 2016) decides which of its nodes to
split; the leaves are the buckets. The proof, for integer noise, is in privtree.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.errors import InputError
from onesided.mechanisms.base import Kind
from onesided.mechanisms.bucket import BucketAlgorithm, Bucketed
from onesided.mechanisms.totals import checked_share, measure_totals, spread_evenly
from onesided.randomness import Randomness

Sides = NDArray[np.int64]
"""Boxes by their side lengths, one row a box."""

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
    - θ = `threshold`: the count above which a box is worth splitting.
    """

    name: ClassVar[str] = "privtree"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets from a tree that splits where noisy counts are high"

    partition_share: Fraction = Fraction(1, 2)
    halvings: int = 2
    threshold: int = 0

    def __post_init__(self) -> None:
        share = checked_share(self.partition_share, "partition_share")
        object.__setattr__(self, "partition_share", share)
        if self.halvings not in range(1, 11):
            raise InputError("halvings must be an integer from 1 to 10.")
        if self.threshold not in range(-LARGEST_THRESHOLD, LARGEST_THRESHOLD + 1):
            raise InputError("threshold must be an integer of at most 2^53 in size.")

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        order = halving_order(counts.shape)
        cumulated = np.concatenate(([0], np.cumsum(counts.reshape(-1)[order])))
        plan = self.calibration(counts.shape, k, budget * self.partition_share)
        starts = self._leaves(cumulated, counts.shape, plan, rng)
        ends = np.append(starts[1:], order.size)

        rate = budget * (1 - self.partition_share) / k
        measured = measure_totals(cumulated[ends] - cumulated[starts], rate, rng)
        numbers = np.empty(order.size, dtype=np.int64)
        numbers[order] = np.repeat(np.arange(starts.size), ends - starts)
        buckets = numbers.reshape(counts.shape)
        return Bucketed(
            value=spread_evenly(measured.values, buckets),
            buckets=buckets,
            noise=f"two-sided geometric: rate {plan.rate} on the count of each tested tree node, "
            f"rate {rate} on the total of each leaf",
            intervals=(measured.interval,),
            parts={"bucket_totals": measured.values},
        )

    def calibration(self, shape: tuple[int, ...], k: int, budget: Fraction) -> Calibration:
        """The noise under which drawing the tree over `shape` costs `budget`."""
        return Calibration.of(
            fanout_bits=self.halvings, tests=self.tests(shape), k=k, budget=budget
        )

    def tests(self, shape: tuple[int, ...]) -> int:
        """The most nodes of more than one bin that lie on a path of the tree."""
        deepest = sum((side - 1).bit_length() for side in shape)
        return -(-deepest // self.halvings)

    def _leaves(
        self, cumulated: Counts, shape: tuple[int, ...], plan: Calibration, rng: Randomness
    ) -> NDArray[np.int64]:
        """Where the leaves begin, ascending, in halving order; each ends where the next begins."""
        starts, sides = np.zeros(1, dtype=np.int64), np.array([shape], dtype=np.int64)
        done = []
        for depth in range(self.tests(shape)):
            # A single bin is a leaf without a test, which its box says and not its count.
            single = sides.max(axis=1) == 1
            done.append(starts[single])
            starts, sides = starts[~single], sides[~single]
            counts = cumulated[starts + sides.prod(axis=1)] - cumulated[starts]
            split = self._splits(counts, depth, plan, rng)
            done.append(starts[~split])
            starts, sides = _children(starts[split], sides[split], self.halvings)
        return np.sort(np.concatenate([*done, starts]))

    def _splits(
        self, counts: Counts, depth: int, plan: Calibration, rng: Randomness
    ) -> NDArray[np.bool_]:
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


def halving_order(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Flat positions of the bins in an order that keeps every node of the tree contiguous."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]

    @cache
    def within(box: tuple[int, ...]) -> NDArray[np.int64]:
        # Positions relative to the box's corner, the same wherever a box of these sides lies.
        if max(box) == 1:
            return np.zeros(1, dtype=np.int64)
        first, second, axis = _halve(np.array([box], dtype=np.int64))
        offset = first[0, axis[0]] * strides[axis[0]]
        return np.concatenate(
            (within(tuple(first[0].tolist())), within(tuple(second[0].tolist())) + offset)
        )

    return within(shape)


def _children(starts: NDArray[np.int64], sides: Sides, halvings: int) -> tuple[Counts, Sides]:
    """The nodes `halvings` levels down; a single bin stays as it is."""
    for _ in range(halvings):
        several = sides.max(axis=1) > 1
        first, second, _ = _halve(sides[several])
        middle = starts[several] + first.prod(axis=1)
        starts = np.concatenate((starts[~several], starts[several], middle))
        sides = np.concatenate((sides[~several], first, second))
    return starts, sides


def _halve(sides: Sides) -> tuple[Sides, Sides, NDArray[np.int64]]:
    """Both halves of each box and the axis that was cut: the first of its longest sides."""
    axis = sides.argmax(axis=1)
    rows = np.arange(len(sides))
    first, second = sides.copy(), sides.copy()
    first[rows, axis] = (sides[rows, axis] + 1) // 2
    second[rows, axis] = sides[rows, axis] // 2
    return first, second, axis
