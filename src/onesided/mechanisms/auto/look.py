"""What the probe has shown of some bins, and what follows from it about numbers of units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.mechanisms.auto.denoising.noise import Noise
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.noise import geometric_mean
from onesided.mechanisms.one_sided import subtract_noise
from onesided.randomness import Randomness


@dataclass(frozen=True)
class Look:
    """`counts` = x_ns − G for every bin of the data at hand, and the number of sensitive units.

    The data at hand are those that were probed, or a scenario of them. `total` is their number of
    units where that is public.
    """

    plan: ProbePlan
    counts: Counts
    sensitive: int
    total: int | None

    @cached_property
    def nonsensitive_units(self) -> float:
        """Σ(y + E[G]) and n less the number of sensitive units, weighted by their variances.

        At least what was seen for certain, Σ max(y, 0), and at most n.
        """
        rate = float(self.plan.counts_rate)
        found = float(self.counts.sum()) + self.counts.size * geometric_mean(rate)
        if self.total is not None:
            told, of_number = float(self.total - self.sensitive), self._variance_of_number
            share = self.nonsensitive_variance / of_number if of_number else 0.0
            found = min(found + (told - found) * share, float(self.total))
        return max(found, float(np.maximum(self.counts, 0).sum()))

    @property
    def nonsensitive_variance(self) -> float:
        """That of the noise in `nonsensitive_units`."""
        mean = geometric_mean(self.plan.counts_rate)
        of_counts = self.counts.size * mean * (mean + 1)
        if self.total is None or not of_counts:
            return of_counts
        of_number = self._variance_of_number
        return of_counts * of_number / (of_counts + of_number)

    @property
    def sensitive_units(self) -> float:
        """What is left of n, or the number that was asked."""
        if self.total is None:
            return max(float(self.sensitive), 0.0)
        return max(self.total - self.nonsensitive_units, 0.0)

    @property
    def _variance_of_number(self) -> float:
        return Noise(float(self.plan.number_rate)).variance

    def topped_up(
        self, data: Histogram, budget: Fraction, rng: Randomness
    ) -> tuple[Counts, Fraction]:
        """x_ns − G with `budget` more, the probe included, and the rate of G.

        max(x_ns − G₁, x_ns − G₂) = x_ns − min(G₁, G₂), and the smaller of two geometric variables
        of rates p and q is geometric of rate p + q: nothing of the probe is lost.
        """
        rate = budget / data.k
        again = subtract_noise(data.nonsensitive, rate, rng)
        return np.maximum(self.counts, again), self.plan.counts_rate + rate
