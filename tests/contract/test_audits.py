"""Every mechanism of the registry is audited: exactly where that is possible, else by runs."""

from __future__ import annotations

from contextlib import suppress

import pytest

from onesided.audit import (
    Deadline,
    Effort,
    ExactAudit,
    NotEnumerableError,
    OutOfTimeError,
    StatisticalAudit,
    Target,
    target,
)
from onesided.audit.neighbours import Candidate
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names

EPSILON = 1
MOST_PATHS = 300
SECONDS = 8.0
"""The statistical audit of one mechanism begins no further work after so long."""

EFFORT = Effort(search=20, random=0, climbs=0, learn=250, test=500)
SOAK_PATHS = 2_000
SOAK_SECONDS = 20.0
"""The long version gives each mechanism so long for its runs, and as long to be listed."""

BUCKET_EFFORT = Effort(search=20, random=0, climbs=0, learn=3_000, test=5_000)
"""For mechanisms whose flaw is in the choice of buckets, which takes more runs to show."""

FLAWED_BUCKETS = ("dawa-reference", "dawaz-reference")


def few_pairs(claim: Target) -> list[Candidate]:
    """A lonely unit that moves or changes its kind, and the same among others."""
    empty, some, others = (0, 0, 0, 0), (1, 0, 0, 2), (0, 3, 1, 0)
    return [
        Candidate(claim.setting, empty, empty, 0, 3, False),
        Candidate(claim.setting, some, others, 0, 0, False),
        Candidate(claim.setting, some, others, 0, 3, True),
    ]


def by_runs(name: str, claim: Target) -> bool:
    if name in FLAWED_BUCKETS:
        pair = Candidate(claim.setting, (1,) * 8, (0,) * 8, 0, None, True).pair()
        return claim.by_runs(StatisticalAudit(effort=BUCKET_EFFORT), pairs=[pair]).rejected
    pairs = [each.pair() for each in few_pairs(claim)]
    return claim.by_runs(StatisticalAudit(effort=EFFORT, seconds=SECONDS), pairs=pairs).rejected


def exactly(claim: Target, audit: ExactAudit) -> bool:
    reports = claim.exactly(audit)
    assert all(report.verified or report.rejected for report in reports)
    return any(report.rejected for report in reports)


@pytest.mark.parametrize("name", mechanism_names())
def test_what_is_sound_is_not_rejected_and_what_is_broken_is(name: str):
    claim = target(name, EPSILON)
    broken = mechanism(name).kind is Kind.BROKEN
    audit = ExactAudit(most_units=1, most_paths=MOST_PATHS, tolerance=claim.tolerance)
    try:
        rejected = exactly(claim, audit)
    except NotEnumerableError:
        rejected = by_runs(name, claim)
    assert rejected == broken


@pytest.mark.soak
@pytest.mark.parametrize("name", mechanism_names())
def test_at_length(name: str):
    claim = target(name, EPSILON)
    broken = mechanism(name).kind is Kind.BROKEN
    assert claim.by_runs(StatisticalAudit(seconds=SOAK_SECONDS, workers=2)).rejected == broken
    audit = ExactAudit(
        most_paths=SOAK_PATHS, tolerance=claim.tolerance, deadline=Deadline(SOAK_SECONDS)
    )
    with suppress(NotEnumerableError, OutOfTimeError):
        assert exactly(claim, audit) == broken
