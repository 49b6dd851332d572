"""`ranks`: counts of cells in order, for quantiles and for sums over neighbouring cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import LARGEST_COUNT, Counts, Floats
from onesided.errors import InputError
from onesided.loss import Loss, rational
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.cells import (
    Blocks,
    Ends,
    NoisyCells,
    never_falling,
    sums_of_two_sided,
)
from onesided.mechanisms.noise import CONFIDENCE, geometric_mean, two_sided_mean_size
from onesided.mechanisms.one_sided import one_sided_noise
from onesided.randomness import Randomness

TOTAL_SHARE = Fraction(1, 8)
"""The part of a that pays for the number of sensitive units of each line."""
MOST_BUCKETS = 32
"""More buckets make a sum over them noisier than a finer place within one is worth."""
TAIL = float((1 - CONFIDENCE) / 8)
"""How often each part of a bound may fail: a comparison of two sums has eight of them."""
UNLIKE = 1 / 20
"""By so much of a bucket its sensitive units are supposed to lie elsewhere than the others."""
MEAN_SIZE = 0.8
"""The mean of the size of noise whose standard deviation is 1, nearly."""
UP_TO_LEAST, UP_TO_MOST = "up_to_at_least", "up_to_at_most"
BEYOND_LEAST, BEYOND_MOST = "beyond_at_least", "beyond_at_most"
BOUNDS = (UP_TO_LEAST, UP_TO_MOST, BEYOND_LEAST, BEYOND_MOST)
"""What a run gives beside the counts: bounds on the units up to each cell, and after it."""


@dataclass(frozen=True, kw_only=True)
class Ranks(Mechanism):
    """The last dimension is that of the cells, in their order; the others tell lines of cells.

    Non-sensitive units are counted one-sidedly in each cell and in each block of cells, at
    b = ε − a. Sensitive ones are counted at a, in buckets that hold about the same number of
    non-sensitive units. Both follow each other up the line and never fall.

    - `sensitive_share`: a/ε, above 0 and at most 1/2.
    - `block`: the cells of a block; by default about the root of their number.
    """

    name: ClassVar[str] = "ranks"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "cells in order, so that sums over neighbours and quantiles are exact"

    sensitive_share: Fraction = Fraction(1, 4)
    block: int | None = None

    def __post_init__(self) -> None:
        share = rational(self.sensitive_share, "sensitive_share")
        if not 0 < share <= Fraction(1, 2):
            raise InputError("sensitive_share must be above 0 and at most 1/2.")
        check_block(self.block)
        object.__setattr__(self, "sensitive_share", share)

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(a, ε − a), as that of `residual`; n is not read."""
        budget = self.sensitive_share * epsilon
        return Loss(budget, epsilon - budget)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """Of a single cell: what its own noise may hide, which is no more than what is there."""
        if public.shape is None or public.density is None:
            return None
        rates = self._rates(public, epsilon)
        present = public.density * public.nonsensitive_share
        missed = min(geometric_mean(rates.seen), present)
        return missed + min(two_sided_mean_size(rates.bucket), public.density - present)

    def expected_rank_error(
        self, cells: int, k: int, epsilon: Fraction, nonsensitive: float, sensitive: float
    ) -> float:
        """By how many units the rank of a quantile is off in a line of so many units."""
        rates, blocks = self._rates(PublicShape((cells,), k), epsilon), self.blocks((cells,))
        seen = (min(blocks.variance**0.5 / float(rates.seen), nonsensitive / 4)) ** 2
        wrong = _wrong(np.array(float(max(sensitive, 0))), np.array(nonsensitive), seen**0.5, rates)
        return float(MEAN_SIZE * (seen + wrong.min()) ** 0.5)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        rates = self._rates(public, epsilon)
        blocks = self.blocks(public.shape or (1,))
        twice = "" if blocks.levels == 1 else f", in cells and in blocks of {blocks.size}"
        noise = (
            f"{one_sided_noise(rates.seen)}{twice}; two-sided geometric of rate {rates.total} on "
            f"the number of sensitive units; two-sided of rate {rates.bucket} on sensitive units "
            "in buckets"
        )
        return MeasurementTerms(loss=self.loss(epsilon), noise=noise, whole=False)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        rates = self._rates(PublicShape.of(data), epsilon)
        blocks = self.blocks(data.shape)
        lines = data.nonsensitive.reshape(-1, blocks.cells)
        seen = NoisyCells.of(blocks, lines, rates.seen, rng)
        up_to = seen.up_to
        beside = self._beside(data.sensitive.reshape(-1, blocks.cells), up_to, rates, rng)
        bounds = seen.bounds(TAIL)
        return ranked(
            np.diff(up_to, axis=1, prepend=0.0) + beside.spread,
            (_added(bounds[0], beside.up_to), _added(bounds[1], beside.beyond)),
            data.shape,
        )

    def _beside(self, sensitive: Counts, up_to: Floats, rates: _Rates, rng: Randomness) -> _Beside:
        """The sensitive units, in buckets that follow `up_to` and their noisy number."""
        noise = rng.two_sided_geometric(rates.total, len(sensitive))
        number = np.maximum(sensitive.sum(axis=1) + noise, 0)
        blocks = self.blocks((sensitive.shape[1],))
        off = blocks.variance**0.5 / float(rates.seen)
        wrong = _wrong(number.astype(np.float64)[:, None], up_to[:, -1:], off, rates)
        many = np.argmin(wrong, axis=1)[:, None] + 1
        weights = np.diff(up_to, axis=1, prepend=0.0)
        weights[up_to[:, -1] <= 0] = 1.0
        middle = np.cumsum(weights, axis=1) - weights / 2
        share = middle / weights.sum(axis=1, keepdims=True)
        places = np.minimum((share * many).astype(np.int64), many - 1)
        rows = np.repeat(np.arange(len(sensitive)), sensitive.shape[1])
        true = np.zeros((len(sensitive), MOST_BUCKETS), dtype=np.int64)
        np.add.at(true, (rows, places.reshape(-1)), sensitive.reshape(-1))
        used = np.arange(MOST_BUCKETS) < many
        noisy = np.zeros_like(true)
        noisy[used] = true[used] + rng.two_sided_geometric(rates.bucket, int(used.sum()))
        return _Beside(weights, places, noisy, many[:, 0], number.astype(np.float64), rates)

    def blocks(self, shape: tuple[int, ...]) -> Blocks:
        """How the cells of a histogram of this shape are put together."""
        return blocks_of(shape, self.block)

    def _rates(self, public: PublicShape, epsilon: Fraction) -> _Rates:
        budget = self.sensitive_share * epsilon
        levels = self.blocks(public.shape or (1,)).levels
        return _Rates(
            seen=(epsilon - budget) / (levels * public.k),
            total=TOTAL_SHARE * budget / public.k,
            bucket=(1 - TOTAL_SHARE) * budget / public.k,
        )


