"""What to believe of buckets whose totals and deviations are known with noise.

Bins of a bucket get the part of its total that has the least expected relative error. Everything
here is post-processing, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]

DOUBT = 2.0
"""By how many scales of their noise deviations are taken to be larger than they were measured, and
totals smaller."""

NEIGHBOURS = 64
"""How many pools are looked at together: what they have in common has less noise."""

STANDING_OUT = 3.0
"""By how many scales of its noise a deviation must exceed that of its neighbours to be its own."""

BORNE = 0.05
"""By how much bins may be wrong on average because noise is taken for their counts."""

BEYOND_DOUBT = 3.0
"""By how many scales of its noise a shortfall must exceed what can be borne."""

NO_NOISE = 8.0
"""Totals of so many scales of their noise are counts, however even they are."""

LARGEST_RATIO = 0.9999
"""A total that lies in one bin has deviations as large as itself."""


@dataclass(frozen=True)
class Pooled:
    """Pools of buckets: the number of each bucket's pool, its bins, and what is in the pools.

    `totals` are the sums of noisy totals, `least` what they are beyond doubt.
    """

    pool: Counts
    sizes: Counts
    totals: Floats
    least: Floats

    @classmethod
    def of(cls, totals: NDArray[Any], sizes: Counts, pool: Counts, scales: Floats) -> Pooled:
        """Buckets with such noisy `totals`, and the `scales` of their noise."""
        together: Floats = np.bincount(pool, weights=totals).astype(np.float64)
        noise = np.sqrt(np.bincount(pool, weights=scales**2))
        return cls(pool, sizes, together, together - DOUBT * noise)

    @property
    def bins(self) -> Floats:
        return np.bincount(self.pool, weights=self.sizes).astype(np.float64)


def pools(totals: NDArray[Any], sizes: Counts, least: float) -> Counts:
    """The pool of each bucket: those of like means, until their `totals` come to about `least`.

    All buckets are in one pool where there is not even so much altogether.
    """
    order = np.argsort(totals / sizes, kind="stable")
    heaped = np.maximum(np.maximum.accumulate(np.cumsum(totals[order])), 0)
    last = max(int(heaped[-1] // least) - 1, 0)
    pool = np.empty(totals.size, dtype=np.int64)
    pool[order] = np.minimum(heaped // least, last)
    _, numbered = np.unique(pool, return_inverse=True)
    return np.asarray(numbered, dtype=np.int64)


def likely_shares(pooled: Pooled, deviations: Counts, scale: float) -> Floats:
    """Which part of their mean to give to the bins of each pool, given its noisy deviation."""
    likely, doubt = _drawn_to_neighbours(deviations, np.maximum(pooled.totals, 1.0), scale)
    ratios = (likely + doubt) / np.maximum(pooled.least, 1.0)
    return shares_of_means(np.where(pooled.least > 0, ratios, 1.0))


def too_even(pooled: Pooled, deviations: Counts, scale: float) -> NDArray[np.bool_]:
    """Which pools deviate by less than half of what chance alone makes of such means.

    Poisson counts of mean m deviate from their median by about the lesser of m and 4/5·√m. If the
    `deviations`, whose noise has the `scale`, are beyond doubt smaller, bins are emptier than that
    and the total is noise, if it may be.
    """
    means = np.maximum(pooled.totals, 0) / pooled.bins
    by_chance = pooled.bins * np.minimum(means, 0.8 * np.sqrt(means))
    one_noise = (pooled.totals - pooled.least) / DOUBT
    in_doubt = pooled.totals < NO_NOISE * one_noise
    return np.asarray(in_doubt & (deviations + DOUBT * scale < by_chance / 2))


def shares_of_means(ratios: Floats) -> Floats:
    """Which part of their mean to give to bins that deviate by such parts of their total.

    Log-normal counts of spread σ deviate by 2Φ(σ) − 1 of their total from the median; the value
    with the least expected relative error, their median under weights 1/x, lies e^(−3σ²/2) below
    their mean.
    """
    normal = NormalDist()
    spreads = [normal.inv_cdf((1 + each) / 2) for each in np.clip(ratios, 0, LARGEST_RATIO)]
    return np.exp(-1.5 * np.square(spreads))


def _drawn_to_neighbours(deviations: Counts, totals: Floats, scale: float) -> tuple[Floats, Floats]:
    """The likely deviation of each pool, and the doubt in it.

    Pools are in the order of their means. `NEIGHBOURS` have a common ratio R of deviations to
    totals; a deviation is drawn towards R·total by as much as its distance may be noise, whose
    squares add up to 2·scale² each, with a standard deviation of √20·scale². One that stands out
    of its neighbours is left as it is: so does a bucket that mixes full bins with empty ones.
    """
    block = np.arange(totals.size) // NEIGHBOURS
    members = np.bincount(block)[block]
    together = np.bincount(block, weights=totals)[block]
    common = np.bincount(block, weights=deviations)[block] / together * totals
    apart = deviations - common
    noise = 2 * scale**2
    chance = (members - 1) * noise + np.sqrt(20 * members) * scale**2
    excess = np.maximum(np.bincount(block, weights=apart**2)[block] - chance, 0.0)
    variance = excess / np.bincount(block, weights=totals**2)[block] * totals**2
    trust = variance / (variance + noise)
    likely = common + np.where(apart > STANDING_OUT * scale, 1.0, trust) * apart
    of_common = members * (totals / together) ** 2
    return likely, DOUBT * scale * np.sqrt(trust + (1 - trust) * of_common)


def is_more_than_noise(
    totals: NDArray[Any], sizes: NDArray[Any], scale: float, odds: Floats
) -> NDArray[np.bool_]:
    """Whether to believe that buckets with such noisy `totals` are not empty.

    If w bins with the total t are empty after all, each is wrong by t/w; if they are full and
    released as 0, by 1. Noise of `scale` s exceeds t with probability e^(−t/s)/2, and there are o
    empty buckets for each full one, its `odds`. So t is believed if o·t/w·e^(−t/s)/2 ≤ `BORNE`.
    Where t < w most bins are empty in any case, and 0 is the value of least error.
    """
    enough = totals >= sizes
    if not scale:
        return np.asarray(enough)
    t = np.maximum(totals, 0)
    return np.asarray(enough & (odds * t / sizes * np.exp(-t / scale) / 2 <= BORNE))


def odds_of_emptiness(totals: NDArray[Any], sizes: Counts) -> Floats:
    """How many empty buckets there are for each full one, given noisy `totals`.

    As many as the negative totals tell, which half of the empty ones have, among all buckets or
    among those about as wide, whichever are more; but √(w/d) at least for w of d bins, for the
    wider a bucket, the more it is like a gap.
    """
    width = np.frexp(sizes)[1].astype(np.int64)
    odds = np.sqrt(sizes / sizes.sum())
    for kind in (np.zeros_like(width), width):
        odds = np.maximum(odds, empty_to_full(totals, kind))
    return np.asarray(odds, dtype=np.float64)


def empty_to_full(totals: NDArray[Any], kind: Counts) -> Floats:
    """How many empty buckets there are for each full one of its kind, as negative totals tell."""
    number = np.bincount(kind)
    empty = np.minimum(1 + 2 * np.bincount(kind, weights=totals < 0), number)
    return np.asarray((empty / (number + 1 - empty))[kind], dtype=np.float64)


def half_means(totals: NDArray[Any], sizes: Counts) -> Counts:
    """What the bins of buckets would be given, halved; at least 1, so that empty bins lack it."""
    return np.asarray(np.maximum(totals // (2 * sizes), 1), dtype=np.int64)


def too_many_empty(
    pooled: Pooled, shortfalls: Counts, scale: float, shares: Floats
) -> NDArray[np.bool_]:
    """Which pools must not be given their `shares` of means, as too many of their bins are empty.

    A shortfall S below half of a mean m is that of S/(m/2) empty bins, each of which would be wrong
    by its share of m: 2·S times the share in all. Released as 0, the bins are wrong by 1 each.
    Pools of which none is beyond doubt alone can be so together.
    """
    bins = pooled.bins
    given = np.bincount(pooled.pool, weights=pooled.sizes * shares) / bins
    alone: NDArray[np.bool_] = 2 * (shortfalls - BEYOND_DOUBT * scale) * given > bins
    others = ~alone
    doubt = BEYOND_DOUBT * scale * np.sqrt(np.count_nonzero(others))
    together = 2 * (shortfalls[others].sum() - doubt) * given[others].sum()
    if together > np.count_nonzero(others) * bins[others].sum():
        return np.ones(bins.size, dtype=np.bool_)
    return alone
