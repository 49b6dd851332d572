"""The buckets of `dawa`, which are not taken at their word.

Bins of a bucket get the less of its total the more unequal they are, and a total that may be noise
counts as 0: where data are not what buckets suppose, no bin is given what another one has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data.histogram import Counts
from onesided.mechanisms.auto.credibility import DOUBT, pools, shares_of_means
from onesided.mechanisms.auto.merging import Segments
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.deviation import bucket_deviations
from onesided.mechanisms.buckets.totals import bucket_totals
from onesided.mechanisms.dawa import Dawa
from onesided.randomness import Randomness

SHARES = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of a budget that deviations may cost; few, as samplers are made for each of them."""

POOLED_SCALES = 16.0
"""Buckets share one deviation until their totals come to so many scales of its noise: twice the
doubt in it is an eighth of them then."""


@dataclass(frozen=True, kw_only=True)
class GuardedDawa(BucketAlgorithm):
    """`inner`, and at `deviation_share` of the budget how unequal the bins of its buckets are.

    At add/remove budget a, `inner` runs at what deviations leave, and its noisy totals tell which
    neighbouring buckets are one segment (merging.py). Then, over each pool of segments (`pools`),
    Σ dev(b) is measured with two-sided geometric noise of rate (a·`deviation_share`)/k, where
    dev(b) = min_c Σ_{i∈b} |xᵢ − c|. One unit moves a bin's count, and with it the sum of its pool,
    by 1, and is in at most k bins. So both steps cost a together.
    """

    name: ClassVar[str] = "guarded-dawa"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets whose bins get the less the more unequal they are"

    inner: Dawa = field(default_factory=Dawa)
    deviation_share: Fraction = SHARES[0]

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        return self.inner.rough_error(public, budget * (1 - self.deviation_share))

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        return (
            f"{self.inner.noise(shape, k, budget * (1 - self.deviation_share))}; two-sided of rate "
            f"{budget * self.deviation_share / k} on the deviations of buckets"
        )

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        rate = budget * self.deviation_share / k
        result = self.inner.run(counts, k, budget - rate * k, rng)
        totals_rate = (budget - rate * k) * (1 - self.inner.partition_share) / k
        buckets, totals = result.buckets.reshape(-1), result.parts["bucket_totals"]
        found = Segments.along(totals, np.bincount(buckets), 1 / float(totals_rate))
        segment = found.of[buckets]
        several = np.flatnonzero(found.sizes > 1)
        pool = pools(found.totals[several], found.sizes[several], POOLED_SCALES / float(rate))
        exact = bucket_deviations(counts.reshape(-1), segment)[several]
        summed = bucket_totals(exact, pool) if several.size else exact
        noisy = summed + rng.two_sided_geometric(rate, summed.size)

        shares = found.credible.astype(np.float64)
        together = np.bincount(pool, weights=found.totals[several])
        scales = np.sqrt(np.bincount(pool, weights=found.scales[several] ** 2))
        least = together - DOUBT * scales
        ratios = (noisy + DOUBT / float(rate)) / np.maximum(least, 1.0)
        shares[several] *= shares_of_means(np.where(least > 0, ratios, 1.0))[pool]
        levels = np.maximum(found.totals, 0) / found.sizes
        # Units are whole: the value of least relative error below 1 is 0.
        shares[levels * shares < 1] = 0
        value = (levels * shares)[segment].reshape(counts.shape)
        parts = {**result.parts, "segments": segment, "pool_deviations": noisy}
        return replace(result, value=value, parts=parts)


def share_for(units: float, rate: Fraction) -> Fraction:
    """The part of a budget over k = `rate` at which deviations are well measured.

    That is, all `units` come to `POOLED_SCALES` scales of their noise: the smallest of `SHARES`
    that is enough, or the largest.
    """
    wanted = POOLED_SCALES / (max(units, 1.0) * float(rate))
    return next((each for each in SHARES if each >= wanted), SHARES[-1])
