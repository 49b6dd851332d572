"""The tree of boxes that is made by halving a box again and again, for any shape.

In one dimension with d a power of two these are the dyadic intervals. In several dimensions the
longest side is halved first, so boxes stay as close to cubes as the shape allows. The tree is a
function of the shape alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class HalvingTree:
    """Bins in an order in which every box of the tree is an interval, and the boxes of each level.

    - `shape`: that of the histograms it is made for.
    - `order`: the bins (row-major numbers) in that order.
    - `levels`: for each level, from the whole to single bins, where its boxes start, ascending.
      Each level refines the one before: a box is halved, or stays as it is where it is too thin.
    """

    shape: tuple[int, ...]
    order: Counts
    levels: tuple[Counts, ...]

    @property
    def bins(self) -> int:
        """d, the number of bins."""
        return int(self.order.size)

    def along(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """The values of the bins, which have its shape, as a line in its order."""
        return values.reshape(-1)[self.order]

    def back(self, line: NDArray[Scalar]) -> NDArray[Scalar]:
        """The inverse of `along`: each value where its bin is."""
        placed = np.empty_like(line)
        placed[self.order] = line
        return placed.reshape(self.shape)

    @cached_property
    def sizes(self) -> tuple[Counts, ...]:
        """For each level, the number of bins of each box."""
        return tuple(_shared(np.diff(starts, append=self.bins)) for starts in self.levels)

    @cached_property
    def first_parts(self) -> tuple[Counts, ...]:
        """For each level but the last and each box of it, its first part on the next level."""
        return tuple(
            _shared(np.searchsorted(below, starts)) for starts, below in pairwise(self.levels)
        )

    @cached_property
    def last_parts(self) -> tuple[Counts, ...]:
        """The same for its last part, which is the first where the box stays as it is."""
        return tuple(
            _shared(np.append(first[1:], below.size) - 1)
            for first, below in zip(self.first_parts, self.levels[1:], strict=True)
        )

    @cached_property
    def halved(self) -> tuple[Counts, ...]:
        """For each level but the last, the boxes that have two parts on the next level."""
        both = zip(self.first_parts, self.last_parts, strict=True)
        return tuple(_shared(np.flatnonzero(first < last)) for first, last in both)


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
    return HalvingTree(shape, _shared(order), tuple(map(_shared, levels)))


def _shared(array: Counts) -> Counts:
    """The array, which several runs use and none may change."""
    array.flags.writeable = False
    return array


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
