"""`auto`: a thin probe first, then the candidate that errs least on data like those it has seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.auto.candidates import SPLITS, Candidate, candidates
from onesided.mechanisms.auto.choice import best_candidate
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.auto.probe import ProbePlan, ProbeResult
from onesided.mechanisms.auto.scenarios import scenarios
from onesided.mechanisms.auto.simulation import Simulated
from onesided.mechanisms.base import AdaptiveMechanism, Choice, Kind, Probe, PublicShape
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Auto(AdaptiveMechanism):
    """Probes (probe.py), tries candidates on scenarios of the data, and runs the best one.

    The candidates are `residual` at several splits (it continues the probe, which is not wasted),
    the same for every single bin, and ordinary DP (candidates.py). Each is run on made-up data that
    agree with the probe (scenarios.py), and the best one on average is taken (choice.py).
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
        plan = ProbePlan(public, epsilon)
        expected = (each.expected_error() for each in candidates(plan))
        return min((error for error in expected if error is not None), default=None)

    def probe_terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        return ProbePlan(public, epsilon).terms

    def probe(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> ProbeResult:
        return ProbePlan(PublicShape.of(data), epsilon).ask(data, rng)

    def stored_probe(
        self, answers: Mapping[str, Any], value: Counts, keys: Counts | None = None
    ) -> ProbeResult:
        return ProbeResult.from_json(answers, value, keys)

    def choose(
        self, probe: Probe, public: PublicShape, epsilon: Fraction, rng: Randomness
    ) -> Chosen:
        """The candidate that errs least on scenarios of what the probe has seen."""
        assert isinstance(probe, ProbeResult)
        look = Look(ProbePlan(public, epsilon), probe.value, probe.sensitive, public.total)
        simulated = Simulated(int(rng.below(1 << 62, 1)[0]))
        made_up = scenarios(look, simulated.dice)
        best = best_candidate(candidates(look.plan), made_up, simulated)
        return Chosen(best, probe, look)


@dataclass(frozen=True)
class Chosen(Choice):
    """A candidate, and what it follows."""

    candidate: Candidate
    probe: ProbeResult
    look: Look

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.candidate.label

    @property
    def terms(self) -> MeasurementTerms:
        return self.candidate.terms(self.look)

    def measure(
        self, data: Histogram, rng: Randomness, listed: Counts | None = None
    ) -> Measurement:
        counts = self.look.counts
        if self.probe.keys is not None:
            counts = np.zeros(data.shape, dtype=np.int64)
            counts[self.probe.keys if listed is None else listed] = self.probe.value
        look = Look(self.look.plan, counts, self.look.sensitive, self.look.total)
        return self.candidate.measure(data, look, rng)
