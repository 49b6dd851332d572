"""Candidates of `auto` that put all bins into buckets, which `Wary` does not take at their word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.candidate import (
    BOLD,
    VERY_BOLD,
    Before,
    Candidate,
    left_of,
    outline_of,
    sensitive_units,
    topped_up,
    topped_up_rate,
)
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.given_buckets import GivenBuckets
from onesided.mechanisms.noise import unbiased
from onesided.mechanisms.one_sided import one_sided_noise
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

    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        return _halves(epsilon, public)

    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        return _terms_on_all(self._wary(public, before, left), public, left)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        wary = self._wary(PublicShape.of(data), before, left)
        return _measured_on_all(wary, data, before, left, rng)

    def _wary(self, public: PublicShape, before: Before, left: Loss) -> Wary:
        rate = left.sensitive / public.k
        share = share_for(_units(public, before), rate, self.least_share)
        return Wary(inner=self.inner, deviation_share=share)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(public))
        wary = Wary(inner=self.inner, deviation_share=self.least_share)
        return wary.expected_error(public, 2 * left.sensitive)


@dataclass(frozen=True)
class InPieces(Candidate):
    """Ordinary DP as `Ordinary`, with the pieces of the probe as buckets: they cost nothing.

    So most of the budget tells whether bins are as equal as that, and none of them empty.
    """

    label: str = "wary pieces of the probe"
    boldness: float = VERY_BOLD
    unsteady: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        return _halves(epsilon, public)

    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        return _terms_on_all(self._wary(public, before, left), public, left)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        wary = self._wary(PublicShape.of(data), before, left)
        return _measured_on_all(wary, data, before, left, rng)

    def _wary(self, public: PublicShape, before: Before, left: Loss) -> Wary:
        found, shape = before.pieces, public.shape or ()
        order = halving_tree(shape).order
        buckets = np.empty(order.size, dtype=np.int64)
        buckets[order] = _levels(found)
        known = public.total is not None and not buckets.any()
        most = Fraction(1) if known else MOST_FOR_QUESTIONS
        together = float(found.means[found.several].sum()) / max(found.units, 1.0)
        units = _units(public, before) * together
        share = share_for(units, left.sensitive / public.k, SHARES[0], most)
        inner = GivenBuckets(buckets=buckets.reshape(shape))
        return Wary(inner=inner, deviation_share=share, shortfall_share=most - share)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
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

    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        return left_of(Fraction(1, 2), epsilon, public)

    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        shares = " or ".join(map(str, SHARES))
        noise = (
            f"{one_sided_noise(topped_up_rate(public.k, before, left))}; a partition and "
            f"two-sided noise on totals of sensitive units in buckets and on the deviations of "
            f"buckets, the last at {shares} of the rate {left.sensitive / public.k}, as what was "
            "seen suggests"
        )
        return MeasurementTerms(left, noise, whole=False, covers=(_CERTAIN,))

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
            intervals=_certain(seen),
            parts={"lower": np.maximum(seen, 0)},
        )

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(public))
        return Wary(inner=Dawa()).rough_error(public, left.sensitive)


def _halves(epsilon: Fraction, public: PublicShape) -> Loss:
    """(e, e), 2e = ε less what the probe cost."""
    spent = probe_loss(epsilon, public)
    budget = (epsilon - spent.sensitive - spent.nonsensitive) / 2
    return Loss(budget, budget, fixed_n=public.total is not None)


_CERTAIN = Covers(Measured.ALL, upper=False, confidence=1.0)


def _terms_on_all(wary: Wary, public: PublicShape, left: Loss) -> MeasurementTerms:
    return MeasurementTerms(
        loss=left,
        noise=wary.noise(public.shape or (), public.k, left.sensitive),
        whole=False,
        covers=(*wary.inner.covers, _CERTAIN),
        buckets=True,
    )


def _measured_on_all(
    wary: Wary, data: Histogram, before: Before, left: Loss, rng: Randomness
) -> Measurement:
    """`wary` on all units, never against what the probe has seen."""
    plain = wary.measure(data, 2 * left.sensitive, rng)
    assert plain.buckets is not None
    return replace(
        plain,
        value=_agreeing(plain.value, before.counts, before.rate, plain.buckets.reshape(-1)),
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


def _units(public: PublicShape, before: Before) -> float:
    """About how many units there are, from public facts and the probe."""
    if public.total is not None:
        return float(public.total)
    others = float(unbiased(before.counts, float(before.rate)).sum())
    return others + (before.total.value if before.total else 0)


def _levels(found: Pieces) -> Counts:
    """The bucket of each bin: one for all pieces of a level, and one for each bin that is alone."""
    alone = found.means.size + np.cumsum(~found.several)
    _, level = np.unique(found.means, return_inverse=True)
    _, numbered = np.unique(np.where(found.several, level, alone), return_inverse=True)
    return np.asarray(numbered, dtype=np.int64)
