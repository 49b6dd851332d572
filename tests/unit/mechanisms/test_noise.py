"""Quantiles and sizes of geometric noise."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.noise import (
    geometric_mean,
    geometric_quantile,
    two_sided_mean_size,
    unbiased,
)

rates = st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6)
tails = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(9, 10), max_denominator=1000)


@given(rates, tails)
def test_the_quantile_is_the_least_that_leaves_so_little(rate: Fraction, tail: Fraction) -> None:
    quantile = geometric_quantile(rate, tail)
    assert exp(-float(rate) * (quantile + 1)) <= float(tail) * (1 + 1e-9)
    if quantile:
        assert exp(-float(rate) * quantile) >= float(tail) * (1 - 1e-9)


@pytest.mark.parametrize("rate", ["1/1000000000", "1/100", "1/3", "1", "1000"])
def test_the_median_is_that_of_the_specification(rate: str) -> None:
    exact = Fraction(rate)
    assert geometric_quantile(exact, Fraction(1, 2)) == ceil(log(2) / float(exact)) - 1


@pytest.mark.parametrize("rate", [0.01, 0.5, 3.0])
def test_expected_sizes_are_the_sums_that_they_abbreviate(rate: float) -> None:
    exact, steps = Fraction(rate), range(6000)
    one_sided = sum(g * (1 - exp(-rate)) * exp(-rate * g) for g in steps)
    both = sum(2 * z * exp(-rate * z) for z in steps) * (1 - exp(-rate)) / (1 + exp(-rate))
    assert geometric_mean(exact) == pytest.approx(one_sided)
    assert two_sided_mean_size(exact) == pytest.approx(both)


@pytest.mark.parametrize("rate", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("count", [0, 1, 7, 400])
def test_estimates_are_right_on_average_and_noisy_only_where_something_was_seen(
    rate: float, count: int
) -> None:
    noise = np.arange(6000)
    chances = (1 - exp(-rate)) * np.exp(-rate * noise)
    found = unbiased(count - noise, rate)
    assert chances @ found == pytest.approx(count, abs=1e-9)
    plain = count - noise + geometric_mean(Fraction(rate))
    seen = 1 - exp(-rate * count)
    assert chances @ (found - count) ** 2 <= (seen + 1e-9) * (chances @ (plain - count) ** 2)
