"""What data may look like, given a probe: made-up histograms to try mechanisms on.

The probe has two parts. A one-sided release y = x_ns − G shows where units are, and is smoothed
into pieces as far as its noise asks for. How unequal the bins inside a piece are is told by two
numbers about sensitive units, how far x_s deviates within pieces and within short blocks of them,
or, where there are few such units or the noise drowns them, by the number of bins with y > 0.
Pictures are stand-ins for the data that agree with all of this and differ in what it leaves open.
Everything here but the two numbers is post-processing, so floating point does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from math import exp, expm1, log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.deviation import prefix_sums

if TYPE_CHECKING:
    from numpy.random import Generator

Floats = NDArray[np.float64]

NEAR = 16
"""Bins of one block: what is alike within it, buckets can make use of."""

OUTLIER = 3.0
"""Noise further than so many scales from its level says no more than that it is noise."""

LEAST_SHAPE, MOST_SHAPE = 1e-2, 1e3
"""The range of the gamma distribution's shape, from one bin in hundreds filled to all alike."""

STEPS = 8
"""Halvings of that range, on the scale of ratios, when a shape is looked for."""


BLOCK = 64
"""How many bins the surroundings of a small piece are."""


SLACK = 1.0
"""How many standard errors of the number of seen bins the pictures lie from it."""

WIDE = 1.5
"""How many scales of their noise the pictures lie from the released deviations."""


class Texture(Enum):
    """What a picture assumes about the bins inside a piece."""

    EVEN = "even"  # as equal as the probe allows
    LIKELY = "likely"  # half way between
    SCATTERED = "scattered"  # as unequal as the probe allows, in any order
    SORTED = "sorted"  # as unequal as the probe allows, like beside like


@dataclass(frozen=True)
class Picture:
    """A stand-in for the data: counts `all` of all units and `nonsensitive` ones."""

    all: Counts
    nonsensitive: Counts


@dataclass(frozen=True)
class Pieces:
    """The probe in pieces: the piece and the block of each bin, and the mean of x_ns in a piece.

    Blocks are at most `NEAR` neighbours of one piece; `several` is True in pieces of more bins
    than one. All of these are by bin; the probe was above 0 in `seen` bins, at `noise_rate`.
    """

    piece: Counts
    block: Counts
    means: Floats
    several: NDArray[np.bool_]
    seen: int
    noise_rate: float

    @classmethod
    def of(cls, piece: Counts, means: Floats, seen: int, noise_rate: float) -> Pieces:
        """Pieces from the number of each bin's piece and the mean of each piece."""
        aligned = np.arange(piece.size) // NEAR
        starts = np.diff(piece + aligned, prepend=-1) != 0
        several = (np.bincount(piece) > 1)[piece]
        return cls(piece, np.cumsum(starts) - 1, means[piece], several, seen, noise_rate)

    @property
    def seen_error(self) -> float:
        """The standard error of the number of seen bins against what `means` let expect of it.

        With t = r·x, q = e^(−t) and G the noise, a bin is seen (G < x) with variance q·(1−q), and
        the expected number moves by −q·r·G through the mean, of variance q²; their covariance is
        t·q². Together q − 2·t·q² for each bin; at least one bin is always in doubt.
        """
        t = self.noise_rate * self.means
        q = np.exp(-t)
        return float(np.sqrt(np.sum(q - 2 * t * q**2))) + 1

    @property
    def units(self) -> float:
        """The number of non-sensitive units that the probe speaks for."""
        return float(self.means.sum())


@dataclass(frozen=True)
class Deviations:
    """Σ dev of a histogram over the pieces (`far`) and over their blocks (`near`).

    `scale` is that of the noise on each, 0 for none.
    """

    far: float
    near: float
    scale: float = 0.0

    @classmethod
    def of(cls, counts: Counts, found: Pieces) -> Deviations:
        """Exactly, in integers; each changes by at most 1 when a count does."""
        return cls(group_deviation(counts, found.piece), group_deviation(counts, found.block))


@dataclass(frozen=True)
class Grain:
    """How equal made-up counts are inside a piece: the shapes of two gamma distributions.

    One is of the blocks of a piece (`far`), the other of the bins of a block (`near`).
    """

    far: float
    near: float


