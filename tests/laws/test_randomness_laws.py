"""Laws of the certified exponential, the coins and the samplers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.randomness import coin, coin_threshold, exp_bounds, floor_exp, seeded
from onesided.randomness.exponential import (
    Enclosure,
    divide,
    exp_enclosure,
    multiply,
    power_enclosures,
    subtract,
)
from onesided.randomness.geometric import Truncated

positive_rates = st.one_of(
    st.fractions(Fraction(1, 10**12), 1, max_denominator=10**15),
    st.fractions(1, 10**3, max_denominator=10**6),
    st.integers(1, 10**6).map(Fraction),
)
rates = st.one_of(st.just(Fraction(0)), positive_rates)
precisions = st.integers(0, 300)
shares = st.fractions(0, 1, max_denominator=10**9)


def encloses(enclosure: Enclosure, value: Fraction, precision: int) -> bool:
    low, high = enclosure
    return low <= value * (1 << precision) <= high


def enclosure_of(value: Fraction, precision: int, slack: int) -> Enclosure:
    scaled = value * (1 << precision)
    return max(0, int(scaled) - slack), int(scaled) + 1 + slack


@given(rates, precisions, st.integers(0, 200))
def test_fewer_bits_are_a_prefix_of_more(rate: Fraction, bits: int, more: int) -> None:
    assert floor_exp(rate, bits) == floor_exp(rate, bits + more) >> more


@given(rates, positive_rates, precisions)
def test_exponential_falls(rate: Fraction, more: Fraction, bits: int) -> None:
    assert floor_exp(rate + more, bits) <= floor_exp(rate, bits)


@given(rates, rates, precisions)
def test_exponential_of_a_sum_is_the_product(a: Fraction, b: Fraction, bits: int) -> None:
    """Two enclosures of one number meet."""
    low, high = multiply(exp_bounds(a, bits), exp_bounds(b, bits), bits)
    sum_low, sum_high = exp_bounds(a + b, bits)
    assert low <= sum_high
    assert sum_low <= high


@given(st.fractions(0, 40, max_denominator=10**6), st.integers(1, 200))
def test_exponential_lies_between_its_elementary_bounds(rate: Fraction, bits: int) -> None:
    """1 − r ≤ e⁻ʳ ≤ 1 / (1 + r)."""
    low, high = exp_bounds(rate, bits)
    assert high >= (1 - rate) * (1 << bits)
    assert low <= Fraction(1 << bits) / (1 + rate)


@given(rates, precisions)
def test_enclosure_holds_the_floor_and_is_narrow(rate: Fraction, precision: int) -> None:
    low, high = exp_enclosure(rate, precision)
    assert low <= floor_exp(rate, precision) <= high <= low + 2


@given(positive_rates, st.integers(1, 40), st.integers(64, 128))
def test_powers_are_enclosed(rate: Fraction, count: int, precision: int) -> None:
    powers = power_enclosures(rate, count, precision)
    assert len(powers) == count + 1
    for j, (low, high) in enumerate(powers):
        true_low, true_high = exp_bounds(rate * j, precision + 64)
        assert low << 64 <= true_high
        assert true_low <= high << 64
        assert high - low <= 4 * j + 4


@given(shares, shares, st.integers(40, 200), st.integers(0, 10))
def test_interval_arithmetic_encloses(x: Fraction, y: Fraction, precision: int, slack: int) -> None:
    of_x, of_y = enclosure_of(x, precision, slack), enclosure_of(y, precision, slack)
    assert encloses(multiply(of_x, of_y, precision), x * y, precision)
    if x >= y:
        assert encloses(subtract(of_x, of_y), x - y, precision)
    if of_y[0] > 0:
        assert encloses(divide(of_x, of_y, precision), x / y, precision)


@given(st.fractions(Fraction(1, 10**12), 10, max_denominator=10**14), st.integers(1, 4))
def test_truncated_survival_is_consistent(rate: Fraction, digit_bits: int) -> None:
    """One by one and all at once enclose the same numbers, which fall from 1 to 0."""
    truncated = Truncated(rate, 1 << digit_bits)
    together = truncated.enclosures(128)
    single = [truncated.enclosure(j, 128) for j in range(1, 1 << digit_bits)]
    for (low, high), (other_low, other_high) in zip(together, single, strict=True):
        assert 0 <= max(low, other_low) <= min(high, other_high) <= 1 << 128
        assert max(high - low, other_high - other_low) <= 1 << 10
    assert all(later[0] <= earlier[1] for earlier, later in pairwise(single))


@given(positive_rates, positive_rates)
def test_a_larger_epsilon_never_keeps_less(epsilon: Fraction, more: Fraction) -> None:
    """As text, so the sample at the larger epsilon contains the one at the smaller."""
    smaller, larger = coin_threshold(epsilon), coin_threshold(epsilon + more)
    assert len(smaller) == len(larger) == 64
    assert smaller <= larger


@given(st.text(max_size=50), st.text(max_size=50))
def test_text_order_of_coins_is_their_numeric_order(a: str, b: str) -> None:
    first, second = coin("k", a), coin("k", b)
    assert (first < second) == (int(first, 16) < int(second, 16))


@given(st.integers(1, 1 << 63), st.integers(0, 50), st.integers())
def test_below_stays_below(bound: int, size: int, seed: int) -> None:
    drawn = seeded(seed).below(bound, size)
    assert drawn.size == size
    assert all(0 <= value < bound for value in drawn.tolist())


@settings(max_examples=30)
@given(st.integers(), st.integers(0, 300))
def test_a_seed_repeats_everything(seed: int, size: int) -> None:
    def everything() -> list[list[int]]:
        rng = seeded(seed)
        child = rng.spawn(2)[1]
        return [
            rng.geometric(Fraction(1, 3), size).tolist(),
            rng.two_sided_geometric(Fraction(2), size).tolist(),
            child.below(77, size).tolist(),
            child.bernoulli_exp(Fraction(1, 9), np.arange(size)).tolist(),
        ]

    assert everything() == everything()
