"""Many runs at once of mechanisms over buckets, by the steps that one run takes.

A run of `dawa` or `privtree` spends most of its time on what all runs on the same data share. Here
that is done once; the decisions of all runs are then drawn together, by the mechanism's own code
for one level of its tree. A run of `ahp` spends it on its clusters, which on few bins are the same
in many runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.audit.protocol import AtEpsilon
from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.buckets.tree import HalvingTree, halving_tree
from onesided.mechanisms.buckets.workload import Workload
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.privtree import PrivTree
from onesided.mechanisms.recipe import NaiveRecipe, Recipe
from onesided.randomness import Randomness

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class InBatches(AtEpsilon):
    """A mechanism over the buckets of `dawa`, `privtree` or `ahp`, many runs at once.

    An output is, for each bin, the size and the noisy total of its bucket. The recipe says before
    these whether the bin looks empty, and `ahp` the number of its bucket, which goes by the value
    of the noisy counts. What else a run releases follows from them.
    """

    def release_many(self, data: Histogram, runs: int, rng: Randomness) -> NDArray[np.int64]:
        chosen = self.mechanism
        if isinstance(chosen, NaiveRecipe):
            return _bucketed(chosen.inner, data.nonsensitive, data.k, self.epsilon, runs, rng)
        if isinstance(chosen, Recipe):
            share = chosen.detection_share
            nonsensitive = np.tile(data.nonsensitive.reshape(-1), (runs, 1))
            empty = rng.bernoulli_exp(share * self.epsilon / data.k, nonsensitive)
            rest = (1 - share) * self.epsilon / 2
            return np.hstack([empty, _bucketed(chosen.inner, data.all, data.k, rest, runs, rng)])
        assert isinstance(chosen, BucketAlgorithm)
        return _bucketed(chosen, data.all, data.k, self.epsilon / 2, runs, rng)


def can_be_batched(mechanism: Mechanism) -> bool:
    """Whether `InBatches` knows the mechanism."""
    inner = mechanism.inner if isinstance(mechanism, Recipe | NaiveRecipe) else mechanism
    if type(inner) is Dawa:
        return inner.workload is Workload.CELLS
    return type(inner) in (PrivTree, AHP)


def _bucketed(
    algorithm: BucketAlgorithm, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
) -> NDArray[np.int64]:
    """Sizes and noisy totals of the buckets of each bin; for trees in the order of the tree."""
    if isinstance(algorithm, AHP):
        return _clustered(algorithm, counts, k, budget, runs, rng)
    tree = halving_tree(counts.shape)
    assert isinstance(algorithm, Dawa | PrivTree)
    if isinstance(algorithm, Dawa):
        starts = _prunings(algorithm, counts, k, budget, runs, rng)
    else:
        starts = _leaves(algorithm, counts, k, budget, runs, rng)
    where = np.arange(tree.bins)
    first = np.maximum.accumulate(np.where(starts, where, 0), axis=1)
    following = np.where(starts, where, tree.bins)[:, ::-1]
    next_start = np.minimum.accumulate(following, axis=1)[:, ::-1]
    end = np.hstack([next_start[:, 1:], np.full((runs, 1), tree.bins)])
    cumulated = np.concatenate(([0], np.cumsum(counts.reshape(-1)[tree.order])))
    rate = budget * (1 - algorithm.partition_share) / k
    noise = rng.two_sided_geometric(rate, starts.size).reshape(starts.shape)
    totals = cumulated[end] - cumulated[first] + np.take_along_axis(noise, first, axis=1)
    return np.hstack([end - first, totals])


def _clustered(
    ahp: AHP, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
) -> NDArray[np.int64]:
    """For each run, the number, size and noisy total of the cluster of each bin."""
    count_rate, total_rate = rates = ahp.rates(k, budget)
    noise = rng.two_sided_geometric(count_rate, runs * counts.size)
    noisy = counts.reshape(-1) + noise.reshape(runs, -1)
    different, where = np.unique(noisy, axis=0, return_inverse=True)
    which = where.reshape(-1)
    labels = np.array([ahp.clustered(each, rates) for each in different])
    together = labels[:, :, None] == labels[:, None, :]
    sizes, totals = together.sum(axis=2), together @ counts.reshape(-1)
    clusters = labels[which]
    fresh = rng.two_sided_geometric(total_rate, clusters.size).reshape(clusters.shape)
    return np.hstack(
        [clusters, sizes[which], totals[which] + np.take_along_axis(fresh, clusters, axis=1)]
    )


def _prunings(
    dawa: Dawa, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
) -> Flags:
    """For each run, where the buckets of a partition start."""
    tree = halving_tree(counts.shape)
    law = dawa.law(counts, k, budget)
    starts = np.zeros((runs, tree.bins), dtype=np.bool_)
    reached = np.ones((runs, 1), dtype=np.bool_)
    for level in range(len(tree.levels) - 1):
        stays = reached.copy()
        stays[reached] = law.stays(level, np.nonzero(reached)[1], rng)
        starts[:, tree.levels[level]] |= stays
        reached = (reached & ~stays)[:, _parents(tree.levels[level], tree.levels[level + 1])]
    starts[:, tree.levels[-1]] |= reached
    return starts


def _leaves(
    privtree: PrivTree, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
) -> Flags:
    """For each run, where the leaves of a tree begin."""
    tree: HalvingTree = halving_tree(counts.shape)
    ordered = counts.reshape(-1)[tree.order]
    plan = privtree.calibration(counts.shape, k, budget * privtree.partition_share)
    levels = privtree.levels(tree)
    starts = np.zeros((runs, tree.bins), dtype=np.bool_)
    active = np.ones((runs, 1), dtype=np.bool_)
    for depth, boxes in enumerate(levels[:-1]):
        parents = _parents(boxes, levels[depth + 1])
        tested = active & (np.bincount(parents) > 1)
        totals = np.broadcast_to(np.add.reduceat(ordered, boxes), tested.shape)
        goes_on = active.copy()
        goes_on[tested] = privtree.splits(totals[tested], depth, plan, rng)
        starts[:, boxes] |= active & ~goes_on
        active = goes_on[:, parents]
    starts[:, levels[-1]] |= active
    return starts


def _parents(boxes: Counts, parts: Counts) -> NDArray[Any]:
    """The box that each part is in; both by where they start."""
    return np.searchsorted(boxes, parts, side="right") - 1
