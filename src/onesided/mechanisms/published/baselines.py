"""Baselines that break the promise: for attacks and experiments, never through a session."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.errors import InputError
from onesided.loss import Loss, rational
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class _Broken(Mechanism):
    """Claims the pair (0, ε) and does not keep it."""

    kind: ClassVar[Kind] = Kind.BROKEN
    bin_by_bin: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε): what is promised, and not kept."""
        return Loss(0, epsilon)


@dataclass(frozen=True, kw_only=True)
class Suppress(_Broken):
    """Drops the sensitive units and adds two-sided noise of rate τ/k: personalized DP.

    Its true pair is (0, τ): what an exclusion attack learns grows with τ and not with ε.

    - `factor`: τ/ε.
    """

    name: ClassVar[str] = "suppress"
    summary: ClassVar[str] = "the personalized-DP baseline: noise of scale 1/τ, by default τ = 10 ε"
    refusal: ClassVar[str] = "it costs (0, τ) with τ far above ε; use one-sided."

    factor: Fraction = Fraction(10)

    def __post_init__(self) -> None:
        factor = rational(self.factor, "factor")
        if factor <= 0:
            raise InputError("factor must be greater than 0.")
        object.__setattr__(self, "factor", factor)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The sensitive units that are left out, and the noise."""
        if public.density is None:
            return None
        left_out = public.density * (1 - public.nonsensitive_share)
        return left_out + two_sided_mean_size(self.factor * epsilon / public.k)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        rate = self.factor * epsilon / public.k
        noise = f"two-sided geometric of rate {rate} on each non-sensitive count"
        return MeasurementTerms(self.loss(epsilon), noise, whole=True)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        rate = self.factor * epsilon / data.k
        noise = rng.two_sided_geometric(rate, data.bins).reshape(data.shape)
        return Measurement(data.nonsensitive + noise)


@dataclass(frozen=True, kw_only=True)
class AllNonsensitive(_Broken):
    """Every non-sensitive unit is counted as it is: exact, and open to exclusion attacks."""

    name: ClassVar[str] = "all-ns"
    summary: ClassVar[str] = "exact counts of the non-sensitive units"
    refusal: ClassVar[str] = "it adds no noise, so who is missing is sensitive; use one-sided."

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return MeasurementTerms(self.loss(epsilon), "none", whole=True)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        return Measurement(data.nonsensitive)


@dataclass(frozen=True, kw_only=True)
class Truman(AllNonsensitive):
    """Truman access control: the query is silently answered on the rows one may see."""

    name: ClassVar[str] = "truman"
    summary: ClassVar[str] = "access control that answers on the non-sensitive units alone"


@dataclass(frozen=True, kw_only=True)
class NonTruman(_Broken):
    """Non-Truman access control: exact answers, refused (NaN) where a sensitive unit is counted."""

    name: ClassVar[str] = "non-truman"
    summary: ClassVar[str] = "access control that refuses bins with a sensitive unit"
    refusal: ClassVar[str] = "its refusals say where sensitive units are; use one-sided."

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return MeasurementTerms(self.loss(epsilon), "none", whole=False)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        return Measurement(np.where(data.sensitive > 0, np.nan, data.all.astype(np.float64)))
