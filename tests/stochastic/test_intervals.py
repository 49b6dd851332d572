"""Released intervals cover what they speak about as often as they say, and shorter ones do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from onesided.data import Histogram, Interval, Measured
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.registry import mechanism
from onesided.randomness import seeded
from support.statistics import CONTROL_FACTOR, agrees, too_few_p_value

BINS = 6_000
EPSILON = Fraction(1, 3)
MASK = np.arange(BINS) % 3 == 0


def data(*, k: int = 1, total_public: bool = True, largest: int = 900) -> Histogram:
    """Counts of all sizes, about half of the units sensitive; every third bin is sensitive only."""
    dice = seeded(31).generator()
    everyone = dice.integers(largest // 2, largest, BINS)
    others = np.where(MASK, 0, dice.binomial(everyone, 0.5))
    return Histogram(everyone, others, k=k, total_public=total_public, only_sensitive=MASK)


def truth(histogram: Histogram, interval: Interval) -> NDArray[np.int64]:
    return histogram.all if interval.of is Measured.ALL else histogram.nonsensitive


def covered(histogram: Histogram, interval: Interval) -> NDArray[np.bool_]:
    true = truth(histogram, interval)
    below = true <= (np.inf if interval.upper is None else interval.upper)
    return np.asarray((interval.lower <= true) & below)


@pytest.mark.parametrize("total_public", [True, False])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("name", ["one-sided", "laplace", "hybrid", "residual", "auto"])
def test_each_entry_is_covered_as_often_as_stated(name: str, k: int, total_public: bool) -> None:
    chosen = mechanism(name)
    histogram = data(k=k, total_public=total_public)
    found = chosen.release(histogram, epsilon=EPSILON, rng=seeded(8))
    spoken = [each for each in found.intervals if each.of is not Measured.BUCKETS]
    assert spoken
    for interval in spoken:
        hits = covered(histogram, interval)
        if interval.confidence == 1:
            assert hits.all()
        else:
            assert agrees(too_few_p_value(hits, interval.confidence))


@pytest.mark.parametrize("k", [1, 4])
def test_one_sided_intervals_are_no_longer_than_they_must_be(k: int) -> None:
    histogram = data(k=k)
    found = OneSided().release(histogram, epsilon=EPSILON, rng=seeded(9))
    interval = found.intervals[0]
    assert interval.of is Measured.NONSENSITIVE
    assert interval.upper is not None
    kept = ~MASK  # bins without a non-sensitive unit are always covered
    distance = (histogram.nonsensitive - interval.lower)[kept]
    reach = (interval.upper - interval.lower)[kept]
    assert not agrees(
        too_few_p_value(distance <= reach / float(CONTROL_FACTOR), interval.confidence)
    )


@pytest.mark.parametrize("k", [1, 4])
def test_two_sided_intervals_are_no_longer_than_they_must_be(k: int) -> None:
    histogram = data(k=k)
    (interval,) = Laplace().release(histogram, epsilon=EPSILON, rng=seeded(9)).intervals
    assert interval.upper is not None
    middle, reach = (interval.upper + interval.lower) / 2, (interval.upper - interval.lower) / 2
    near = np.abs(histogram.all - middle) <= reach / float(CONTROL_FACTOR)
    assert not agrees(too_few_p_value(near, interval.confidence))


def test_sensitive_bins_of_the_hybrid_have_bounds_that_can_fail() -> None:
    histogram = data()
    found = Hybrid().release(histogram, epsilon=EPSILON, rng=seeded(9))
    (bound,) = [each for each in found.intervals if each.of is Measured.ALL]
    missed = np.mean(bound.lower[MASK] > histogram.all[MASK])
    assert 0 < missed < 1 - bound.confidence


def test_one_sided_intervals_do_not_speak_about_all_units() -> None:
    """Read as bounds on x, they would fail wherever sensitive units are."""
    histogram = data()
    interval = OneSided().release(histogram, epsilon=EPSILON, rng=seeded(9)).intervals[0]
    assert interval.upper is not None
    assert not agrees(too_few_p_value(histogram.all <= interval.upper, interval.confidence))
