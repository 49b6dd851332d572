"""What `auto` can spend the rest of its budget on when it has probed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Interval, Measured, Measurement
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Mechanism, Outline, PublicFacts
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.noise import (
    CONFIDENCE,
    geometric_mean,
    geometric_quantile,
    two_sided_mean_size,
)
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.posterior import Noise, likely_counts
from onesided.mechanisms.probe import is_bucketed, probe_loss, probe_rate
from onesided.mechanisms.residual import Residual, Seen, SensitiveTotal, Unseen, intervals
from onesided.mechanisms.wary import Wary
from onesided.randomness import Randomness

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of ε that `residual` may measure sensitive units with."""

COMPLETED_SPLITS = SPLITS[-2:]
"""Those at which the sensitive units of single bins are worth measuring."""

LEAST_LEFT = Fraction(1, 64)
"""The part of ε that questions must leave of such a part."""


@dataclass(frozen=True)
class Before:
    """What the probe released: `counts` = x_ns − G₁ for every bin, with G₁ of `rate`.

    And the total number of sensitive units, where it was asked.
    """

    counts: Counts
    rate: Fraction
    total: SensitiveTotal | None


class Candidate(ABC):
    """A way to spend what the probe has left; `bold` if it gives any bin the mass of others."""

    label: str
    bold: ClassVar[bool] = False

    @abstractmethod
    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        """The pair that, added to the probe's, has the OSDP ε."""

    @abstractmethod
    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        """Run on `data`, of which the probe has released `before`, at the cost `left`."""

    @abstractmethod
    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """As `Mechanism.expected_error`, with what the probe leaves of `epsilon`."""


@dataclass(frozen=True)
class Continued(Candidate):
    """`residual` at (a, ε − a), probe and questions included: y is topped up, then completed."""

    mechanism: Residual
    label: str

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        return _left(self.mechanism.sensitive_share, epsilon, outline)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        counts, rate = _topped_up(data, before, left, rng)
        seen = Seen(np.maximum(counts, 0), rate)
        completed = self.mechanism.complete(data, seen, left.sensitive, before.total, rng)
        return replace(completed, loss=left)

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        return self.mechanism.expected_error(facts, epsilon)


@dataclass(frozen=True)
class Completed(Candidate):
    """y is topped up, and the sensitive units of every bin are measured: (a, ε − a), a/ε = `share`.

    The sum of the two is x_ns − G + x_s + N, the count of all units with noise whose distribution
    is known; what is likely given all of these sums is released (posterior.py).
    """

    share: Fraction

    @property
    def label(self) -> str:  # type: ignore[override]
        return f"all bins at a = {self.share} ε"

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        return _left(self.share, epsilon, outline)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        seen, down = _topped_up(data, before, left, rng)
        both = left.sensitive / data.k
        noise = rng.two_sided_geometric(both, data.bins).reshape(data.shape)
        measured = data.sensitive + noise
        likely = likely_counts(seen + measured, Noise(float(both), float(down)))
        floor = np.maximum(seen, 0)
        tail = (1 - CONFIDENCE) / 2
        beyond = np.maximum(measured + geometric_quantile(both, tail), 0)
        upper = floor + geometric_quantile(down, tail) + beyond
        return Measurement(
            value=np.maximum(likely, floor),
            loss=left,
            noise=(
                f"one-sided geometric of rate {down} on each non-sensitive count; "
                f"two-sided of rate {both} on each sensitive one"
            ),
            intervals=intervals(floor, upper, down),
            parts={"lower": floor},
        )

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """The noise on both kinds of units, or all of them where that is less."""
        if facts.density is None:
            return None
        outline = outline_of(facts)
        left = self.loss(epsilon, outline)
        down = probe_rate(epsilon, outline) + left.nonsensitive / facts.k
        wrong = two_sided_mean_size(left.sensitive / facts.k) + geometric_mean(down)
        return min(wrong, facts.density)


@dataclass(frozen=True)
class Ordinary(Candidate):
    """Ordinary DP on all units at e each way, 2e = ε less what the probe cost; never below it."""

    mechanism: Mechanism
    label: str
    bold: ClassVar[bool] = True

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        spent = probe_loss(epsilon, outline)
        budget = (epsilon - spent.sensitive - spent.nonsensitive) / 2
        return Loss(budget, budget, fixed_n=outline.n is not None)

    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        plain = self.mechanism.measure(data, 2 * left.sensitive, rng)
        floor = np.maximum(before.counts, 0)
        certain = Interval(Measured.ALL, floor, None, 1.0)
        return replace(
            plain,
            value=np.maximum(plain.value, floor),
            loss=left,
            intervals=(*plain.intervals, certain),
            parts={**plain.parts, "lower": floor},
        )

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(facts))
        return self.mechanism.expected_error(facts, 2 * left.sensitive)


def _left(share: Fraction, epsilon: Fraction, outline: Outline) -> Loss:
    """What the probe leaves of the pair (a, ε − a), a/ε = `share`."""
    spent = probe_loss(epsilon, outline)
    budget = share * epsilon
    return Loss(
        budget - spent.sensitive,
        epsilon - budget - spent.nonsensitive,
        fixed_n=outline.n is not None,
    )


def _topped_up(
    data: Histogram, before: Before, left: Loss, rng: Randomness
) -> tuple[Counts, Fraction]:
    """x_ns − G with what is `left`, the probe included, and the rate of G.

    max(x_ns − G₁, x_ns − G₂) = x_ns − min(G₁, G₂), and the smaller of two geometric variables of
    rates p and q is geometric of rate p + q: nothing of the probe is lost.
    """
    rate = left.nonsensitive / data.k
    again = subtract_noise(data.nonsensitive, rate, rng)
    return np.maximum(before.counts, again), before.rate + rate


def candidates(outline: Outline, epsilon: Fraction) -> list[Candidate]:
    """All that may be run; where two promise the same, the earlier one is taken."""
    least = probe_loss(epsilon, outline).sensitive / epsilon + LEAST_LEFT
    found: list[Candidate] = [
        Continued(Residual(sensitive_share=share, correct=correct), f"residual at a = {share} ε")
        for share in SPLITS
        if share >= least
        for correct in (False, True)
    ]
    if outline.shape is None:
        return found
    found += (Completed(share) for share in COMPLETED_SPLITS)
    if is_bucketed(outline):
        half = Residual(sensitive_share=Fraction(1, 2), unseen=Unseen.BUCKETS)
        found.append(Continued(half, "residual at a = 1/2 ε, unseen bins in buckets"))
        found += (Ordinary(Wary(inner=each), f"wary {each.name}") for each in (Dawa(), AHP()))
    return found


def outline_of(facts: PublicFacts) -> Outline:
    shape = None if facts.d is None else (facts.d,)
    return Outline(shape, facts.k, facts.n if facts.total_public else None)
