"""The forward weights of a partition law in integer arithmetic, to any precision.

This is the slow and certain twin of `partition.py`, asked only when a draw falls so close to a
boundary that floating point cannot say on which side.
"""

from __future__ import annotations

from fractions import Fraction

from onesided.data.histogram import Counts
from onesided.mechanisms.scaled import Powers, Scaled, exponential, one
from onesided.randomness import Enclosure

GUARD_BITS = 64
"""Bits beyond those asked for; sums over d bins lose about log₂ d of them."""


class ExactForward:
    """F(i) = Σ_j F(i − 2ʲ)·e^(−λⱼ − α·devⱼ(i − 2ʲ)), F(0) = 1, enclosed.

    α is `rate`, λⱼ is `penalties[j]`, and devⱼ(s) = `deviations[j][s]`: see `PartitionLaw`.
    """

    def __init__(
        self, deviations: list[Counts], rate: Fraction, penalties: tuple[Fraction, ...]
    ) -> None:
        self._deviations = deviations
        self._rate = rate
        self._penalties = penalties
        self._filters: dict[int, _Filter] = {}

    def cumulated(self, end: int, last: int, bits: int) -> Enclosure:
        """Encloses, at precision `bits`, the probability that the interval ending before bin `end`
        has length at most 2ʲ, where j is `last`, given that some interval ends there."""
        precision = GUARD_BITS
        while precision < bits + GUARD_BITS + len(self._deviations):
            precision *= 2
        if precision not in self._filters:
            self._filters[precision] = self._filter(precision)
        return self._filters[precision].cumulated(end, last, bits)

    def _filter(self, precision: int) -> _Filter:
        return _Filter(self._deviations, self._rate, self._penalties, precision)


class _Filter:
    """The forward weights at one precision, computed as far as they are asked for."""

    def __init__(
        self,
        deviations: list[Counts],
        rate: Fraction,
        penalties: tuple[Fraction, ...],
        precision: int,
    ) -> None:
        self._deviations = deviations
        self._powers = Powers(rate, precision)
        self._priors = [exponential(penalty, precision) for penalty in penalties]
        self._precision = precision
        self._forward = [one()]

    def cumulated(self, end: int, last: int, bits: int) -> Enclosure:
        while len(self._forward) <= end:
            self._forward.append(self._sum_of_terms(len(self._forward), len(self._deviations)))
        return self._sum_of_terms(end, last + 1).share_of(self._forward[end], bits)

    def _sum_of_terms(self, end: int, count: int) -> Scaled:
        total = self._term(end, 0)
        for j in range(1, min(count, end.bit_length())):
            total = total.plus(self._term(end, j), self._precision)
        return total

    def _term(self, end: int, j: int) -> Scaled:
        start = end - (1 << j)
        precision = self._precision
        likelihood = self._powers.power(int(self._deviations[j][start]))
        weight = self._priors[j].times(likelihood, precision)
        return self._forward[start].times(weight, precision)
