"""The exact distribution of a sampler, by walking every string of bits it can be given.

A sampler that reads uniform bits is a binary tree. `walk` runs it on a string; where it asks for
more bits than there are, the string is tried with a 0 and with a 1 appended. What is decided
after at most `depth` bits bounds every probability from below, and the undecided rest from above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from onesided.randomness.lazy import BitSource, UnsignedArray


class OutOfBitsError(Exception):
    """The sampler asked for more bits than the string has."""


class ScriptedBits:
    """Deals out the bits of a given string, first bit first."""

    def __init__(self, string: str) -> None:
        self._rest = string

    def bits(self, count: int, width: int) -> UnsignedArray:
        needed = count * width
        if len(self._rest) < needed:
            raise OutOfBitsError
        dealt, self._rest = self._rest[:needed], self._rest[needed:]
        integers = [int(dealt[i : i + width], 2) for i in range(0, needed, width)]
        return np.array(integers, dtype=np.uint64)


@dataclass(frozen=True)
class Walk:
    """Probability mass decided for each outcome, and the mass left undecided."""

    decided: dict[int, Fraction]
    undecided: Fraction

    def allows(self, outcome: int, low: Fraction, high: Fraction) -> bool:
        """Whether a true probability in [low, high] is compatible with what was decided."""
        mass = self.decided.get(outcome, Fraction(0))
        return mass <= high and low <= mass + self.undecided


def walk(sampler: Callable[[BitSource], int], depth: int) -> Walk:
    """Everything `sampler` does with up to `depth` bits."""
    decided: dict[int, Fraction] = defaultdict(Fraction)
    undecided = Fraction(0)
    pending = [""]
    while pending:
        string = pending.pop()
        mass = Fraction(1, 1 << len(string))
        try:
            decided[sampler(ScriptedBits(string))] += mass
        except OutOfBitsError:
            if len(string) == depth:
                undecided += mass
            else:
                pending += [string + "0", string + "1"]
    return Walk(dict(decided), undecided)
