"""Mechanisms for audits of the auditor: small ones, wrong ones, and how hard to look."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from onesided.audit import AtEpsilon, Auditable, Effort, StatisticalAudit
from onesided.data.histogram import Counts
from onesided.mechanisms.base import Kind, Mechanism
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.totals import bucket_totals, measure_totals, spread_evenly
from onesided.randomness import Randomness

TOO_LITTLE_NOISE = Fraction(10, 7)
"""Run at 1/0.7 of the ε that it is held to, a mechanism has 30 % too little noise."""

QUICK = Effort(search=100, random=6, climbs=0, learn=1_500, test=4_000, pairs=60)


@dataclass(frozen=True, kw_only=True)
class OneBucket(BucketAlgorithm):
    """The simplest algorithm over buckets: all bins are one bucket."""

    name: ClassVar[str] = "one-bucket"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "one noisy total"

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        buckets = np.zeros(counts.shape, dtype=np.int64)
        totals = measure_totals(bucket_totals(counts, buckets), budget / k, rng)
        return Bucketed(
            spread_evenly(totals.values, buckets), buckets, parts={"totals": totals.values}
        )

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        return f"two-sided geometric of rate {budget / k} on the total"


def at(chosen: Mechanism, epsilon: Any) -> Auditable:
    """A mechanism run at ε."""
    return AtEpsilon(chosen, Fraction(epsilon))


def quick_audit(seed: int = 0, effort: Effort = QUICK) -> StatisticalAudit:
    """A statistical audit that takes a second or so."""
    return StatisticalAudit(effort=effort, seed=seed)
