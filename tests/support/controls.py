"""How the auditor is tried on every mechanism: with 30 % too little noise, and as it should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from onesided.audit import Auditable, Effort, Setting, StatisticalAudit, StatisticalReport
from onesided.audit.neighbours import Candidate
from onesided.audit.targets import running, setting_of
from onesided.mechanisms.auto.auto import Auto, Chosen
from onesided.mechanisms.auto.candidates import Candidate as Measured
from onesided.mechanisms.auto.candidates import Continued
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.base import Choice, Kind, Mechanism, PublicShape
from onesided.mechanisms.registry import MECHANISMS, mechanism, mechanism_names
from onesided.mechanisms.residual import Residual
from support.audited import TOO_LITTLE_NOISE

Second = Callable[[ProbePlan], Measured]
"""What `auto` does after a probe, once the plan of the probe is known."""

AUTO_CHOICE: Second = partial(Continued, mechanism=Residual(sensitive_share=Fraction(1, 8)))
"""Most of ε is left for noise that goes one way, which takes the fewest runs to judge."""


@dataclass(frozen=True, kw_only=True)
class AutoWithoutTrials(Auto):
    """`auto` with one choice for all probes, since trying the candidates takes most of its time.

    What is chosen after the probe is free, so `auto` keeps its promise under every rule of choice
    or the proof is wrong.
    """

    chosen: Second = AUTO_CHOICE

    def choose(self, probe, public: PublicShape, epsilon: Fraction, rng) -> Choice:
        plan = ProbePlan(public, epsilon)
        look = Look(plan, probe.value, probe.sensitive, public.total)
        return Chosen(self.chosen(plan), probe, look)


@dataclass(frozen=True)
class Control:
    """One mechanism, the claim it is held to, and how hard the auditor looks.

    - `learn`, `test`: runs on either side, `search` for each pair in the first round;
    - `sound_test`: runs for each of very many tests of the mechanism with all of its noise;
    - `known`: a pair that the search has found, for a version without search;
    - `second`: what `auto` does after its probe.
    """

    name: str
    epsilon: Fraction
    bins: int
    search: int
    learn: int
    test: int
    sound_test: int
    known: tuple[tuple[int, ...], tuple[int, ...], int, int, bool]
    second: Second = AUTO_CHOICE

    @property
    def setting(self) -> Setting:
        return setting_of(mechanism(self.name), self.bins)

    def mechanism(self, *, weak: bool) -> Auditable:
        chosen: Mechanism = mechanism(self.name)
        if self.name == "auto":
            chosen = AutoWithoutTrials(chosen=self.second)
        return running(chosen, self.epsilon * (TOO_LITTLE_NOISE if weak else 1))

    def reports(self, times: int, *, weak: bool, searched: bool) -> list[StatisticalReport]:
        """So many tests of one event."""
        test = self.test if weak else self.sound_test
        effort = Effort(search=self.search, random=0, climbs=0, learn=self.learn, test=test)
        audit = StatisticalAudit(effort=effort)
        pairs = None if searched else [Candidate(self.setting, *self.known).pair()]
        return audit.claims(
            self.mechanism(weak=weak), self.epsilon, times, pairs=pairs, setting=self.setting
        )


TWO = Fraction(2)
_LONELY = ((0, 0), (0, 0), 0, 1, False)
_STAIRS = (0, 0, 2, 1, 1, 1, 1, 1)
_NONE = (0,) * 8
_ONES = (1,) * 8

CONTROLS = {
    name: Control(name, TWO, 2, 1_000, 60_000, 45_000, 500, _LONELY)
    for name in mechanism_names()
    if MECHANISMS[name].kind is not Kind.BROKEN
} | {
    control.name: control
    for control in (
        Control("one-sided", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("rr", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("osdp-laplace", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("osdp-laplace-l1", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("laplace", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("hybrid", TWO, 2, 200, 4_000, 8_000, 500, _LONELY),
        Control("dawa", TWO, 8, 800, 60_000, 45_000, 500, (_STAIRS, _NONE, 3, 0, True)),
        Control("dawaz", TWO, 8, 800, 60_000, 45_000, 500, (_STAIRS, _NONE, 3, 0, False)),
        Control("recipe", TWO, 8, 800, 60_000, 45_000, 500, (_STAIRS, _NONE, 3, 0, False)),
        Control("naive-recipe", TWO, 8, 1_000, 60_000, 60_000, 500, (_NONE, _STAIRS, 3, 0, False)),
        Control(
            "privtree", Fraction(21, 5), 8, 3_000, 90_000, 120_000, 500, (_ONES, _NONE, 7, 0, True)
        ),
        Control("residual", Fraction(3), 2, 400, 4_000, 1_500, 100, ((1,), (1,), 0, 0, False)),
        Control("ahp", TWO, 2, 1_000, 60_000, 45_000, 500, ((11, 0), (0, 0), 0, 1, True)),
        Control("agrid", TWO, 4, 100, 5_000, 5_000, 100, ((0,) * 4, (0, 8, 1, 8), 2, 1, False)),
        Control("privbayes", Fraction(4), 2, 60, 4_000, 2_000, 100, ((0, 0), (0, 8), 0, 1, False)),
        Control("auto", TWO, 2, 100, 4_000, 2_000, 50, ((0, 0), (1, 1), 1, 1, False)),
    )
}
"""A control for each mechanism that promises something; those with a line of their own need less,
or more, than is usual to be caught."""
