"""Totals of buckets that are known before, as a part of other mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers
from onesided.data.histogram import Counts
from onesided.mechanisms.base import Kind
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.totals import bucket_totals, measure_totals, spread_evenly
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class GivenBuckets(BucketAlgorithm):
    """The totals of `buckets` (numbers from 0, in the shape of the counts) that others released.

    They have two-sided geometric noise of rate a/k at add/remove budget a. Where n is public it is
    their sum, and what noise takes from it is given back in equal parts; a single bucket has the
    total n, and costs nothing.
    """

    name: ClassVar[str] = "given-buckets"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "noisy totals of buckets that are known before"
    reads_n: ClassVar[bool] = True
    covers: ClassVar[tuple[Covers, ...]] = ()
    partition_share: ClassVar[Fraction] = Fraction(0)

    buckets: NDArray[np.int64]

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        if n is not None and not self.buckets.any():
            totals = np.array([n], dtype=np.int64)
            return self._bucketed(totals)
        measured = measure_totals(bucket_totals(counts, self.buckets), budget / k, rng)
        totals = measured.values
        if n is not None:
            totals = totals + round((n - int(totals.sum())) / totals.size)
        return self._bucketed(totals)

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        return f"two-sided geometric of rate {budget / k} on the totals of given buckets"

    def _bucketed(self, totals: Counts) -> Bucketed:
        return Bucketed(
            value=spread_evenly(totals, self.buckets),
            buckets=self.buckets,
            parts={"bucket_totals": totals},
        )
