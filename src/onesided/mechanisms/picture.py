"""What data may look like, given a one-sided probe: made-up histograms to try mechanisms on.

A probe y = x_ns − G shows some bins clearly and leaves others to guesswork. `pictures` smooths it
as far as its noise asks for, and draws stand-ins for the data that agree with it but differ in what
it leaves open: how unequal the bins inside a piece are, and whether like is next to like.
Everything here is post-processing of released values, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, expm1, log

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.randomness import Randomness

Floats = NDArray[np.float64]

SLACK = 1.0
"""How many standard errors of the share of seen bins the pictures lie apart."""

LEAST_SHAPE, MOST_SHAPE = 1e-3, 1e4
"""The range of the gamma distribution's shape: from one bin in thousands filled to all equal."""


class Texture(Enum):
    """How the mass of a piece may lie inside it."""

    EVEN = "even"  # as equally as the probe allows
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

    Least squares in units of the noise's variance with a price of 1 + ln d for each piece; the best
    dyadic partition is found from single bins up in O(d).
    """
    decay = exp(-noise_rate)
    mean_noise = decay / -expm1(-noise_rate)
    # Integers cannot be told apart more finely than by one, whatever the noise.
    variance = max(decay / expm1(-noise_rate) ** 2, 0.25)
    values = probe.astype(np.float64)
    of_bin = _dyadic_pieces(values, variance, 1 + log(probe.size))
    sizes = np.bincount(of_bin)
    means = np.maximum(np.bincount(of_bin, weights=values) / sizes + mean_noise, 0)
    seen = np.bincount(of_bin, weights=probe > 0) / sizes
    return Pieces(of_bin, sizes, means, seen, noise_rate)


def picture(found: Pieces, total: float, texture: Texture, rng: Randomness) -> Picture:
    """One stand-in with about `total` units, sensitive ones lying like the others.

    `rng` is a seeded one made for this; the draws are in floating point.
    """
    generator = rng.generator()
    share = min(max(float(found.means @ found.sizes), 1.0) / max(total, 1.0), 1.0)
    shape = _gamma_shapes(found, SLACK if texture is Texture.EVEN else -SLACK)[found.of_bin]
    levels = generator.gamma(shape) / shape
    if texture is Texture.SORTED:
        levels = levels[np.lexsort((-levels, found.of_bin))]
    single = found.sizes[found.of_bin] == 1
    expected = np.where(single, 1.0, levels) * found.means[found.of_bin] / share
    expected *= total / max(float(expected.sum()), 1.0)
    everyone = np.where(single, np.rint(expected), generator.poisson(expected)).astype(np.int64)
    return Picture(everyone, generator.binomial(everyone, share))


def _gamma_shapes(found: Pieces, slack: float) -> Floats:
    """How equal the bins of each piece are: counts of mean μ are gamma distributed of shape s.

    A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so the share seen is
    f = 1 − (1 + r·μ/s)^(−s), which grows with s. In a piece of w bins f is known to within a
    standard error of at most 1/(2√w); it is moved by `slack` of them.
    """
    target = found.seen + slack / (2 * np.sqrt(found.sizes))
    low = np.full(found.sizes.size, np.log(LEAST_SHAPE))
    high = np.full(found.sizes.size, np.log(MOST_SHAPE))
    for _ in range(30):
        middle = (low + high) / 2
        shape = np.exp(middle)
        enough = -np.expm1(-shape * np.log1p(found.noise_rate * found.means / shape)) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.exp(high)


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
