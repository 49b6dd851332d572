"""Sums of exponentials are decided exactly."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum

from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.audit.exponentials import (
    ExponentialSum,
    Mass,
    Weight,
    one_minus_exponential,
    one_plus_exponential,
)

rationals = st.fractions(min_value=-4, max_value=4, max_denominator=8)
exponents = st.fractions(min_value=0, max_value=6, max_denominator=8)
sums = st.dictionaries(exponents, rationals, max_size=5).map(ExponentialSum)


@settings(max_examples=40)
@given(sums, sums)
def test_a_sum_minus_itself_is_zero_and_signs_are_opposite(a: ExponentialSum, b: ExponentialSum):
    assert (a - a).sign() == 0
    assert (a - b).sign() == -(b - a).sign()


@given(sums)
def test_the_sign_agrees_with_floating_point_where_that_can_tell(a: ExponentialSum):
    value = fsum(float(c) * exp(-float(alpha)) for alpha, c in a.terms.items())
    if abs(value) > 1e-9:
        assert a.sign() == (1 if value > 0 else -1)


@settings(max_examples=40)
@given(sums, sums, sums)
def test_products_distribute_over_sums(a: ExponentialSum, b: ExponentialSum, c: ExponentialSum):
    assert a * (b + c) == a * b + a * c


def test_a_difference_far_below_a_float_is_seen():
    tiny = Fraction(1, 10**60)
    almost = ExponentialSum({Fraction(1): 1, Fraction(1) + tiny: -1})
    assert almost.sign() == 1


def test_masses_with_different_factors_are_compared_by_multiplying_out():
    # (1−q)/(1+q)·(1+q) = 1−q, with q = e^(−1/2).
    q = Fraction(1, 2)
    minus, plus = one_minus_exponential(q), one_plus_exponential(q)
    thinned = frozenset({(minus, 1), (plus, -1)})
    left = Mass([Weight(factors=thinned), Weight(exponent=q, factors=thinned)])
    assert left.compare(Mass([Weight(factors=frozenset({(minus, 1)}))]), Fraction(0)) == 0
    assert left.compare(Mass([Weight()]), Fraction(0)) == -1


def test_equality_up_to_a_factor_of_e_to_epsilon_is_exact():
    epsilon = Fraction(1, 3)
    shifted = Mass([Weight(exponent=Fraction(2) + epsilon)])
    assert Mass([Weight(exponent=Fraction(2))]).compare(shifted, epsilon) == 0
    assert Mass([Weight(exponent=Fraction(2))]).compare(shifted, epsilon - Fraction(1, 10**30)) == 1
