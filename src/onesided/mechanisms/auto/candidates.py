"""All that `auto` can spend the rest of its budget on when it has probed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.auto.credibility import BORNE
from onesided.mechanisms.auto.denoising.noise import Noise
from onesided.mechanisms.auto.denoising.posterior import likely_counts
from onesided.mechanisms.auto.denoising.smoothing import Expected, expected_from_others
from onesided.mechanisms.auto.denoising.zeros import boxes_along
from onesided.mechanisms.auto.guarded import GuardedDawa, share_for
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.noise import CONFIDENCE, geometric_quantile, unbiased
from onesided.mechanisms.one_sided import one_sided_noise
from onesided.mechanisms.residual import COVERS, Residual, Seen, SensitiveTotal, intervals
from onesided.randomness import Randomness

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of ε that sensitive units may be measured with: from a/ε = 1/2, beyond which OSDP costs
more than it says, by halves down to four times what their number has cost."""

MEAN_OF_DEVIATION = 0.8
"""The mean size of noise of both kinds beside its standard deviation: between that of two-sided
noise alone, 0.71, and of the normal distribution."""

MOST_BINS_TOGETHER = 1 << 17
"""Beyond so many bins each is looked at alone: what compares bins takes several hundred megabytes
there."""


@dataclass(frozen=True)
class Candidate(ABC):
    """A way to spend what the probe of `plan` has left."""

    plan: ProbePlan

    @property
    @abstractmethod
    def label(self) -> str:
        """The candidate in words."""

    @property
    @abstractmethod
    def left(self) -> Loss:
        """The pair that, added to the probe's, has the OSDP ε."""

    @abstractmethod
    def terms(self, look: Look) -> MeasurementTerms:
        """What can be said of `measure` once the probe was answered."""

    @abstractmethod
    def measure(self, data: Histogram, look: Look, rng: Randomness) -> Measurement:
        """Run on `data`, of which the probe has shown `look`."""

    @property
    def forms(self) -> tuple[Candidate, ...]:
        """What may be made of one measurement: itself, or several ways to read it."""
        return (self,)

    def tried(self, data: Histogram, look: Look, rng: Randomness) -> list[NDArray[Any]]:
        """The value of each of its forms, after one measurement."""
        return [self.measure(data, look, rng).value]

    @abstractmethod
    def expected_error(self) -> float | None:
        """As `Mechanism.expected_error`, with what the probe leaves of ε."""


@dataclass(frozen=True)
class Continued(Candidate):
    """`residual` at (a, ε − a), probe included: y is topped up, then completed.

    Where `unseen_in_buckets`, the bins in which nothing was seen are not released as 0: their
    sensitive units are measured by `guarded-dawa` at the budget of the others.
    """

    mechanism: Residual
    unseen_in_buckets: bool = False

    @property
    def label(self) -> str:
        more = ", unseen bins in buckets" if self.unseen_in_buckets else ""
        return f"residual at a = {self.mechanism.sensitive_share} ε{more}"

    @cached_property
    def left(self) -> Loss:
        return self.plan.left_of_split(self.mechanism.sensitive_share)

    def terms(self, look: Look) -> MeasurementTerms:
        plan, left = self.plan, self.left
        rate = plan.counts_rate + left.nonsensitive / plan.public.k
        noise = self.mechanism.completed_noise(rate, left.sensitive, plan.public)
        if self.unseen_in_buckets:
            unseen = self._buckets(look).noise((), plan.public.k, left.sensitive)
            noise = f"{noise}; where none was seen, {unseen}"
        return MeasurementTerms(left, noise, whole=False, covers=COVERS)

    def measure(self, data: Histogram, look: Look, rng: Randomness) -> Measurement:
        completed = self._completed(data, look, rng)
        if not self.unseen_in_buckets:
            return completed
        return replace(completed, value=self._with_unseen(completed, data, look, rng))

    @property
    def forms(self) -> tuple[Candidate, ...]:
        more = (replace(self, unseen_in_buckets=True),) if self._has_budget_for_unseen else ()
        return self, *more

    def tried(self, data: Histogram, look: Look, rng: Randomness) -> list[NDArray[Any]]:
        completed = self._completed(data, look, rng)
        more = (
            [self._with_unseen(completed, data, look, rng)] if self._has_budget_for_unseen else []
        )
        return [completed.value, *more]

    def expected_error(self) -> float | None:
        return self.mechanism.expected_error(self.plan.public, self.plan.epsilon)

    @property
    def _has_budget_for_unseen(self) -> bool:
        """At the largest split alone: sensitive units lie elsewhere, so much is spent on them."""
        return self.mechanism.sensitive_share == SPLITS[-1] and bins_are_compared(self.plan.public)

    def _completed(self, data: Histogram, look: Look, rng: Randomness) -> Measurement:
        counts, rate = look.topped_up(data, self.left.nonsensitive, rng)
        seen = Seen(np.maximum(counts, 0), rate)
        number = SensitiveTotal(look.sensitive, look.plan.number_rate)
        told = number if look.total is None else None
        return self.mechanism.complete(data, seen, self.left.sensitive, told, rng)

    def _with_unseen(
        self, completed: Measurement, data: Histogram, look: Look, rng: Randomness
    ) -> NDArray[Any]:
        """Its value, with that of buckets where the one-sided release is 0."""
        order = halving_tree(data.shape).order
        hidden = order[completed.parts["lower"].reshape(-1)[order] == 0]
        value = completed.value.reshape(-1).copy()
        if hidden.size:
            counts = data.sensitive.reshape(-1)[hidden]
            found = self._buckets(look).run(counts, data.k, self.left.sensitive, rng)
            value[hidden] = found.value
        return value.reshape(data.shape)

    def _buckets(self, look: Look) -> GuardedDawa:
        rate = self.left.sensitive / self.plan.public.k
        return GuardedDawa(deviation_share=share_for(look.sensitive_units, rate))