def group_deviation(counts: Counts, groups: Counts) -> int:
    """Σ over groups of dev(g) = min_c Σ_{i∈g} |xᵢ − c|; groups are runs of equal numbers.

    The sum of a group's ⌊w/2⌋ largest counts less that of its ⌊w/2⌋ smallest.
    """
    ordered = counts[np.lexsort((counts, groups))]
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(starts, append=groups.size)
    sums, half, ends = prefix_sums(ordered), sizes // 2, starts + sizes
    largest, smallest = sums[ends] - sums[ends - half], sums[starts + half] - sums[starts]
    return int(np.sum(largest - smallest))


def pieces(probe: Counts, noise_rate: float) -> Pieces:
    """Cuts the line into dyadic pieces inside which the `probe` differs by no more than noise.

    Least squares in units of the noise's variance with a price for each piece; the best dyadic
    partition is found from single bins up in O(d). One-sided noise has outliers far below: a first
    cut at a price beyond their reach finds levels, outliers are raised to near their level, and a
    second cut at the price 1 + ln d sees the rest.
    """
    decay = exp(-noise_rate)
    mean_noise = decay / -expm1(-noise_rate)
    # Integers cannot be told apart more finely than by one, whatever the noise.
    deviation = max(sqrt(decay) / -expm1(-noise_rate), 0.5)
    values = probe.astype(np.float64)
    coarse = _dyadic_pieces(values / deviation, (2 + log(probe.size)) ** 2 / 2)
    levels = (np.bincount(coarse, weights=values) / np.bincount(coarse))[coarse]
    raised = np.maximum(values, levels - OUTLIER * mean_noise)
    piece = _dyadic_pieces(raised / deviation, 1 + log(probe.size))
    means = np.bincount(piece, weights=values) / np.bincount(piece)
    means = _without_remnants(means, np.bincount(piece), raised, deviation) + mean_noise
    return Pieces.of(piece, np.maximum(means, 0), int(np.count_nonzero(probe > 0)), noise_rate)


def picture(found: Pieces, sensitive: float, levels: Floats, generator: Generator) -> Picture:
    """One stand-in with about `sensitive` sensitive units, which lie like the others.

    `levels` are what bins expect over the mean of their piece. The non-sensitive units may be more
    equal: their levels are drawn towards 1 until as many bins are seen as the probe saw.
    """
    hidden = generator.poisson(levels * _sensitive_means(found, sensitive))
    others = generator.poisson(_tempered(levels, found) * found.means)
    return Picture((hidden + others).astype(np.int64), others.astype(np.int64))


def levels_seen(found: Pieces, texture: Texture, generator: Generator) -> Floats:
    """Levels that agree with the number of bins that the probe saw."""
    even, uneven = _shape_seen(found, SLACK), _shape_seen(found, -SLACK)
    shapes = {Texture.EVEN: even, Texture.LIKELY: sqrt(even * uneven)}
    levels = _levels(found, Grain(MOST_SHAPE, shapes.get(texture, uneven)), generator)
    if texture is Texture.SORTED:
        levels = levels[np.lexsort((-levels, found.piece))]
    return levels


def levels_measured(
    found: Pieces, sensitive: float, released: Deviations, texture: Texture, generator: Generator
) -> Floats:
    """Levels that agree with the `released` deviations; SORTED asks for no more than these say."""
    moved = {Texture.EVEN: -WIDE, Texture.SCATTERED: WIDE}.get(texture, 0.0) * released.scale
    target = replace(released, far=released.far + moved, near=released.near + moved)
    return _levels(found, matching_grain(found, sensitive, target, generator), generator)


def matching_grain(
    found: Pieces, sensitive: float, target: Deviations, generator: Generator
) -> Grain:
    """The grain with which made-up sensitive counts have the `target` deviations.

    First for the bins of a block, with blocks all alike; then for the blocks. More equal bins
    deviate less, so halving finds both.
    """
    means = _sensitive_means(found, sensitive)

    def made_up(grain: Grain) -> Deviations:
        return Deviations.of(generator.poisson(_levels(found, grain, generator) * means), found)

    near = _solve(lambda shape: made_up(Grain(MOST_SHAPE, shape)).near, target.near)
    far = _solve(lambda shape: made_up(Grain(shape, near)).far, target.far)
    return Grain(far, near)


def _solve(deviation: Callable[[float], float], target: float) -> float:
    """The shape at which a decreasing `deviation` comes to `target`, within its range."""
    low, high = log(LEAST_SHAPE), log(MOST_SHAPE)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if deviation(exp(middle)) > target else (low, middle)
    return exp((low + high) / 2)


