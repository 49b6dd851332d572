"""`residual`: non-sensitive units one-sidedly, and the sensitive remainder where they were seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError
from onesided.loss import Loss, rational
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.noise import (
    CONFIDENCE,
    geometric_mean,
    geometric_quantile,
    two_sided_mean_size,
)
from onesided.mechanisms.one_sided import add_median, one_sided_noise, subtract_noise
from onesided.randomness import Randomness

TOTAL_SHARE = Fraction(1, 8)
"""The part of a that pays for a noisy number of sensitive units where n is not public."""


COVERS = (
    Covers(Measured.NONSENSITIVE, upper=True, confidence=float(CONFIDENCE)),
    Covers(Measured.ALL, upper=True, confidence=float(CONFIDENCE)),
)
"""What `intervals` speak about."""


@dataclass(frozen=True)
class SensitiveTotal:
    """A noisy number of (unit, bin) pairs of sensitive units: x_s's total plus noise of `rate`."""

    value: int
    rate: Fraction


@dataclass(frozen=True, kw_only=True)
class Residual(Mechanism):
    """ỹ = (x_ns − G)₊ at b = ε − a, then the sensitive units of the bins with ỹ > 0 at a.

    Let S = {i : ỹᵢ > 0}. (n − Σỹ)₊ sensitive units are expected, spread over the bins like ỹ.
    Neighbours in S are merged until a bucket expects c·k/a of them. Each bucket's true number of
    sensitive units is measured with two-sided geometric noise of rate a/k. The result is shrunk
    (`shrunk_to_foreseen`) and spread over the bucket's bins in proportion to ỹ. Buckets follow from
    ỹ and n: no budget goes into structure.

    - `sensitive_share`: a/ε, above 0 and at most 1/2.
    - `merge`: c.
    - `correct`: add the median of G to the positive ỹ; better where counts are large.

    Bins outside S are released as 0; an open domain does not list them.
    """

    name: ClassVar[str] = "residual"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "one-sided counts plus the sensitive units measured beside them"
    needs_domain: ClassVar[bool] = False

    sensitive_share: Fraction = Fraction(1, 4)
    merge: int = 8
    correct: bool = False

    def __post_init__(self) -> None:
        share = rational(self.sensitive_share, "sensitive_share")
        if not 0 < share <= Fraction(1, 2):
            raise InputError("sensitive_share must be above 0 and at most 1/2.")
        if not isinstance(self.merge, int) or self.merge < 1:
            raise InputError("merge must be an integer of at least 1.")
        object.__setattr__(self, "sensitive_share", share)

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(a, ε − a): the remainder depends on sensitive units alone, ỹ on the others alone."""
        budget = self.sensitive_share * epsilon
        return Loss(budget, epsilon - budget, fixed_n=fixed_n)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """For units spread evenly, and sensitive ones like the others; None if d is unknown."""
        if public.supposed_bins is None or public.density is None:
            return None
        budget = self.sensitive_share * epsilon
        rate = budget / public.k
        sensitive = public.density * (1 - public.nonsensitive_share)
        missed = min(geometric_mean((epsilon - budget) / public.k), public.density - sensitive)
        bins = max(1.0, self.merge / (float(rate) * sensitive)) if sensitive else 1.0
        wrong = (two_sided_mean_size(rate) + 1 / float(rate)) / bins  # the noise and the threshold
        return missed + min(wrong, sensitive)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        budget = self.sensitive_share * epsilon
        seen = (epsilon - budget) / public.k
        noise = ""
        if not public.total_public:
            rate = TOTAL_SHARE * budget / public.k
            noise = f"two-sided geometric of rate {rate} on the number of sensitive units; "
            budget -= TOTAL_SHARE * budget
        return MeasurementTerms(
            loss=self.loss(epsilon, fixed_n=public.total_public),
            noise=noise + self.completed_noise(seen, budget, public),
            whole=False,
            covers=COVERS,
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        budget = self.sensitive_share * epsilon
        rate = (epsilon - budget) / data.k
        floor = np.maximum(subtract_noise(data.nonsensitive, rate, rng), 0)
        total = None
        if data.n is None:
            total = measure_total(data, TOTAL_SHARE * budget, rng)
            budget -= TOTAL_SHARE * budget
        return self.complete(data, Seen(floor, rate), budget, total, rng)

    def completed_noise(self, seen: Fraction, budget: Fraction, public: PublicShape) -> str:
        """That of `complete` at `budget` after a one-sided release with noise of rate `seen`."""
        return (
            f"{one_sided_noise(seen)}; two-sided of rate {budget / public.k} on sensitive units in "
            "buckets"
        )

    def complete(
        self,
        data: Histogram,
        seen: Seen,
        budget: Fraction,
        total: SensitiveTotal | None,
        rng: Randomness,
    ) -> Measurement:
        """Add the sensitive remainder to the one-sided release `seen`, for the pair (`budget`, 0).

        `total` is None where n is public and says as much.
        """
        if data.all.ndim > 1:
            tree = halving_tree(data.shape)
            line, floor = data.rearranged(tree.order), tree.along(seen.floor)
            found = self._along(line, Seen(floor, seen.rate), budget, total, rng)
            return found.at(tree.back(np.arange(tree.bins))).measurement()
        found = self._along(data, seen, budget, total, rng)
        if not data.open_domain:
            return found.measurement()
        keys = np.flatnonzero(found.lower)
        return found.at(keys).measurement(keys)

    def _along(
        self,
        line: Histogram,
        seen: Seen,
        budget: Fraction,
        total: SensitiveTotal | None,
        rng: Randomness,
    ) -> _Completed:
        """`complete` for bins along a line, of which neighbours are merged."""
        support = np.flatnonzero(seen.floor)
        shape = seen.floor[support]
        if self.correct:
            shape = add_median(shape, seen.rate)
        remainder = self._remainder(line, support, shape, total, budget, rng)
        value = np.zeros(line.bins)
        value[support] = shape + remainder.spread
        upper = _upper_bound(line, seen.floor, seen.rate, support, remainder, total)
        return _Completed(value, seen.floor, upper, seen.rate)

    def _remainder(
        self,
        line: Histogram,
        support: Counts,
        shape: Counts,
        total: SensitiveTotal | None,
        budget: Fraction,
        rng: Randomness,
    ) -> _Remainder:
        """Measure the sensitive units of the bins `support`, in buckets that follow `shape` = ỹ."""
        rate = budget / line.k
        seen_units = float(shape.sum())
        sensitive_units = max(total.value if total else (line.n or 0) - seen_units, 0.0)
        weights = shape.astype(np.float64) * (sensitive_units / max(seen_units, 1.0))
        buckets = merged(weights, self.merge / float(rate))
        count = int(buckets[-1]) + 1 if buckets.size else 0
        true = np.zeros(count, dtype=np.int64)
        np.add.at(true, buckets, line.sensitive[support])
        noisy = true + rng.two_sided_geometric(rate, count)
        foreseen = np.bincount(buckets, weights=weights, minlength=count).astype(np.float64)
        believed = shrunk_to_foreseen(noisy, foreseen, float(rate))
        within = np.bincount(buckets, weights=shape, minlength=count)
        spread = believed[buckets] * shape / within[buckets]
        return _Remainder(spread, buckets, noisy, rate)


@dataclass(frozen=True)
class Seen:
    """A one-sided release: `floor` = ỹ = (x_ns − G)₊, and the `rate` of G."""

    floor: Counts
    rate: Fraction


@dataclass(frozen=True)
class _Completed:
    """The released `value`, `lower` = ỹ with noise of `rate`, and an `upper` bound of each bin."""

    value: Floats
    lower: Counts
    upper: Counts
    rate: Fraction

    def at(self, bins: Counts) -> _Completed:
        """What was found of these bins, in the shape of `bins`."""
        return replace(self, value=self.value[bins], lower=self.lower[bins], upper=self.upper[bins])

    def measurement(self, keys: Counts | None = None) -> Measurement:
        return Measurement(
            value=self.value,
            intervals=intervals(self.lower, self.upper, self.rate),
            keys=keys,
            parts={"lower": self.lower},
        )


@dataclass(frozen=True)
class _Remainder:
    """What was measured of the sensitive units of the seen bins, and its share for each of them."""

    spread: Floats
    buckets: Counts
    noisy: Counts
    rate: Fraction


def measure_total(data: Histogram, budget: Fraction, rng: Randomness) -> SensitiveTotal:
    """The total of x_s with two-sided geometric noise of rate `budget`/k: pair (`budget`, 0)."""
    rate = budget / data.k
    noise = rng.two_sided_geometric(rate, 1)
    return SensitiveTotal(int(data.sensitive.sum() + noise[0]), rate)


def shrunk_to_foreseen(noisy: Counts, foreseen: Floats, rate: float) -> Floats:
    """The totals t, lowered by min(s, 2s²/e) and then times e²/(e² + 2s²), s = 1/`rate`.

    e = `foreseen` is what a bucket expects and 2s² the noise's variance. A total that could only be
    noise, as even the expected one would drown in it, is not believed. Small counts are more
    frequent than large ones: where they thin out by a factor of 1/e per e units, the mean of what
    the noise hides lies 2s²/e lower, and never lower than s.
    """
    scale = 1 / rate
    squares = foreseen**2
    shift = np.minimum(scale, 2 * scale**2 / np.maximum(foreseen, scale))
    lowered: Floats = np.maximum(noisy - shift, 0.0)
    return lowered * squares / (squares + 2 * scale**2)


def merged(weights: Floats, target: float) -> Counts:
    """Numbers buckets of neighbours so that their `weights` come to about `target` each.

    A bin is in the bucket into which the middle of its weight falls when all weights are laid end
    to end and cut every `target`; linear in the number of bins.
    """
    middles = np.cumsum(weights) - weights / 2
    cut = np.floor(middles / target)
    return np.cumsum(np.diff(cut, prepend=cut[:1]) > 0)


def _upper_bound(
    line: Histogram,
    floor: Counts,
    rate: Fraction,
    support: Counts,
    remainder: _Remainder,
    total: SensitiveTotal | None,
) -> Counts:
    """x = x_ns + x_s ≤ (ỹ + q) + (what the bucket, or else the total, allows for x_s).

    Each of the two may fail with half of what is missing from the confidence. Where n is public,
    xᵢ ≤ n − Σ_{j≠i} ỹⱼ holds for certain.
    """
    tail = (1 - CONFIDENCE) / 2
    reach = geometric_quantile(rate, tail)
    if total is None:
        upper = (line.n or 0) - (np.sum(floor, dtype=np.int64) - floor)
    else:
        most = max(total.value + geometric_quantile(total.rate, tail), 0)
        upper = floor + (reach + most)
    beyond = geometric_quantile(remainder.rate, tail)
    in_bucket = np.maximum(remainder.noisy + beyond, 0)[remainder.buckets]
    upper[support] = np.minimum(upper[support], floor[support] + reach + in_bucket)
    return np.asarray(upper, dtype=np.int64)


def intervals(lower: Counts, upper: Counts, rate: Fraction) -> tuple[Interval, ...]:
    """For x_ns, of which `lower` = (x_ns − G)₊ with G of `rate`, and for x, within these bounds."""
    reach = geometric_quantile(rate, 1 - CONFIDENCE)
    return (
        Interval(Measured.NONSENSITIVE, lower, lower + reach, float(CONFIDENCE)),
        Interval(Measured.ALL, lower, upper, float(CONFIDENCE)),
    )
