"""Many runs at once over the boxes of a tree: what all runs on the same counts share is done once.

What a run releases follows from the size and the noisy total of the bucket that each bin is in, in
the order of the tree. So a row of these stands for a run.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.buckets.tree import HalvingTree
from onesided.randomness import Randomness

Flags = NDArray[np.bool_]


def sizes_and_totals(
    tree: HalvingTree, starts: Flags, counts: Counts, rate: Fraction, rng: Randomness
) -> NDArray[np.int64]:
    """For each run the sizes, then the totals with noise of `rate`, of the bins' buckets.

    `starts` has a row for each run, which says where buckets start.
    """
    where = np.arange(tree.bins)
    first = np.maximum.accumulate(np.where(starts, where, 0), axis=1)
    following = np.where(starts, where, tree.bins)[:, ::-1]
    next_start = np.minimum.accumulate(following, axis=1)[:, ::-1]
    end = np.hstack([next_start[:, 1:], np.full((len(starts), 1), tree.bins)])
    cumulated = np.concatenate(([0], np.cumsum(counts.reshape(-1)[tree.order])))
    noise = rng.two_sided_geometric(rate, starts.size).reshape(starts.shape)
    totals = cumulated[end] - cumulated[first] + np.take_along_axis(noise, first, axis=1)
    return np.hstack([end - first, totals])


def parents(boxes: Counts, parts: Counts) -> NDArray[np.int64]:
    """The box that each part is in; both by where they start."""
    return np.searchsorted(boxes, parts, side="right") - 1
