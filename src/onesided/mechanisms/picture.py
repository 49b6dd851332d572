"""What data may look like, given a one-sided probe: made-up histograms to try mechanisms on.

A probe y = x_ns − G shows some bins clearly and leaves others to guesswork. `pictures` smooths it
as far as its noise asks for, and draws stand-ins for the data that agree with it but differ in what
it leaves open: how unequal the bins inside a piece are, and whether like is next to like.
Everything here is post-processing of released values, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, expm1, log, sqrt

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.randomness import Randomness

Floats = NDArray[np.float64]

SLACK = 1.0
"""How many standard errors of the share of seen bins the pictures lie apart."""

LEAST_SHAPE, MOST_SHAPE = 1e-2, 1e2
"""The range of the gamma distribution's shape, from one bin in hundreds filled to all alike."""

OUTLIER = 3.0
"""Noise further than so many scales below its level says no more than that it is noise."""


BLOCK = 64
"""How many bins the surroundings of a small piece are."""

TINY = 1e-9


class Texture(Enum):
    """How the mass of a piece may lie inside it."""

    EVEN = "even"  # as equally as the probe allows
    UNEVEN = "uneven"  # half way between, on the scale of ratios
    SCATTERED = "scattered"  # as unequally as the probe allows, in any order
    SORTED = "sorted"  # as unequally as the probe allows, like beside like


@dataclass(frozen=True)
class Picture:
    """A stand-in for the data: counts `all` of all units and `nonsensitive` ones."""

    all: Counts
    nonsensitive: Counts


@dataclass(frozen=True)
class Pieces:
    """The probe in pieces: the piece of each bin; size, mean of x_ns and share seen of each piece.

    A bin is seen when its y is above 0; `noise_rate` is that of G.
    """

    of_bin: Counts
    sizes: Counts
    means: Floats
    seen: Floats
    noise_rate: float

    @classmethod
    def each_bin(cls, counts: Counts) -> Pieces:
        """Every bin a piece of its own, whose count of non-sensitive units is taken as it is."""
        ones = np.ones(counts.size)
        return cls(
            np.arange(counts.size), ones.astype(np.int64), counts.astype(np.float64), ones, 1.0
        )


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
    variance = max(decay / expm1(-noise_rate) ** 2, 0.25)
    values = probe.astype(np.float64)
    coarse = _dyadic_pieces(values, variance, (2 + log(probe.size)) ** 2 / 2)
    levels = (np.bincount(coarse, weights=values) / np.bincount(coarse))[coarse]
    raised = np.maximum(values, levels - OUTLIER * mean_noise)
    of_bin = _dyadic_pieces(raised, variance, 1 + log(probe.size))
    sizes = np.bincount(of_bin)
    means = np.bincount(of_bin, weights=values) / sizes
    means = _without_remnants(means, sizes, raised, sqrt(variance)) + mean_noise
    seen = np.bincount(of_bin, weights=probe > 0) / sizes
    return Pieces(of_bin, sizes, np.maximum(means, 0), seen, noise_rate)


def picture(found: Pieces, total: float, texture: Texture, rng: Randomness) -> Picture:
    """One stand-in with about `total` units, sensitive ones lying like the others.

    `rng` is a seeded one made for this; the draws are in floating point.
    """
    generator = rng.generator()
    share = min(max(float(found.means @ found.sizes), 1.0) / max(total, 1.0), 1.0)
    shape = _gamma_shape(found, texture)
    levels = generator.gamma(shape, size=found.of_bin.size) / shape
    if texture is Texture.SORTED:
        levels = levels[np.lexsort((-levels, found.of_bin))]
    single = found.sizes[found.of_bin] == 1
    # Where the probe shows nothing at all, the units may be anywhere.
    means = found.means if found.means.any() else np.ones(found.means.size)
    expected = np.where(single, 1.0, levels) * means[found.of_bin]
    expected *= total / max(float(expected.sum()), TINY)
    everyone = np.where(single, np.rint(expected), generator.poisson(expected)).astype(np.int64)
    return Picture(everyone, generator.binomial(everyone, share))


def _gamma_shape(found: Pieces, texture: Texture) -> float:
    """How equal the bins of a piece are: their counts are gamma distributed of this shape."""
    if texture is Texture.EVEN:
        return _shape_seen(found, SLACK)
    least = _shape_seen(found, -SLACK)
    return sqrt(least * _shape_seen(found, SLACK)) if texture is Texture.UNEVEN else least


def _shape_seen(found: Pieces, slack: float) -> float:
    """The gamma shape s that the number of seen bins, in all pieces of several, speaks for.

    A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so for counts of mean μ
    the share seen is 1 − (1 + r·μ/s)^(−s), which grows with s. The number seen among w bins has a
    standard error of at most √w/2; it is moved by `slack` of them.
    """
    several = found.sizes > 1
    sizes, exponents = found.sizes[several], found.noise_rate * found.means[several]
    target = float(sizes @ found.seen[several]) + slack * sqrt(float(sizes.sum())) / 2
    low, high = log(LEAST_SHAPE), log(MOST_SHAPE)
    for _ in range(30):
        middle = (low + high) / 2
        shape = exp(middle)
        expected = float(sizes @ -np.expm1(-shape * np.log1p(exponents / shape)))
        low, high = (low, middle) if expected >= target else (middle, high)
    return exp(high)


def _without_remnants(means: Floats, sizes: Counts, values: Floats, deviation: float) -> Floats:
    """Means of pieces, with those that do not differ from their surroundings set to these.

    A dyadic partition that singles out one bin leaves small pieces beside it, whose means are
    mostly noise. The surroundings are a block of `BLOCK` bins without what stands out of it.
    """
    padded = np.pad(values, (0, -values.size % BLOCK), mode="edge").reshape(-1, BLOCK)
    middle = np.median(padded, axis=1, keepdims=True)
    usual = np.abs(padded - middle) <= 2 * OUTLIER * deviation
    levels = (padded * usual).sum(axis=1) / np.maximum(usual.sum(axis=1), 1)
    starts = np.cumsum(sizes) - sizes
    around = levels[starts // BLOCK]
    remnant = (sizes < BLOCK) & (np.abs(means - around) <= OUTLIER * deviation / np.sqrt(sizes))
    return np.asarray(np.where(remnant, around, means), dtype=np.float64)


def _dyadic_pieces(values: Floats, variance: float, price: float) -> Counts:
    """For each bin the number of its piece in the dyadic partition of least cost."""
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
        together = np.where(sizes > 0, spread / (2 * variance) + price, 0.0)
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
