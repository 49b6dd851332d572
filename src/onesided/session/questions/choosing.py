"""Which question a mechanism's name stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from onesided.errors import MechanismRefused
from onesided.mechanisms.base import AdaptiveMechanism, Kind, Mechanism
from onesided.mechanisms.registry import mechanism
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.questions.adaptive import AdaptiveCounts
from onesided.session.questions.counts import CountingQuestion, Counts
from onesided.session.questions.sampled import SampledCounts
from onesided.session.scope import Scope


def counting(
    name: str,
    groups: Grouping,
    *,
    facts: DatasetFacts,
    scope: Scope,
    epsilon: Fraction,
    parameters: Mapping[str, Any] | None = None,
) -> CountingQuestion:
    """The question about these groups by the mechanism of that name."""
    given = dict(parameters or {})
    chosen = released_mechanism(name, given)
    kind: type[CountingQuestion] = Counts
    if isinstance(chosen, RandomizedResponse):
        kind = SampledCounts
    elif isinstance(chosen, AdaptiveMechanism):
        kind = AdaptiveCounts
    return kind(
        mechanism=chosen,
        groups=groups,
        parameters=given,
        facts=facts,
        scope=scope,
        epsilon=epsilon,
    )


def released_mechanism(name: str, parameters: Mapping[str, Any]) -> Mechanism:
    """The mechanism of that name, refused with the reason where no session may release it."""
    chosen = mechanism(name, **parameters)
    if isinstance(chosen, RandomizedResponse):
        # A session counts a sample that it has drawn, and scales the counts.
        return replace(chosen, scale=True)
    if chosen.kind is Kind.SOUND:
        return chosen
    raise MechanismRefused(f"{name} is not released: {chosen.refusal}")
