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
from onesided.mechanisms.base import (
    AdaptiveMechanism,
    Choice,
    Kind,
    Mechanism,
    Outline,
    PublicFacts,
)
from onesided.mechanisms.cautious import CautiousDawa, CautiousLaplace
from onesided.mechanisms.halving import halving_tree
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.picture import (
    WIDE,
    Deviations,
    Picture,
    Pieces,
    Texture,
    levels_measured,
    levels_seen,
    picture,
    pieces,
)
from onesided.mechanisms.residual import Residual, Seen, SensitiveTotal, Unseen
from onesided.randomness import Randomness, seeded

PROBE_SHARE = Fraction(1, 4)
"""The part of ε that the probe costs: (0, ε/4)."""

LOOK_SHARE = Fraction(1, 32)
"""The part of ε that the probe spends on sensitive units, (ε/32, 0): on how they deviate within
pieces and within blocks, and where n is not public on their number."""

NEGLIGIBLE_BINS = 8
"""Errors are compared beyond the error of so many bins wrong by one: less is chance."""

MINORITY = 0.25
"""Sensitive units are taken for typical where there are more of them than so many per other."""

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))

MOST_BINS_FOR_BUCKETS = 1 << 17
"""Beyond so many bins only mechanisms whose time is linear in the bins are considered."""


@dataclass(frozen=True, kw_only=True)
class Auto(AdaptiveMechanism):
    """Probes at (ε/32, ε/4), tries candidates on pictures of the data, and runs the best one.

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
        """(ε/32, ε/4); (0, ε/4) where nothing is asked about sensitive units."""
        asked = LOOK_SHARE * epsilon if _questions(outline) else 0
        return Loss(asked, PROBE_SHARE * epsilon)

    def probe(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        """y = x_ns − G at ε/4, unclipped where keys are declared, and then what y suggests to ask.

        The questions about x_s are its deviation within the pieces of y and within their blocks,
        and its total where n is not public; each answer has two-sided geometric noise, and all
        have the same share of ε/32.
        """
        outline = Outline.of(data)
        rate = PROBE_SHARE * epsilon / data.k
        counts = subtract_noise(data.nonsensitive, rate, rng)
        keys = np.flatnonzero(counts > 0) if data.open_domain else None
        noise = f"probe: one-sided geometric of rate {rate} on each non-sensitive count"
        parts: dict[str, Counts] = {}
        questions = _questions(outline)
        if questions:
            answers = _exact_answers(data, counts, float(rate), questions)
            second = _look_rate(epsilon, outline)
            parts["asked"] = answers + rng.two_sided_geometric(second, answers.size)
            noise += f", two-sided of rate {second} on {', '.join(questions)} of sensitive units"
        return Measurement(
            value=counts if keys is None else counts[keys],
            loss=self.probe_loss(epsilon, outline),
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
        spent = Auto().probe_loss(epsilon, outline)
        return Loss(
            whole.sensitive - spent.sensitive,
            whole.nonsensitive - spent.nonsensitive,
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
    found.append(_Ordinary(CautiousLaplace(), "cautious-laplace"))
    if np.prod(outline.shape) <= MOST_BINS_FOR_BUCKETS:
        half = Residual(sensitive_share=Fraction(1, 2), unseen=Unseen.BUCKETS)
        found.append(_Continued(half, "residual at a = 1/2 ε, unseen bins in buckets"))
        found.append(_Ordinary(CautiousDawa(), "cautious-dawa"))
    return found


DEVIATIONS = ("deviation within pieces", "deviation within blocks")
NUMBER = "number"


def _questions(outline: Outline) -> tuple[str, ...]:
    """What the probe asks about sensitive units."""
    bucketed = outline.shape is not None and np.prod(outline.shape) <= MOST_BINS_FOR_BUCKETS
    return (*(DEVIATIONS if bucketed else ()), *(() if outline.n is not None else (NUMBER,)))


def _look_rate(epsilon: Fraction, outline: Outline) -> Fraction:
    return LOOK_SHARE * epsilon / (len(_questions(outline)) * outline.k)


def _exact_answers(
    data: Histogram, probe: Counts, rate: float, questions: tuple[str, ...]
) -> Counts:
    """The true answers; a unit that is added or removed moves each by at most k."""
    answers = []
    if DEVIATIONS[0] in questions:
        order = halving_tree(data.shape).order
        found = pieces(probe.reshape(-1)[order], rate)
        deviations = Deviations.of(data.sensitive.reshape(-1)[order], found)
        answers += [int(deviations.far), int(deviations.near)]
    if NUMBER in questions:
        answers.append(int(data.sensitive.sum()))
    return np.array(answers, dtype=np.int64)


def _pictures(
    probe: Measurement, outline: Outline, epsilon: Fraction, dice: Randomness
) -> list[Picture]:
    """Made-up data that agree with the probe, bins along a line; none if no key was found."""
    if probe.value.size == 0:
        return []
    generator = dice.generator()
    rate = float(PROBE_SHARE * epsilon / outline.k)
    if outline.shape is None:
        seen = probe.value.size
        found = Pieces.of(np.arange(seen), probe.value.astype(np.float64), seen, rate)
    else:
        found = pieces(probe.value.reshape(-1)[halving_tree(outline.shape).order], rate)
    released = _released_total(probe, outline, epsilon)
    known = float(released.value if released else (outline.n or 0) - found.units)
    sensitive = max(known, 0.0)
    deviations = _released_deviations(probe, outline, epsilon)
    # A small minority says little about the whole, and nothing where its noise drowns it.
    least = max(MINORITY * found.units, 4 * WIDE * deviations.scale) if deviations else 0.0
    made_up = []
    for texture in Texture:
        if deviations is not None and sensitive > least:
            levels = levels_measured(found, sensitive, deviations, texture, generator)
        else:
            levels = levels_seen(found, texture, generator)
        made_up.append(picture(found, sensitive, levels, generator))
    return made_up


def _released_deviations(
    probe: Measurement, outline: Outline, epsilon: Fraction
) -> Deviations | None:
    if DEVIATIONS[0] not in _questions(outline):
        return None
    far, near = (float(each) for each in probe.parts["asked"][:2])
    return Deviations(far, near, 1 / float(_look_rate(epsilon, outline)))


def _trial(made_up: Picture, outline: Outline) -> Histogram:
    """A picture as a histogram with the outline of the data."""
    return Histogram(
        made_up.all,
        made_up.nonsensitive,
        k=outline.k,
        total_public=outline.n is not None,
        n=outline.n,
    )


def _look(trial: Histogram, outline: Outline, epsilon: Fraction, dice: Randomness) -> _Before:
    """What the probe would have released on a trial histogram."""
    rate = PROBE_SHARE * epsilon / trial.k
    floor = np.maximum(subtract_noise(trial.nonsensitive, rate, dice), 0)
    if outline.n is not None:
        return _Before(floor, None)
    return _Before(floor, SensitiveTotal(int(trial.sensitive.sum()), _look_rate(epsilon, outline)))


def _released_total(
    probe: Measurement, outline: Outline, epsilon: Fraction
) -> SensitiveTotal | None:
    if outline.n is not None:
        return None
    return SensitiveTotal(int(probe.parts["asked"][-1]), _look_rate(epsilon, outline))


def _mean_relative_error(truth: Counts, value: Counts) -> float:
    return float(np.mean(np.abs(value - truth) / np.maximum(truth, 1)))
