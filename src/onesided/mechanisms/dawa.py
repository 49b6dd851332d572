"""`dawa`: choose buckets of nearly equal counts, then measure their totals.

The idea of data-dependent buckets is DAWA's (Li, Hay, Miklau 2014); how they are chosen is not. The
partition is drawn from the exponential mechanism over all prunings of a fixed tree of boxes. Why
this is private is proven in dawa.md, and that the draw is exact in partition.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError, MechanismRefused
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed, measured_alone
from onesided.mechanisms.buckets.deviation import box_deviations, largest_count
from onesided.mechanisms.buckets.many import parents, sizes_and_totals
from onesided.mechanisms.buckets.partition import PruningLaw
from onesided.mechanisms.buckets.totals import checked_share, checked_shrink, shrunk, spread_evenly
from onesided.mechanisms.buckets.tree import HalvingTree, halving_tree
from onesided.mechanisms.buckets.workload import Workload, choose_hierarchy, measure_for
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.randomness import Randomness

MOST_STAYING = Fraction(999, 1000)


@dataclass(frozen=True, kw_only=True)
class Dawa(BucketAlgorithm):
    """Pr[B] ∝ π(B)·exp(−a₁·Σ_{b∈B} dev(b) / (2k)), then totals of B with noise of rate a₂/k.

    a₁ = γ·a and a₂ = (1−γ)·a share the add/remove budget a, where γ is `partition_share`;
    dev(b) = Σ_{i∈b} |xᵢ − median of b|; B ranges over the prunings of the halving tree.

    - `stay`: σ of the prior π, under which a box of the tree stays whole with this probability.
    - `shrink`: c; a total t becomes t − τ²/t, and 0 below τ = c·k/a₂, c times the noise's scale.
      Most buckets are empty where data are sparse, and this tells noise from counts; c = 0 only
      raises negative totals to 0. For cells only: sums of shrunk totals would be biased.
    - `workload`: the questions that the totals are measured for; ranges and prefixes are along one
      dimension, and may come out negative.
    """

    name: ClassVar[str] = "dawa"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "ordinary differential privacy: totals of buckets of similar counts"

    partition_share: Fraction = Fraction(1, 2)
    stay: Fraction = Fraction(3, 5)
    shrink: Fraction = Fraction(2)
    workload: Workload = Workload.CELLS

    def __post_init__(self) -> None:
        share = checked_share(self.partition_share, "partition_share")
        stay, shrink = checked_share(self.stay, "stay"), checked_shrink(self.shrink)
        if stay > MOST_STAYING:
            raise InputError("stay must be at most 0.999.")
        object.__setattr__(self, "partition_share", share)
        object.__setattr__(self, "stay", stay)
        object.__setattr__(self, "shrink", shrink)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if self.workload is not Workload.CELLS and len(shape) > 1:
            raise MechanismRefused(
                "dawa measures ranges and prefixes along one dimension only; ask for cells."
            )

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        rate = budget * (1 - self.partition_share)
        if self.workload is Workload.CELLS or public.bins is None:
            return measured_alone(public, rate, self.shrink)
        levels = choose_hierarchy(self.workload, public.bins).levels
        return two_sided_mean_size(rate / (levels * public.k))

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        self.check_shape(counts.shape)
        tree = halving_tree(counts.shape)
        starts = self.law(counts, k, budget).draw(rng)

        rate = budget * (1 - self.partition_share) / k
        ordered = _ordered(counts, tree)
        totals = measure_for(self.workload, np.add.reduceat(ordered, starts), rate, rng)
        sizes = np.diff(starts, append=tree.bins)
        buckets = tree.back(np.repeat(np.arange(starts.size), sizes))
        return Bucketed(
            value=self._value(totals.estimates, rate, buckets),
            buckets=buckets,
            intervals=(totals.measured.interval,),
            parts={"bucket_totals": totals.measured.values},
        )

    def run_many(
        self, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
    ) -> NDArray[np.int64] | None:
        """The decisions of all runs are drawn together, level by level of the tree."""
        if self.workload is not Workload.CELLS:
            return None
        tree = halving_tree(counts.shape)
        law = self.law(counts, k, budget)
        starts = np.zeros((runs, tree.bins), dtype=np.bool_)
        reached = np.ones((runs, 1), dtype=np.bool_)
        for level, (boxes, parts) in enumerate(pairwise(tree.levels)):
            stays = reached.copy()
            stays[reached] = law.stays(level, np.nonzero(reached)[1], rng)
            starts[:, boxes] |= stays
            reached = (reached & ~stays)[:, parents(boxes, parts)]
        starts[:, tree.levels[-1]] |= reached
        rate = budget * (1 - self.partition_share) / k
        return sizes_and_totals(tree, starts, counts, rate, rng)

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        rate = budget * (1 - self.partition_share) / k
        several = (
            "" if self.workload is Workload.CELLS else ", shared by the levels of their groups"
        )
        return (
            f"partition with probability proportional to e^(−{self._law_rate(k, budget)}·deviation)"
            f", two-sided geometric of rate {rate} on bucket totals{several}"
        )

    def law(self, counts: Counts, k: int, budget: Fraction) -> PruningLaw:
        """The distribution of the partition at add/remove `budget`."""
        tree = halving_tree(counts.shape)
        deviations = box_deviations(_ordered(counts, tree), tree)
        return PruningLaw(tree, deviations, self._law_rate(k, budget), self.stay)

    def _law_rate(self, k: int, budget: Fraction) -> Fraction:
        return budget * self.partition_share / (2 * k)

    def _value(self, totals: Floats, rate: Fraction, buckets: Counts) -> Floats:
        if self.workload is not Workload.CELLS:
            return (totals / np.bincount(buckets.reshape(-1)))[buckets]
        return spread_evenly(shrunk(totals, float(self.shrink / rate)), buckets)


def _ordered(counts: Counts, tree: HalvingTree) -> Counts:
    """The counts in the order of the tree, none larger than deviations can be computed for."""
    return np.minimum(tree.along(counts), largest_count(tree.bins))
