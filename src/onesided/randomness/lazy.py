"""A uniform real number of which only as many bits are drawn as a comparison needs."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onesided.randomness.exponential import Enclosing

UnsignedArray = NDArray[np.unsignedinteger[Any]]

STEP_BITS = 64


class BitSource(Protocol):
    """Anything that draws independent uniform bits."""

    def bits(self, count: int, width: int) -> UnsignedArray:
        """`count` independent uniform integers of `width` ≤ 64 bits."""
        ...


class LazyUniform:
    """U uniform on [0, 1), known to be in [prefix, prefix + 1) / 2ⁿ and drawn further on demand.

    Comparing the same object several times compares the same U: `compare` against the
    cumulated probabilities of a distribution, in turn, selects one of its values exactly.
    """

    def __init__(
        self, source: BitSource, *, prefix: int = 0, known_bits: int = 0, step: int = STEP_BITS
    ) -> None:
        self._source = source
        self._prefix = prefix
        self._known_bits = known_bits
        self._step = step
        if not known_bits:
            self._extend()

    def compare(self, bounds: Enclosing) -> bool:
        """True iff U < x, where `bounds(n)` = (low, high) promises low ≤ x·2ⁿ ≤ high.

        Decided for certain by the first n bits with prefix + 1 ≤ low (yes) or prefix ≥ high (no);
        otherwise more bits are drawn; n is 64 at first, then 128, and so on. The chance that n
        bits do not decide is (high − low) / 2ⁿ at most, so this ends with probability 1 when
        high − low stays bounded.
        """
        while True:
            low, high = bounds(self._known_bits)
            if self._prefix < low:
                return True
            if self._prefix >= high:
                return False
            self._extend()

    def _extend(self) -> None:
        drawn = int(self._source.bits(1, self._step)[0])
        self._prefix = (self._prefix << self._step) | drawn
        self._known_bits += self._step
