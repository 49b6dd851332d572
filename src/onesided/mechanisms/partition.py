"""Random partitions of bins into intervals of power-of-two length, drawn exactly.

The law is a product of weights of intervals, so it can be summed from left to right (forward
filtering) and drawn from right to left (backward sampling). Sums are in floating point with a
certified bound on their error; a draw within that bound of a boundary is decided by integer
arithmetic (`partition_exact.py`). The bound is proved in partition.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.partition_exact import ExactForward
from onesided.mechanisms.scaled import Powers, Scaled, exponential
from onesided.randomness import LazyUniform, Randomness

Floats = NDArray[np.float64]

UNIT = 2.0**-53
"""The relative error of one floating-point operation."""

BLOCK = 32
"""Bins whose forward weights are computed together; shorter intervals are summed one by one."""

DIGIT_BITS = 8
"""Powers e^(−α·n) are products over the digits of n of this many bits."""

TABLE_PRECISION = 96
NEGLIGIBLE = 64
"""A weight e^(−64) times what singletons alone would weigh is below every rounding error."""

FAINTEST = 2.0**-900
"""Forward weights of one block that differ by more than this would meet underflow."""

FAR_BELOW = -(1 << 40)
"""The binary exponent of the weight of an interval that does not exist."""


@dataclass(frozen=True)
class PartitionLaw:
    """Pr[B] ∝ Π_{b∈B} exp(−λⱼ − α·dev(b)) over all partitions B of d bins into intervals b.

    An interval has length 2ʲ and starts anywhere; α is `rate`, λⱼ is `penalties[j]`, and dev(b) is
    `deviations[j][start of b]`, an integer ≥ 0 and 0 for single bins.
    """

    deviations: list[Counts]
    rate: Fraction
    penalties: tuple[Fraction, ...]
    exact: ExactForward = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        exact = ExactForward(self.deviations, self.rate, self.penalties)
        object.__setattr__(self, "exact", exact)

    @property
    def bins(self) -> int:
        """d, the number of bins."""
        return int(self.deviations[0].size)

    def draw(self, rng: Randomness, *, least_margin: float = 0.0) -> Counts:
        """The first bins of the intervals of one partition, ascending.

        Draws closer than `least_margin` to a boundary are decided in integer arithmetic even where
        floating point would do; the distribution is the same for every margin.
        """
        words = rng.words(self.bins + 1)
        choices, undecided = self._float_choices(words, least_margin)
        starts = []
        end = self.bins
        while end:
            j = self._exact_choice(end, int(words[end]), rng) if undecided[end] else choices[end]
            end -= 1 << int(j)
            starts.append(end)
        return np.array(starts[::-1], dtype=np.int64)

    def _float_choices(
        self, words: NDArray[np.uint64], least_margin: float
    ) -> tuple[Counts, NDArray[np.bool_]]:
        """For each end: j of the interval that ends there, and whether that is uncertain."""
        weights = _Weights(self)
        forward = _forward(weights)
        margin = max(least_margin, weights.relative_error(2 * self.bins + 2) + 2.0**-52)
        uniform = (words >> np.uint64(11)).astype(np.float64) * UNIT
        choices = np.zeros(self.bins + 1, dtype=np.int64)
        undecided = np.zeros(self.bins + 1, dtype=np.bool_)
        cumulated = np.zeros(self.bins + 1)
        for j in range(len(self.deviations) - 1):
            # From here on there is a longer interval too, so this boundary is not the last one.
            ends = slice(2 << j, None)
            cumulated[1 << j :] += weights.shares(forward, j)
            choices[ends] += cumulated[ends] <= uniform[ends]
            # Written so that a share that is not a number counts as undecided.
            undecided[ends] |= ~(np.abs(cumulated[ends] - uniform[ends]) > margin)
        return choices, undecided

    def _exact_choice(self, end: int, word: int, rng: Randomness) -> int:
        """j of the interval that ends before bin `end`, when the first 64 bits of U are `word`."""
        uniform = LazyUniform(rng, prefix=word, known_bits=64)
        longest = end.bit_length() - 1
        for j in range(longest):
            if uniform.compare(partial(self.exact.cumulated, end, j)):
                return j
        return longest


@dataclass(frozen=True)
class _Forward:
    """F(i) = `mantissa[i]`·2^`exponent[i]` for i = 0 … d."""

    mantissa: Floats
    exponent: Counts


class _Weights:
    """w[j, i] = `mantissa[j, i]`·2^`exponent[j, i]`: the weight of the interval of length 2ʲ that
    ends before bin i; 0 where there is none."""

    def __init__(self, law: PartitionLaw) -> None:
        self.bins = law.bins
        shape = (len(law.deviations), law.bins + 1)
        self.mantissa = np.zeros(shape)
        self.exponent = np.full(shape, FAR_BELOW)
        largest = -(-(max(law.penalties) * law.bins + NEGLIGIBLE) // law.rate)
        table = _PowerTable(law.rate, min(int(largest), max(int(x.max()) for x in law.deviations)))
        for j, deviations in enumerate(law.deviations):
            prior, prior_exponent = _as_float(exponential(law.penalties[j], TABLE_PRECISION))
            mantissa, exponent = table.powers(deviations)
            self.mantissa[j, 1 << j :] = mantissa * prior
            self.exponent[j, 1 << j :] = exponent + prior_exponent
        self._roundings = 3 * table.digits + len(law.deviations) + 5

    def relative_error(self, intervals: int) -> float:
        """Bounds the relative error of a sum of products of so many weights (partition.md)."""
        exponent = self._roundings * intervals * UNIT
        return 1.01 * exponent if exponent < 0.01 else 1.0

    def shares(self, forward: _Forward, j: int) -> Floats:
        """F(i − 2ʲ)·w[j, i] / F(i) for i = 2ʲ … d."""
        length = 1 << j
        before, at = slice(None, -length), slice(length, None)
        ratio = self.mantissa[j, at] * forward.mantissa[before] / forward.mantissa[at]
        exponent = self.exponent[j, at] + forward.exponent[before] - forward.exponent[at]
        return _scale(ratio, exponent)


class _PowerTable:
    """e^(−r·n) for integers n, where r is `rate`; beyond `largest` that of `largest` is given."""

    def __init__(self, rate: Fraction, largest: int) -> None:
        self._largest = largest
        self.digits = -(-largest.bit_length() // DIGIT_BITS)
        powers = Powers(rate, TABLE_PRECISION)
        self._tables = [_digit_table(powers, DIGIT_BITS * place) for place in range(self.digits)]

    def powers(self, multiples: Counts) -> tuple[Floats, Counts]:
        """Mantissas and binary exponents of e^(−r·n) for n in `multiples`."""
        rest = np.minimum(multiples, self._largest)
        mantissa = np.ones(rest.size)
        exponent = np.zeros(rest.size, dtype=np.int64)
        for mantissas, exponents in self._tables:
            digit = rest & ((1 << DIGIT_BITS) - 1)
            mantissa *= mantissas[digit]
            exponent += exponents[digit]
            rest >>= DIGIT_BITS
        return mantissa, exponent


def _digit_table(powers: Powers, shift: int) -> tuple[Floats, Counts]:
    entries = [_as_float(powers.power(digit << shift)) for digit in range(1 << DIGIT_BITS)]
    mantissas, exponents = zip(*entries, strict=True)
    return np.array(mantissas), np.array(exponents, dtype=np.int64)


def _forward(weights: _Weights) -> _Forward:
    """Forward filtering, a block of bins at a time.

    Intervals at least as long as a block start before it, so their terms are summed for the whole
    block at once; shorter ones are summed bin by bin. Within a block all numbers are multiples of
    one power of two, chosen so that the largest is near 1.
    """
    bins = weights.bins
    short = min(BLOCK.bit_length() - 1, weights.mantissa.shape[0])
    lengths = 1 << np.arange(short, weights.mantissa.shape[0])[:, np.newaxis]
    steps = _scale(weights.mantissa[:short], weights.exponent[:short])
    forward = _Forward(np.ones(bins + 1), np.zeros(bins + 1, dtype=np.int64))
    for first in range(1, bins + 1, BLOCK):
        block = slice(first, min(first + BLOCK, bins + 1))
        starts = np.maximum(np.arange(block.start, block.stop) - lengths, 0)
        terms = weights.mantissa[short:, block] * forward.mantissa[starts]
        exponents = weights.exponent[short:, block] + forward.exponent[starts]
        recent = slice(max(0, first - BLOCK), first)
        scale = max(int(forward.exponent[recent].max()), int(exponents.max(initial=FAR_BELOW)))
        known = _scale(forward.mantissa[recent], forward.exponent[recent] - scale).tolist()
        added = _scale(terms, exponents - scale).sum(axis=0).tolist()
        values = np.array(_short_steps(known, added, steps[:, block].tolist()))
        if values.min() < FAINTEST:
            values[:] = np.nan  # nothing is certain from here on, and exact arithmetic takes over
        forward.mantissa[block], exponent = np.frexp(values)
        forward.exponent[block] = exponent + scale
    return forward


def _short_steps(known: list[float], added: list[float], steps: list[list[float]]) -> list[float]:
    """values[i] = added[i] + Σ_j values[i − 2ʲ]·steps[j][i], where negative i are in `known`."""
    values = list(known)
    before = len(known)
    for position, total in enumerate(added):
        end = before + position
        length = 1
        for step in steps:
            if length > end:
                break
            total += values[end - length] * step[position]
            length += length
        values.append(total)
    return values[before:]


def _scale(values: Floats, exponents: Counts) -> Floats:
    """values·2^exponents; what underflows is far below every error bound."""
    return np.ldexp(values, np.clip(exponents, -2000, 1000).astype(np.int32))


def _as_float(number: Scaled) -> tuple[float, int]:
    """The lower end as a float in [1/2, 1) times a power of two, to 53 bits."""
    bits = number.low.bit_length()
    return number.low / (1 << bits), number.exponent + bits