@dataclass(frozen=True)
class _Rates:
    """Of the noise on non-sensitive counts, on the number of sensitive units, and on buckets."""

    seen: Fraction
    total: Fraction
    bucket: Fraction


@dataclass(frozen=True)
class _Beside:
    """What was measured of the sensitive units of each line.

    - `weights`: of each cell, which say how a bucket is spread.
    - `places`: the bucket of each cell.
    - `noisy`: the total of each bucket; of each line the first `many` are in use.
    - `number`: the noisy number of sensitive units.
    """

    weights: Floats
    places: Counts
    noisy: Counts
    many: Counts
    number: Floats
    rates: _Rates

    @property
    def spread(self) -> Floats:
        """Sensitive units of each cell: a bucket's total, drawn towards what it was to expect."""
        found = np.zeros_like(self.weights)
        for line, (weights, places) in enumerate(zip(self.weights, self.places, strict=True)):
            many = int(self.many[line])
            noisy = self.noisy[line, :many].astype(np.float64)
            within = np.bincount(places, weights=weights, minlength=many)
            foreseen = self._number(line) * within / within.sum()
            squares, variance = foreseen**2, 2 / float(self.rates.bucket) ** 2
            believed = (squares * noisy + variance * foreseen) / (squares + variance)
            grown = never_falling(np.cumsum(believed))
            totals = np.diff(grown, prepend=0.0)
            within[within <= 0] = 1.0
            found[line] = totals[places] * weights / within[places]
        return found

    def _number(self, line: int) -> float:
        """How many sensitive units there are, from both measurements of it."""
        many = int(self.many[line])
        fine = float(self.rates.bucket) ** 2 / many
        coarse = float(self.rates.total) ** 2
        summed = float(self.noisy[line, :many].sum())
        return max((fine * summed + coarse * float(self.number[line])) / (fine + coarse), 0.0)

    @property
    def up_to(self) -> Ends:
        """Bounds on the sensitive units up to each cell; a bucket in part is in or out."""
        last = np.diff(self.places, axis=1, append=self.many[:, None]) > 0
        whole = self.places + last
        return self._sums(whole, self.places + 1)

    @property
    def beyond(self) -> Ends:
        """The same of the sensitive units after each cell."""
        last = np.diff(self.places, axis=1, append=self.many[:, None]) > 0
        least, most = self._sums(
            (self.many[:, None] - self.places - 1),
            self.many[:, None] - self.places - last,
            backwards=True,
        )
        return least, most

    def _sums(self, inner: Counts, outer: Counts, *, backwards: bool = False) -> Ends:
        """Bounds from the first so many buckets, or from the last: surely in, and perhaps in."""
        sums = np.cumsum(self.noisy, axis=1, dtype=np.float64)
        sums = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)
        reach = sums_of_two_sided(float(self.rates.bucket), np.arange(MOST_BUCKETS + 1), TAIL)

        def taken(number: Counts) -> Floats:
            if not backwards:
                return np.take_along_axis(sums, number, axis=1)
            rest = self.many[:, None] - number
            return sums[:, -1:] - np.take_along_axis(sums, rest, axis=1)

        least = np.maximum(taken(inner) - reach[inner], 0.0)
        return least, np.maximum(taken(outer) + reach[outer], 0.0)


