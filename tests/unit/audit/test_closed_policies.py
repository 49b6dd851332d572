"""The exact audit of closed policies: every trace of two rows in a small building."""

from __future__ import annotations

from fractions import Fraction

from onesided.audit import ExactAudit, target
from onesided.audit.closed import BUILDING, YARD, closed_world
from onesided.audit.exact import ExactReport, SmallClaim
from onesided.audit.published import IdealUnitCoins
from onesided.loss import Loss

EPSILON = Fraction(1)


def audited(*, knows_map: bool) -> ExactReport:
    world = closed_world(knows_map=knows_map)
    claim = SmallClaim(IdealUnitCoins(EPSILON), world, Loss(0, EPSILON), most_units=1)
    return ExactAudit().claim(claim)


def test_a_sample_under_the_closed_policy_costs_what_it_says() -> None:
    report = audited(knows_map=True)
    assert report.verified
    assert max(finding.loss for finding in report.findings) <= EPSILON


def test_a_policy_that_does_not_know_the_map_is_refuted() -> None:
    assert audited(knows_map=False).rejected


def test_some_units_are_sensitive_by_their_move_alone() -> None:
    sensitive, units = closed_world().sensitive, closed_world().values
    moved = [unit for unit in sensitive if not {YARD, None} & {place for place, _ in unit}]
    assert moved
    assert all({place for place, _ in unit} == {"hall", "lab"} for unit in moved)
    assert len(sensitive) < len(units)
    assert not BUILDING.is_dead_end


def test_the_claims_have_names() -> None:
    assert [target(name, 1).name for name in ("closed-sample", "open-sample")]
