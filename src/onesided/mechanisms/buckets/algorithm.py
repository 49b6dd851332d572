"""Algorithms that measure buckets: groups of bins that share one noisy total.

Each of them is ordinary differential privacy on a single array of counts, calibrated to adding or
removing one unit. As a mechanism of its own it runs on all units at half of the OSDP ε; the recipe
(`recipe.py`) runs the same algorithm at another budget, or on the non-sensitive units alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.expectation import NO_TWO_ALIKE
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import Mechanism, PublicShape, of_one_class
from onesided.mechanisms.buckets.totals import expected_shrunk_error
from onesided.mechanisms.noise import CONFIDENCE
from onesided.randomness import Randomness


@dataclass(frozen=True)
class Bucketed:
    """What an algorithm over buckets found; `value` and `buckets` have the shape of the counts.

    - `value`: the estimate of each bin.
    - `buckets`: the number of each bin's bucket, from 0.
    - `intervals`, `parts`: as in `Measurement`.
    """

    value: NDArray[Any]
    buckets: NDArray[np.int64]
    intervals: tuple[Interval, ...] = ()
    parts: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BucketAlgorithm(Mechanism):
    """A differentially private algorithm that answers with buckets.

    `run` at add/remove budget a has the pair (a, a). An algorithm with `reads_n` makes use of n
    where it is given; it may then be calibrated to replacing one unit at 2a, which is booked as
    (a, a) with fixed n. Where n is None it must do without (a noisy total, say).
    """

    assumes: ClassVar[str] = NO_TWO_ALIKE
    #: Whether `run` makes use of the public number of units where it is handed over.
    reads_n: ClassVar[bool] = False
    #: The intervals that an answer has.
    covers: ClassVar[tuple[Covers, ...]] = (
        Covers(Measured.BUCKETS, upper=True, confidence=float(CONFIDENCE)),
    )

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse a number of bins or dimensions that the algorithm is not made for."""

    def check(self, public: PublicShape) -> None:
        super().check(public)
        if public.shape is not None:
            self.check_shape(public.shape)

    @abstractmethod
    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        """Run on `counts` at add/remove `budget`, where one unit is in at most `k` bins.

        `n` is the public number of units, given only where it stands for the total of `counts`.
        """

    def run_many(
        self, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
    ) -> NDArray[np.int64] | None:
        """Many runs of `run` at once, where it is not told n; as `Mechanism.measure_many`."""
        return None

    def rows_of_runs(
        self, counts: Counts, k: int, budget: Fraction, runs: int, rng: Randomness
    ) -> NDArray[np.int64] | None:
        """`run_many`, or None where a subclass has a `run` of its own."""
        if self.reads_n or not of_one_class(type(self), "run", "run_many"):
            return None
        return self.run_many(counts, k, budget, runs, rng)

    @abstractmethod
    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        """The noise of `run` on counts of that shape, in words."""

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(ε/2, ε/2): ordinary DP for adding or removing a unit at ε/2, on all units."""
        half = epsilon / 2
        return Loss(half, half, fixed_n=fixed_n and self.reads_n)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """For data of which no two bins are alike; how much less it is otherwise, data decide."""
        return self.rough_error(public, epsilon / 2)

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        """The expected mean of |x̃ᵢ − xᵢ| at add/remove `budget`, where no two bins are alike."""
        return None

    def budget_on_all(self, epsilon: Fraction) -> Fraction:
        """The add/remove budget of a run on all units at OSDP `epsilon`."""
        return epsilon / 2

    def run_on_all(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Bucketed:
        """Run on all units at OSDP `epsilon`."""
        n = data.n if self.reads_n else None
        return self.run(data.all, data.k, self.budget_on_all(epsilon), rng, n)

    def noise_on_all(self, public: PublicShape, epsilon: Fraction) -> str:
        """The noise of `run_on_all`, in words."""
        return self.noise(public.shape or (), public.k, self.budget_on_all(epsilon))

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return MeasurementTerms(
            loss=self.loss(epsilon, fixed_n=public.total_public),
            noise=self.noise_on_all(public, epsilon),
            whole=False,
            covers=self.covers,
            buckets=True,
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        result = self.run_on_all(data, epsilon, rng)
        return Measurement(
            value=result.value,
            intervals=result.intervals,
            buckets=result.buckets,
            parts=result.parts,
        )

    def measure_many(
        self, data: Histogram, epsilon: Fraction, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        return self.rows_of_runs(data.all, data.k, self.budget_on_all(epsilon), runs, rng)


def measured_alone(public: PublicShape, rate: Fraction, shrink: Fraction) -> float | None:
    """The expected error of bins of which no two are alike, noise of `rate`/k on each bucket.

    They are measured one by one, and `shrink` as in `shrunk`. Where noise drowns them they share a
    bucket after all; on average they differ from its mean m = n·k/d by 2m at most.
    """
    if public.density is None:
        return None
    alone = expected_shrunk_error(public.density, float(rate / public.k), float(shrink))
    return min(alone, 2 * public.density)
