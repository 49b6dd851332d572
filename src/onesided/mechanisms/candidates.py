"""What `auto` can spend the rest of its budget on when it has probed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from onesided.data import Histogram, Interval, Measured, Measurement
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Mechanism, Outline, PublicFacts
from onesided.mechanisms.cautious import CautiousDawa, CautiousLaplace
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.privtree import PrivTree
from onesided.mechanisms.probe import PROBE_SHARE, is_bucketed, probe_loss
from onesided.mechanisms.residual import Residual, Seen, SensitiveTotal, Unseen
from onesided.randomness import Randomness

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of ε that `residual` may measure sensitive units with."""


@dataclass(frozen=True)
class Before:
    """What the probe released: `floor` = (x_ns − G₁)₊ for every bin, and the total where it did."""

    floor: Counts
    total: SensitiveTotal | None


class Candidate(ABC):
    """A way to spend what the probe has left; `bold` if it may give empty bins any mass."""

    label: str
    bold: bool

    @abstractmethod
    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        """The pair that, added to the probe's, has the OSDP ε."""

    @abstractmethod
    def measure(
        self, data: Histogram, before: Before, epsilon: Fraction, rng: Randomness
    ) -> Measurement:
        """Run on `data`, of which the probe has released `before`."""

    @abstractmethod
    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """As `Mechanism.expected_error`, with what the probe leaves of `epsilon`."""


@dataclass(frozen=True)
class Continued(Candidate):
    """`residual` at (a, ε − a), probe and questions included: y is topped up, then completed.

    max(x_ns − G₁, x_ns − G₂) = x_ns − min(G₁, G₂), and the smaller of two geometric variables of
    rates p and q is geometric of rate p + q: nothing of y is lost.
    """

    mechanism: Residual
    label: str
    bold: bool = False

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        whole = self.mechanism.loss(epsilon, fixed_n=outline.n is not None)
        spent = probe_loss(epsilon, outline)
        return Loss(
            whole.sensitive - spent.sensitive,
            whole.nonsensitive - spent.nonsensitive,
            fixed_n=whole.fixed_n,
        )

    def measure(
        self, data: Histogram, before: Before, epsilon: Fraction, rng: Randomness
    ) -> Measurement:
        left = self.loss(epsilon, Outline.of(data))
        again = subtract_noise(data.nonsensitive, left.nonsensitive / data.k, rng)
        rate = (left.nonsensitive + PROBE_SHARE * epsilon) / data.k
        seen = Seen(np.maximum(before.floor, again), rate)
        completed = self.mechanism.complete(data, seen, left.sensitive, before.total, rng)
        return replace(completed, loss=left)

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        return self.mechanism.expected_error(facts, epsilon)


@dataclass(frozen=True)
class Ordinary(Candidate):
    """Ordinary DP on all units at e each way, 2e = ε less what the probe cost; never below it."""

    mechanism: Mechanism
    label: str
    bold: bool

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        spent = probe_loss(epsilon, outline)
        budget = (epsilon - spent.sensitive - spent.nonsensitive) / 2
        return Loss(budget, budget, fixed_n=outline.n is not None)

    def measure(
        self, data: Histogram, before: Before, epsilon: Fraction, rng: Randomness
    ) -> Measurement:
        left = self.loss(epsilon, Outline.of(data))
        plain = self.mechanism.measure(data, 2 * left.sensitive, rng)
        certain = Interval(Measured.ALL, before.floor, None, 1.0)
        return replace(
            plain,
            value=np.maximum(plain.value, before.floor),
            loss=left,
            intervals=(*plain.intervals, certain),
            parts={**plain.parts, "lower": before.floor},
        )

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        left = self.loss(epsilon, outline_of(facts))
        return self.mechanism.expected_error(facts, 2 * left.sensitive)


def candidates(outline: Outline) -> list[Candidate]:
    """All that may be run; where two promise the same, the earlier one is taken."""
    found: list[Candidate] = [
        Continued(Residual(sensitive_share=share, correct=correct), f"residual at a = {share} ε")
        for share in SPLITS
        for correct in (False, True)
    ]
    if outline.shape is None:
        return found
    cautious: list[Mechanism] = [CautiousLaplace()]
    bold: list[Mechanism] = [Laplace(clip=True)]
    if is_bucketed(outline):
        half = Residual(sensitive_share=Fraction(1, 2), unseen=Unseen.BUCKETS)
        found.append(Continued(half, "residual at a = 1/2 ε, unseen bins in buckets"))
        cautious.append(CautiousDawa())
        bold += [Dawa(), AHP(), PrivTree()]
    found += (Ordinary(each, each.name, bold=False) for each in cautious)
    found += (Ordinary(each, each.name, bold=True) for each in bold)
    return found


def outline_of(facts: PublicFacts) -> Outline:
    shape = None if facts.d is None else (facts.d,)
    return Outline(shape, facts.k, facts.n if facts.total_public else None)
