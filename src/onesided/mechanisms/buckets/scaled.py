"""Positive real numbers enclosed between two integers times a power of two.

Unlike an enclosure of fixed precision, one with an exponent of its own keeps its *relative* width
for numbers of any size, such as the weights e^(−r·n) of the exponential mechanism.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.randomness import Enclosure, exp_bounds

DIGIT_BITS = 8
TABLE_PRECISION = 96

TABLES = 128
"""How many tables are kept; `auto` tries the same few rates again and again."""

FAR_BELOW = -(1 << 50)
"""The least binary exponent that is told from smaller ones in floating point."""


class Scaled(NamedTuple):
    """A real number x with low·2ᵉ ≤ x ≤ high·2ᵉ, where e is `exponent`."""

    low: int
    high: int
    exponent: int

    @classmethod
    def of(cls, value: Fraction, precision: int) -> Scaled:
        """An enclosure of a rational number > 0 to a relative width of 2^−precision."""
        exponent = value.numerator.bit_length() - value.denominator.bit_length() - precision - 2
        scaled = value / Fraction(2) ** exponent
        return cls(floor(scaled), ceil(scaled), exponent)

    def times(self, other: Scaled, precision: int) -> Scaled:
        """An enclosure of the product, both ends of about `precision` bits."""
        return _rounded(
            self.low * other.low,
            self.high * other.high,
            self.exponent + other.exponent,
            precision,
        )

    def plus(self, other: Scaled, precision: int) -> Scaled:
        """An enclosure of the sum, both ends of about `precision` bits."""
        small, large = sorted((self, other), key=lambda number: number.exponent)
        gap = large.exponent - small.exponent
        if gap > 2 * precision + small.high.bit_length():
            # Here x ≤ small.high·2^small.exponent < 2^(large.exponent − 2·precision) ≤ one unit.
            return Scaled(large.low, large.high + 1, large.exponent)
        low, high = (large.low << gap) + small.low, (large.high << gap) + small.high
        return _rounded(low, high, small.exponent, precision)

    def share_of(self, whole: Scaled, bits: int) -> Enclosure:
        """An enclosure of x/y at precision `bits`, where y > 0 is `whole` and x ≤ y."""
        shift = bits + self.exponent - whole.exponent
        low = _shifted(self.low, shift) // whole.high
        high = -(-_shifted(self.high, shift, up=True) // whole.low)
        return low, min(high, 1 << bits)


def one() -> Scaled:
    """The number 1."""
    return Scaled(1, 1, 0)


def exponential(rate: Fraction, precision: int) -> Scaled:
    """e⁻ʳ to a relative width of about 2^−precision, where r is `rate` ≥ 0."""
    # e⁻ʳ ≥ 2^(−3r/2), so this many leading bits of the fixed-point number may be zero.
    leading = int(rate * 3 / 2) + 1
    low, high = exp_bounds(rate, precision + leading)
    return Scaled(low, high, -(precision + leading))


class Powers:
    """e^(−r·n) for integers n ≥ 0, where r is `rate`, as products of e^(−r·2ᵇ).

    The relative width of e^(−r·n) is about n times that of e⁻ʳ, so for n < 2⁶³ the base is known
    to 64 bits more than the `precision` asked for, and some more for the products.
    """

    def __init__(self, rate: Fraction, precision: int) -> None:
        self.precision = precision
        self._working = precision + 80
        self._squares = [exponential(rate, self._working)]
        self.power = cache(self._power)

    def _power(self, multiple: int) -> Scaled:
        return _rounded(*self._unrounded(multiple), self.precision)

    def _unrounded(self, multiple: int) -> Scaled:
        result = one()
        for bit in range(multiple.bit_length()):
            if bit == len(self._squares):
                last = self._squares[-1]
                self._squares.append(last.times(last, self._working))
            if multiple >> bit & 1:
                result = result.times(self._squares[bit], self._working)
        return result

    def multiples(self, step: int, count: int) -> list[Scaled]:
        """e^(−r·step·j) for j = 0 … count − 1, one product each."""
        base, result = self._unrounded(step), [one()]
        while len(result) < count:
            result.append(result[-1].times(base, self._working))
        return [_rounded(*each, self.precision) for each in result]


class PowerTable:
    """e^(−r·n) in floating point for integers 0 ≤ n ≤ `largest`, where r is `rate`.

    A power is the product over the `digits` of n of entries that are correctly rounded from their
    enclosures. An entry below 2^`FAR_BELOW` stands for any smaller one.
    """

    def __init__(self, rate: Fraction, largest: int) -> None:
        self.digits = -(-largest.bit_length() // DIGIT_BITS)
        places = range(0, DIGIT_BITS * self.digits, DIGIT_BITS)
        self._tables = [_digit_table(rate, place) for place in places]

    def powers(self, multiples: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
        """Mantissas in (0, 1] and binary exponents of e^(−r·n), for each n in `multiples`."""
        mantissas, exponents = np.ones(multiples.size), np.zeros(multiples.size, dtype=np.int64)
        for place, (digit_mantissas, digit_exponents) in enumerate(self._tables):
            digit = multiples >> (DIGIT_BITS * place) & ((1 << DIGIT_BITS) - 1)
            mantissas *= digit_mantissas[digit]
            exponents += digit_exponents[digit]
        return mantissas, exponents


@lru_cache(maxsize=TABLES)
def _digit_table(rate: Fraction, place: int) -> tuple[Floats, NDArray[np.int64]]:
    """e^(−r·(n << place)) for every digit n; rates are public, and few in a process."""
    powers = Powers(rate, TABLE_PRECISION)
    entries = [_as_float(power) for power in powers.multiples(1 << place, 1 << DIGIT_BITS)]
    mantissas, exponents = zip(*entries, strict=True)
    tables = np.array(mantissas), np.array(exponents, dtype=np.int64)
    for table in tables:
        table.flags.writeable = False
    return tables


def _as_float(number: Scaled) -> tuple[float, int]:
    """The lower end, correctly rounded to a float in [1/2, 1] times a power of two."""
    bits = number.low.bit_length()
    return number.low / (1 << bits), max(FAR_BELOW, number.exponent + bits)


def _rounded(low: int, high: int, exponent: int, precision: int) -> Scaled:
    surplus = max(0, high.bit_length() - precision)
    return Scaled(low >> surplus, -(-high >> surplus), exponent + surplus)


def _shifted(value: int, bits: int, *, up: bool = False) -> int:
    if bits >= 0:
        return value << bits
    return -(-value >> -bits) if up else value >> -bits
