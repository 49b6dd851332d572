"""How far the counts of a window are from being equal, for every window of power-of-two length.

The windows of one length L = 2ʲ are numbered by their first bin. All quantities of a length come
from one pass over a wavelet matrix: O(log v) vector operations on d windows, where v is the number
of distinct counts, so O(d·log d·log v) for all lengths together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]


def window_lengths(bins: int) -> list[int]:
    """1, 2, 4, … up to the number of bins d."""
    return [1 << j for j in range(bins.bit_length())]


@dataclass(frozen=True)
class _Level:
    """One bit of the wavelet matrix: `zeros_before[i]` of the first i entries have a 0 there, these
    move to the front, and `sums[i]` is the sum of the first i entries after the move."""

    zeros_before: Counts
    zeros: int
    sums: Counts


class WindowCounts:
    """Order statistics of windows of `counts`, which sum to less than 2⁶³."""

    def __init__(self, counts: Counts) -> None:
        self.bins = counts.size
        self._sums = _prefix_sums(counts)
        self._values, codes = np.unique(counts, return_inverse=True)
        self._levels: list[_Level] = []
        for bit in reversed(range(int(self._values.size - 1).bit_length())):
            is_zero = (codes >> bit) & 1 == 0
            codes = np.concatenate([codes[is_zero], codes[~is_zero]])
            zeros_before = _prefix_sums(is_zero)
            sums = _prefix_sums(self._values[codes])
            self._levels.append(_Level(zeros_before, int(zeros_before[-1]), sums))

    def totals(self, length: int) -> Counts:
        """The sum of each window of `length` bins."""
        return self._sums[length:] - self._sums[: self._sums.size - length]

    def sums_of_smallest(self, length: int, rank: int) -> Counts:
        """The sum of the `rank` smallest counts of each window of `length` bins."""
        first, last = self._windows(length)
        wanted = np.full(first.size, rank)
        collected = np.zeros(first.size, dtype=np.int64)
        sums = self._sums
        for level in self._levels:
            zero_first, zero_last = level.zeros_before[first], level.zeros_before[last]
            zeros, sums = zero_last - zero_first, level.sums
            beyond = wanted > zeros
            collected += np.where(beyond, sums[zero_last] - sums[zero_first], 0)
            wanted -= np.where(beyond, zeros, 0)
            first = np.where(beyond, level.zeros + first - zero_first, zero_first)
            last = np.where(beyond, level.zeros + last - zero_last, zero_last)
        # What is left of each window now is one value, repeated.
        return collected + sums[first + wanted] - sums[first]

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


def quantile_deviations(counts: Counts, quantile: Fraction) -> list[Counts]:
    """For each length L, the deviation of every window from its τ-quantile, where τ is `quantile`.

    With τ = p/q in lowest terms the deviation of a window b is the integer

        dev(b) = min_c Σ_{i∈b} p·(xᵢ − c)₊ + (q − p)·(c − xᵢ)₊
               = p·Σ_{i∈b} xᵢ − q·(sum of the τL smallest, a fraction of a count included),

    which is 0 iff all counts are equal. For τ = 1/2 it is Σ|xᵢ − median|.
    """
    windows = WindowCounts(counts)
    p, q = quantile.numerator, quantile.denominator
    deviations = []
    for length in window_lengths(counts.size):
        rank, part = divmod(p * length, q)
        smallest = q * windows.sums_of_smallest(length, rank)
        if part:
            next_sums = windows.sums_of_smallest(length, rank + 1)
            smallest += part * (next_sums - smallest // q)
        deviations.append(p * windows.totals(length) - smallest)
    return deviations


def mean_deviations(counts: Counts) -> list[Floats]:
    """For each length L, Σ|xᵢ − mean| of every window, in floating point."""
    windows = WindowCounts(counts)
    deviations = []
    for length in window_lengths(counts.size):
        mean = windows.totals(length) / length
        number, total = windows.below(length, mean)
        deviations.append(2.0 * (number * mean - total))
    return deviations


def _prefix_sums(values: NDArray[np.int64] | NDArray[np.bool_]) -> Counts:
    """0, v₀, v₀+v₁, …"""
    sums = np.zeros(values.size + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
