"""Cells in order: blocks of them, counts that may not fall, and how far sums of noise reach."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.noise import geometric_mean
from onesided.mechanisms.one_sided import subtract_noise
from onesided.randomness import Randomness

Ends: TypeAlias = tuple[Floats, Floats]
"""Lower and upper bounds."""

FEW_CELLS = 64
"""Up to so many cells, one level of counts is better than two at half of the rate."""


@dataclass(frozen=True)
class Blocks:
    """`cells` cells in order, in blocks of `size` neighbours; one block of all where it is None."""

    cells: int
    size: int | None

    @classmethod
    def usual(cls, cells: int) -> Blocks:
        """Blocks of about the root of the number of cells, a power of two; none of few cells."""
        if cells <= FEW_CELLS:
            return cls(cells, None)
        return cls(cells, 1 << (isqrt(cells - 1).bit_length()))

    @property
    def levels(self) -> int:
        """How many counts a unit is in: that of its cell, and that of its block."""
        return 1 if self.size is None else 2

    @property
    def variance(self) -> float:
        """That of the noise of a sum over the first cells on average, in those of one noise.

        Within a block, and over blocks, a sum of some counts whose total is known better has a
        sixth of the noises of all of them.
        """
        within = float(np.mean(self.sizes)) / 6
        return within if self.levels == 1 else within + len(self.starts) / 6

    @cached_property
    def starts(self) -> Counts:
        """The first cell of each block."""
        return np.arange(0, self.cells, self.size or self.cells)

    @cached_property
    def sizes(self) -> Counts:
        """How many cells each block has; the last one may have fewer."""
        return np.diff(self.starts, append=self.cells)

    @cached_property
    def block(self) -> Counts:
        """The block of each cell."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    def totals(self, lines: NDArray[np.int64]) -> Counts:
        """The sum of each block in each line."""
        return np.add.reduceat(lines, self.starts, axis=1)


@dataclass(frozen=True)
class NoisyCells:
    """The noisy count of each cell and, with two levels, of each block, in each line.

    The noise has the rate `rate`: x − G, or with `two_sided` x + Z.
    """

    blocks: Blocks
    fine: Counts
    coarse: Counts | None
    rate: Fraction
    two_sided: bool = False

    @classmethod
    def of(
        cls,
        blocks: Blocks,
        lines: Counts,
        rate: Fraction,
        rng: Randomness,
        *,
        two_sided: bool = False,
    ) -> NoisyCells:
        """The counts of `lines` with noise of their own for each cell and each block."""

        def noisy(counts: Counts) -> Counts:
            if not two_sided:
                return subtract_noise(counts, rate, rng)
            return counts + rng.two_sided_geometric(rate, counts.size).reshape(counts.shape)

        coarse = None if blocks.levels == 1 else noisy(blocks.totals(lines))
        return cls(blocks, noisy(lines), coarse, rate, two_sided)

    def estimate(self) -> Floats:
        """The best unbiased estimate of each cell; a block and its cells agree."""
        mean = 0.0 if self.two_sided else geometric_mean(self.rate)
        cells = np.asarray(self.fine + mean, dtype=np.float64)
        if self.coarse is None:
            return cells
        sizes = self.blocks.sizes
        summed = np.add.reduceat(cells, self.blocks.starts, axis=1)
        believed = (sizes * (self.coarse + mean) + summed) / (sizes + 1)
        return np.asarray(cells + ((believed - summed) / sizes)[:, self.blocks.block])

    @property
    def up_to(self) -> Floats:
        """Estimates of the units up to each cell, which never fall."""
        return np.array([never_falling(np.cumsum(line)) for line in self.estimate()])

    def bounds(self, tail: float) -> tuple[Ends, Ends]:
        """Bounds on the units up to each cell, and after it; each fails with at most `tail`."""
        return self._ends(*self._up_to(), tail), self._ends(*self._beyond(), tail)

    def _ends(self, summed: Floats, parts: Counts, tail: float) -> Ends:
        if self.two_sided:
            high = sums_of_two_sided(float(self.rate), parts, tail)
            low = -high
        else:
            low, high = sums_of_geometric(float(self.rate), parts, tail)
        return np.maximum(summed + low, 0.0), np.maximum(summed + high, 0.0)

    def _up_to(self) -> tuple[Floats, Counts]:
        """The noisy number of units up to each cell, and how many noises are in it."""
        cells, block = np.arange(self.blocks.cells), self.blocks.block
        summed = np.cumsum(self.fine, axis=1, dtype=np.float64)
        if self.coarse is None:
            return summed, cells + 1
        before = np.cumsum(self.coarse, axis=1, dtype=np.float64) - self.coarse
        first = self.blocks.starts[block]
        within = summed - (summed - self.fine)[:, first]
        return before[:, block] + within, block + cells - first + 1

    def _beyond(self) -> tuple[Floats, Counts]:
        """The same of the units after each cell."""
        cells, block = np.arange(self.blocks.cells), self.blocks.block
        summed = np.cumsum(self.fine, axis=1, dtype=np.float64)
        if self.coarse is None:
            return summed[:, -1:] - summed, self.blocks.cells - 1 - cells
        last = (self.blocks.starts + self.blocks.sizes)[block] - 1
        before = np.cumsum(self.coarse, axis=1, dtype=np.float64)
        after = summed[:, last] - summed + before[:, -1:] - before[:, block]
        return after, last - cells + len(self.blocks.starts) - 1 - block


