"""The recipe: find empty bins one-sidedly, and make any algorithm over buckets respect them.

A one-sided release can be certain that a bin is *not* empty, and cheaply suspects the others; an
algorithm over buckets then need not smear mass over bins that look empty. Proofs in recipe.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Floats
from onesided.errors import InputError
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.buckets.totals import checked_share
from onesided.mechanisms.dawa import Dawa
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Recipe(Mechanism):
    """ρε to find the bins Z that look empty, (1−ρ)ε/2 to run `inner` on all units, then Z := 0.

    A bin is in Z when a sample of the non-sensitive units, each in it kept with probability
    1 − e^(−ρε/k), has kept none of them. The rest of a bucket B takes over the mass of B ∩ Z: its
    values are multiplied by |B| / |B∖Z|; a bucket within Z becomes 0.

    - `inner`: the algorithm over buckets; the recipe is as sound as that is.
    - `detection_share`: ρ.
    """

    name: ClassVar[str] = "recipe"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "empty bins found one-sidedly, then an algorithm over buckets"
    assumes: ClassVar[str] = BucketAlgorithm.assumes

    inner: BucketAlgorithm = field(default_factory=Dawa)
    detection_share: Fraction = Fraction(1, 10)

    def __post_init__(self) -> None:
        share = checked_share(self.detection_share, "detection_share")
        object.__setattr__(self, "detection_share", share)
        _check_kind(self, self.inner)

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """((1−ρ)ε/2, (1+ρ)ε/2): (0, ρε) for Z, and the inner algorithm's pair at OSDP (1−ρ)ε."""
        detection = Loss(0, self.detection_share * epsilon)
        return detection + self.inner.loss((1 - self.detection_share) * epsilon, fixed_n=fixed_n)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """As `inner` but for the share e^(−ρε·m_ns/k) of the bins, which are lost to Z.

        m = n·k/d is the mean count, m_ns that of the non-sensitive units. A lost bin errs by m, and
        so do, together, those that its mass is moved to.
        """
        rest = (1 - self.detection_share) * epsilon
        inner = self.inner.expected_error(public, rest)
        if inner is None or public.density is None:
            return None
        present = public.density * public.nonsensitive_share
        lost = exp(-float(self.detection_share * epsilon / public.k) * present)
        return lost * 2 * public.density + (1 - lost) * inner

    def check(self, public: PublicShape) -> None:
        super().check(public)
        self.inner.check(public)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        inner = self.inner.noise_on_all(public, (1 - self.detection_share) * epsilon)
        return MeasurementTerms(
            loss=self.loss(epsilon, fixed_n=public.total is not None),
            noise="non-empty bins found with probability "
            f"1 − e^(−{self.detection_share * epsilon / public.k}) a non-sensitive unit; {inner}",
            whole=False,
            covers=self.inner.covers,
            buckets=True,
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        detection_rate = self.detection_share * epsilon / data.k
        empty = rng.bernoulli_exp(detection_rate, data.nonsensitive)
        inner = self.inner.run_on_all(data, (1 - self.detection_share) * epsilon, rng)
        return Measurement(
            value=move_to_survivors(inner.value, inner.buckets, empty),
            intervals=inner.intervals,
            buckets=inner.buckets,
            parts={**inner.parts, "looks_empty": empty},
        )

    def measure_many(
        self, data: Histogram, epsilon: Fraction, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        """Whether each bin looks empty, and the row of `inner`."""
        detection_rate = self.detection_share * epsilon / data.k
        nonsensitive = np.tile(data.nonsensitive.reshape(-1), (runs, 1))
        empty = rng.bernoulli_exp(detection_rate, nonsensitive)
        budget = self.inner.budget_on_all((1 - self.detection_share) * epsilon)
        inner = self.inner.rows_of_runs(data.all, data.k, budget, runs, rng)
        return None if inner is None else np.hstack([empty, inner])


@dataclass(frozen=True, kw_only=True)
class Dawaz(Recipe):
    """DAWAz of the paper on sound ground: the recipe over `dawa`."""

    name: ClassVar[str] = "dawaz"
    summary: ClassVar[str] = "the recipe over dawa (DAWAz, sound)"


@dataclass(frozen=True, kw_only=True)
class NaiveRecipe(Mechanism):
    """`inner` on the non-sensitive units alone, at add/remove budget ε; sensitive ones are left
    out. The number of non-sensitive units is secret, so `inner` is never told a total."""

    name: ClassVar[str] = "naive-recipe"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "an algorithm over buckets on the non-sensitive units alone"
    assumes: ClassVar[str] = BucketAlgorithm.assumes

    inner: BucketAlgorithm = field(default_factory=Dawa)

    def __post_init__(self) -> None:
        _check_kind(self, self.inner)

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε): sensitive units are not looked at."""
        return Loss(0, epsilon)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The sensitive units, which are left out, and what `inner` errs by on the others."""
        if public.n is None or public.density is None:
            return None
        others = replace(public, n=round(public.n * public.nonsensitive_share))
        inner = self.inner.rough_error(others, epsilon)
        if inner is None:
            return None
        return public.density * (1 - public.nonsensitive_share) + inner

    def check(self, public: PublicShape) -> None:
        super().check(public)
        self.inner.check(public)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        noise = self.inner.noise(public.shape or (), public.k, epsilon)
        return MeasurementTerms(
            loss=self.loss(epsilon),
            noise=f"on non-sensitive units alone: {noise}",
            whole=False,
            buckets=True,
        )

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        result = self.inner.run(data.nonsensitive, data.k, epsilon, rng)
        return Measurement(
            value=result.value,
            buckets=result.buckets,
            parts=result.parts,
        )

    def measure_many(
        self, data: Histogram, epsilon: Fraction, runs: int, rng: Randomness
    ) -> NDArray[Any] | None:
        return self.inner.rows_of_runs(data.nonsensitive, data.k, epsilon, runs, rng)


def move_to_survivors(
    value: NDArray[Any], buckets: NDArray[np.int64], empty: NDArray[np.bool_]
) -> Floats:
    """0 on `empty` bins Z; elsewhere `value`·|B| / |B∖Z|, where B is the bin's bucket."""
    numbers = buckets.reshape(-1)
    sizes = np.bincount(numbers)
    survivors = np.bincount(numbers, weights=~empty.reshape(-1))
    factor = sizes / np.maximum(survivors, 1)
    return np.where(empty, 0.0, value * factor[buckets])


def _check_kind(outer: Mechanism, inner: BucketAlgorithm) -> None:
    """A sound name must not hide an unsound algorithm."""
    if inner.kind is not outer.kind:
        raise InputError(f"{outer.name} is {outer.kind.value}, and so must its inner algorithm be.")
