"""Buckets that are not taken at their word, as a part of other mechanisms.

A relative error is at most 1 where a count is released as 0, and without bound where an empty bin
is given someone else's mass. So it is measured how unequal the counts of buckets are, and what is
made of that (believed.py) gives bins the less of a total the more unequal they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data.histogram import Counts
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.believed import (
    Pooled,
    half_means,
    likely_shares,
    pools,
    too_even,
    too_many_empty,
)
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.deviation import bucket_deviations
from onesided.mechanisms.buckets.totals import bucket_totals
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.given_buckets import GivenBuckets
from onesided.mechanisms.joining import Runs
from onesided.mechanisms.lifted import may_hold_lifted
from onesided.randomness import Randomness

SHARES = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of a budget that deviations may cost; few, as samplers are made for each of them."""

WELL_MEASURED = 20
"""To how many scales of the noise on deviations all units should come."""

POOLED_SCALES = 8.0
"""Buckets share one deviation until their totals come to so many scales of its noise."""


@dataclass(frozen=True, kw_only=True)
class Wary(BucketAlgorithm):
    """The buckets of `inner`, whose bins get the less of a total the more unequal they are.

    At add/remove budget a, `inner` runs at what the others leave, and its noisy totals tell which
    neighbours are joined (joining.py). Then, with two-sided geometric noise, over each pool of
    buckets (`pools`) two sums are measured:

    - Σ dev(b), dev(b) = min_c Σ_{i∈b} |xᵢ − c|, at rate (a·`deviation_share`)/k;
    - Σ (Tᵢ − xᵢ)₊, T half of what the bucket's noisy total gives a bin, at rate
      (a·`shortfall_share`)/k, unless that is 0: what bins lack that are empty among full ones.

    One unit moves a bin's count, and with it each sum of its pool, by 1, and is in at most k bins.
    So the three steps cost a together. The noisy counts that `ahp` makes clusters of, which tell
    how likely a cluster holds bins that noise has lifted into it (lifted.py), are part of what its
    run pays for.
    """

    name: ClassVar[str] = "wary"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "buckets whose bins get the less the more unequal they are"
    reads_n: ClassVar[bool] = True

    inner: Dawa | AHP | GivenBuckets
    deviation_share: Fraction = SHARES[0]
    shortfall_share: Fraction = Fraction(0)

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        return self.inner.rough_error(public, budget * self._inner_share)

    @property
    def _inner_share(self) -> Fraction:
        return 1 - self.deviation_share - self.shortfall_share

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        result = self.inner.run(counts, k, budget * self._inner_share, rng, n)
        runs = self._runs(result, k, budget)
        buckets, sizes, totals = runs.run[result.buckets.reshape(-1)], runs.sizes, runs.totals
        shares = runs.believed.astype(np.float64)
        noisy = shortfalls = np.zeros(0, dtype=np.int64)
        several = np.flatnonzero(sizes > 1)
        if several.size:
            rate = budget * self.deviation_share / k
            pool = pools(totals[several], sizes[several], POOLED_SCALES / float(rate))
            deviations = bucket_deviations(counts.reshape(-1), buckets)[several]
            noisy = _measured(deviations, pool, rate, rng)
            pooled = Pooled.of(totals[several], sizes[several], pool, runs.scales[several])
            likely = likely_shares(pooled, noisy, 1 / float(rate))
            likely[too_even(pooled, noisy, 1 / float(rate))] = 0
            shares[several] *= likely[pool]
            if self.shortfall_share:
                rate = budget * self.shortfall_share / k
                lacking = np.maximum(half_means(totals, sizes)[buckets] - counts.reshape(-1), 0)
                shortfalls = _measured(bucket_totals(lacking, buckets)[several], pool, rate, rng)
                empty = too_many_empty(pooled, shortfalls, 1 / float(rate), shares[several])
                shares[several] *= ~empty[pool]
        levels = np.maximum(totals, 0) / sizes
        if isinstance(self.inner, AHP) and result.edges is not None:
            rate = self.inner.rates(k, budget * self._inner_share)[0]
            lifted = may_hold_lifted(levels * shares, sizes, result.edges, 1 / float(rate))
            shares[lifted] = 0
        # Units are whole: the value of least relative error below 1 is 0.
        shares[levels * shares < 1] = 0
        return replace(
            result,
            value=(levels * shares)[buckets].reshape(counts.shape),
            parts={
                **result.parts,
                "runs": runs.run,
                "run_shares": shares,
                "pool_deviations": noisy,
                "pool_shortfalls": shortfalls,
            },
        )

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        notes = [
            self.inner.noise(shape, k, budget * self._inner_share),
            f"two-sided of rate {budget * self.deviation_share / k} on the deviations of buckets",
        ]
        if self.shortfall_share:
            rate = budget * self.shortfall_share / k
            notes.append(f"two-sided of rate {rate} on what bins lack of half their share")
        return "; ".join(notes)

    def _runs(self, result: Bucketed, k: int, budget: Fraction) -> Runs:
        """The buckets of `inner`; those of `dawa` lie along a line, and are joined where alike."""
        totals = result.parts["bucket_totals"]
        sizes = np.bincount(result.buckets.reshape(-1), minlength=totals.size)
        rate = float(budget * self._inner_share * (1 - self.inner.partition_share) / k)
        found = Runs.along if isinstance(self.inner, Dawa) else Runs.alone
        return found(totals, sizes, 1 / rate if rate else 0.0)


def _measured(of_buckets: Counts, pool: Counts, rate: Fraction, rng: Randomness) -> Counts:
    """The sum over each pool, with two-sided geometric noise."""
    exact = bucket_totals(of_buckets, pool)
    return exact + rng.two_sided_geometric(rate, exact.size)


def share_for(
    units: float, rate: Fraction, least: Fraction = SHARES[0], most: Fraction = SHARES[-1]
) -> Fraction:
    """The part of a budget over k = `rate` at which deviations are well measured.

    That is, `units` come to `WELL_MEASURED` scales of their noise: the smallest of `SHARES` that is
    enough, from `least`, or `most`.
    """
    wanted = WELL_MEASURED / (max(int(units), 1) * rate)
    return next((each for each in SHARES if each >= max(wanted, least)), most)
