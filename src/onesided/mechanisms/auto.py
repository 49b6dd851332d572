"""`auto`: a small one-sided probe first, then whatever promises the least error after it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import LARGEST_COUNT, Counts
from onesided.loss import Loss
from onesided.mechanisms.base import AdaptiveMechanism, Choice, Kind, PublicShape
from onesided.mechanisms.candidate import Before, Candidate, outline_of
from onesided.mechanisms.candidates import SPLITS, candidates
from onesided.mechanisms.gallery import pictures
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.picture import Picture
from onesided.mechanisms.probe import (
    probe_rate,
    probe_terms,
    released_total,
    sensitive_total,
    take_probe,
)
from onesided.randomness import Randomness, seeded

NEGLIGIBLE_BINS = 1
"""Errors are compared beyond that of so many of all bins tried wrong by one: less is chance."""

TRIALS = 2
"""How often those that put all bins into buckets are tried: their errors differ from run to run."""

HOPELESS = 2.0
"""One trial is enough for an error that counts so many times that of another."""


@dataclass(frozen=True, kw_only=True)
class Auto(AdaptiveMechanism):
    """Probes (probe.py), tries candidates on pictures of the data, and runs the best one.

    The candidates are `residual` at several splits (it continues the probe, which is not wasted),
    with and without buckets for unseen bins, and ordinary DP (candidates.py). Each is run on
    made-up data that agree with the probe (gallery.py), and the one with the smallest worst ratio
    to the best candidate is chosen.
    """

    name: ClassVar[str] = "auto"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "a one-sided probe, then the mechanism that promises the least error"
    needs_domain: ClassVar[bool] = False

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """A pair that covers every choice: (ε/2, 15ε/16); a run costs less, OSDP ε exactly."""
        return Loss(epsilon * max(SPLITS), epsilon * (1 - min(SPLITS)), fixed_n=fixed_n)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """The least that any candidate expects: after the probe, the choice is made for that."""
        expected = (
            each.expected_error(public, epsilon) for each in candidates(outline_of(public), epsilon)
        )
        return min((error for error in expected if error is not None), default=None)

    def probe_terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return probe_terms(public, epsilon)

    def probe(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        return take_probe(data, epsilon, rng)

    def choose(
        self, probe: Measurement, public: PublicShape, epsilon: Fraction, rng: Randomness
    ) -> Choice:
        """The candidate whose worst ratio to the best one, over all pictures, is smallest."""
        options = candidates(public, epsilon)
        losses = [each.loss(epsilon, public) for each in options]
        worst = np.zeros(len(options))
        # What is drawn for made-up data protects nobody, so it may be fast instead of exact.
        dice = seeded(int(rng.below(1 << 62, 1)[0]))
        for alike in pictures(probe, public, epsilon, dice):
            tried = sum(made_up.all.size for made_up in alike)
            errors = np.full(len(options), NEGLIGIBLE_BINS / tried)
            for made_up in alike:
                trial = _trial(made_up, public)
                before = _look(trial, public, epsilon, dice)
                found = _errors(options, losses, trial, before, -(-TRIALS // len(alike)), dice)
                errors += np.array(found) / len(alike)
            worst = np.maximum(worst, errors / errors.min())
        worst *= [each.boldness for each in options]
        best = options[int(np.argmin(worst))]
        return Chosen(best, probe, public, epsilon)


@dataclass(frozen=True)
class Chosen(Choice):
    """A candidate together with the probe that it follows."""

    candidate: Candidate
    probe: Measurement
    public: PublicShape
    epsilon: Fraction

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.candidate.label

    @property
    def terms(self) -> MeasurementTerms:
        return self.candidate.terms(self.public, self._before(self.probe.value), self._left)

    def measure(
        self, data: Histogram, rng: Randomness, listed: Counts | None = None
    ) -> Measurement:
        counts = self.probe.value
        if self.probe.keys is not None:
            counts = np.zeros(data.shape, dtype=np.int64)
            counts[self.probe.keys if listed is None else listed] = self.probe.value
        return self.candidate.measure(data, self._before(counts), self._left, rng)

    @property
    def _left(self) -> Loss:
        return self.candidate.loss(self.epsilon, self.public)

    def _before(self, counts: Counts) -> Before:
        total = None
        if not self.public.total is not None:
            total = released_total(self.probe, self.public, self.epsilon)
        return Before(counts, probe_rate(self.epsilon, self.public), total)


def _trial(made_up: Picture, public: PublicShape) -> Histogram:
    """A picture as a histogram with the public shape of the data."""
    return Histogram(
        np.minimum(made_up.all, LARGEST_COUNT),
        np.minimum(made_up.nonsensitive, LARGEST_COUNT),
        k=public.k,
        total_public=public.total is not None,
        n=public.total,
    )


def _look(trial: Histogram, public: PublicShape, epsilon: Fraction, dice: Randomness) -> Before:
    """What the probe would have released on a trial histogram."""
    rate = probe_rate(epsilon, public)
    counts = subtract_noise(trial.nonsensitive, rate, dice)
    total = None
    if public.total is None:
        total = sensitive_total(int(trial.sensitive.sum()), epsilon, public)
    return Before(counts, rate, total)


def _errors(
    options: list[Candidate],
    losses: list[Loss],
    trial: Histogram,
    before: Before,
    again: int,
    dice: Randomness,
) -> list[float]:
    """Of each candidate, unsteady ones tried `again` and again unless they are hopeless."""
    found: list[float] = []
    for each, left in zip(options, losses, strict=True):
        runs = again if each.unsteady else 1
        enough = HOPELESS * min(found, default=inf) / each.boldness
        found.append(_mean_error(each, trial, before, left, runs, enough, dice))
    return found


def _mean_error(
    candidate: Candidate,
    trial: Histogram,
    before: Before,
    left: Loss,
    runs: int,
    enough: float,
    dice: Randomness,
) -> float:
    """The mean of so many `runs`, or the error of the first if that is `enough`."""
    values = (candidate.measure(trial, before, left, dice).value for _ in range(runs))
    errors = (_mean_relative_error(trial.all, value) for value in values)
    first = next(errors)
    return first if first > enough else (first + sum(errors)) / runs


def _mean_relative_error(truth: Counts, value: Counts) -> float:
    return float(np.mean(np.abs(value - truth) / np.maximum(truth, 1)))
