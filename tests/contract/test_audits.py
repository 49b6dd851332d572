"""Every mechanism of the registry is audited: exactly where that is possible, else by runs."""

from __future__ import annotations

import pytest

from onesided.audit import Effort, ExactAudit, NotEnumerableError, StatisticalAudit, target
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names

EPSILON = 1
MOST_PATHS = 120
SECONDS = 10.0
"""The statistical audit of one mechanism begins no further work after so long."""

EFFORT = Effort(search=40, random=0, climbs=0, learn=600, test=1_000)
SOAK_EFFORT = Effort(search=200, random=20, climbs=10, learn=10_000, test=20_000)


def is_rejected(name: str, audit: StatisticalAudit, most_paths: int) -> bool:
    claim = target(name, EPSILON)
    try:
        exact = ExactAudit(most_paths=most_paths, tolerance=claim.tolerance)
        reports = claim.exactly(exact)
    except NotEnumerableError:
        return claim.by_runs(audit).rejected
    assert all(report.verified or report.rejected for report in reports)
    return any(report.rejected for report in reports)


@pytest.mark.parametrize("name", mechanism_names())
def test_what_is_sound_is_not_rejected_and_what_is_broken_is(name: str):
    audit = StatisticalAudit(effort=EFFORT, seconds=SECONDS)
    broken = mechanism(name).kind is Kind.BROKEN
    assert is_rejected(name, audit, MOST_PATHS) == broken


@pytest.mark.soak
@pytest.mark.parametrize("name", mechanism_names())
def test_at_length(name: str):
    audit = StatisticalAudit(effort=SOAK_EFFORT, workers=2)
    broken = mechanism(name).kind is Kind.BROKEN
    assert is_rejected(name, audit, 3_000) == broken
    assert target(name, EPSILON).by_runs(audit).rejected == broken
