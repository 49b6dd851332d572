"""Distributions of the mechanisms' noise."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from onesided.data import Histogram
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided, subtract_noise
from onesided.mechanisms.registry import mechanism
from onesided.mechanisms.residual import Residual, measure_total
from onesided.mechanisms.sums import GridTotals, release_sum
from onesided.randomness import seeded
from support.statistics import CONTROL_FACTOR, agrees, chi_square_p_value

BINS = 60_000
EPSILON = Fraction(1, 5)
LARGE = 10_000
"""A count that no noise at EPSILON reaches."""

FLAT = Histogram(np.full(BINS, LARGE), np.full(BINS, LARGE))
BY_POLICY = Histogram(
    np.full(BINS, LARGE), np.zeros(BINS), only_sensitive=np.ones(BINS, dtype=bool)
)


def one_sided_noise(epsilon: Fraction) -> NDArray[np.int64]:
    found = OneSided(correct=False).release(FLAT, epsilon=epsilon, rng=seeded(1))
    return np.asarray(LARGE - found.value)


def laplace_noise(epsilon: Fraction) -> NDArray[np.int64]:
    return np.asarray(Laplace().release(FLAT, epsilon=2 * epsilon, rng=seeded(2)).value - LARGE)


def hybrid_noise(epsilon: Fraction) -> NDArray[np.int64]:
    found = Hybrid().release(BY_POLICY, epsilon=2 * epsilon, rng=seeded(3))
    return np.asarray(found.value - LARGE)


def suppressed_noise(epsilon: Fraction) -> NDArray[np.int64]:
    chosen = mechanism("suppress", factor=1)
    return np.asarray(chosen.release(FLAT, epsilon=epsilon, rng=seeded(4)).value - LARGE)


def sum_noise(epsilon: Fraction) -> NDArray[np.int64]:
    totals = GridTotals(np.full(BINS, LARGE), ceiling=7)
    found = release_sum(totals, 7 * epsilon, seeded(5), correct=False)
    return np.asarray(LARGE - found.value, dtype=np.int64)


def topped_up_noise(epsilon: Fraction) -> NDArray[np.int64]:
    """The probe of `auto` at a quarter, and what continues it at the rest."""
    rng = seeded(6)
    first = subtract_noise(FLAT.nonsensitive, epsilon / 4, rng)
    second = subtract_noise(FLAT.nonsensitive, 3 * epsilon / 4, rng)
    return np.asarray(LARGE - np.maximum(first, second))


ONE_SIDED = stats.geom(1 - exp(-float(EPSILON)), loc=-1)
TWO_SIDED = stats.dlaplace(float(EPSILON))
NOISES = {
    "one-sided": (one_sided_noise, ONE_SIDED),
    "laplace": (laplace_noise, TWO_SIDED),
    "hybrid": (hybrid_noise, TWO_SIDED),
    "suppress": (suppressed_noise, TWO_SIDED),
    "sum": (sum_noise, ONE_SIDED),
    "topped up": (topped_up_noise, ONE_SIDED),
}
each_noise = pytest.mark.parametrize(("draw", "law"), NOISES.values(), ids=NOISES)


@each_noise
def test_noise_has_the_stated_law(draw: object, law: object) -> None:
    assert agrees(chi_square_p_value(draw(EPSILON), law))  # type: ignore[operator, arg-type]


@each_noise
def test_a_third_too_little_noise_is_noticed(draw: object, law: object) -> None:
    too_little = draw(EPSILON * CONTROL_FACTOR)  # type: ignore[operator]
    assert not agrees(chi_square_p_value(too_little, law))  # type: ignore[arg-type]


def test_the_total_of_sensitive_units_has_two_sided_noise() -> None:
    data = Histogram([LARGE, 5], [0, 5], k=2)
    rng = seeded(7)
    noise = np.array([measure_total(data, 2 * EPSILON, rng).value - LARGE for _ in range(4000)])
    assert agrees(chi_square_p_value(noise, TWO_SIDED))


def test_residual_measures_sensitive_units_with_the_stated_noise() -> None:
    """Buckets of one bin: what is released beyond ỹ, undone, is a total with two-sided noise."""
    sensitive, rate = 5000, EPSILON / 2
    data = Histogram(np.full(2000, LARGE + sensitive), np.full(2000, LARGE))
    found = Residual(sensitive_share=Fraction(1, 2)).release(data, epsilon=EPSILON, rng=seeded(3))
    beyond = found.value - found.parts["lower"]
    foreseen = (data.all.sum() - found.parts["lower"].sum()) / found.parts["lower"].sum()
    expected, scale = foreseen * found.parts["lower"], 1 / float(rate)
    lowered = beyond * (expected**2 + 2 * scale**2) / expected**2
    shift = np.minimum(scale, 2 * scale**2 / expected)
    noise = np.rint(lowered + shift - sensitive).astype(np.int64)
    assert agrees(chi_square_p_value(noise, stats.dlaplace(float(rate))))
    assert not agrees(chi_square_p_value(noise, stats.dlaplace(float(rate * CONTROL_FACTOR))))
