"""Inverse-CDF sampling on the integers, exact for any survival function with certified bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onesided.randomness.exponential import GUARD_BITS, Enclosure, certified_floor
from onesided.randomness.lazy import STEP_BITS, BitSource, LazyUniform, UnsignedArray


class Survival(Protocol):
    """S(j) = Pr[K ≥ j] for j = 1 … J, with 1 > S(1) ≥ S(2) ≥ … ≥ S(J) ≥ 0, all irrational."""

    def enclosure(self, j: int, precision: int) -> Enclosure:
        """An enclosure of S(j), as narrow as one likes at high enough precision."""
        ...

    def enclosures(self, precision: int) -> Sequence[Enclosure]:
        """Enclosures of S(1), …, S(J), cheaper than one by one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Widths:
    """How many bits of the uniform number are drawn at each stage.

    The result has the same distribution for all widths. Small ones make the rare stages
    frequent, which is how these are tested.
    """

    coarse: int = 16
    fine: int = 48
    step: int = STEP_BITS

    @property
    def table(self) -> int:
        """The bits of the uniform number that the survival table can tell apart."""
        return self.coarse + self.fine


class InverseTable:
    """Draws K with Pr[K ≥ j] = S(j) and K ≤ J, where S is `survival`.

    K = #{j : U < S(j)} for one uniform U, of which three stages see more and more bits:

    1. `coarse` bits index a guide table, which knows K unless some S(j) lies in that cell;
    2. `fine` more bits are searched for among the floors ⌊2ᵇ·S(j)⌋, b = coarse + fine;
    3. where the b bits equal a floor (a tie), U is extended lazily against the certified bounds.
    """

    def __init__(self, survival: Survival, widths: Widths) -> None:
        self._survival = survival
        self._widths = widths
        floors = _floors(survival, widths.table)
        self.largest = len(floors)
        self._ascending = np.array(floors[::-1], dtype=np.uint64)
        cells = self._ascending >> np.uint64(widths.fine)
        in_cell = np.bincount(cells.astype(np.int64), minlength=1 << widths.coarse)
        above = self.largest - np.cumsum(in_cell)
        self._guide = np.where(in_cell > 0, _UNDECIDED, above).astype(np.int16)

    def draw(self, source: BitSource, size: int) -> NDArray[np.int16]:
        """`size` independent values of K."""
        coarse = source.bits(size, self._widths.coarse)
        values = self._guide[coarse]
        undecided = np.flatnonzero(values == _UNDECIDED)
        if undecided.size:
            values[undecided] = self._refine(source, coarse[undecided])
        return values

    def _refine(self, source: BitSource, coarse: UnsignedArray) -> NDArray[np.int64]:
        fine = source.bits(coarse.size, self._widths.fine).astype(np.uint64)
        prefixes = (coarse.astype(np.uint64) << np.uint64(self._widths.fine)) | fine
        least = self.largest - np.searchsorted(self._ascending, prefixes, side="right")
        most = self.largest - np.searchsorted(self._ascending, prefixes, side="left")
        for tie in np.flatnonzero(least < most):
            least[tie] = self._settle(source, int(prefixes[tie]), int(least[tie]), int(most[tie]))
        return least

    def _settle(self, source: BitSource, prefix: int, least: int, most: int) -> int:
        """K when U is known to be in [prefix, prefix + 1) / 2ᵇ and least ≤ K ≤ most."""
        uniform = LazyUniform(
            source, prefix=prefix, known_bits=self._widths.table, step=self._widths.step
        )
        value = least
        while value < most and uniform.compare(partial(_bounds, self._survival, value + 1)):
            value += 1
        return value


_UNDECIDED = -1


def _floors(survival: Survival, bits: int) -> list[int]:
    """⌊2ᵇ·S(j)⌋ for j = 1 … J: from the cheap enclosures, one by one where they do not decide."""
    floors = []
    for j, (low, high) in enumerate(survival.enclosures(bits + GUARD_BITS), start=1):
        floor = low >> GUARD_BITS
        if floor != high >> GUARD_BITS:
            floor = certified_floor(partial(survival.enclosure, j), bits)
        floors.append(floor)
    return floors


def _bounds(survival: Survival, j: int, precision: int) -> Enclosure:
    low = certified_floor(partial(survival.enclosure, j), precision)
    return low, low + 1
