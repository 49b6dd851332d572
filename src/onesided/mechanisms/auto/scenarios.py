"""Made-up data that agree with the probe: what the candidates are tried on.

A scenario is a smooth level λ, read from the probe, times a texture that the probe cannot tell:
each bin is drawn so that what the probe has seen there is as likely as it should be. Nothing here
reads data, so floating point does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.histogram import LARGEST_COUNT, Counts, Floats
from onesided.mechanisms.auto.credibility import DOUBT
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.noise import geometric_mean

BLOCK = 16
"""Levels are told for blocks of a sixteenth of the bins, and for blocks of 16: noise on the mean of
16 bins is a quarter of that on one, and a block's neighbours are as many again."""

MOST_BINS = 1024
"""Beyond so many bins a scenario holds stretches of them alone, so that time stays the same; a mean
of 1,024 errors is known to a few percent of their spread."""

STRETCHES = 4
"""Stretches are taken from so many places: quarters of the bins may differ."""

DRAWS = 2
"""How often each texture is drawn: of two errors one is not by chance alone."""

PROPOSALS = 3
"""Counts that are drawn for a bin, of which one is taken by the law of what was seen: enough to
turn to what fits, too few to undo the texture."""


@dataclass(frozen=True)
class Texture:
    """How bins differ from their level: factors log-normal of spread σ, and a share of empty bins.

    Where some bins are `empty`, so are all those that may be. Their sensitive units differ by
    log-normal factors of spread `shares` too: from what the others would let expect, or `apart`
    from these. `weight` is what a scenario counts.
    """

    spread: float
    empty: float
    shares: float
    weight: float
    apart: bool = False

    def expected(self, found: Levels, dice: np.random.Generator) -> Floats:
        """What bins of such levels expect; those that stand out keep theirs."""
        bins = found.level.size
        full = spreads(self.spread, bins, dice)
        factors = full * (dice.random(bins) >= self.empty) / (1 - self.empty)
        if self.empty:
            factors *= ~found.may_be_empty
        return np.asarray(found.level * np.where(found.stands_out, 1.0, factors))


def spreads(spread: float, size: int, dice: np.random.Generator) -> Floats:
    """Log-normal factors of mean 1."""
    return np.asarray(np.exp(spread * dice.standard_normal(size) - spread**2 / 2), dtype=np.float64)


TEXTURES = (
    Texture(0.0, 0.0, 0.0, 1 / 3),
    Texture(0.5, 0.0, 0.5, 1.0),
    Texture(0.5, 0.2, 0.5, 1.0),
    Texture(0.5, 0.5, 0.5, 1 / 3),
    Texture(0.5, 0.0, 2.0, 1 / 3, apart=True),
)
"""As even as chance lets bins be; bins that differ by about half; the same with a fifth of them
empty, and with every other one. The extremes are rarer than what lies between: a third each."""


@dataclass(frozen=True)
class Scenario:
    """Made-up `data`, what the probe has seen of them, and how much they count."""

    data: Histogram
    look: Look
    weight: float


@dataclass(frozen=True)
class Levels:
    """What the probe tells of bins along a line.

    - `smooth`: what their blocks hold, evenly;
    - `level`: the same with what was seen in bins that stand out, and that taken from the others;
    - `stands_out`: which bins hold more than their blocks by far;
    - `may_be_empty`: bins in blocks that noise does not tell from empty ones, if not all together.
    """

    smooth: Floats
    level: Floats
    stands_out: NDArray[np.bool_]
    may_be_empty: NDArray[np.bool_]

    def at(self, bins: Counts) -> Levels:
        return Levels(*(getattr(self, each.name)[bins] for each in fields(self)))


def scenarios(look: Look, dice: np.random.Generator) -> Iterator[Scenario]:
    """Each texture, drawn a few times."""
    line = look.counts.reshape(-1)
    if look.plan.public.shape is not None:
        line = line[halving_tree(look.counts.shape).order]
    if not line.size:
        return
    rate = float(look.plan.counts_rate)
    here = stretches(line.size)
    whole = levels(line, rate, look.nonsensitive_units, look.nonsensitive_variance)
    found = whole.at(here)
    # Sensitive units lie like the others, wherever these may be.
    ratio = look.sensitive_units / max(float(whole.level.sum()), 1.0)
    for texture in TEXTURES * DRAWS:
        yield drawn(look, line[here], found, texture, ratio, dice)


