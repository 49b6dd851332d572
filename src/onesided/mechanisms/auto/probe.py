"""The probe of `auto`: a thin one-sided release, and a noisy number of sensitive units.

What is asked, at which rates and at what cost is a `ProbePlan`, known before the data are read;
what was answered is a `ProbeResult`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from onesided.data import Histogram, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import Probe, PublicShape
from onesided.mechanisms.one_sided import one_sided_noise, subtract_noise
from onesided.randomness import Randomness

COUNTS_SHARE = Fraction(1, 8)
"""The part of ε for the one-sided release: what tops it up loses nothing of it, while ordinary DP
after it has 43 % of ε each way instead of 50 %."""

NUMBER_SHARE = Fraction(1, 64)
"""The part of ε for the number of sensitive units: a quarter of the smallest split of `residual`,
which has to measure them with the rest."""


@dataclass(frozen=True)
class ProbePlan:
    """What the probe asks of data of the shape `public` at a release's ε, and what it costs."""

    public: PublicShape
    epsilon: Fraction

    @cached_property
    def counts_rate(self) -> Fraction:
        """That of the noise G on each non-sensitive count."""
        return COUNTS_SHARE * self.epsilon / self.public.k

    @cached_property
    def number_rate(self) -> Fraction:
        """That of the noise on the number of sensitive units, each counted once for every bin."""
        return NUMBER_SHARE * self.epsilon / self.public.k

    @cached_property
    def loss(self) -> Loss:
        """(ε/64, ε/8): the number depends on sensitive units alone, the counts on the others."""
        return Loss(NUMBER_SHARE * self.epsilon, COUNTS_SHARE * self.epsilon)

    @property
    def terms(self) -> MeasurementTerms:
        """What can be said of the probe before the data are read; it bounds nothing."""
        noise = (
            f"{one_sided_noise(self.counts_rate)}, two-sided of rate {self.number_rate} on the "
            "number of sensitive units"
        )
        return MeasurementTerms(self.loss, noise, whole=True)

    def left_of_split(self, share: Fraction) -> Loss:
        """What the probe leaves of the pair (a, ε − a), a/ε = `share`."""
        spent, budget = self.loss, share * self.epsilon
        return Loss(
            budget - spent.sensitive,
            self.epsilon - budget - spent.nonsensitive,
            fixed_n=self.public.total_public,
        )

    def left_for_all(self) -> Loss:
        """(e, e) for ordinary DP, 2e = ε less what the probe cost."""
        budget = (self.epsilon - self.loss.sensitive - self.loss.nonsensitive) / 2
        return Loss(budget, budget, fixed_n=self.public.total_public)

    def ask(self, data: Histogram, rng: Randomness) -> ProbeResult:
        """y = x_ns − G, unclipped where bins are declared, and the number of sensitive units."""
        counts = subtract_noise(data.nonsensitive, self.counts_rate, rng)
        noise = rng.two_sided_geometric(self.number_rate, 1)
        number = int(data.sensitive.sum() + noise[0])
        if not data.open_domain:
            return ProbeResult(counts, None, number)
        keys = np.flatnonzero(counts > 0)
        return ProbeResult(counts[keys], keys, number)


@dataclass(frozen=True)
class ProbeResult(Probe):
    """What the probe was answered.

    - `value`: y for every declared bin, or for each listed key.
    - `keys`: of an open domain the places of the listed keys.
    - `sensitive`: the noisy number of sensitive units.
    """

    value: Counts
    keys: Counts | None
    sensitive: int

    def to_json(self) -> dict[str, Any]:
        return {"sensitive": self.sensitive}

    @classmethod
    def from_json(
        cls, answers: Mapping[str, Any], value: Counts, keys: Counts | None = None
    ) -> ProbeResult:
        """What `to_json` gave, beside the counts and listed keys that are stored as a table."""
        return cls(value, keys, int(answers["sensitive"]))
