"""The tree of boxes that is made by halving a box again and again, for any shape.

In one dimension with d a power of two these are the dyadic intervals. In several dimensions the
longest side is halved first, so boxes stay as close to cubes as the shape allows. The tree is a
function of the shape alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from onesided.data.histogram import Counts


@dataclass(frozen=True)
class HalvingTree:
    """Bins in an order in which every box of the tree is an interval, and the boxes of each level.

    - `order`: the bins (row-major numbers) in that order.
    - `levels`: for each level, from the whole to single bins, where its boxes start, ascending.
      Each level refines the one before: a box is halved, or stays as it is where it is too thin.
    """

    order: Counts
    levels: tuple[Counts, ...]

    @property
    def bins(self) -> int:
        """d, the number of bins."""
        return int(self.order.size)

    def sizes(self, level: int) -> Counts:
        """The number of bins of each box of a level."""
        return np.diff(self.levels[level], append=self.bins)

    def first_children(self, level: int) -> Counts:
        """For each box of a level, the number of its first part on the next level."""
        return np.searchsorted(self.levels[level + 1], self.levels[level])

    def halved(self, level: int) -> Counts:
        """The numbers of the boxes of a level that have two parts on the next level."""
        parts = np.diff(self.first_children(level), append=self.levels[level + 1].size)
        return np.flatnonzero(parts == 2)


@lru_cache(maxsize=4)
def halving_tree(shape: tuple[int, ...]) -> HalvingTree:
    """The tree of boxes for histograms of this shape."""
    codes, bits = _box_codes(shape)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    levels = []
    for level in range(bits + 1):
        box = ordered >> (bits - level)
        levels.append(np.flatnonzero(np.diff(box, prepend=-1)))
    for array in (order, *levels):
        array.flags.writeable = False  # shared between runs
    return HalvingTree(order, tuple(levels))


def _box_codes(shape: tuple[int, ...]) -> tuple[Counts, int]:
    """For each bin the halves it is in, first halving first, as an integer of so many bits."""
    paths = [_halves(side) for side in shape]
    remaining = [(side - 1).bit_length() for side in shape]
    bits = sum(remaining)
    codes = np.zeros(shape, dtype=np.int64)
    for _ in range(bits):
        axis = max(range(len(shape)), key=lambda each: remaining[each])
        remaining[axis] -= 1
        half = paths[axis] >> remaining[axis] & 1
        along = [-1 if each == axis else 1 for each in range(len(shape))]
        codes = codes << 1 | half.reshape(along)
    return codes.reshape(-1), bits


def _halves(side: int) -> Counts:
    """For each position on a side, the halves it is in, as a number: 0 for the first half.

    A stretch of n positions is halved into ⌈n/2⌉ and ⌊n/2⌋; a single one stays in first halves.
    """
    paths = np.zeros(side, dtype=np.int64)
    stretches = np.array([side])
    for _ in range((side - 1).bit_length()):
        halves = np.stack([(stretches + 1) // 2, stretches // 2], axis=1)
        is_second = np.tile([0, 1], stretches.size)
        paths = paths << 1 | np.repeat(is_second, halves.reshape(-1))
        stretches = halves[halves > 0]
    return paths
