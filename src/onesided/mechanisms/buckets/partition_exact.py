"""The weights of a pruning law in integer arithmetic, to any precision.

The slow and certain twin of `partition.py`, asked only when a draw falls so close to its boundary
that floating point cannot say on which side.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from onesided.data.histogram import Counts
from onesided.mechanisms.buckets.scaled import Powers, Scaled, one
from onesided.mechanisms.buckets.tree import HalvingTree
from onesided.randomness import Enclosure

GUARD_BITS = 64
"""Bits beyond those asked for; the weight of d bins loses about log₂ d of them."""


class ExactPruning:
    """Encloses the probabilities of `PruningLaw`, whose parameters these are."""

    def __init__(
        self, tree: HalvingTree, deviations: list[Counts], rate: Fraction, stay: Fraction
    ) -> None:
        self._tree = tree
        self._deviations = deviations
        self._rate = rate
        self._stay = stay
        self._at_precision = cache(self._make)

    def share_staying(self, level: int, box: int, bits: int) -> Enclosure:
        """Encloses, at precision `bits`, the probability that a box stays whole once reached."""
        precision = 2 * GUARD_BITS
        while precision < bits + GUARD_BITS:
            precision *= 2
        return self._at_precision(precision).share_staying(level, box, bits)

    def _make(self, precision: int) -> _AtPrecision:
        return _AtPrecision(self._tree, self._deviations, self._rate, self._stay, precision)


class _AtPrecision:
    """Weights to a relative width of about d·2^−`precision`, each computed when first asked for."""

    def __init__(
        self,
        tree: HalvingTree,
        deviations: list[Counts],
        rate: Fraction,
        stay: Fraction,
        precision: int,
    ) -> None:
        self._last = len(tree.levels) - 1
        self._first = [each.tolist() for each in tree.first_parts]
        self._halved = [set(each.tolist()) for each in tree.halved]
        self._deviations = deviations
        self._powers = Powers(rate, precision)
        self._stay, self._cut = (Scaled.of(each, precision) for each in (stay, 1 - stay))
        self._precision = precision
        self._total = cache(self._sum)

    def share_staying(self, level: int, box: int, bits: int) -> Enclosure:
        return self._whole(level, box).share_of(self._total(level, box), bits)

    def _whole(self, level: int, box: int) -> Scaled:
        """σ·e^(−α·dev(b))"""
        power = self._powers.power(int(self._deviations[level][box]))
        return self._stay.times(power, self._precision)

    def _sum(self, level: int, box: int) -> Scaled:
        """N(b)"""
        if level == self._last:
            return one()
        first = self._first[level][box]
        if box not in self._halved[level]:
            return self._total(level + 1, first)
        precision = self._precision
        halves = self._total(level + 1, first).times(self._total(level + 1, first + 1), precision)
        return self._whole(level, box).plus(self._cut.times(halves, precision), precision)
