"""Measuring buckets: exact totals, integer noise on them, and their mass back on the bins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Interval, Measured
from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError
from onesided.loss import Number, rational
from onesided.mechanisms.noise import CONFIDENCE, two_sided_quantile
from onesided.randomness import Randomness

QUANTILES = 4000


@dataclass(frozen=True)
class NoisyTotals:
    """The released total of each bucket, and the interval for the true one."""

    values: Counts
    interval: Interval


def bucket_totals(counts: Counts, buckets: NDArray[np.int64]) -> Counts:
    """The sum of `counts` over each bucket, in integers; buckets are numbered from 0."""
    totals = np.zeros(int(buckets.max()) + 1, dtype=np.int64)
    np.add.at(totals, buckets.reshape(-1), counts.reshape(-1))
    return totals


def measure_totals(totals: Counts, rate: Fraction, rng: Randomness) -> NoisyTotals:
    """`totals` plus two-sided geometric noise of `rate`: budget / k for disjoint buckets.

    A unit in at most k bins moves disjoint totals by k altogether, so that rate costs the budget.
    """
    values = totals + rng.two_sided_geometric(rate, totals.size)
    reach = two_sided_quantile(rate, 1 - CONFIDENCE)
    interval = Interval(
        Measured.BUCKETS,
        np.maximum(values - reach, 0),
        np.maximum(values + reach, 0),
        float(CONFIDENCE),
    )
    return NoisyTotals(values, interval)


def spread_evenly(totals: NDArray[Any], buckets: NDArray[np.int64]) -> Floats:
    """Each bucket's total, raised to 0 where it is negative, in equal parts on its bins."""
    sizes = np.bincount(buckets.reshape(-1), minlength=totals.size)
    means = np.maximum(totals, 0) / np.maximum(sizes, 1)
    return np.asarray(means[buckets], dtype=np.float64)


def shrunk(totals: NDArray[Any], threshold: float) -> Floats:
    """t − τ²/t for totals t above τ = `threshold` ≥ 0, else 0: large totals are hardly touched.

    Most buckets are empty where data are sparse, and this tells noise from counts.
    """
    above = totals > threshold
    safe = np.where(above, totals, 1.0)
    return np.where(above, safe - threshold * (threshold / safe), 0.0)


def expected_shrunk_error(count: float, rate: float, shrink: float) -> float:
    """E|s(m + Z) − m|, where s is `shrunk` at `shrink`/r; Z is Laplace noise of scale 1/r.

    m is `count` and r is `rate`. The mean is taken over quantiles of Z in equal steps.
    """
    steps = (np.arange(QUANTILES) + 0.5) / QUANTILES - 0.5
    noise = -np.sign(steps) * np.log1p(-2 * np.abs(steps)) / rate
    return float(np.abs(shrunk(count + noise, shrink / rate) - count).mean())


def checked_shrink(value: Number) -> Fraction:
    """How many scales of its noise a total must exceed to count: a rational of 0 or more."""
    shrink = rational(value, "shrink")
    if shrink < 0:
        raise InputError("shrink must not be negative.")
    return shrink


def checked_share(value: Number, name: str) -> Fraction:
    """A share of a budget: a rational strictly between 0 and 1."""
    share = rational(value, name)
    if not 0 < share < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1.")
    return share
