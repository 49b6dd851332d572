"""Random partitions into boxes of a halving tree, drawn exactly from the exponential mechanism.

A partition is a pruning of the tree: where it is cut, the boxes are buckets. The law is a product
over boxes, so it can be summed from the single bins up and drawn from the whole down. Sums are in
floating point with a certified bound on their error; a draw within that bound of its boundary is
decided by integer arithmetic. Law, privacy and bound are proved in partition.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.buckets.partition_exact import ExactPruning
from onesided.mechanisms.buckets.scaled import PowerTable
from onesided.mechanisms.buckets.tree import HalvingTree
from onesided.randomness import LazyUniform, Randomness

UNIT = 2.0**-53
"""The relative error of one floating-point operation."""

CERTAIN = -1.0
"""A margin that no distance is within."""


@dataclass(frozen=True)
class PruningLaw:
    """Pr[B] ∝ π(B)·exp(−α·Σ_{b∈B} dev(b)) over all prunings B of `tree`.

    - α is `rate`, and dev(b) ≥ 0 is in `deviations`, by level and box; 0 for single bins.
    - π(B) is the chance of B when each box with two halves stays whole with probability σ = `stay`
      and is cut into them otherwise, independently, from the whole down.
    """

    tree: HalvingTree
    deviations: list[Counts]
    rate: Fraction
    stay: Fraction

    @cached_property
    def exact(self) -> ExactPruning:
        """The same law in integer arithmetic."""
        return ExactPruning(self.tree, self.deviations, self.rate, self.stay)

    @cached_property
    def shares(self) -> list[Shares]:
        """For each level but the last, the probability that a box stays whole once it is reached.

        N(b), the weight of all prunings of box b, is 1 for a single bin, and otherwise
        σ·e^(−α·dev(b)) + (1 − σ)·N(b′)·N(b″) for its halves b′, b″; the share is the first term's.
        """
        largest = max(int(each.max()) for each in self.deviations)
        table = PowerTable(self.rate, largest)
        stay, cut = float(self.stay), float(1 - self.stay)
        below = _Weights(np.ones(self.tree.bins), np.zeros(self.tree.bins, dtype=np.int64))
        shares = []
        for level in reversed(range(len(self.tree.levels) - 1)):
            first, halved = self.tree.first_parts[level], self.tree.halved[level]
            powers, exponents = table.powers(self.deviations[level][halved])
            whole = _Weights(powers * stay, exponents)
            halves = below.at(first[halved]).times(below.at(first[halved] + 1)).scaled_by(cut)
            total = whole.plus(halves)
            below = below.at(first)
            below.put(halved, total)
            sizes = self.tree.sizes[level][halved]
            shares.append(Shares.of(first.size, halved, whole.over(total), table, sizes))
        return shares[::-1]

    def draw(self, rng: Randomness, *, least_margin: float = 0.0) -> Counts:
        """Where the buckets of one partition start, ascending, in the order of the tree.

        Draws within `least_margin` of a boundary are decided in integer arithmetic even where
        floating point would do; the distribution is the same for every margin.
        """
        starts = []
        boxes = np.zeros(1, dtype=np.int64)
        for level in range(len(self.shares)):
            stays = self.stays(level, boxes, rng, least_margin)
            starts.append(self.tree.levels[level][boxes[stays]])
            boxes = self._parts(level, boxes[~stays])
        starts.append(self.tree.levels[-1][boxes])
        return np.sort(np.concatenate(starts))

    def stays(
        self, level: int, boxes: Counts, rng: Randomness, least_margin: float = 0.0
    ) -> NDArray[np.bool_]:
        """Which of the `boxes` of a level stay whole: those whose uniform U is below their share.

        The first 64 bits of each U are drawn at once; more only where these do not decide.
        """
        words = rng.words(boxes.size)
        uniform = (words >> np.uint64(11)).astype(np.float64) * UNIT
        share, margin = self.shares[level].value[boxes], self.shares[level].margin[boxes]
        stays = uniform < share
        wanted = np.where(margin == CERTAIN, CERTAIN, np.maximum(margin, least_margin))
        for near in np.flatnonzero(np.abs(uniform - share) <= wanted):
            exact = LazyUniform(rng, prefix=int(words[near]), known_bits=64)
            bounds = partial(self.exact.share_staying, level, int(boxes[near]))
            stays[near] = exact.compare(bounds)
        return stays

    def _parts(self, level: int, boxes: Counts) -> Counts:
        """The parts of `boxes` on the next level: two halves, or the box itself."""
        first, last = self.tree.first_parts[level][boxes], self.tree.last_parts[level][boxes]
        both = np.column_stack([first, last]).reshape(-1)
        # Boxes ascend, so their parts do; a box that stays as it is was put down twice.
        return both[np.diff(both, prepend=-1) > 0]


@dataclass(frozen=True)
class Shares:
    """Probabilities `value`, each certainly within `margin` of the truth; `CERTAIN` means equal."""

    value: Floats
    margin: Floats

    @classmethod
    def of(
        cls, boxes: int, halved: Counts, shares: Floats, table: PowerTable, sizes: Counts
    ) -> Shares:
        """Shares of the `halved` boxes of given `sizes`; all others never stay but go on."""
        value, margin = np.zeros(boxes), np.full(boxes, CERTAIN)
        roundings = (3 * table.digits + 5) * sizes * UNIT
        # (1 + u)^n − 1 ≤ 1.01·n·u while n·u ≤ 0.01; the last term is what 53 bits of U leave open.
        margin[halved] = np.where(roundings <= 0.01, 1.01 * roundings, 1.0) + 2 * UNIT
        value[halved] = shares
        return cls(value, margin)


@dataclass(frozen=True)
class _Weights:
    """Positive numbers `mantissa`·2^`exponent`, of any size."""

    mantissa: Floats
    exponent: Counts

    def at(self, index: Counts) -> _Weights:
        return _Weights(self.mantissa[index], self.exponent[index])

    def put(self, index: Counts, values: _Weights) -> None:
        self.mantissa[index] = values.mantissa
        self.exponent[index] = values.exponent

    def times(self, other: _Weights) -> _Weights:
        return _Weights(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def scaled_by(self, factor: float) -> _Weights:
        return _Weights(self.mantissa * factor, self.exponent)

    def plus(self, other: _Weights) -> _Weights:
        """The sum, with its mantissa back in [1/2, 1)."""
        top = np.maximum(self.exponent, other.exponent)
        total = _shift(self.mantissa, self.exponent - top)
        total += _shift(other.mantissa, other.exponent - top)
        mantissa, exponent = np.frexp(total)
        return _Weights(mantissa, exponent + top)

    def over(self, other: _Weights) -> Floats:
        return _shift(self.mantissa / other.mantissa, self.exponent - other.exponent)


def _shift(values: Floats, exponents: Counts) -> Floats:
    """values·2^exponents, for exponents that are small or far below zero."""
    return np.ldexp(values, np.maximum(exponents, -2000).astype(np.int32))