def never_falling(values: Floats) -> Floats:
    """The sequence that never falls and is next to `values` in least squares, at least 0."""
    heights: list[float] = []
    lengths: list[int] = []
    for value in values.tolist():
        height, length = value, 1
        while heights and heights[-1] >= height:
            before, many = heights.pop(), lengths.pop()
            height = (before * many + height * length) / (many + length)
            length += many
        heights.append(height)
        lengths.append(length)
    return np.asarray(np.maximum(np.repeat(heights, lengths), 0.0), dtype=np.float64)


def sums_of_geometric(rate: float, parts: Counts, tail: float) -> tuple[Floats, Floats]:
    """Bounds on the sum of so many geometric noises of `rate`; each fails with at most `tail`.

    Chernoff's bound: Pr[S ≥ s] ≤ M(λ)^m·e^(−λs) for every λ > 0 of which M(λ) = E[e^(λG)] exists,
    and Pr[S ≤ s] ≤ M(−λ)^m·e^(λs). Any λ gives a bound, and the best of a few is taken.
    """
    one = np.log(-np.expm1(-rate))
    up = rate * np.linspace(0.02, 0.98, 49)[:, None]
    high = _least(up, one - np.log(-np.expm1(up - rate)), parts, tail)
    down = rate * np.geomspace(0.01, 100, 49)[:, None]
    each = one - np.log(-np.expm1(-rate - down))
    low = np.max((np.log(tail) - parts * each) / down, axis=0)
    return np.where(parts > 0, np.maximum(np.floor(low) + 1, 0), 0.0), high


def sums_of_two_sided(rate: float, parts: Counts, tail: float) -> Floats:
    """An upper bound on the sum of so many two-sided noises, by the same argument."""
    up = rate * np.linspace(0.02, 0.98, 49)[:, None]
    both = 2 * np.log(-np.expm1(-rate))
    each = both - np.log(-np.expm1(up - rate)) - np.log(-np.expm1(-rate - up))
    return _least(up, each, parts, tail)


def _least(places: Floats, each: Floats, parts: Counts, tail: float) -> Floats:
    """The largest whole number below the least s with m·log M(λ) − λs ≤ log `tail`."""
    found = np.min((parts * each - np.log(tail)) / places, axis=0)
    return np.asarray(np.where(parts > 0, np.ceil(found) - 1, 0.0))
