"""Candidates of `auto` that top up the probe and add sensitive units to it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.candidate import (
    Before,
    Candidate,
    left_of,
    outline_of,
    topped_up,
    topped_up_rate,
)
from onesided.mechanisms.localities import localities
from onesided.mechanisms.neighbours import Expected, expected_from_neighbours
from onesided.mechanisms.noise import (
    CONFIDENCE,
    geometric_mean,
    geometric_quantile,
    two_sided_mean_size,
    unbiased,
)
from onesided.mechanisms.noise_on_sums import Noise
from onesided.mechanisms.one_sided import one_sided_noise
from onesided.mechanisms.posterior import likely_counts
from onesided.mechanisms.probe import MOST_BINS_FOR_BUCKETS, probe_rate
from onesided.mechanisms.residual import COVERS, Residual, Seen, intervals
from onesided.randomness import Randomness

SHARE = Fraction(1, 2)
"""The part of ε at which the sensitive units of single bins are worth measuring."""

LEAST_NEIGHBOURHOODS = 4
"""Fewer bins are taken together where bins are few."""


@dataclass(frozen=True)
class Continued(Candidate):
    """`residual` at (a, ε − a), probe and questions included: y is topped up, then completed."""

    mechanism: Residual
    label: str

    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        return left_of(self.mechanism.sensitive_share, epsilon, public)

    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        rate = topped_up_rate(public.k, before, left)
        noise = self.mechanism.completed_noise(rate, left.sensitive, public)
        return MeasurementTerms(left, noise, whole=False, covers=COVERS)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        counts, rate = topped_up(data, before, left, rng)
        seen = Seen(np.maximum(counts, 0), rate)
        return self.mechanism.complete(data, seen, left.sensitive, before.total, rng)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        return self.mechanism.expected_error(public, epsilon)


@dataclass(frozen=True)
class Completed(Candidate):
    """y is topped up, and the sensitive units of every bin are measured: (a, ε − a), a = ε/2.

    The sum of the two is x_ns − G + x_s + N, the count of all units with noise whose distribution
    is known; what is likely given all of these sums is released (posterior.py). Where nothing was
    seen, x_ns − G says nothing of x_ns, so that x_s + N is better alone; neighbours tell whether
    such a bin is empty, and what bins are like where they are alike (neighbours.py). If
    `none_empty`, less is given up where a bin might be empty.
    """

    label: str = f"all bins at a = {SHARE} ε"
    boldness: float = 1.0
    none_empty: bool = False

    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        return left_of(SHARE, epsilon, public)

    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        noise = (
            f"{one_sided_noise(topped_up_rate(public.k, before, left))}; "
            f"two-sided of rate {left.sensitive / public.k} on each sensitive one"
        )
        return MeasurementTerms(left, noise, whole=True, covers=COVERS)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        seen, down = topped_up(data, before, left, rng)
        both = left.sensitive / data.k
        noise = rng.two_sided_geometric(both, data.bins).reshape(data.shape)
        measured = data.sensitive + noise
        likely = _likely(seen, measured, Noise(float(both), float(down)), self.none_empty)
        floor = np.maximum(seen, 0)
        tail = (1 - CONFIDENCE) / 2
        beyond = np.maximum(measured + geometric_quantile(both, tail), 0)
        upper = floor + geometric_quantile(down, tail) + beyond
        return Measurement(
            value=np.maximum(likely, floor),
            intervals=intervals(floor, upper, down),
            parts={"lower": floor},
        )

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The noise on both kinds of units, or all of them where that is less."""
        density = public.density
        if density is None:
            return None
        public = outline_of(public)
        left = self.loss(epsilon, public)
        down = probe_rate(epsilon, public) + left.nonsensitive / public.k
        wrong = two_sided_mean_size(left.sensitive / public.k) + geometric_mean(down)
        return min(wrong, density)


def _likely(seen: Counts, measured: Counts, noise: Noise, none_empty: bool) -> Counts:
    """What is likely of all units, given `seen` = x_ns − G and `measured` = x_s + N."""
    unseen = seen <= 0
    block, expected = None, Expected.nothing(seen.size)
    if seen.size <= MOST_BINS_FOR_BUCKETS:
        block = neighbourhoods(seen.shape)[unseen]
        expected = _expected(seen, measured, noise)
    likely = likely_counts(
        seen + measured,
        noise,
        least=seen,
        expected=expected.but(unseen.reshape(-1)),
        none_empty=none_empty,
    )
    if unseen.any():
        likely[unseen] = likely_counts(
            measured[unseen],
            Noise(noise.both),
            block=block,
            expected=expected.at(unseen.reshape(-1)),
            none_empty=none_empty,
        )
    return likely


def _expected(seen: Counts, measured: Counts, noise: Noise) -> Expected:
    """What is expected of bins, as those beside them in the order of the halving tree tell."""
    order = halving_tree(seen.shape).order
    counts = unbiased(seen, noise.down) + measured
    alone = Noise(noise.both).variance
    # Where nothing was seen, the one-sided noise is none of the sum.
    variance = alone + (noise.variance - alone) * float(np.mean(seen > 0))
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return expected_from_neighbours(counts.reshape(-1)[order], variance).at(place)


def neighbourhoods(shape: tuple[int, ...]) -> Counts:
    """The number of the neighbourhood of each bin: a box of bins as likely to be empty."""
    order = halving_tree(shape).order
    numbers = np.empty_like(order)
    numbers[order] = localities(order.size, LEAST_NEIGHBOURHOODS)
    return numbers.reshape(shape)
