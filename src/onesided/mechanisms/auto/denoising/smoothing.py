"""What the count of each bin is expected to be, as the noisy counts around it tell: shrinkage.

Where neighbours are alike, many noisy counts tell of one. Which of them are alike is told by the
noisy counts too, so that nothing here reads data and floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats

Quick = NDArray[np.float32]
"""Probabilities of very many counts, of which a few digits are enough."""

LINES = 8
"""Partitions are into halves of halves, each begun elsewhere: an edge then lies well inside the
boxes of most others."""

COST_OF_BOX = 3.0
"""By how many variances of the noise a box is supposed to be worse than it seems, as the best of
many partitions is the luckiest as well; Stein's estimate needs so many bins of a box itself."""

TOO_UNEQUAL = 2.0
"""Counts that vary beyond noise by more of its variances tell less of a bin than its own does."""


@dataclass(frozen=True)
class Expected:
    """The mean and variance of what each count may be; of variance ∞ where nothing tells."""

    means: Floats
    variances: Floats

    @classmethod
    def nothing(cls, bins: int) -> Expected:
        return cls(np.zeros(bins), np.full(bins, inf))

    def at(self, bins: Counts | NDArray[np.bool_]) -> Expected:
        return Expected(self.means[bins], self.variances[bins])

    def but(self, bins: NDArray[np.bool_]) -> Expected:
        """Nothing is told of these `bins`."""
        return Expected(self.means, np.where(bins, inf, self.variances))

    def chances(self, supposed: Floats) -> Quick:
        """How likely each bin has each of the counts `supposed`, 0 first: a normal distribution.

        A count stands for all that are nearer to it than to others. What lies below 0 is 0.
        """
        edges = np.append((supposed[:-1] + supposed[1:]) / 2, 2 * supposed[-1])
        spreads = np.sqrt(self.variances)
        # In parts of the largest count, so that no number is too large or small to be a quick one.
        edges, means, spreads = (
            (each / supposed[-1]).astype(np.float32) for each in (edges, self.means, spreads)
        )
        below = _normal_below((edges - means[:, None]) / spreads[:, None])
        below[:, 1:] -= below[:, :-1].copy()
        below /= np.maximum(below.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return below


@dataclass(frozen=True)
class _Boxes:
    """Boxes of each of the `LINES`, with the number, the sum and the squares of their counts.

    Counts are in standard deviations of their noise.
    """

    number: Floats
    total: Floats
    squares: Floats

    def joined(self) -> _Boxes:
        """Every two of them as one."""
        return _Boxes(*(each[:, ::2] + each[:, 1::2] for each in self.fields))

    @property
    def fields(self) -> tuple[Floats, Floats, Floats]:
        return self.number, self.total, self.squares

    @cached_property
    def spread(self) -> Floats:
        """Σ(z − z̄)² over the counts z of each box."""
        spread = self.squares - self.total**2 / np.maximum(self.number, 1)
        return np.asarray(np.maximum(spread, 0.0))

    @property
    def risk(self) -> Floats:
        """Stein's estimate of Σ(x̂ − x)² if the counts of a box are drawn to their mean.

        Of n counts with the spread S the part (n − 3)/S of their distance from it is taken away, or
        all of it, as always in boxes of two or three unless they are better left as they are.
        """
        n, spread = self.number, self.spread
        to_the_mean = spread - n + 2
        partly = n - (n - 3) ** 2 / np.maximum(spread, 1e-9)
        few = np.minimum(to_the_mean, n)
        return np.where(n <= 3, few, np.where(spread < n - 3, to_the_mean, partly))


def expected_from_others(noisy: NDArray[Any], variance: float) -> Expected:
    """For bins along a line, with unbiased `noisy` counts whose noise has such a `variance`.

    Bins are put into boxes that are halves of halves of the line, so that the estimated risk is
    least. A bin's own noisy count is left out of what is expected of it. That is the mean of the n
    others of its box. Its variance is that of these beyond their noise, and what noise leaves in
    the mean, variance/n. Several partitions count as much as they are certain.
    """
    if variance < np.finfo(float).eps:
        return Expected.nothing(noisy.size)
    counts = noisy / np.sqrt(variance)
    lines, place = _lines(counts)
    number, total, spread = (np.take_along_axis(each, place, axis=1) for each in _best_boxes(lines))
    others = np.maximum(number - 1, 1)
    means = (total - counts) / others
    own = (counts - means) ** 2 * others / (others + 1)
    alike = (number > 1) & (spread <= (1 + TOO_UNEQUAL) * others)
    without_own = np.maximum(spread - own, 0) / np.maximum(others - 1, 1)
    spread = np.where(number > 3, without_own, spread / others)
    variances = np.maximum(spread - 1, 0) + 1 / others
    weights = np.where(alike, 1 / variances, 0.0)
    certainty = weights.sum(axis=0)
    told = certainty > 0
    certainty[~told] = 1.0
    mean = (weights * means).sum(axis=0) / certainty
    partitions = np.count_nonzero(weights, axis=0)
    return Expected(
        mean * np.sqrt(variance), np.where(told, partitions / certainty * variance, inf)
    )


def _normal_below(places: Quick) -> Quick:
    """Φ of each place to about 10⁻⁴ of 1, by a logistic function of a cubic one; quickly."""
    np.clip(places, -8, 8, out=places)
    cubic = places * places
    cubic *= np.float32(-0.070566)
    cubic -= np.float32(1.5976)
    cubic *= places
    np.exp(cubic, out=cubic)
    cubic += 1
    np.reciprocal(cubic, out=cubic)
    return cubic


def _lines(counts: Floats) -> tuple[_Boxes, Counts]:
    """Boxes of one bin each, on lines of a power of two of them, and the place of each bin there.

    A line that begins elsewhere goes on with the first bins when all are over.
    """
    length = 1 << (counts.size - 1).bit_length()
    starts = np.arange(LINES)[:, None] * length // (2 * LINES) + np.arange(LINES)[:, None]
    bins = (np.arange(length) + starts) % length
    number, total = (
        np.append(each, np.zeros(length - counts.size))[bins]
        for each in (np.ones(counts.size), counts)
    )
    return _Boxes(number, total, total**2), (np.arange(counts.size) - starts) % length


def _best_boxes(lines: _Boxes) -> tuple[Floats, Floats, Floats]:
    """For each place of each line the number, sum and spread of its box in the best partition."""
    levels, kept = [lines], []
    least = lines.number * (1 + COST_OF_BOX)
    while levels[-1].number.shape[1] > 1:
        joined = levels[-1].joined()
        apart = least[:, ::2] + least[:, 1::2]
        whole = joined.risk + COST_OF_BOX
        # Places beyond the bins cost nothing, and a bin with nothing but such is alone.
        keep = (whole <= apart) & (joined.number > 1)
        least = np.where(keep, whole, apart)
        levels.append(joined)
        kept.append(keep)
    found = tuple(np.zeros((LINES, 1)) for _ in range(3))
    for boxes, keep in zip(levels[:0:-1], reversed(kept), strict=True):
        new = keep & (found[0] == 0)
        of_box = (boxes.number, boxes.total, boxes.spread)
        found = tuple(
            np.repeat(np.where(new, own, outer), 2, axis=1)
            for own, outer in zip(of_box, found, strict=True)
        )
    number, total, spread = found
    return number, total, spread
