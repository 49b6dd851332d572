"""`one-sided`: noise that only ever subtracts, on the non-sensitive units alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.errors import MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.noise import CONFIDENCE, geometric_mean, geometric_quantile
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class OneSided(Mechanism):
    """y = x_ns − G with G geometric of rate ε/k, clipped at 0 and corrected by the median of G.

    - `clip`: raise negative counts to 0. A bin without non-sensitive units then always comes out 0,
      so that keys need not be declared: exactly those with a clipped count ≥ 1 are listed.
    - `correct`: add the median m = ⌈k·ln 2/ε⌉ − 1 of the noise to every positive count.
    - `use_n`: also bound every count of all units from above by n − Σ_{j≠i} yⱼ, where n is public.
      A release that says this has read n, so it gives up its extended-OSDP ε.
    """

    name: ClassVar[str] = "one-sided"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "one-sided geometric noise on the non-sensitive units; any keys"
    needs_domain: ClassVar[bool] = False
    bin_by_bin: ClassVar[bool] = True

    clip: bool = True
    correct: bool = True
    use_n: bool = False

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε): sensitive units are not looked at, and x_ns − G can only grow with x_ns."""
        return Loss(0, epsilon, fixed_n=fixed_n and self.use_n)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The sensitive units that are left out, and at most the noise, which clipping limits."""
        if public.density is None:
            return None
        present = public.density * public.nonsensitive_share
        return public.density - present + min(geometric_mean(epsilon / public.k), present)

    def check(self, public: PublicShape) -> None:
        super().check(public)
        if public.shape is None and not self.clip:
            raise MechanismRefused(
                "Unclipped one-sided counts need a declared domain; declare the keys, or clip."
            )

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return MeasurementTerms(
            loss=self.loss(epsilon, fixed_n=public.total_public),
            noise=one_sided_noise(epsilon / public.k),
            whole=True,
            covers=(
                Covers(Measured.NONSENSITIVE, upper=True, confidence=float(CONFIDENCE)),
                Covers(Measured.ALL, upper=self.use_n and public.total_public, confidence=1.0),
            ),
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        rate = epsilon / data.k
        counts = subtract_noise(data.nonsensitive, rate, rng)
        floor = np.maximum(counts, 0)
        released = floor if self.clip else counts
        value = add_median(released, rate) if self.correct else released
        keys = np.flatnonzero(floor) if data.open_domain else None
        if keys is not None:
            value, floor = value[keys], floor[keys]
        return Measurement(
            value=value,
            intervals=intervals(floor, rate, data.n if self.use_n else None),
            keys=keys,
            parts={"lower": floor},
        )

    def measure_many(
        self, data: Histogram, epsilon: Fraction, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        """One by one where n bounds a bin by all others: these are of the same run alone."""
        return None if self.use_n else super().measure_many(data, epsilon, runs, rng)


def one_sided_noise(rate: Fraction) -> str:
    """Noise of `rate` that `subtract_noise` takes from counts, in words."""
    return f"one-sided geometric of rate {rate} on each non-sensitive count"


def subtract_noise(counts: Counts, rate: Fraction, rng: Randomness) -> Counts:
    """counts − G, one independent G of rate `rate` for each entry, in the shape of `counts`."""
    return counts - rng.geometric(rate, counts.size).reshape(counts.shape)


def add_median(counts: Counts, rate: Fraction) -> Counts:
    """Positive counts plus the median of the noise that was taken away; others as they are."""
    median = geometric_quantile(rate, Fraction(1, 2))
    return np.where(counts > 0, counts + median, counts)


def intervals(floor: Counts, rate: Fraction, n: int | None) -> tuple[Interval, ...]:
    """What the certain lower bound `floor` = max(x_ns − G, 0) says about x_ns and about x.

    Given the public total `n` of x, xᵢ ≤ n − Σ_{j≠i} yⱼ is certain, as xⱼ ≥ yⱼ in every other bin;
    keys that were not listed hold at least 0.
    """
    reach = geometric_quantile(rate, 1 - CONFIDENCE)
    upper = None if n is None else n - (np.sum(floor, dtype=np.int64) - floor)
    return (
        Interval(Measured.NONSENSITIVE, floor, floor + reach, float(CONFIDENCE)),
        Interval(Measured.ALL, floor, upper, 1.0),
    )
