"""`dawa` without the buckets that could be mistaken, as a part of other mechanisms.

A relative error is at most 1 where a count is released as 0, and without bound where an empty bin
is given someone else's mass. So a bucket's mass is spread over its bins only where it is too large
to be noise, and too large to be a spike in one bin that the partition would not have noticed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.bucket import Bucketed
from onesided.mechanisms.dawa import Dawa
from onesided.randomness import Randomness

FALSE_ALARM = 0.05
"""The relative error that noise alone may put on an empty bin, on average."""


@dataclass(frozen=True, kw_only=True)
class CautiousDawa(Dawa):
    """`dawa`, then buckets whose total may be noise or a hidden spike are released as 0."""

    name: ClassVar[str] = "cautious-dawa"
    summary: ClassVar[str] = "dawa without the buckets whose mass may be noise or in one bin alone"

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        result = super().run(counts, k, budget, rng, n)
        totals = result.parts["bucket_totals"]
        sizes = np.bincount(result.buckets.reshape(-1), minlength=totals.size)
        hidden = self._hidden_spike(sizes, float(budget * self.partition_share / (2 * k)))
        alarm = alarm_thresholds(sizes, float(budget * (1 - self.partition_share) / k))
        trusted = totals > np.maximum(hidden, alarm)
        return replace(result, value=np.where(trusted[result.buckets], result.value, 0.0))

    def _hidden_spike(self, sizes: Counts, partition_rate: float) -> NDArray[np.float64]:
        """The mass that one bin of a box of w = `sizes` bins may hold without being singled out.

        That takes log₂ w cuts, each of which makes a partition less likely by σ·(1−σ), against a
        deviation as large as the mass.
        """
        cut = -log(float(self.stay * (1 - self.stay)))
        return np.log2(np.maximum(sizes, 1)) * cut / partition_rate


def alarm_thresholds(sizes: Counts, rate: float) -> NDArray[np.float64]:
    """The T ≥ 0 at which E[Z·1{Z > T}] ≈ e^(−rT)·(T + 1/r)/2 falls to w·`FALSE_ALARM`, r = `rate`.

    Z is the noise on the total of an empty bucket of w = `sizes` bins; spread over them, a total Z
    makes relative errors that sum to Z.
    """
    threshold = np.zeros(sizes.size)
    allowed = 2 * FALSE_ALARM * np.maximum(sizes, 1)
    for _ in range(50):
        threshold = np.maximum(0.0, np.log((threshold + 1 / rate) / allowed) / rate)
    return threshold
