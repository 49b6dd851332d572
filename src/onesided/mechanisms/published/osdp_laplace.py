"""`osdp-laplace`, `osdp-laplace-l1`: the paper's continuous mechanisms, for reproduction."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Floats
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.one_sided import OneSided
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class OsdpLaplace(Mechanism):
    """y = x_ns − E with E exponential of mean k/ε: one-sided Laplace noise, in floating point."""

    name: ClassVar[str] = "osdp-laplace"
    kind: ClassVar[Kind] = Kind.IDEALISED
    summary: ClassVar[str] = "continuous one-sided noise on the non-sensitive units (OsdpLaplace)"
    bin_by_bin: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε), on real numbers: as for one-sided geometric noise."""
        return Loss(0, epsilon)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The sensitive units that are left out, and the mean k/ε of the noise."""
        if public.density is None:
            return None
        left_out = public.density * (1 - public.nonsensitive_share)
        return left_out + float(public.k / epsilon)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        scale = float(public.k / epsilon)
        return MeasurementTerms(
            loss=self.loss(epsilon),
            noise=f"exponential of mean {scale:g} taken from each non-sensitive count",
            whole=False,
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        scale = float(data.k / epsilon)
        noisy = data.nonsensitive - rng.generator().exponential(scale, size=data.shape)
        return Measurement(value=self._corrected(noisy, scale))

    def _corrected(self, noisy: Floats, scale: float) -> Floats:
        return noisy


@dataclass(frozen=True, kw_only=True)
class OsdpLaplaceL1(OsdpLaplace):
    """The same, clipped at 0, with the median k·ln 2/ε of the noise added to positive counts."""

    name: ClassVar[str] = "osdp-laplace-l1"
    summary: ClassVar[str] = "osdp-laplace, clipped and corrected by the median (OsdpLaplaceL1)"

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """As for `one-sided`, its integer form."""
        return OneSided().expected_error(public, epsilon)

    def _corrected(self, noisy: Floats, scale: float) -> Floats:
        return np.where(noisy > 0, noisy + scale * log(2), 0.0)
