"""`hybrid`: two-sided noise where the policy allows sensitive units alone, one-sided elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss, rational
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.noise import (
    CONFIDENCE,
    geometric_mean,
    geometric_quantile,
    two_sided_mean_size,
    two_sided_quantile,
)
from onesided.mechanisms.one_sided import add_median, subtract_noise
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Hybrid(Mechanism):
    """x + Z at a on the bins that can hold sensitive units only, x_ns − G at b on the others.

    Which bins those are is a function of bin and policy (`Histogram.only_sensitive`), never of the
    data. The one-sided part is clipped at 0 and corrected by its median.

    - `sensitive_share`: a/ε, above 0 and at most 1/2; b = ε − a.
    """

    name: ClassVar[str] = "hybrid"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = (
        "two-sided noise on bins the policy makes sensitive, one-sided elsewhere"
    )
    reads_policy: ClassVar[bool] = True
    bin_by_bin: ClassVar[bool] = True

    sensitive_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        share = rational(self.sensitive_share, "sensitive_share")
        if not 0 < share <= Fraction(1, 2):
            raise InputError("sensitive_share must be above 0 and at most 1/2.")
        object.__setattr__(self, "sensitive_share", share)

    def rates(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """(a, b), with a + max(a, b) = ε."""
        sensitive = self.sensitive_share * epsilon
        return sensitive, epsilon - sensitive

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(a, b): (a, 0) for the bins of sensitive units, (0, b) for the others."""
        return Loss(*self.rates(epsilon))

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The larger of both noises, where the other bins hold no sensitive unit."""
        sensitive, others = self.rates(epsilon)
        return max(two_sided_mean_size(sensitive / public.k), geometric_mean(others / public.k))

    def check(self, public: PublicShape) -> None:
        super().check(public)
        if not public.by_policy:
            raise MechanismRefused(
                f"{self.name} needs a policy that decides by the group keys alone; use residual "
                "or auto."
            )

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        sensitive, others = (rate / public.k for rate in self.rates(epsilon))
        return MeasurementTerms(
            loss=self.loss(epsilon),
            noise=f"two-sided geometric of rate {sensitive} on bins of sensitive units only, "
            f"one-sided of rate {others} on each other non-sensitive count",
            whole=True,
            covers=(
                Covers(Measured.ALL, upper=False, confidence=float(CONFIDENCE)),
                Covers(Measured.NONSENSITIVE, upper=True, confidence=float(CONFIDENCE)),
            ),
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        mask = data.only_sensitive
        assert mask is not None  # `release` has checked it
        sensitive, others = (rate / data.k for rate in self.rates(epsilon))
        noise = rng.two_sided_geometric(sensitive, data.bins).reshape(data.shape)
        two_sided = np.maximum(data.all + noise, 0)
        floor = np.maximum(subtract_noise(data.nonsensitive, others, rng), 0)
        reach = two_sided_quantile(sensitive, 1 - CONFIDENCE)
        beyond = geometric_quantile(others, 1 - CONFIDENCE)
        return Measurement(
            value=np.where(mask, two_sided, add_median(floor, others)),
            intervals=(
                Interval(
                    Measured.ALL,
                    np.where(mask, np.maximum(two_sided - reach, 0), floor),
                    None,
                    float(CONFIDENCE),
                ),
                Interval(
                    Measured.NONSENSITIVE,
                    np.where(mask, 0, floor),
                    np.where(mask, 0, floor + beyond),
                    float(CONFIDENCE),
                ),
            ),
        )