def levels(seen: Counts, rate: float, units: float, variance: float) -> Levels:
    """The level of each bin, for about `units` in all, which are known with such a `variance`.

    y + E[G] is taken together in blocks, without the largest value of each; their means are drawn
    to those of the larger blocks around them. Bins that stand out are left as they were seen, and
    what they hold is taken from the others.
    """
    mean = geometric_mean(rate)
    counts = np.asarray(seen + mean, dtype=np.float64)
    noise = mean * (mean + 1)
    smooth: Floats = np.full(seen.size, units / seen.size, dtype=np.float64)
    for size in sorted({seen.size // BLOCK, BLOCK}, reverse=True):
        if size in range(2, seen.size):
            smooth = _drawn_to_parents(counts, smooth, size, noise)
    # Noise only takes away, so what lies far above has units of its own.
    stands_out = seen > DOUBT * smooth + 2 * DOUBT / rate
    left = _positive(units - float(counts[stands_out].sum()), variance)
    others = max(float(smooth[~stands_out].sum()), 1.0)
    level = np.where(stands_out, counts, smooth * left / others)
    number = np.bincount(np.arange(seen.size) // BLOCK)
    drowned = np.repeat(smooth[::BLOCK] < DOUBT * np.sqrt(noise / number), number) & ~stands_out
    together = float(counts[drowned].sum())
    if together > DOUBT * np.sqrt(noise * np.count_nonzero(drowned)):
        drowned = np.zeros_like(drowned)
    level = np.minimum(level, LARGEST_COUNT / 4)
    smooth = smooth * float(level.sum()) / max(float(smooth.sum()), 1.0)
    return Levels(smooth, level, stands_out, drowned)


def _positive(estimate: float, variance: float) -> float:
    """The mean of a number ≥ 0, given an `estimate` with normal noise of such a `variance`."""
    if not variance:
        return max(estimate, 0.0)
    spread, normal = sqrt(variance), NormalDist()
    place = max(estimate / spread, -8.0)  # beyond it densities are too small
    return float(spread * (place + normal.pdf(place) / normal.cdf(place)))


def _drawn_to_parents(counts: Floats, parents: Floats, size: int, variance: float) -> Floats:
    """The means of blocks of so many bins, drawn to those of their `parents` by Stein's rule.

    The largest value of a block is left out, since it may stand alone; so the variance of the noise
    counts twice.
    """
    starts = np.arange(0, counts.size, size)
    number = np.diff(starts, append=counts.size)
    largest = np.maximum.reduceat(counts, starts) * (number > 1)
    others = np.maximum(number - 1, 1)
    means = (np.add.reduceat(counts, starts) - largest) / others
    around = parents[starts]
    noise = 2 * variance / others
    excess = max(float(np.sum((means - around) ** 2 - noise)), 0.0)
    trust = excess / (excess + float(np.sum(noise))) if excess else 0.0
    drawn = np.maximum(around + (means - around) * trust, 0.0)
    return np.asarray(np.repeat(drawn, number), dtype=np.float64)


def stretches(bins: int) -> Counts:
    """All bins, or the bins of a few stretches, evenly placed."""
    if bins <= MOST_BINS:
        return np.arange(bins)
    length = MOST_BINS // STRETCHES
    begins = np.linspace(0, bins - length, STRETCHES).astype(np.int64)
    return (begins[:, None] + np.arange(length)).reshape(-1)


def drawn(
    look: Look,
    seen: Counts,
    found: Levels,
    texture: Texture,
    ratio: float,
    dice: np.random.Generator,
) -> Scenario:
    """Units of a texture, with so many sensitive ones for each other; no bin has fewer than `seen`.

    Of a few proposals one is taken with probability Pr[y | x] ∝ e^(−rate·(x − y)) for x ≥ y. Where
    none fits, or the bin stands out, it is y + G.
    """
    rate = float(look.plan.counts_rate)
    expected = np.stack([texture.expected(found, dice) for _ in range(PROPOSALS)])
    proposals = dice.poisson(expected)
    # What lies far below its level is as much its own as what stands out.
    floor = np.maximum(seen, 0)
    fits = (proposals >= seen) & (proposals <= floor + 2 * DOUBT / rate) & ~found.stands_out
    # Gumbel's trick: the largest of log-weights with such noise is one by its weight.
    chances = np.where(fits, -rate * proposals, -np.inf) + dice.gumbel(size=fits.shape)
    chosen = np.argmax(chances, axis=0), np.arange(seen.size)
    again = floor + dice.geometric(-np.expm1(-rate), seen.size) - 1
    some = fits.any(axis=0)
    others = np.minimum(np.where(some, proposals[chosen], again), LARGEST_COUNT // 2)
    alike = np.where(some, expected[chosen], others)
    lambdas = ratio * (found.smooth * (others > 0) if texture.apart else alike)
    lambdas = lambdas * spreads(texture.shares, seen.size, dice)
    sensitive = dice.poisson(np.minimum(lambdas, LARGEST_COUNT / 4))
    public = look.plan.public
    data = Histogram(others + sensitive, others, k=public.k, total_public=public.total_public)
    told = replace(look, counts=seen, sensitive=int(sensitive.sum()), total=data.n)
    return Scenario(data, told, texture.weight)
