"""The exponential function in integer arithmetic, with every error on the books.

A real number x is known here only through an *enclosure* at precision w: integers (low, high)
with low ≤ x·2ʷ ≤ high. Lower ends are rounded down and upper ends up at every step, so an
enclosure is certain at any precision; too little precision makes it wide, never wrong.
The proofs are in randomness.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from onesided.errors import InputError

Enclosure = tuple[int, int]
Enclosing = Callable[[int], Enclosure]
"""Takes a precision w and gives an enclosure of one fixed number at that precision."""

GUARD_BITS = 64
"""Precision beyond the bits asked for; at first it leaves one floor in 2⁴⁸ undecided, or fewer."""

REDUCTION_BITS = 6
"""Series arguments are halved until they are at most 2⁻⁶, where ten bits a term are gained."""


def floor_exp(rate: Fraction, bits: int) -> int:
    """⌊2ᵇ · e⁻ʳ⌋ exactly, where b is `bits` and r is `rate` ≥ 0."""
    if rate < 0:
        raise InputError("The rate of an exponential must not be negative; give 0 or more.")
    if rate > bits:
        return 0  # e⁻ʳ < e⁻ᵇ ≤ 2⁻ᵇ, which need not be computed
    return certified_floor(lambda precision: exp_enclosure(rate, precision), bits)


def exp_bounds(rate: Fraction, bits: int) -> Enclosure:
    """Integers (low, high), at most one apart, with low ≤ 2ᵇ · e⁻ʳ ≤ high."""
    low = floor_exp(rate, bits)
    return low, low if rate == 0 else low + 1


def certified_floor(enclosing: Enclosing, bits: int) -> int:
    """⌊2ᵇ · x⌋ exactly, where b is `bits` and `enclosing` gives ever closer enclosures of x.

    The precision is doubled until the floors of both ends agree: at some time, unless 2ᵇ·x is an
    integer that no enclosure hits exactly. For the irrational numbers of this package it ends.
    """
    precision = bits + GUARD_BITS
    while True:
        low, high = enclosing(precision)
        surplus = precision - bits
        if low >> surplus == high >> surplus:
            return low >> surplus
        precision *= 2


def exp_enclosure(rate: Fraction, precision: int) -> Enclosure:
    """An enclosure of e⁻ʳ at precision w, where r is `rate` ≥ 0 and w is `precision`.

    r is halved h times, until r/2ʰ ≤ 2⁻⁶; the series gives e^(−r/2ʰ); h squarings give e⁻ʳ.
    Each squaring doubles the width at most and adds 2, so h + 16 more bits are carried inside.
    """
    ceiling = -(-rate.numerator // rate.denominator)
    halvings = ceiling.bit_length() + REDUCTION_BITS
    extra = halvings + 16
    working = precision + extra
    low, high = _exp_series(rate / (1 << halvings), working)
    for _ in range(halvings):
        low, high = multiply((low, high), (low, high), working)
    return widen((low, high), extra)


def power_enclosures(rate: Fraction, count: int, precision: int) -> list[Enclosure]:
    """Enclosures of e^(−r·j) for j = 0 … `count`, where r is `rate`, by repeated multiplication."""
    base = exp_enclosure(rate, precision)
    powers = [(1 << precision, 1 << precision)]
    for _ in range(count):
        powers.append(multiply(powers[-1], base, precision))
    return powers


def multiply(left: Enclosure, right: Enclosure, precision: int) -> Enclosure:
    """An enclosure of x·y from enclosures of x, y ≥ 0."""
    return (left[0] * right[0]) >> precision, _ceil_shift(left[1] * right[1], precision)


def divide(above: Enclosure, below: Enclosure, precision: int) -> Enclosure:
    """An enclosure of x/y from enclosures of x ≥ 0 and y > 0 whose lower ends are ≥ 0 and > 0."""
    return (above[0] << precision) // below[1], -((-above[1] << precision) // below[0])


def subtract(left: Enclosure, right: Enclosure) -> Enclosure:
    """An enclosure of x − y ≥ 0 from enclosures of x and y."""
    return max(0, left[0] - right[1]), left[1] - right[0]


def widen(enclosure: Enclosure, bits: int) -> Enclosure:
    """The same number enclosed at a precision lower by `bits`."""
    return enclosure[0] >> bits, _ceil_shift(enclosure[1], bits)


def _exp_series(rate: Fraction, precision: int) -> Enclosure:
    """An enclosure of e⁻ʳ for 0 ≤ r ≤ 1/2, as one over Σ rᵏ/k!, whose terms are all positive.

    The terms after the last one summed are together no more than that one (r ≤ 1/2).
    """
    one = 1 << precision
    scaled = rate.numerator << precision
    low_rate, high_rate = scaled // rate.denominator, -(-scaled // rate.denominator)
    low_term = high_term = low_sum = high_sum = one
    order = 0
    while high_term > 1:
        order += 1
        low_term = ((low_term * low_rate) >> precision) // order
        high_term = -(-_ceil_shift(high_term * high_rate, precision) // order)
        low_sum += low_term
        high_sum += high_term
    return divide((one, one), (low_sum, high_sum + high_term), precision)


def _ceil_shift(value: int, bits: int) -> int:
    return -(-value >> bits)
