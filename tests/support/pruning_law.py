"""The exact law of `dawa`'s partition over a few bins, written down independently.

A box is a tuple of ranges, one a side; the longest side is halved, the larger half first, and of
equally long sides the first. Probabilities are decimals of many digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from statistics import median_low

Bin = tuple[int, ...]
Bucket = frozenset[Bin]
Pruning = frozenset[Bucket]
Box = tuple[range, ...]

DIGITS = 60


@dataclass(frozen=True)
class EnumeratedLaw:
    """Pr[B] ∝ π(B)·e^(−α·dev(B)): α is `rate`, and a box stays whole with probability `stay`."""

    rate: Fraction
    stay: Fraction

    def probabilities(self, counts: Mapping[Bin, int]) -> dict[Pruning, Decimal]:
        """Pr of every partition of the bins, which fill a box that starts at the origin."""
        sides = [max(each) + 1 for each in zip(*counts, strict=True)]
        with localcontext(Context(prec=DIGITS)):
            weights = self._weights(counts, tuple(range(side) for side in sides), tuple(sides))
            total = sum(weights.values())
            return {pruning: weight / total for pruning, weight in weights.items()}

    def _weights(
        self, counts: Mapping[Bin, int], box: Box, sides: tuple[int, ...]
    ) -> dict[Pruning, Decimal]:
        bins = frozenset(product(*box))
        if len(bins) == 1:
            return {frozenset([bins]): Decimal(1)}
        halves, sides = halve(box, sides)
        if len(halves) == 1:
            return self._weights(counts, box, sides)
        rate, stay = (Decimal(x.numerator) / x.denominator for x in (self.rate, self.stay))
        weights = {frozenset([bins]): stay * (-rate * deviation(counts, bins)).exp()}
        first, second = (self._weights(counts, half, sides) for half in halves)
        for (left, left_weight), (right, right_weight) in product(first.items(), second.items()):
            weights[left | right] = (1 - stay) * left_weight * right_weight
        return weights


def deviation(counts: Mapping[Bin, int], bins: Bucket) -> int:
    """Σ|xᵢ − median|"""
    values = [counts[each] for each in bins]
    middle = median_low(values)
    return sum(abs(value - middle) for value in values)


def halve(box: Box, sides: tuple[int, ...]) -> tuple[list[Box], tuple[int, ...]]:
    """The halves of a box along the side that has most halvings left, and the sides after it.

    `sides` are those of the largest box at this depth: all boxes of a depth are halved alike. A box
    that is a single bin wide there stays as it is.
    """
    axis = max(range(len(box)), key=lambda each: ((sides[each] - 1).bit_length(), -each))
    side = box[axis]
    middle = side.start + (len(side) + 1) // 2
    parts = [range(side.start, middle), range(middle, side.stop)]
    halves = [(*box[:axis], part, *box[axis + 1 :]) for part in parts if part]
    smaller = tuple((each + 1) // 2 if place == axis else each for place, each in enumerate(sides))
    return halves, smaller
