"""`auto`: a small one-sided probe first, then whatever promises the least error after it."""

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
from onesided.mechanisms.base import (
    AdaptiveMechanism,
    Choice,
    Kind,
    Mechanism,
    Outline,
    PublicFacts,
)
from onesided.mechanisms.cautious import CautiousDawa
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.halving import halving_tree
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.picture import Picture, Pieces, Texture, picture, pieces
from onesided.mechanisms.residual import Residual, Seen, SensitiveTotal, Unseen, measure_total
from onesided.randomness import Randomness, seeded

PROBE_SHARE = Fraction(1, 4)
"""The part of ε that the probe costs: (0, ε/4)."""

TOTAL_SHARE = Fraction(1, 32)
"""Where n is not public, the probe also counts sensitive units: (ε/32, 0)."""

NEGLIGIBLE_BINS = 8
"""Errors are compared beyond the error of so many bins wrong by one: less is chance."""

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))

MOST_BINS_FOR_BUCKETS = 1 << 17
"""Beyond so many bins only mechanisms whose time is linear in the bins are considered."""


@dataclass(frozen=True, kw_only=True)
class Auto(AdaptiveMechanism):
    """Probes at (0, ε/4), tries every candidate on pictures of the data, and runs the best one.

    The candidates are `residual` at several splits (it continues the probe, which is not wasted),
    with and without buckets for unseen bins, and ordinary DP: `laplace` and `dawa`. Each is run on
    made-up data that agree with the probe (picture.py), and the one with the smallest worst ratio
    to the best candidate is chosen.
    """

    name: ClassVar[str] = "auto"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "a one-sided probe, then the mechanism that promises the least error"
    needs_domain: ClassVar[bool] = False

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """A pair that covers every choice: (ε/2, 15ε/16); a run costs less, OSDP ε exactly."""
        return Loss(epsilon * max(SPLITS), epsilon * (1 - min(SPLITS)), fixed_n=fixed_n)

    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """The least that any candidate expects: after the probe, the choice is made for that."""
        expected = (each.expected_error(facts, epsilon) for each in _candidates(_outline(facts)))
        return min((error for error in expected if error is not None), default=None)

    def probe_loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        """(0, ε/4), and (ε/32, 0) more where n is not public."""
        counted = Fraction(0) if outline.n is not None else TOTAL_SHARE * epsilon
        return Loss(counted, PROBE_SHARE * epsilon)

    def probe(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        """y = x_ns − G at ε/4, unclipped where keys are declared, and maybe the total of x_s."""
        rate = PROBE_SHARE * epsilon / data.k
        counts = subtract_noise(data.nonsensitive, rate, rng)
        keys = np.flatnonzero(counts > 0) if data.open_domain else None
        parts: dict[str, Counts] = {}
        noise = f"probe: one-sided geometric of rate {rate} on each non-sensitive count"
        if data.n is None:
            total = measure_total(data, TOTAL_SHARE * epsilon, rng)
            parts["sensitive_total"] = np.array([total.value])
            noise += f", two-sided of rate {total.rate} on the number of sensitive units"
        return Measurement(
            value=counts if keys is None else counts[keys],
            loss=self.probe_loss(epsilon, Outline.of(data)),
            noise=noise,
            keys=keys,
            parts=parts,
        )

    def choose(
        self, probe: Measurement, outline: Outline, epsilon: Fraction, rng: Randomness
    ) -> Choice:
        """The candidate whose worst ratio to the best one, over all pictures, is smallest."""
        candidates = _candidates(outline)
        worst = np.zeros(len(candidates))
        # What is drawn for made-up data protects nobody, so it may be fast instead of exact.
        dice = seeded(int(rng.below(1 << 62, 1)[0]))
        for made_up in _pictures(probe, outline, epsilon, dice):
            trial = _trial(made_up, outline)
            before = _look(trial, outline, epsilon, dice)
            values = (each.measure(trial, before, epsilon, dice).value for each in candidates)
            errors = np.array([_mean_relative_error(trial.all, value) for value in values])
            errors += NEGLIGIBLE_BINS / trial.bins
            worst = np.maximum(worst, errors / errors.min())
        best = candidates[int(np.argmin(worst))]
        return _Chosen(best, probe, outline, epsilon)


@dataclass(frozen=True)
class _Before:
    """What the probe released: `floor` = (x_ns − G₁)₊ for every bin, and the total where it did."""

    floor: Counts
    total: SensitiveTotal | None


class _Candidate(ABC):
    """A way to spend what the probe has left."""

    label: str

    @abstractmethod
    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        """The pair that, added to the probe's, has the OSDP ε."""

    @abstractmethod
    def measure(
        self, data: Histogram, before: _Before, epsilon: Fraction, rng: Randomness
    ) -> Measurement:
        """Run on `data`, of which the probe has released `before`."""

    @abstractmethod
    def expected_error(self, facts: PublicFacts, epsilon: Fraction) -> float | None:
        """As `Mechanism.expected_error`, with what the probe leaves of `epsilon`."""


@dataclass(frozen=True)
class _Continued(_Candidate):
    """`residual` at (a, ε − a): the probe is topped up to ε − a, then completed at a.

    max(x_ns − G₁, x_ns − G₂) = x_ns − min(G₁, G₂), and the smaller of two geometric variables of
    rates p and q is geometric of rate p + q: nothing of the probe is lost.
    """

    mechanism: Residual
    label: str

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        whole = self.mechanism.loss(epsilon, fixed_n=outline.n is not None)
        counted = Fraction(0) if outline.n is not None else TOTAL_SHARE * epsilon
        return Loss(
            whole.sensitive - counted,
            whole.nonsensitive - PROBE_SHARE * epsilon,
            fixed_n=whole.fixed_n,
        )

    def measure(
        self, data: Histogram, before: _Before, epsilon: Fraction, rng: Randomness
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
class _Ordinary(_Candidate):
    """Ordinary DP on all units at e each way, 2e = ε less what the probe cost; never below it."""

    mechanism: Mechanism
    label: str

    def loss(self, epsilon: Fraction, outline: Outline) -> Loss:
        spent = Auto().probe_loss(epsilon, outline)
        budget = (epsilon - spent.sensitive - spent.nonsensitive) / 2
        return Loss(budget, budget, fixed_n=outline.n is not None)

    def measure(
        self, data: Histogram, before: _Before, epsilon: Fraction, rng: Randomness
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
        left = self.loss(epsilon, _outline(facts))
        return self.mechanism.expected_error(facts, 2 * left.sensitive)


@dataclass(frozen=True)
class _Chosen(Choice):
    """A candidate together with the probe that it follows."""

    candidate: _Candidate
    probe: Measurement
    outline: Outline
    epsilon: Fraction

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.candidate.label

    @property
    def loss(self) -> Loss:  # type: ignore[override]
        return self.candidate.loss(self.epsilon, self.outline)

    def measure(self, data: Histogram, rng: Randomness) -> Measurement:
        floor = np.zeros(data.shape, dtype=np.int64)
        if self.probe.keys is None:
            floor = np.maximum(self.probe.value, 0)
        else:
            floor[self.probe.keys] = self.probe.value
        before = _Before(floor, _released_total(self.probe, self.outline, self.epsilon))
        return self.candidate.measure(data, before, self.epsilon, rng)


def _outline(facts: PublicFacts) -> Outline:
    shape = None if facts.d is None else (facts.d,)
    return Outline(shape, facts.k, facts.n if facts.total_public else None)


def _candidates(outline: Outline) -> list[_Candidate]:
    """All that may be run; where two promise the same, the earlier one is taken."""
    found: list[_Candidate] = [
        _Continued(Residual(sensitive_share=share, correct=correct), f"residual at a = {share} ε")
        for share in SPLITS
        for correct in (False, True)
    ]
    if outline.shape is None:
        return found
    found.append(_Ordinary(Laplace(clip=True), "laplace"))
    if np.prod(outline.shape) <= MOST_BINS_FOR_BUCKETS:
        half = Residual(sensitive_share=Fraction(1, 2), unseen=Unseen.BUCKETS)
        found.append(_Continued(half, "residual at a = 1/2 ε, unseen bins in buckets"))
        found.extend(_Ordinary(each, each.name) for each in (CautiousDawa(), Dawa(), AHP()))
    return found


def _pictures(
    probe: Measurement, outline: Outline, epsilon: Fraction, rng: Randomness
) -> list[Picture]:
    """Made-up data that agree with the probe, bins along a line; none if no key was found."""
    if probe.value.size == 0:
        return []
    released = _released_total(probe, outline, epsilon)
    if outline.shape is None:
        found = Pieces.each_bin(probe.value)
        textures: tuple[Texture, ...] = (Texture.EVEN,)
    else:
        order = halving_tree(outline.shape).order
        rate = float(PROBE_SHARE * epsilon / outline.k)
        found = pieces(probe.value.reshape(-1)[order], rate)
        textures = tuple(Texture)
    total = float(found.means @ found.sizes) + max(released.value, 0) if released else outline.n
    return [picture(found, float(total or 0), each, rng) for each in textures]


def _trial(made_up: Picture, outline: Outline) -> Histogram:
    """A picture as a histogram with the outline of the data."""
    return Histogram(
        made_up.all,
        made_up.nonsensitive,
        k=outline.k,
        total_public=outline.n is not None,
        n=outline.n,
    )


def _look(trial: Histogram, outline: Outline, epsilon: Fraction, rng: Randomness) -> _Before:
    """What the probe would have released on a trial histogram."""
    probe = Auto().probe(trial, epsilon, rng)
    return _Before(np.maximum(probe.value, 0), _released_total(probe, outline, epsilon))


def _released_total(
    probe: Measurement, outline: Outline, epsilon: Fraction
) -> SensitiveTotal | None:
    if "sensitive_total" not in probe.parts:
        return None
    rate = TOTAL_SHARE * epsilon / outline.k
    return SensitiveTotal(int(probe.parts["sensitive_total"][0]), rate)


def _mean_relative_error(truth: Counts, value: Counts) -> float:
    return float(np.mean(np.abs(value - truth) / np.maximum(truth, 1)))
