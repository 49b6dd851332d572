"""The geometric distribution Pr[G=g] = (1−e⁻ʳ)·e^(−r·g), g ≥ 0, sampled exactly.

The digits of G in base B = 2ˢ are independent: the lowest is a geometric variable truncated to
[0, B), the rest is geometric with rate r·B. So a small rate becomes a few tables of moderate
size. And G ≥ J leaves G − J distributed as G, so the table of the top digit may end anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from onesided.errors import InputError
from onesided.randomness.exponential import (
    Enclosure,
    divide,
    exp_enclosure,
    power_enclosures,
    subtract,
    widen,
)
from onesided.randomness.inverse import InverseTable, Widths
from onesided.randomness.lazy import BitSource

MINIMUM_RATE = Fraction(1, 1 << 50)
"""From here on Pr[G ≥ 2⁶²] ≤ e^(−2¹²): no draw, and no count plus a draw, leaves int64."""

DIGIT_BITS = 12
"""Tables have at most 2¹² entries: built in milliseconds, and they stay in the cache."""

TAIL = 16
"""The top table ends where r·J reaches this; beyond it, once in 10⁷, a draw restarts."""

BLOCK = 1 << 16
"""Values drawn at a time, so that intermediate arrays stay in the cache."""


@dataclass(frozen=True)
class Untruncated:
    """S(j) = e^(−r·j) for j = 1 … J, where r is `rate` and J is `largest`."""

    rate: Fraction
    largest: int

    def enclosure(self, j: int, precision: int) -> Enclosure:
        return exp_enclosure(self.rate * j, precision)

    def enclosures(self, precision: int) -> list[Enclosure]:
        return power_enclosures(self.rate, self.largest, precision)[1:]


@dataclass(frozen=True)
class Truncated:
    """S(j) = (e^(−r·j) − e^(−r·B)) / (1 − e^(−r·B)) for j = 1 … B−1; r is `rate`, B is `base`."""

    rate: Fraction
    base: int

    def enclosure(self, j: int, precision: int) -> Enclosure:
        working = precision + self._lost_bits()
        power = exp_enclosure(self.rate * j, working)
        return self._share(power, exp_enclosure(self.rate * self.base, working), precision)

    def enclosures(self, precision: int) -> list[Enclosure]:
        powers = power_enclosures(self.rate, self.base, precision + self._lost_bits())
        return [self._share(power, powers[-1], precision) for power in powers[1:-1]]

    def _share(self, power: Enclosure, end: Enclosure, precision: int) -> Enclosure:
        lost = self._lost_bits()
        one = 1 << (precision + lost)
        share = divide(subtract(power, end), subtract((one, one), end), precision + lost)
        return widen(share, lost)

    def _lost_bits(self) -> int:
        """Dividing by 1 − e^(−r·B) ≥ min(r·B, 1)/2 loses its leading zeros; carry them inside."""
        return ceil(1 / (self.rate * self.base)).bit_length() + 2


@dataclass(frozen=True)
class GeometricSampler:
    """G = Σᵢ Dᵢ·2^(s·i) + H·2^(s·m): m truncated `digits`, highest first, of s = `digit_bits`
    bits each, and H, geometric again, from the table `top`."""

    top: InverseTable
    digits: tuple[InverseTable, ...]
    digit_bits: int

    def draw(self, source: BitSource, size: int) -> NDArray[np.int64]:
        """`size` independent values of G."""
        values = np.empty(size, dtype=np.int64)
        for start in range(0, size, BLOCK):
            block = values[start : start + BLOCK]
            block[:] = self.top.draw(source, block.size)
            self._restart_at_end(source, block)
            for digit in self.digits:
                block <<= self.digit_bits
                block += digit.draw(source, block.size)
        return values

    def _restart_at_end(self, source: BitSource, values: NDArray[np.int64]) -> None:
        """A draw that reached the end J of the top table draws again, and adds J."""
        pending = np.flatnonzero(values == self.top.largest)
        while pending.size:
            further = self.top.draw(source, pending.size)
            values[pending] += further
            pending = pending[further == self.top.largest]


@lru_cache(maxsize=32)
def geometric_sampler(
    rate: Fraction,
    *,
    widths: Widths = Widths(),  # noqa: B008  (frozen)
    digit_bits: int = DIGIT_BITS,
    tail: int | Fraction = TAIL,
) -> GeometricSampler:
    """The sampler for one rate r; the other parameters do not change the distribution."""
    if rate < MINIMUM_RATE:
        raise InputError(
            "The rate of geometric noise must be at least 2^-50; ask for a larger one."
        )
    doublings = max(0, (ceil(tail / rate) - 1).bit_length() - digit_bits)
    count = -(-doublings // digit_bits)
    each = -(-doublings // count) if count else 0
    digits = [
        InverseTable(Truncated(rate * (1 << each * i), 1 << each), widths) for i in range(count)
    ]
    top_rate = rate * (1 << each * count)
    top = InverseTable(Untruncated(top_rate, ceil(tail / top_rate)), widths)
    return GeometricSampler(top, tuple(reversed(digits)), each)
