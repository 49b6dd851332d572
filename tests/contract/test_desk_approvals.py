"""Questions that wait for a steward, who decides without seeing an answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onesided.errors import CapError, RequestError
from onesided.ledger.desk import (
    Allowance,
    DeskConflict,
    JobState,
    ProposedQuestion,
    Slot,
    new_job_id,
)
from support.desks import LEASE, LENGTH, NOON, SECOND, Office, posed
from support.ledgers import order, pay


def state(office: Office, job: str) -> JobState:
    found = office.desk.job(job)
    assert found is not None
    return found.state


def _proposed(office: Office, request: str = "request", cost: int = 1) -> ProposedQuestion:
    return ProposedQuestion.of(
        [order(request)], office.snapshot, greatest_cost=Fraction(cost), expires=NOON + 60 * SECOND
    )


def _approve(
    office: Office, job: str, request: str = "request", allowance: Allowance | None = None
) -> None:
    orders = [order(request, who="ann")]
    office.desk.approve(
        job, orders, office.snapshot, Slot(length=LENGTH), allowance, steward="sue", why="fine"
    )


def test_what_awaits_approval_costs_nothing_until_then(office: Office) -> None:
    job = office.desk.propose(posed(purpose="yearbook"), _proposed(office))
    assert (job.state, job.cost, job.charges, job.deadline) == (JobState.AWAITING, None, (), None)
    assert (job.greatest_cost, job.expires) == (1, NOON + 60 * SECOND)
    assert office.account.balance().spent == 0
    assert office.desk.claim("visits", "w", LEASE) is None
    assert office.desk.queue_ends("visits") == NOON
    office.clock.move(30)
    _approve(office, job.id)
    approved = office.desk.job(job.id)
    assert approved is not None
    assert approved.state is JobState.ACCEPTED
    assert (approved.starts, approved.deadline) == (NOON + 30 * SECOND, NOON + 40 * SECOND)
    assert approved.decision is not None
    assert (approved.decision.who, approved.decision.why) == ("sue", "fine")
    assert office.account.balance().spent == 1
    assert office.answer(approved)
    office.clock.move(10)
    assert state(office, job.id) is JobState.DONE


def test_a_refusal_is_public_and_costs_nothing(office: Office) -> None:
    job = office.desk.propose(posed(), _proposed(office))
    refused = office.desk.refuse(job.id, steward="sue", why="too fine a grid")
    assert refused.state is JobState.REFUSED
    assert refused == office.desk.job(job.id)
    assert refused.decision is not None
    assert refused.decision.why == "too fine a grid"
    _nothing_more(office, job.id, "refused")


def test_one_takes_back_ones_own_question_while_it_awaits(office: Office) -> None:
    job = office.desk.propose(posed("ann"), _proposed(office))
    with pytest.raises(DeskConflict, match="Only who asked"):
        office.desk.cancel(job.id, who="bob")
    assert office.desk.cancel(job.id, who="ann").state is JobState.CANCELLED
    _nothing_more(office, job.id, "cancelled")
    running = office.asked("ann", "another")
    with pytest.raises(DeskConflict, match="it is accepted"):
        office.desk.cancel(running.id, who="ann")


def test_what_nobody_decides_expires(office: Office) -> None:
    job = office.desk.propose(posed(), _proposed(office))
    office.clock.move(60)
    assert state(office, job.id) is JobState.EXPIRED
    _nothing_more(office, job.id, "expired")
    with pytest.raises(RequestError, match="for some time"):
        office.desk.propose(posed(), _proposed(office))


def _nothing_more(office: Office, job: str, word: str) -> None:
    with pytest.raises(DeskConflict, match=f"it is {word}"):
        _approve(office, job)
    with pytest.raises(DeskConflict, match=f"it is {word}"):
        office.desk.refuse(job, steward="sue", why="no")
    with pytest.raises(DeskConflict, match=f"it is {word}"):
        office.desk.cancel(job, who="ann")
    assert office.account.balance().spent == 0


def test_an_approval_binds_question_snapshot_and_cost(office: Office) -> None:
    job = office.desk.propose(posed(), _proposed(office)).id
    with pytest.raises(DeskConflict, match="another question"):
        _approve(office, job, "another request")
    dear = office.desk.propose(posed(), _proposed(office, "dear", cost=0)).id
    with pytest.raises(DeskConflict, match="would cost ε = 1 by now"):
        _approve(office, dear, "dear")
    office.snapshot = office.account.snapshot("data-2")
    with pytest.raises(DeskConflict, match="earlier state of the data"):
        _approve(office, job)
    with pytest.raises(RequestError, match="no question of this id"):
        _approve(office, new_job_id())
    assert office.account.balance().spent == 0
    assert state(office, job) is JobState.AWAITING, "after a refusal of the desk it still waits"


def test_an_approval_does_not_lift_a_cap(office: Office) -> None:
    job = office.desk.propose(posed(), _proposed(office)).id
    with pytest.raises(CapError):
        _approve(office, job, allowance=Allowance(who="ann", most_in_all=Fraction(1, 2)))
    assert state(office, job) is JobState.AWAITING
    _approve(office, job, allowance=Allowance(who="ann", most_in_all=Fraction(1)))
    assert state(office, job) is JobState.ACCEPTED


def test_what_was_answered_meanwhile_is_done_when_it_is_approved(office: Office) -> None:
    job = office.desk.propose(posed(), _proposed(office)).id
    charge = pay(office.account, office.snapshot, who="sue")
    office.account.store(charge, b"answer", {})
    _approve(office, job)
    assert state(office, job) is JobState.DONE
    assert office.account.balance().spent == 1
