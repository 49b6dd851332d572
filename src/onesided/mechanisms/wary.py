"""Buckets that are not taken at their word, as a part of other mechanisms.

A relative error is at most 1 where a count is released as 0, and without bound where an empty bin
is given someone else's mass. So it is measured how unequal the counts of buckets are: where they
are alike a bin gets its share of the total, and where they are not, less, down to nothing. A total
that may be noise counts as nothing, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Kind, PublicFacts
from onesided.mechanisms.bucket import BucketAlgorithm, Bucketed
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.deviation import bucket_deviations
from onesided.mechanisms.totals import bucket_totals
from onesided.randomness import Randomness

Floats = NDArray[np.float64]

DEVIATION_SHARE = Fraction(1, 4)
"""The part of the budget that the deviations cost."""

POOLED = 8.0
"""Buckets share one deviation until their totals come to so many scales of its noise."""

DOUBT = 2.0
"""By how many scales of their noise deviations are taken to be larger than they were measured, and
totals smaller."""

FALSE_ALARM = 0.002
"""What noise on empty bins may add to the mean relative error."""

LARGEST_RATIO = 0.9999
"""A total that lies in one bin has deviations as large as itself."""


@dataclass(frozen=True, kw_only=True)
class Wary(BucketAlgorithm):
    """The buckets of `inner`, whose bins get the less of a total the more unequal they are.

    At add/remove budget a, `inner` runs at 3a/4. Then the sum of dev(b) = min_c Σ_{i∈b} |xᵢ − c|
    over each pool of buckets (`pools`) is measured with two-sided geometric noise of rate (a/4)/k:
    one unit moves a bin's count, and with it the deviation of its bucket, by 1, and is in at most k
    bins. So the two steps cost a together.
    """

    name: ClassVar[str] = "wary"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets whose bins get the less the more unequal they are"

    inner: Dawa | AHP

    def rough_error(self, facts: PublicFacts, budget: Fraction) -> float | None:
        return self.inner.rough_error(facts, budget * (1 - DEVIATION_SHARE))

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        asked = budget * DEVIATION_SHARE
        result = self.inner.run(counts, k, budget - asked, rng, n)
        buckets, totals = result.buckets.reshape(-1), result.parts["bucket_totals"]
        sizes = np.bincount(buckets, minlength=totals.size)
        rate = float((budget - asked) * (1 - self.inner.partition_share) / k)
        believed = (totals > alarm_thresholds(totals, sizes, rate)).astype(np.float64)
        noisy = np.zeros(0, dtype=np.int64)
        several = np.flatnonzero(sizes > 1)
        if several.size:
            scale = float(k / asked)
            pool = pools(totals[several], sizes[several], POOLED * scale)
            exact = bucket_totals(bucket_deviations(counts.reshape(-1), buckets)[several], pool)
            noisy = exact + rng.two_sided_geometric(asked / k, exact.size)
            mass, members = np.bincount(pool, weights=totals[several]), np.bincount(pool)
            least = mass - DOUBT * np.sqrt(members) / rate
            believed[several] *= likely_shares(noisy + DOUBT * scale, least)[pool]
        return replace(
            result,
            value=result.value * believed[result.buckets],
            noise=f"{result.noise}; two-sided of rate {asked / k} on the deviations of buckets",
            parts={**result.parts, "pool_deviations": noisy},
        )


def pools(totals: Counts, sizes: Counts, least: float) -> Counts:
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


def likely_shares(deviations: NDArray[Any], totals: NDArray[Any]) -> Floats:
    """Which part of the mean to give to bins with such `deviations` from the median in all.

    Log-normal counts of spread σ deviate by 2Φ(σ) − 1 of their `totals`; the value with the least
    expected relative error, their median under weights 1/x, lies e^(−3σ²/2) below their mean.
    """
    ratios = np.where(totals > 0, deviations / np.maximum(totals, 1), 1.0)
    normal = NormalDist()
    spreads = [normal.inv_cdf((1 + each) / 2) for each in np.clip(ratios, 0, LARGEST_RATIO)]
    return np.exp(-1.5 * np.square(spreads))


def alarm_thresholds(totals: Counts, sizes: Counts, rate: float) -> Floats:
    """What the total of a bucket must exceed: T ≥ 0 with E[Z·1{Z > T}] ≈ e^(−rT)·(T + 1/r)/2 = A.

    Z is the noise of rate r = `rate` on the total of an empty bucket; spread over its bins, Z makes
    relative errors that sum to Z. With w of d bins in the bucket and e in all empty ones,
    A = d·`FALSE_ALARM`·w/e keeps what noise adds to the mean error below `FALSE_ALARM`. The noise
    is negative for half of the empty buckets, which tells e, and the bucket may be one itself.
    """
    empty = np.minimum(2 * sizes[totals < 0].sum() + sizes, sizes.sum())
    allowed = 2 * FALSE_ALARM * sizes.sum() * sizes / empty
    threshold = np.zeros(sizes.size)
    for _ in range(50):
        threshold = np.maximum(0.0, np.log((threshold + 1 / rate) / allowed) / rate)
    return threshold
