"""A mechanism that looks first, taken step by step, as a session charges it.

What both steps show together has far too many outcomes to be listed, and a choice takes too long
to be made in every run. But each step states a pair of its own, and pairs add up. So the first look
is held to its pair. After a look that is given, what is chosen by the mechanism's own rule is held
to the pair that it states: a choice sees the look and public facts alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from onesided.audit.exact import SmallClaim
from onesided.audit.runs import stream
from onesided.audit.world import histogram_world
from onesided.data import Histogram, Measurement
from onesided.mechanisms.base import AdaptiveMechanism, Choice, Probe, PublicShape
from onesided.randomness import Randomness

Background = tuple[tuple[int, ...], tuple[int, ...]]
"""Sensitive and non-sensitive units that are there in every database."""

BACKGROUNDS: tuple[Background, ...] = (
    ((60, 40), (0, 0)),
    ((4, 0), (40, 0)),
    ((5, 5), (5, 5)),
)
"""Data of different kinds, so that different things are chosen."""

LISTED_LOOK, LISTED_CHOICE = Fraction(64), Fraction(8)
"""The least ε at which steps are listed. A part of the look is asked with very little of ε, and at
small ε what is chosen has too many outcomes. The code and the shares of ε are the same at any."""


@dataclass(frozen=True)
class FirstLook:
    """The first step of a mechanism at OSDP ε = `epsilon`."""

    mechanism: AdaptiveMechanism
    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> tuple[str, Probe]:
        public = PublicShape.of(data)
        self.mechanism.check(public)
        said = repr(self.mechanism.probe_terms(public, self.epsilon))
        return said, self.mechanism.probe(data, self.epsilon, rng)


@dataclass(frozen=True)
class AfterLook:
    """What the mechanism chooses after `probe`, run on data.

    It is chosen once for each public shape: of the data nothing else is known then.
    """

    mechanism: AdaptiveMechanism
    epsilon: Fraction
    probe: Probe
    _chosen: dict[PublicShape, Choice] = field(default_factory=dict, compare=False, repr=False)

    def choice(self, public: PublicShape) -> Choice:
        if public not in self._chosen:
            rng = stream("the choice")
            self._chosen[public] = self.mechanism.choose(self.probe, public, self.epsilon, rng)
        return self._chosen[public]

    def release(self, data: Histogram, rng: Randomness) -> tuple[str, str, Measurement]:
        chosen = self.choice(PublicShape.of(data))
        return chosen.label, repr(chosen.terms), chosen.measure(data, rng)


def step_claims(mechanism: AdaptiveMechanism, epsilon: Fraction) -> Iterator[SmallClaim]:
    """The first look, and what is chosen after looks at data of different kinds."""
    large = max(epsilon, LISTED_LOOK)
    for told in (True, False):
        world = histogram_world((1,), total_public=told)
        public = PublicShape((1,), total_public=told)
        stated = mechanism.probe_terms(public, large).loss
        first = FirstLook(mechanism, large)
        yield SmallClaim(first, world, stated, most_units=1, about=f"look at ε = {large}")
    for background in BACKGROUNDS:
        for told in (True, False):
            yield _after_look(mechanism, max(epsilon, LISTED_CHOICE), background, told)


def _after_look(
    mechanism: AdaptiveMechanism, epsilon: Fraction, background: Background, told: bool
) -> SmallClaim:
    world = histogram_world((2,), total_public=told, background=background)
    # With n public there are as many units as in the databases that are compared.
    data: Any = world.build(world.values[:1])
    probe = mechanism.probe(data, epsilon, stream(f"a look at {background}"))
    after = AfterLook(mechanism, epsilon, probe)
    choice = after.choice(PublicShape.of(data))
    about = f"{choice.label} at ε = {epsilon}"
    return SmallClaim(after, world, choice.terms.loss, most_units=1, about=about)
