"""What a probe shows: pieces of the line of bins inside which it differs by no more than noise.

The probe is a one-sided release y = x_ns − G. Cutting it is post-processing. What is asked about
all units afterwards, how rough their counts are inside the pieces, is `Roughness`: whole numbers
that one unit changes by at most 1 for each bin that it touches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.buckets.deviation import bucket_deviations
from onesided.mechanisms.cutting import dyadic_pieces, pieces_anywhere
from onesided.mechanisms.noise import geometric_mean, unbiased

Floats = NDArray[np.float64]

SCALES = ("small", "large")
"""The blocks: what is alike within them, buckets can make use of."""

SMALL = 16
"""Bins of a small block."""

OUTLIER = 3.0
"""Noise further than so many scales from its level says no more than that it is noise."""

FEW = 1 / 8
"""The part of all bins up to which those that stand alone stand out of the others."""

BLOCK = 64
"""How many bins the surroundings of a small piece are."""

MOST_CLUMPS, ALIKE = 8, 4.0
"""How many levels that pieces have in common are looked for, and within how many deviations."""


@dataclass(frozen=True)
class Pieces:
    """The probe in pieces: the piece and the blocks of each bin, and the mean of x_ns in a piece.

    Blocks are neighbours of one piece, for each of `SCALES`; `several` is True in pieces of more
    bins than one; `floor` is the probe, raised to 0. All of these are by bin; the probe was above 0
    in `seen` bins, at `noise_rate`. `taken` is what noise takes from a bin that stands alone, on
    average.
    """

    piece: Counts
    blocks: tuple[Counts, ...]
    means: Floats
    several: NDArray[np.bool_]
    floor: Counts
    seen: int
    noise_rate: float
    taken: float

    @classmethod
    def of(
        cls,
        piece: Counts,
        means: Floats,
        probe: Counts,
        noise_rate: float,
        taken: float | None = None,
    ) -> Pieces:
        """Pieces from the number of each bin's piece and the mean of each piece."""
        places = np.arange(piece.size)
        begins = np.diff(piece, prepend=-1) != 0
        blocks = tuple(
            np.cumsum(begins | (places % size == 0)) - 1 for size in block_sizes(piece.size)
        )
        several = (np.bincount(piece) > 1)[piece]
        floor = np.maximum(probe, 0)
        seen = int(np.count_nonzero(floor))
        taken = 1 / noise_rate if taken is None else taken
        return cls(piece, blocks, means[piece], several, floor, seen, noise_rate, taken)

    @property
    def groups(self) -> tuple[Counts, ...]:
        """The blocks of each scale; and all bins together, but for pieces of one bin."""
        return (*self.blocks, np.where(self.several, 0, np.cumsum(~self.several)))

    @property
    def places(self) -> tuple[Counts, ...]:
        """Each bin by itself, and the blocks of each scale."""
        return (np.arange(self.piece.size), *self.blocks)

    @property
    def numbers(self) -> tuple[int, ...]:
        """How many `places` of each size there are."""
        return (self.piece.size, *(int(each[-1]) + 1 for each in self.blocks))

    @property
    def few_alone(self) -> bool:
        """Whether some bins stand alone, and so few that others are what they stand out of."""
        return bool(1 - FEW <= self.several.mean() < 1)

    @property
    def many_alone(self) -> bool:
        """Whether so many bins stand alone that there is nothing which they stand out of."""
        return bool(self.several.mean() < 1 - FEW)

    @property
    def seen_error(self) -> float:
        """The standard error of the number of seen bins against what `means` let expect of it.

        With t = r·x, q = e^(−t) and G the noise, a bin is seen (G < x) with variance q·(1−q), and
        the expected number moves through the mean by q·r times an error of variance (1−q)/r² and
        covariance t·q/r. Together q·(1 − q²) − 2·t·q² for each bin; at least one bin is always in
        doubt.
        """
        t = self.noise_rate * self.means
        q = np.exp(-t)
        return float(np.sqrt(np.sum(q * (1 - q**2) - 2 * t * q**2).clip(0))) + 1

    @property
    def seen_in_several(self) -> float:
        """All that the probe saw but for what is expected of pieces of one bin.

        A bin with x non-sensitive units is seen with probability 1 − e^(−r·x).
        """
        alone = self.means[~self.several]
        return self.seen - float(-np.expm1(-self.noise_rate * alone).sum())

    def expected_to_be_seen(self, shape: float, full: float = 1.0) -> float:
        """How many bins in pieces of several are, if counts have a gamma distribution's `shape` s.

        A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so of bins of mean μ
        the share 1 − (1 + r·μ/s)^(−s). Only a part of them is `full`, and others are empty.
        """
        mean = self.noise_rate * self.means[self.several] / full
        return full * float(-np.expm1(-shape * np.log1p(mean / shape)).sum())

    def visible(self, counts: Counts | Floats, threshold: int) -> float:
        """Σ min(xᵢ, `threshold`) in pieces of more bins than one; a whole number if all xᵢ are."""
        visible: float = np.minimum(counts[self.several], threshold).sum().item()
        return visible

    @property
    def units(self) -> float:
        """The number of non-sensitive units that the probe speaks for."""
        return float(self.means.sum())

    def with_units(self, units: float) -> Pieces:
        """The same with so many `units`, more or fewer in pieces of more bins than one.

        Where bins are nearly empty, what noise adds to their mean can exceed all there is. Each
        piece has its share of more or fewer; what exceeds twice as many is spread evenly.
        """
        here = self.means[self.several]
        if not here.size:
            return self
        wanted = max(units - (self.units - here.sum()), 0.0)
        scale = min(wanted / max(float(here.sum()), 1.0), 2.0)
        more = max(wanted - here.sum() * scale, 0.0) / here.size
        return replace(self, means=np.where(self.several, self.means * scale + more, self.means))


