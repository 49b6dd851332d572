"""What all ways have in common to spend what the probe of `auto` leaves of its budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.noise import unbiased
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.pieces import Pieces
from onesided.mechanisms.probe import cut, probe_loss
from onesided.mechanisms.residual import SensitiveTotal
from onesided.randomness import Randomness

BOLD, BOLDER, VERY_BOLD = 1.25, 1.5, 2.0
"""By which factor the error of a candidate counts more that gives any bin the mass of others, or
takes none for empty: what a picture overlooks can cost it far more than the rest. More so one
that takes bins for equal, wherever they are, that are equal in pictures; and most of all one that
does not even look for those that are."""


@dataclass(frozen=True)
class Before:
    """What the probe released: `counts` = x_ns − G₁ for every bin, with G₁ of `rate`.

    And the total number of sensitive units, where it was asked.
    """

    counts: Counts
    rate: Fraction
    total: SensitiveTotal | None

    @cached_property
    def pieces(self) -> Pieces:
        """Those of `counts`."""
        return cut(self.counts, self.rate)


class Candidate(ABC):
    """A way to spend what the probe has left; `boldness` is 1, `BOLD`, `BOLDER` or `VERY_BOLD`.

    The errors of one that is `unsteady` differ from run to run.
    """

    label: str
    boldness: float = 1.0
    unsteady: ClassVar[bool] = False

    @abstractmethod
    def loss(self, epsilon: Fraction, public: PublicShape) -> Loss:
        """The pair that, added to the probe's, has the OSDP ε."""

    @abstractmethod
    def terms(self, public: PublicShape, before: Before, left: Loss) -> MeasurementTerms:
        """What can be said of `measure` once the probe has released `before`."""

    @abstractmethod
    def measure(self, data: Histogram, before: Before, left: Loss, rng: Randomness) -> Measurement:
        """Run on `data`, of which the probe has released `before`, at the cost `left`."""

    @abstractmethod
    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """As `Mechanism.expected_error`, with what the probe leaves of `epsilon`."""


def left_of(share: Fraction, epsilon: Fraction, public: PublicShape) -> Loss:
    """What the probe leaves of the pair (a, ε − a), a/ε = `share`."""
    spent = probe_loss(epsilon, public)
    budget = share * epsilon
    return Loss(
        budget - spent.sensitive,
        epsilon - budget - spent.nonsensitive,
        fixed_n=public.total is not None,
    )


def topped_up(
    data: Histogram, before: Before, left: Loss, rng: Randomness
) -> tuple[Counts, Fraction]:
    """x_ns − G with what is `left`, the probe included, and the rate of G.

    max(x_ns − G₁, x_ns − G₂) = x_ns − min(G₁, G₂), and the smaller of two geometric variables of
    rates p and q is geometric of rate p + q: nothing of the probe is lost.
    """
    rate = topped_up_rate(data.k, before, left)
    again = subtract_noise(data.nonsensitive, rate - before.rate, rng)
    return np.maximum(before.counts, again), rate


def topped_up_rate(k: int, before: Before, left: Loss) -> Fraction:
    """The rate of G in `topped_up`."""
    return before.rate + left.nonsensitive / k


def sensitive_units(
    data: Histogram, total: SensitiveTotal | None, seen: Counts, rate: Fraction
) -> float:
    """About how many sensitive units there are: as asked, or as n and x_ns − G = `seen` tell."""
    if total is not None:
        return float(total.value)
    return (data.n or 0) - float(unbiased(seen, float(rate)).sum())


def outline_of(public: PublicShape) -> PublicShape:
    shape = None if public.bins is None else (public.bins,)
    return PublicShape(shape, public.k, public.total, public.total is not None)
