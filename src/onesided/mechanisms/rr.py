"""`rr`: what a sample of true units, each kept by a coin, says about counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt
from typing import ClassVar

import numpy as np

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts, Floats
from onesided.errors import MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.randomness import Randomness

_CERTAIN = Covers(Measured.ALL, upper=False, confidence=1.0)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Mechanism):
    """Keeps each non-sensitive unit with probability 1 − e^(−ε) and counts those kept.

    On a bare histogram units are thinned inside their bins, with floating-point binomial draws: the
    paper's OsdpRR for experiments. A session counts a sample that it has really drawn instead, and
    reads it with `sample_estimate`.

    - `scale`: divide the counts by 1 − e^(−ε); the paper leaves them as they are.
    """

    name: ClassVar[str] = "rr"
    kind: ClassVar[Kind] = Kind.IDEALISED
    summary: ClassVar[str] = "counts of a sample of true non-sensitive units (OsdpRR)"
    needs_domain: ClassVar[bool] = False
    bin_by_bin: ClassVar[bool] = True

    scale: bool = False

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε): sensitive units never leave, and a unit stays out with probability e^(−ε)."""
        return Loss(0, epsilon)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The sensitive units that are left out, and what is not known about the m others of a bin.

        With p = 1 − e^(−ε), m·(1−p) of these are missing; scaled, c/p for binomial c has a mean
        deviation of at most its standard deviation √(m·(1−p)/p), and of at most 2m·(1−p).
        """
        if public.density is None:
            return None
        p = keep_probability(epsilon)
        present = public.density * public.nonsensitive_share
        unknown = present * (1 - p)
        if self.scale:
            unknown = min(sqrt(unknown / p), 2 * unknown)
        return public.density - present + unknown

    def check(self, public: PublicShape) -> None:
        super().check(public)
        if public.k > 1:
            raise MechanismRefused(
                "rr thins bins only where a unit touches one of them; draw a sample instead."
            )

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return MeasurementTerms(
            loss=self.loss(epsilon),
            noise=f"each non-sensitive unit kept with probability 1 − e^−{epsilon}",
            whole=not self.scale,
            covers=(_CERTAIN,),
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        kept = rng.generator().binomial(data.nonsensitive, keep_probability(epsilon))
        keys = np.flatnonzero(kept) if data.open_domain else None
        if keys is not None:
            kept = kept[keys]
        return Measurement(
            value=kept / keep_probability(epsilon) if self.scale else kept,
            intervals=(Interval(Measured.ALL, kept, None, 1.0),),
            keys=keys,
            parts={"lower": kept},
        )


@dataclass(frozen=True)
class SampleEstimate:
    """`estimate` of each count of non-sensitive units, and its `standard_error`."""

    estimate: Floats
    standard_error: Floats


def sample_estimate(kept: Counts, epsilon: Fraction) -> SampleEstimate:
    """What the counts c = `kept` of a sample drawn at ε say about the non-sensitive counts.

    c is binomial(x_ns, p) with p = 1 − e^(−ε), so c/p is unbiased with variance x_ns·(1−p)/p, and
    √(c·(1−p))/p estimates its root. Nothing but the released c is used: free post-processing.
    """
    p = keep_probability(epsilon)
    counts = np.asarray(kept, dtype=np.float64)
    return SampleEstimate(counts / p, np.sqrt(counts * exp(-float(epsilon))) / p)


def sample_terms(epsilon: Fraction) -> MeasurementTerms:
    """What can be said of `sample_measurement` before the sample is drawn.

    The pair is (0, ε), shared with everything else that is read from the same sample.
    """
    return MeasurementTerms(
        loss=Loss(0, epsilon),
        noise=f"units kept with probability 1 − e^−{epsilon}; counts divided by it",
        whole=False,
        covers=(_CERTAIN,),
    )


def sample_measurement(data: Histogram, epsilon: Fraction) -> Measurement:
    """The counts of a sample that a session has drawn at ε, as `data`; scaled to estimate x_ns."""
    kept = data.nonsensitive
    keys = np.flatnonzero(kept) if data.open_domain else None
    if keys is not None:
        kept = kept[keys]
    return Measurement(
        value=sample_estimate(kept, epsilon).estimate,
        intervals=(Interval(Measured.ALL, kept, None, 1.0),),
        keys=keys,
        parts={"lower": kept},
    )


def keep_probability(epsilon: Fraction) -> float:
    """1 − e^(−ε), without cancellation for small ε."""
    return -expm1(-float(epsilon))
