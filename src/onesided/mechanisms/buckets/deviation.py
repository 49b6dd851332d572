"""How far the counts of a group of bins are from being equal.

Two kinds of groups: the boxes of a halving tree, with the deviation from the median in integers;
and, for the reference algorithm, all windows of power-of-two length, with the deviation from the
mean in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.buckets.tree import HalvingTree


def largest_count(bins: int) -> int:
    """What a count is cut off at so that neither totals nor sort keys of d `bins` leave int64.

    Cutting off moves no two counts further apart, so sensitivities are those of the counts.
    """
    return (1 << 62) // bins - 1


def box_deviations(counts: Counts, tree: HalvingTree) -> list[Counts]:
    """For each level of the tree, dev(b) = Σ_{i∈b} |xᵢ − median of b| of its boxes b.

    `counts` are in the order of the tree and at most `largest_count`. For a box of n bins dev is
    the sum of its ⌊n/2⌋ largest counts less the sum of its ⌊n/2⌋ smallest. Boxes are sorted from
    the bottom up: each is a merge of two that are sorted already, so a level costs O(d).
    """
    beyond = largest_count(tree.bins) + 1
    ascending = counts
    deviations = []
    for level in reversed(range(len(tree.levels))):
        starts, sizes = tree.levels[level], tree.sizes[level]
        offset = np.repeat(np.arange(starts.size) * beyond, sizes)
        ascending = np.sort(ascending + offset, kind="stable") - offset
        deviations.append(_run_deviations(ascending, starts, sizes))
    return deviations[::-1]


def bucket_deviations(counts: Counts, buckets: Counts) -> Counts:
    """dev(b) of every bucket b, counts cut off at `largest_count`; `buckets` number each bin's."""
    cut = np.minimum(counts, largest_count(counts.size))
    beyond = int(cut.max()) + 1
    sizes = np.bincount(buckets)
    offset = np.repeat(np.arange(sizes.size) * beyond, sizes)
    ascending = np.sort(buckets * beyond + cut) - offset
    return _run_deviations(ascending, np.cumsum(sizes) - sizes, sizes)


def _run_deviations(ascending: Counts, starts: Counts, sizes: Counts) -> Counts:
    """dev of each run of `ascending`: its ⌊n/2⌋ largest counts less its ⌊n/2⌋ smallest."""
    sums, half, ends = prefix_sums(ascending), sizes // 2, starts + sizes
    largest, smallest = sums[ends] - sums[ends - half], sums[starts + half] - sums[starts]
    return np.asarray(largest - smallest, dtype=np.int64)


def window_lengths(bins: int) -> list[int]:
    """1, 2, 4, … up to the number of bins d."""
    return [1 << j for j in range(bins.bit_length())]


def window_mean_deviations(counts: Counts) -> list[Floats]:
    """For each length L = 2ʲ, Σ|xᵢ − mean| of every window of L bins, by its first bin.

    Equals 2·Σ(mean − xᵢ)₊, for which a wavelet matrix gives the number and the sum of the counts
    below the mean: O(log v) vector operations a length, where v is the number of distinct counts.
    """
    windows = _Windows(counts)
    deviations = []
    for length in window_lengths(counts.size):
        mean = windows.totals(length) / length
        number, total = windows.below(length, mean)
        deviations.append(2.0 * (number * mean - total))
    return deviations


@dataclass(frozen=True)
class _Level:
    """One bit of the wavelet matrix: `zeros_before[i]` of the first i entries have a 0 there, these
    move to the front, and `sums[i]` is the sum of the first i entries after the move."""

    zeros_before: Counts
    zeros: int
    sums: Counts


class _Windows:
    """A wavelet matrix over `counts`, which sum to less than 2⁶³."""

    def __init__(self, counts: Counts) -> None:
        self.bins = counts.size
        self._sums = prefix_sums(counts)
        self._values, codes = np.unique(counts, return_inverse=True)
        self._levels: list[_Level] = []
        for bit in reversed(range(int(self._values.size - 1).bit_length())):
            is_zero = (codes >> bit) & 1 == 0
            codes = np.concatenate([codes[is_zero], codes[~is_zero]])
            zeros_before = prefix_sums(is_zero)
            sums = prefix_sums(self._values[codes])
            self._levels.append(_Level(zeros_before, int(zeros_before[-1]), sums))

    def totals(self, length: int) -> Counts:
        """The sum of each window of `length` bins."""
        return self._sums[length:] - self._sums[: self._sums.size - length]

    def below(self, length: int, threshold: Floats) -> tuple[Counts, Counts]:
        """How many counts of each window are less than its `threshold`, and their sum."""
        first, last = self._windows(length)
        code = np.searchsorted(self._values, threshold, side="left")
        number = np.zeros(first.size, dtype=np.int64)
        total = np.zeros(first.size, dtype=np.int64)
        for bit, level in zip(reversed(range(len(self._levels))), self._levels, strict=True):
            zero_first, zero_last = level.zeros_before[first], level.zeros_before[last]
            is_one = (code >> bit) & 1 == 1
            number += np.where(is_one, zero_last - zero_first, 0)
            total += np.where(is_one, level.sums[zero_last] - level.sums[zero_first], 0)
            first = np.where(is_one, level.zeros + first - zero_first, zero_first)
            last = np.where(is_one, level.zeros + last - zero_last, zero_last)
        return number, total

    def _windows(self, length: int) -> tuple[Counts, Counts]:
        first = np.arange(self.bins - length + 1)
        return first, first + length


def prefix_sums(values: NDArray[np.int64] | NDArray[np.bool_]) -> Counts:
    """0, v₀, v₀+v₁, …"""
    sums = np.zeros(values.size + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