@dataclass(frozen=True)
class Roughness:
    """Numbers that tell how unequal counts are; each changes by at most 1 when a count does.

    - `deviations`: Σ dev over the blocks of each scale and, last, dev of all bins together that
      are in pieces of more bins than one;
    - `visible`: Σ min(xᵢ, `threshold`) in pieces of more bins than one: the less of their mass, the
      fewer bins it is in;
    - `scales`: those of the noise on each of `values`, 0 for none.
    """

    visible: float
    deviations: tuple[float, ...]
    threshold: int
    scales: tuple[float, ...] = (0.0,) * (len(SCALES) + 2)

    @classmethod
    def of(cls, counts: Counts, found: Pieces, threshold: int) -> Roughness:
        deviations = tuple(group_deviation(counts, each) for each in found.groups)
        return cls(found.visible(counts, threshold), deviations, threshold)

    @property
    def values(self) -> tuple[float, ...]:
        return (self.visible, *self.deviations)

    def in_order(self) -> Roughness:
        """The same with deviations that never shrink from scale to scale, as those of data do.

        Larger blocks are made of smaller ones, so they deviate by as much or more. Answers that do
        not are set to their mean, each weighted with the square of its noise's rate.
        """
        runs: list[tuple[float, float, int]] = []
        for each, scale in zip(self.deviations, self.scales[1:], strict=True):
            mean, weight, size = each, scale**-2, 1
            while runs and runs[-1][0] > mean:
                before, more, count = runs.pop()
                mean = (mean * weight + before * more) / (weight + more)
                weight, size = weight + more, size + count
            runs.append((mean, weight, size))
        return replace(self, deviations=tuple(mean for mean, _, size in runs for _ in range(size)))

    def moved(self, by: float) -> Roughness:
        """Rougher by so many scales of the noise."""
        hidden, *rough = (by * scale for scale in self.scales)
        deviations = tuple(each + more for each, more in zip(self.deviations, rough, strict=True))
        return replace(self, visible=self.visible - hidden, deviations=deviations)


def block_sizes(bins: int) -> tuple[int, int]:
    """How many bins a block of each of `SCALES` has: `SMALL`, and half way from there to all.

    That is half way in ratio, rounded to a power of 2, and at least four times as many.
    """
    return SMALL, max(4 * SMALL, 1 << round(log2(SMALL * max(bins, 1)) / 2))


