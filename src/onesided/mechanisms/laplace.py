"""`laplace`: ordinary differential privacy by integer noise on every count; the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.noise import (
    CONFIDENCE,
    two_sided_mean_size,
    two_sided_quantile,
    two_sided_variance,
)
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """y = x + Z with Z two-sided geometric of rate ε/(2k): the discrete Laplace of scale 2k/ε.

    - `clip`: raise negative counts to 0, which is free and halves the error of empty bins.
    """

    name: ClassVar[str] = "laplace"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "ordinary differential privacy: two-sided geometric noise on all units"
    bin_by_bin: ClassVar[bool] = True

    clip: bool = False

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(ε/2, ε/2): adding or removing any unit moves at most k counts by 1, ε/(2k) each."""
        return Loss.differential_privacy(epsilon / 2)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """E|Z|, for any data."""
        return two_sided_mean_size(epsilon / (2 * public.k))

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        rate = epsilon / (2 * public.k)
        return MeasurementTerms(
            loss=self.loss(epsilon),
            noise=f"two-sided geometric of rate {rate} on each count of all units",
            whole=True,
            covers=(Covers(Measured.ALL, upper=True, confidence=float(CONFIDENCE)),),
            variance=None if self.clip else two_sided_variance(rate),
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        rate = epsilon / (2 * data.k)
        noise = rng.two_sided_geometric(rate, data.bins).reshape(data.shape)
        counts = data.all + noise
        reach = two_sided_quantile(rate, 1 - CONFIDENCE)
        interval = Interval(
            Measured.ALL,
            np.maximum(counts - reach, 0),
            np.maximum(counts + reach, 0),
            float(CONFIDENCE),
        )
        return Measurement(
            value=np.maximum(counts, 0) if self.clip else counts,
            intervals=(interval,),
        )
