"""Candidates of `auto` that put all bins into buckets, which `Wary` does not take at their word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram, Interval, Measured, Measurement
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Outline, PublicFacts
from onesided.mechanisms.candidate import (
    BOLD,
    VERY_BOLD,
    Before,
    Candidate,
    left_of,
    outline_of,
    sensitive_units,
    topped_up,
)
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.given_buckets import GivenBuckets
from onesided.mechanisms.halving import halving_tree
from onesided.mechanisms.noise import unbiased
from onesided.mechanisms.pieces import Pieces
from onesided.mechanisms.probe import probe_loss
from onesided.mechanisms.wary import SHARES, Wary, share_for
from onesided.randomness import Randomness

Floats = NDArray[np.float64]

HARDLY_UNSEEN = 0.005
"""The probability up to which a bin like the others of its bucket is not seen by a one-sided
release: one that it has not seen is taken to be empty then."""

MOST_FOR_QUESTIONS = Fraction(3, 4)
"""The part of the budget that the totals of several given buckets leave."""


@dataclass(frozen=True)
class Ordinary(Candidate):
    """Ordinary DP on all units at e each way, 2e = ε less what the probe cost.

    The buckets of `inner`, whose deviations cost `least_share` of e or more.
    """

    inner: Dawa | AHP
    least_share: Fraction
    label: str
    boldness: float
    unsteady: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        return _halves(epsilon, outline)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        units = _units(data, before)
        share = share_for(units, left.sensitive / data.k, self.least_share)
        wary = Wary(inner=self.inner, deviation_share=share)
        return _measured_on_all(wary, data, before, left, rng)

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(facts))
        wary = Wary(inner=self.inner, deviation_share=self.least_share)
        return wary.expected_error(facts, 2 * left.sensitive)


@dataclass(frozen=True)
class InPieces(Candidate):
    """Ordinary DP as `Ordinary`, with the pieces of the probe as buckets: they cost nothing.

    So most of the budget tells whether bins are as equal as that, and none of them empty.
    """

    label: str = "wary pieces of the probe"
    boldness: float = VERY_BOLD
    unsteady: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        return _halves(epsilon, outline)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        found = before.pieces
        buckets = np.empty(data.bins, dtype=np.int64)
        buckets[halving_tree(data.shape).order] = _levels(found)
        known = data.n is not None and not buckets.any()
        most = Fraction(1) if known else MOST_FOR_QUESTIONS
        together = float(found.means[found.several].sum()) / max(found.units, 1.0)
        units = _units(data, before) * together
        share = share_for(units, left.sensitive / data.k, SHARES[0], most)
        inner = GivenBuckets(buckets=buckets.reshape(data.shape))
        wary = Wary(inner=inner, deviation_share=share, shortfall_share=most - share)
        return _measured_on_all(wary, data, before, left, rng)

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """Data decide; where units are spread evenly it is next to nothing."""
        return None


@dataclass(frozen=True)
class Split(Candidate):
    """Buckets of `dawa` for the sensitive units alone, at (a, ε − a) with a = ε/2.

    The others are seen by y, topped up: a bin gets the mean of its bucket of them.
    """

    label: str = "wary dawa on sensitive units"
    boldness: float = BOLD
    unsteady: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        return left_of(Fraction(1, 2), epsilon, outline)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        seen, rate = topped_up(data, before, left, rng)
        units = sensitive_units(data, before.total, seen, rate)
        share = share_for(units, left.sensitive / data.k)
        wary = Wary(inner=Dawa(), deviation_share=share)
        result = wary.run(data.sensitive, data.k, left.sensitive, rng)
        buckets = result.buckets.reshape(-1)
        runs = result.parts["runs"][buckets]
        # What share of its level a run was given tells how alike its bins are.
        others = (_bucket_means(seen, runs, rate) * result.parts["run_shares"])[runs]
        value = result.value + others.reshape(data.shape)
        return Measurement(
            value=_agreeing(value, seen, rate, buckets),
            loss=left,
            noise=f"one-sided geometric of rate {rate} on each non-sensitive count; {result.noise}",
            intervals=_certain(seen),
            parts={"lower": np.maximum(seen, 0)},
        )

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(facts))
        return Wary(inner=Dawa()).rough_error(facts, left.sensitive)


def _halves(epsilon: Fraction, outline: Outline) -> Loss:
    """(e, e), 2e = ε less what the probe cost."""
    spent = probe_loss(epsilon, outline)
    budget = (epsilon - spent.sensitive - spent.nonsensitive) / 2
    return Loss(budget, budget, fixed_n=outline.n is not None)


def _measured_on_all(
    wary: Wary, data: Histogram, before: Before, left: Loss, rng: Randomness
) -> Measurement:
    """`wary` on all units, never against what the probe has seen."""
    plain = wary.measure(data, 2 * left.sensitive, rng)
    assert plain.buckets is not None
    return replace(
        plain,
        value=_agreeing(plain.value, before.counts, before.rate, plain.buckets.reshape(-1)),
        loss=left,
        intervals=(*plain.intervals, *_certain(before.counts)),
        parts={**plain.parts, "lower": np.maximum(before.counts, 0)},
    )


def _agreeing(value: Floats, seen: Counts, rate: Fraction, buckets: Counts) -> Floats:
    """`value`, never below what was `seen`, and 0 in bins that would have been seen if not empty.

    A bin with x non-sensitive units stays unseen with probability e^(−r·x) at `rate` r.
    """
    means = _bucket_means(seen, buckets, rate)
    hardly = means * float(rate) > -log(HARDLY_UNSEEN)
    empty = hardly[buckets].reshape(seen.shape) & (seen <= 0)
    return np.asarray(np.maximum(np.where(empty, 0.0, value), seen), dtype=np.float64)


def _bucket_means(seen: Counts, buckets: Counts, rate: Fraction) -> Floats:
    """How many non-sensitive units the bins of each bucket have: the mean of what was `seen`."""
    weights = unbiased(seen, float(rate)).reshape(-1)
    return np.asarray(np.bincount(buckets, weights=weights) / np.bincount(buckets))


def _certain(seen: Counts) -> tuple[Interval, ...]:
    return (Interval(Measured.ALL, np.maximum(seen, 0), None, 1.0),)


def _units(data: Histogram, before: Before) -> float:
    """About how many units there are, from public facts and the probe."""
    if data.n is not None:
        return float(data.n)
    others = float(unbiased(before.counts, float(before.rate)).sum())
    return others + (before.total.value if before.total else 0)


def _levels(found: Pieces) -> Counts:
    """The bucket of each bin: one for all pieces of a level, and one for each bin that is alone."""
    alone = found.means.size + np.cumsum(~found.several)
    _, level = np.unique(found.means, return_inverse=True)
    _, numbered = np.unique(np.where(found.several, level, alone), return_inverse=True)
    return np.asarray(numbered, dtype=np.int64)