@dataclass(frozen=True)
class AllBins(Candidate):
    """y is topped up, and the sensitive units of every bin are measured: (a, ε − a), a = ε/2.

    The sum of the two is x_ns − G + x_s + N, the count of all units with noise whose distribution
    is known; what is likely given all of these sums is released (denoising/). Where nothing was
    seen, x_ns − G says nothing of x_ns, so that x_s + N is better alone. If `none_empty`, less is
    given up where a bin might be empty.
    """

    none_empty: bool = False

    @property
    def label(self) -> str:
        return f"all bins at a = {SPLITS[-1]} ε{', none of them empty' * self.none_empty}"

    @cached_property
    def left(self) -> Loss:
        return self.plan.left_of_split(SPLITS[-1])

    def terms(self, look: Look) -> MeasurementTerms:
        left, k = self.left, self.plan.public.k
        seen = one_sided_noise(self.plan.counts_rate + left.nonsensitive / k)
        noise = f"{seen}; two-sided of rate {left.sensitive / k} on each sensitive one"
        return MeasurementTerms(left, noise, whole=True, covers=COVERS)

    def measure(self, data: Histogram, look: Look, rng: Randomness) -> Measurement:
        found = _Sums.of(data, look, self.left, rng)
        value, floor = found.likely()[int(self.none_empty)], np.maximum(found.seen, 0)
        return Measurement(value=value, intervals=found.intervals(), parts={"lower": floor})

    @property
    def forms(self) -> tuple[Candidate, ...]:
        return self, replace(self, none_empty=True)

    def tried(self, data: Histogram, look: Look, rng: Randomness) -> list[NDArray[Any]]:
        return list(_Sums.of(data, look, self.left, rng).likely())

    def expected_error(self) -> float | None:
        """That of the noise on both kinds of units together, or all of them where that is less."""
        public, left = self.plan.public, self.left
        if public.density is None:
            return None
        down = self.plan.counts_rate + left.nonsensitive / public.k
        variance = Noise(float(left.sensitive / public.k), float(down)).variance
        return min(MEAN_OF_DEVIATION * sqrt(variance), public.density)


