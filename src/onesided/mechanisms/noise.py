"""Facts about geometric noise that mechanisms share: exact quantiles and expected sizes."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, log

import numpy as np

from onesided.data.histogram import Counts, Floats
from onesided.randomness import floor_exp

CONFIDENCE = Fraction(95, 100)
"""How often each single entry of a released interval covers the truth, at least."""


@lru_cache(maxsize=256)
def geometric_quantile(rate: Fraction, tail: Fraction) -> int:
    """The least g ≥ 0 with Pr[G > g] = e^(−r·(g+1)) ≤ `tail`, where r is `rate`.

    Decided in integer arithmetic; floating point only says where to begin. With `tail` = 1/2 this
    is the median ⌈ln 2 / r⌉ − 1. It also bounds the upper tail of two-sided geometric noise Z,
    whose Pr[Z > g] is smaller by the factor 1 + e^(−r).
    """
    steps = max(1, ceil(-log(tail) / float(rate)))
    while steps > 1 and _exp_is_below(rate * (steps - 1), tail):
        steps -= 1
    while not _exp_is_below(rate * steps, tail):
        steps += 1
    return steps - 1


@lru_cache(maxsize=256)
def two_sided_quantile(rate: Fraction, tail: Fraction) -> int:
    """A g ≥ 0, the least or one above it, with Pr[|Z| > g] = 2·e^(−r(g+1)) / (1 + e^(−r)) ≤ `tail`.

    Z is two-sided geometric noise of `rate` r. e^(−r) is rounded down to 64 bits, which can only
    make g larger.
    """
    base_below = Fraction(floor_exp(rate, 64), 2**64)
    return geometric_quantile(rate, tail * (1 + base_below) / 2)


def geometric_mean(rate: Fraction | float) -> float:
    """E[G] = e^(−r) / (1 − e^(−r))."""
    return exp(-float(rate)) / -expm1(-float(rate))


def unbiased(seen: Counts, rate: float) -> Floats:
    """Estimates of counts x of which x − G = `seen` was released, with the least noise.

    A bin with seen ≤ 0 falls short of 0 by noise that is distributed as G, for any x: how far
    says nothing, and its mean E[G] stands for it. So it counts as 0, and others as seen + E[G].
    """
    return np.where(seen > 0, seen + geometric_mean(rate), 0.0)


def two_sided_mean_size(rate: Fraction) -> float:
    """E|Z| = 2·e^(−r) / (1 − e^(−2r)), where Z is the difference of two such G."""
    return 2 * exp(-float(rate)) / -expm1(-2 * float(rate))


def two_sided_variance(rate: Fraction) -> float:
    """E[Z²] = 2·e^(−r) / (1 − e^(−r))²."""
    return 2 * exp(-float(rate)) / expm1(-float(rate)) ** 2


def _exp_is_below(exponent: Fraction, bound: Fraction) -> bool:
    """Whether e^(−exponent) < bound; never a tie, as e^(−q) is irrational for rational q ≠ 0."""
    bits = 64
    while True:
        low = floor_exp(exponent, bits)
        if low >= bound * 2**bits:
            return False
        if low + 1 <= bound * 2**bits:
            return True
        bits *= 2
