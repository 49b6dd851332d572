"""Measuring buckets: exact sums, quantiles of the noise, and the mass back on the bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onesided.errors import InputError
from onesided.mechanisms.buckets.totals import (
    bucket_totals,
    checked_share,
    checked_shrink,
    measure_totals,
    shrunk,
    spread_evenly,
)
from onesided.mechanisms.noise import two_sided_quantile
from onesided.randomness import seeded


def test_totals_are_exact_where_floating_point_would_not_be() -> None:
    counts = np.array([[2**53, 1], [1, 5]])
    assert bucket_totals(counts, np.array([[0, 0], [0, 1]])).tolist() == [2**53 + 2, 5]


@given(
    totals=st.lists(st.integers(-100, 100), min_size=3, max_size=3),
    buckets=st.permutations([0, 0, 0, 1, 1, 2]),
)
def test_spreading_keeps_the_mass_of_positive_buckets(
    totals: list[int], buckets: list[int]
) -> None:
    numbers = np.array(buckets)
    value = spread_evenly(np.array(totals), numbers)
    for bucket, total in enumerate(totals):
        assert value[numbers == bucket].sum() == pytest.approx(max(total, 0))


@given(totals=st.lists(st.floats(-1e6, 1e6), min_size=1), threshold=st.floats(0, 1e3))
def test_shrinking_never_turns_or_grows_a_total(totals: list[float], threshold: float) -> None:
    before = np.array(totals)
    after = shrunk(before, threshold)
    assert np.all(after >= 0)
    assert np.all(after <= np.maximum(before, 0))
    assert np.all(after[before <= threshold] == 0)


@pytest.mark.parametrize("rate", ["1e-6", "0.03", "0.5", "2", "40"])
def test_the_two_sided_quantile_is_the_least_one(rate: str) -> None:
    tail = Fraction(5, 100)
    reach = two_sided_quantile(Fraction(rate), tail)
    noise = stats.dlaplace(float(rate))
    assert 2 * noise.cdf(-reach - 1) <= float(tail)
    assert reach == 0 or 2 * noise.cdf(-reach) > float(tail)


def test_an_interval_is_centred_on_the_released_total() -> None:
    measured = measure_totals(np.array([1000, 2000]), Fraction(1, 2), seeded(1))
    reach = two_sided_quantile(Fraction(1, 2), Fraction(5, 100))
    assert measured.interval.lower.tolist() == (measured.values - reach).tolist()
    assert measured.interval.upper is not None
    assert measured.interval.upper.tolist() == (measured.values + reach).tolist()


@pytest.mark.parametrize("share", [0, 1, "1.5", -1])
def test_shares_lie_strictly_within_the_whole(share: int | str) -> None:
    with pytest.raises(InputError, match="strictly between"):
        checked_share(share, "share")


def test_shrink_must_not_be_negative() -> None:
    assert checked_shrink("1/2") == Fraction(1, 2)
    with pytest.raises(InputError, match="negative"):
        checked_shrink(-1)