@dataclass(frozen=True)
class Ordinary(Candidate):
    """Ordinary DP on all units by `guarded-dawa` at e each way, 2e = ε less what the probe cost.

    A bin is never given less than the probe has seen in it, and nothing where the probe has seen
    nothing although it would hardly have missed a bin like the others of its bucket.
    """

    covers: ClassVar[tuple[Covers, ...]] = (
        *GuardedDawa.covers,
        Covers(Measured.ALL, upper=False, confidence=1.0),
    )

    @property
    def label(self) -> str:
        return "guarded dawa"

    @cached_property
    def left(self) -> Loss:
        return self.plan.left_for_all()

    def terms(self, look: Look) -> MeasurementTerms:
        left, public = self.left, self.plan.public
        noise = self._buckets(look).noise(public.shape or (), public.k, left.sensitive)
        return MeasurementTerms(left, noise, whole=False, covers=self.covers, buckets=True)

    def measure(self, data: Histogram, look: Look, rng: Randomness) -> Measurement:
        found = self._buckets(look).run(data.all, data.k, self.left.sensitive, rng)
        rate = float(look.plan.counts_rate)
        buckets, seen = found.buckets.reshape(-1), look.counts
        weights = unbiased(seen, rate).reshape(-1)
        means = np.bincount(buckets, weights=weights) / np.bincount(buckets)
        # A bin with m non-sensitive units stays unseen with probability e^(−rate·m).
        seldom = (means * rate > -np.log(BORNE))[buckets].reshape(seen.shape)
        value = np.where(seldom & (seen <= 0), 0.0, found.value)
        floor = np.maximum(seen, 0)
        return Measurement(
            value=np.maximum(value, floor),
            intervals=(*found.intervals, Interval(Measured.ALL, floor, None, 1.0)),
            buckets=found.buckets,
            parts={**found.parts, "lower": floor},
        )

    def expected_error(self) -> float | None:
        return GuardedDawa().expected_error(self.plan.public, 2 * self.left.sensitive)

    def _buckets(self, look: Look) -> GuardedDawa:
        rate = self.left.sensitive / self.plan.public.k
        units = look.sensitive_units + look.nonsensitive_units
        return GuardedDawa(deviation_share=share_for(units, rate))


def candidates(plan: ProbePlan) -> list[Candidate]:
    """All that may be run, in several forms; of two that promise the same the earlier is taken."""
    splits: list[Candidate] = [Continued(plan, Residual(sensitive_share=a)) for a in SPLITS]
    if plan.public.shape is None:
        return splits
    ordinary = [Ordinary(plan)] if bins_are_compared(plan.public) else []
    return [*splits, AllBins(plan), *ordinary]


def bins_are_compared(public: PublicShape) -> bool:
    """Whether bins are declared, and few enough for what takes them together."""
    return public.bins is not None and public.bins <= MOST_BINS_TOGETHER


@dataclass(frozen=True)
class _Sums:
    """`seen` = x_ns − G with G of rate `down`, and `measured` = x_s + N with N of rate `both`."""

    seen: Counts
    down: Fraction
    measured: Counts
    both: Fraction
    public: PublicShape

    @classmethod
    def of(cls, data: Histogram, look: Look, left: Loss, rng: Randomness) -> _Sums:
        seen, down = look.topped_up(data, left.nonsensitive, rng)
        both = left.sensitive / data.k
        noise = rng.two_sided_geometric(both, data.bins).reshape(data.shape)
        return cls(seen, down, data.sensitive + noise, both, look.plan.public)

    def intervals(self) -> tuple[Interval, ...]:
        floor, tail = np.maximum(self.seen, 0), (1 - CONFIDENCE) / 2
        beyond = np.maximum(self.measured + geometric_quantile(self.both, tail), 0)
        upper = floor + geometric_quantile(self.down, tail) + beyond
        return intervals(floor, upper, self.down)

    def likely(self) -> Counts:
        """What is likely of all units, never less than was seen: a row for each form."""
        seen, measured = self.seen, self.measured
        noise, unseen = Noise(float(self.both), float(self.down)), seen <= 0
        box, expected = None, Expected.nothing(seen.size)
        if bins_are_compared(self.public):
            box = halving_tree(seen.shape).back(boxes_along(seen.size))[unseen]
            expected = _expected(seen, measured, noise)
        told = expected.but(unseen.reshape(-1))
        together = likely_counts(seen + measured, noise, least=seen, expected=told)
        found = np.stack([together.counts, together.if_none_is_empty])
        if unseen.any():
            told = expected.at(unseen.reshape(-1))
            alone = likely_counts(measured[unseen], Noise(noise.both), box=box, expected=told)
            found[:, unseen] = alone.counts, alone.if_none_is_empty
        return np.maximum(found, np.maximum(seen, 0))


def _expected(seen: Counts, measured: Counts, noise: Noise) -> Expected:
    """What is expected of bins, as those beside them in the order of the halving tree tell."""
    tree = halving_tree(seen.shape)
    counts = unbiased(seen, noise.down) + measured
    alone = Noise(noise.both).variance
    # Where nothing was seen, the one-sided noise is none of the sum.
    variance = alone + (noise.variance - alone) * float(np.mean(seen > 0))
    place = tree.back(np.arange(tree.order.size)).reshape(-1)
    return expected_from_others(tree.along(counts), variance).at(place)