def pieces(probe: Counts, noise_rate: float) -> Pieces:
    """Cuts the line into pieces inside which the `probe` differs by no more than noise.

    Least squares in units of the noise's variance with a price for each piece (cutting.py).
    One-sided noise has outliers far below: a first cut at a price beyond their reach finds levels,
    outliers are raised to near their level, and a second cut at the price 1 + ln d sees the rest.
    Bins that stand out upwards by themselves, as noise cannot make them, are pieces of their own,
    and lowered for the cut. Single bins that are left over by the cut, with nothing seen in them,
    are one piece together.
    """
    mean_noise = geometric_mean(noise_rate)
    # Integers cannot be told apart more finely than by one, whatever the noise.
    deviation = max(sqrt(mean_noise * (1 + mean_noise)), 0.5)
    values = estimates = unbiased(probe, noise_rate)
    coarse = dyadic_pieces(values / deviation, (2 + log(probe.size)) ** 2 / 2)
    levels = (np.bincount(coarse, weights=values) / np.bincount(coarse))[coarse]
    usual = levels + (1 + OUTLIER) * mean_noise
    alone = _standing_out(values, usual)
    taken = _taken_by_noise(values[alone] - usual[alone], mean_noise)
    if alone.any():
        others = np.bincount(coarse, weights=~alone)
        levels = (np.bincount(coarse, weights=values * ~alone) / others)[coarse]
        values = np.where(alone, levels, values)
    raised = np.maximum(values, levels - OUTLIER * mean_noise)
    piece = pieces_anywhere(raised / deviation, 1 + log(probe.size))
    sizes = np.bincount(piece)
    means = np.bincount(piece, weights=values) / sizes
    means = _without_remnants(means, sizes, raised, deviation)
    means = _clumped(means, sizes, deviation)
    # What bins that stand out have less than their estimate, others of their level have more.
    less = mean_noise - taken
    _, level = np.unique(means, return_inverse=True)
    standing_out = np.bincount(level[piece], weights=alone)
    others = np.bincount(level[piece], weights=~alone)
    # Noise may have taken more than its mean; without a bound empty bins could have less than none.
    means = np.maximum(means + (less * standing_out / np.maximum(others, 1))[level], 0.0)
    levels = np.where(alone, estimates - less, means[piece])
    parts = np.where(alone, means.size + np.arange(probe.size), piece)
    unseen = (sizes == 1)[piece] & ~alone & (probe <= 0)
    if unseen.any():
        levels[unseen], parts[unseen] = levels[unseen].mean(), means.size + probe.size
    _, first, numbered = np.unique(parts, return_index=True, return_inverse=True)
    return Pieces.of(numbered, levels[first], probe, noise_rate, taken)


def _standing_out(values: Floats, usual: Floats) -> NDArray[np.bool_]:
    """Bins beyond doubt above what is `usual`; one in a block, or it is a level.

    Noise only takes away, and its mean was added: bins of a level are that far above it at most.
    """
    above = values > usual
    block = np.arange(values.size) // SMALL
    return np.asarray(above & (np.bincount(block, weights=above) == 1)[block])


def _taken_by_noise(beyond: Floats, mean_noise: float) -> float:
    """What noise takes on average from bins that stand out so far `beyond` what is usual.

    The less noise a bin has, the likelier it stands out, so that is less than `mean_noise` g. If
    counts thin out exponentially that far up, with mean m, so do values, and the noise in one of
    them is an exponential variable of rate 1/g + 1/m.
    """
    if not beyond.size:
        return mean_noise
    mean = float(beyond.mean())
    return mean_noise * mean / (mean_noise + mean)


def group_deviation(counts: Counts, groups: Counts) -> int:
    """Σ over groups of dev(g) = min_c Σ_{i∈g} |xᵢ − c|; groups are numbered from 0."""
    return int(bucket_deviations(counts, groups).sum())


def _without_remnants(means: Floats, sizes: Counts, values: Floats, deviation: float) -> Floats:
    """Means of pieces, with those that do not differ from their surroundings set to these.

    A partition that singles out one bin may leave small pieces beside it, whose means are
    mostly noise. The surroundings are a block of `BLOCK` bins without what stands out of it.
    """
    padded = np.pad(values, (0, -values.size % BLOCK), mode="edge").reshape(-1, BLOCK)
    middle = np.median(padded, axis=1, keepdims=True)
    usual = np.abs(padded - middle) <= 2 * OUTLIER * deviation
    levels = (padded * usual).sum(axis=1) / np.maximum(usual.sum(axis=1), 1)
    around = levels[(np.cumsum(sizes) - sizes) // BLOCK]
    remnant = (sizes < BLOCK) & (np.abs(means - around) <= OUTLIER * deviation / np.sqrt(sizes))
    return np.asarray(np.where(remnant, around, means), dtype=np.float64)


def _clumped(means: Floats, sizes: Counts, deviation: float) -> Floats:
    """Means of pieces, with those that noise alone may set apart set to what they have in common.

    Clumps are taken off one by one, each around the weighted median of what is left; far pieces of
    one level, such as an empty background, are told from each other by nothing but noise.
    """
    clumped, left = means.copy(), np.ones(means.size, dtype=np.bool_)
    reach = ALIKE * deviation / np.sqrt(sizes)
    for _ in range(MOST_CLUMPS):
        order = np.flatnonzero(left)[np.argsort(means[left])]
        if order.size == 0:
            break
        heaped = np.cumsum(sizes[order])
        level = means[order[np.searchsorted(heaped, heaped[-1] / 2)]]
        clump = left & (np.abs(means - level) <= reach)
        clumped[clump] = np.average(means[clump], weights=sizes[clump])
        left &= ~clump
    return clumped