def _wrong(number: Floats, seen: Floats, off: float, rates: _Rates) -> Floats:
    """The expected square of the error of a sum of sensitive units, for 1, 2, … buckets.

    Three parts: the noise of a sum over buckets, units of the last bucket in other cells than those
    that were seen (by chance, and as `UNLIKE` says), and that these were seen through noise which
    makes a sum `off`.
    """
    many = np.arange(1, MOST_BUCKETS + 1)
    noise = 2 * many / 6 / float(rates.bucket) ** 2
    size = number / many
    shape = np.minimum(size / 2, number * off / np.maximum(seen, 1.0))
    return np.asarray(noise + size / 4 + (UNLIKE * size) ** 2 + shape**2)


def ranked(value: Floats, bounds: tuple[Ends, Ends], shape: tuple[int, ...]) -> Measurement:
    """Counts of cells, with bounds on the units up to each cell and after it."""
    ends = (*bounds[0], *bounds[1])
    return Measurement(
        value=value.reshape(shape),
        parts={
            name: np.minimum(each, LARGEST_COUNT).astype(np.int64).reshape(shape)
            for name, each in zip(BOUNDS, ends, strict=True)
        },
    )


def blocks_of(shape: tuple[int, ...], size: int | None) -> Blocks:
    """The cells of the last dimension in blocks of this size, or of the usual one."""
    return Blocks.usual(shape[-1]) if size is None else Blocks(shape[-1], size)


def check_block(size: int | None) -> None:
    """Refuse what is no number of cells."""
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise InputError("block must be an integer of at least 1.")


def _added(first: Ends, second: Ends) -> Ends:
    return first[0] + second[0], first[1] + second[1]