def _shape_seen(found: Pieces, slack: float) -> float:
    """The gamma shape s that the number of seen bins speaks for.

    A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so for counts of mean μ
    the share seen is 1 − (1 + r·μ/s)^(−s), which grows with s. The number of seen bins is moved by
    `slack` of its standard errors.
    """
    exponents = found.noise_rate * found.means
    certain = float(-np.expm1(-exponents[~found.several]).sum())
    several = exponents[found.several]
    target = found.seen - certain + slack * found.seen_error

    def unseen(shape: float) -> float:
        return -float(-np.expm1(-shape * np.log1p(several / shape)).sum())

    return _solve(unseen, -target)


def _levels(found: Pieces, grain: Grain, generator: Generator) -> Floats:
    """What each bin expects over the mean of its piece: 1 on average, and in pieces of one bin."""
    blocks = generator.gamma(grain.far, size=int(found.block[-1]) + 1) / grain.far
    bins = generator.gamma(grain.near, size=found.block.size) / grain.near
    return np.where(found.several, blocks[found.block] * bins, 1.0)


def _tempered(levels: Floats, found: Pieces) -> Floats:
    """1 + θ·(levels − 1) for the largest θ ≤ 1 under which enough bins would have been seen.

    A bin with x non-sensitive units is seen (y > 0) with probability 1 − e^(−r·x); `enough` is what
    the probe saw less one standard error.
    """
    enough = found.seen - found.seen_error
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        tempered = 1 + high * (levels - 1)
        if -np.expm1(-found.noise_rate * found.means * tempered).sum() >= enough:
            break
        high = (low + high) / 2
    return np.asarray(1 + high * (levels - 1))


def _sensitive_means(found: Pieces, sensitive: float) -> Floats:
    """`sensitive` units over the bins like the others; evenly where the probe shows nothing."""
    total = float(found.means.sum())
    if total == 0:
        return np.full(found.means.size, sensitive / found.means.size)
    return found.means * (sensitive / total)


def _without_remnants(means: Floats, sizes: Counts, values: Floats, deviation: float) -> Floats:
    """Means of pieces, with those that do not differ from their surroundings set to these.

    A dyadic partition that singles out one bin leaves small pieces beside it, whose means are
    mostly noise. The surroundings are a block of `BLOCK` bins without what stands out of it.
    """
    padded = np.pad(values, (0, -values.size % BLOCK), mode="edge").reshape(-1, BLOCK)
    middle = np.median(padded, axis=1, keepdims=True)
    usual = np.abs(padded - middle) <= 2 * OUTLIER * deviation
    levels = (padded * usual).sum(axis=1) / np.maximum(usual.sum(axis=1), 1)
    around = levels[(np.cumsum(sizes) - sizes) // BLOCK]
    remnant = (sizes < BLOCK) & (np.abs(means - around) <= OUTLIER * deviation / np.sqrt(sizes))
    return np.asarray(np.where(remnant, around, means), dtype=np.float64)


def _dyadic_pieces(values: Floats, price: float) -> Counts:
    """For each bin the number of its piece in the dyadic partition of least Σ squares/2 + price."""
    padded = 1 << max(values.size - 1, 0).bit_length()
    sums, squares, sizes = (np.zeros(padded) for _ in range(3))
    sums[: values.size], squares[: values.size], sizes[: values.size] = values, values**2, 1
    best = np.where(sizes > 0, price, 0.0)
    whole = []
    while best.size > 1:
        sums, squares, sizes, apart = (
            each[0::2] + each[1::2] for each in (sums, squares, sizes, best)
        )
        spread = squares - sums**2 / np.maximum(sizes, 1)
        together = np.where(sizes > 0, spread / 2 + price, 0.0)
        whole.append(together <= apart)
        best = np.minimum(together, apart)
    label = np.zeros(1, dtype=np.int64)
    settled = np.zeros(1, dtype=np.bool_)
    for each in reversed(whole):
        settled |= each
        # A settled piece hands its label on; an open one gives its halves labels of their own.
        label, settled = np.repeat(2 * label, 2), np.repeat(settled, 2)
        label[1::2] += ~settled[1::2]
    changed = np.diff(label[: values.size], prepend=label[0]) != 0
    return np.cumsum(changed)
