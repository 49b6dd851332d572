"""Jobs of desks: charged with their slot, seen at their deadline, and never twice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from onesided.errors import BudgetError, LedgerError
from onesided.ledger.desk import (
    Acceptance,
    DeskConflict,
    JobState,
    ProposedQuestion,
    QueueFull,
    Slot,
)
from support.desks import LEASE, LENGTH, NOON, SECOND, Office, posed
from support.ledgers import Place, order, pay, spending


def test_a_question_is_charged_and_has_its_slot(office: Office) -> None:
    first = office.asked("ann", "first", purpose="yearbook", kind="sum", question={"by": ["day"]})
    assert first.state is JobState.ACCEPTED
    assert (first.starts, first.deadline, first.cost) == (NOON, NOON + LENGTH, 1)
    assert (first.who, first.kind, first.purpose) == ("ann", "sum", "yearbook")
    assert first.question == {"by": ["day"]}
    office.clock.move(4)
    second = office.asked("bob", "second", slot=Slot(length=2 * SECOND))
    assert second.starts == first.deadline, "its place is behind the first one's"
    assert second.deadline == NOON + LENGTH + 2 * SECOND
    assert office.desk.queue_ends("visits") == second.deadline
    office.clock.move(100)
    third = office.asked("bob", "third")
    assert third.starts == office.clock()
    balance = office.account.balance()
    assert balance.spent == 3
    charges = [record.charge.number for record in balance.charges]
    assert [*first.charges, *second.charges, *third.charges] == charges
    assert office.ledger.verify().ok


def test_what_the_budget_does_not_allow_leaves_nothing(shared_place: Place) -> None:
    office = Office.at(shared_place, budget=1)
    office.asked("ann", "first")
    with pytest.raises(BudgetError):
        office.ask("ann", "second")
    with pytest.raises(BudgetError):
        office.ask(orders=[order("second", spending(0, "1/2"), who="ann")] * 2)
    assert len(office.desk.jobs()) == 1
    assert office.desk.queue_ends("visits") == NOON + LENGTH
    office.close()


def test_a_question_of_several_figures_is_one_job(office: Office) -> None:
    orders = [order(name, spending(0, "1/2"), who="ann") for name in ("one", "two")]
    job = office.asked(orders=orders)
    assert (len(job.charges), job.cost) == (2, 1)
    assert office.answer(job)
    office.clock.move(10)
    found = office.desk.job(job.id)
    assert found is not None
    assert len(found.releases) == 2
    assert office.ask("bob", orders=[order("one", spending(0, "1/2"), who="bob")]).job is None


def test_an_id_names_one_job(office: Office) -> None:
    job = office.asked("ann", "first")
    other: Any
    for other in ({"question": {"by": ["day"]}}, {"purpose": "another"}):
        with pytest.raises(DeskConflict, match="under this key or id"):
            office.ask("ann", "second", id=job.id, **other)
    with pytest.raises(DeskConflict, match="under this key or id"):
        office.ask("bob", "first", id=job.id)
    proposed = ProposedQuestion.of(
        [order("second")], office.snapshot, greatest_cost=Fraction(1), expires=NOON + SECOND
    )
    with pytest.raises(DeskConflict, match="under this key or id"):
        office.desk.propose(posed("bob", id=job.id), proposed)
    assert office.account.balance().spent == 1


def test_what_is_sent_again_is_the_same_job(office: Office) -> None:
    """Whatever became of it, and though its orders would be charged anew."""
    fresh = [replace(order("first", who="ann"), paid_once=False)]
    job = office.asked("ann", orders=fresh)
    assert office.ask("ann", orders=fresh, id=job.id) == Acceptance(charges=(), job=job)
    office.answer(job)
    office.clock.move(LENGTH / SECOND)
    again = office.ask("ann", orders=fresh, id=job.id).job
    assert again is not None
    assert (again.id, again.state) == (job.id, JobState.DONE)
    proposed = ProposedQuestion.of(
        fresh, office.snapshot, greatest_cost=Fraction(1), expires=office.clock() + SECOND
    )
    assert office.desk.propose(posed(id=job.id), proposed).state is JobState.DONE
    waiting = office.desk.propose(posed(id="waiting"), proposed)
    assert office.desk.propose(posed(id="waiting"), proposed) == waiting
    assert office.account.balance().spent == 1


def test_nobody_is_charged_in_the_name_of_another(office: Office) -> None:
    with pytest.raises(ValueError, match="in the name"):
        office.ask("ann", orders=[order(who="bob")])
    assert office.account.balance().spent == 0


def test_a_data_set_without_an_account_is_refused(office: Office) -> None:
    with pytest.raises(LedgerError, match="no account"):
        office.ask(dataset="others")


@pytest.mark.parametrize("limit", ["most_open", "most_open_of_one"])
def test_the_queue_has_an_end(office: Office, limit: str) -> None:
    slot = Slot(length=LENGTH, **{limit: 2})
    office.asked("ann", "1", slot=slot)
    office.asked("ann", "2", slot=slot)
    with pytest.raises(QueueFull):
        office.ask("ann", "3", slot=slot)
    assert office.account.balance().spent == 2
    if limit == "most_open_of_one":
        office.asked("bob", "3", slot=slot)
    else:
        with pytest.raises(QueueFull):
            office.ask("bob", "3", slot=slot)
    office.clock.move(30)
    office.asked("ann", "4", slot=slot)


def state(office: Office, job: str) -> JobState:
    found = office.desk.job(job)
    assert found is not None
    return found.state


def test_an_answer_is_seen_from_the_deadline_on(office: Office) -> None:
    job = office.asked()
    assert office.answer(job)
    seen = office.desk.job(job.id)
    assert seen == job, "nothing shows that it was answered"
    assert office.desk.hidden("visits") == set(job.charges)
    office.clock.move(9.999999)
    assert office.desk.job(job.id) == job
    office.clock.move(0.000001)
    done = office.desk.job(job.id)
    assert done is not None
    assert done.state is JobState.DONE
    (charge,) = job.charges
    stored = office.account.charged(charge)
    assert stored is not None
    assert stored.release is not None
    assert done.releases == (stored.release.number,)
    assert office.desk.hidden("visits") == frozenset()


def test_a_job_says_what_is_left_of_its_time(office: Office) -> None:
    job = office.asked()
    assert (job.seen, job.left) == (NOON, LENGTH)
    office.clock.move(4)
    (seen,) = office.desk.jobs(states=[JobState.ACCEPTED])
    assert (seen, seen.left) == (job, 6 * SECOND)
    office.clock.move(7)
    assert office.desk.jobs(states=[JobState.ACCEPTED, JobState.AWAITING]) == ()
    assert [each.left for each in office.desk.jobs(states=[JobState.FAILED])] == [0 * SECOND]


def test_what_failed_and_what_is_late_look_alike(office: Office) -> None:
    failed, late, never = (office.asked("ann", request) for request in "abc")
    assert office.desk.claim("visits", "w", LENGTH) == failed
    office.desk.fail(failed.id, "w")
    assert state(office, failed.id) is JobState.ACCEPTED
    assert office.desk.claim("visits", "w", LENGTH) is None, "its slot is kept"
    office.clock.move(10)
    assert office.desk.claim("visits", "w", LENGTH) == late
    office.clock.move(10)
    office.store(late)
    assert not office.desk.finish(late.id, "w")
    office.clock.move(10)
    jobs = office.desk.jobs()
    assert [job.state for job in jobs] == [JobState.FAILED] * 3
    assert [job.releases for job in jobs] == [()] * 3
    assert office.desk.hidden("visits") == {*failed.charges, *late.charges, *never.charges}
    assert not office.desk.finish(never.id, "w")


def test_what_was_seen_as_failed_stays_failed(office: Office) -> None:
    job = office.asked()
    assert office.desk.claim("visits", "w", LENGTH) == job
    office.store(job)
    office.clock.move(10)
    assert state(office, job.id) is JobState.FAILED
    office.clock.move(-1)  # as if another machine's clock were slow
    assert not office.desk.finish(job.id, "w")
    office.clock.move(1)
    assert state(office, job.id) is JobState.FAILED


def test_an_answer_in_time_stays_an_answer(office: Office) -> None:
    job = office.asked()
    assert office.answer(job)
    office.desk.fail(job.id, "worker")
    office.clock.move(10)
    assert state(office, job.id) is JobState.DONE
    assert office.desk.finish(job.id, "another")


def test_a_job_runs_within_its_slot_by_one_worker_at_a_time(office: Office) -> None:
    first, second = office.asked("ann", "1"), office.asked("ann", "2")
    assert office.desk.claim("visits", "one", LEASE) == first
    assert office.desk.claim("visits", "two", LEASE) is None
    assert office.desk.claim("others", "two", LEASE) is None
    office.clock.move(2)
    assert office.desk.renew(first.id, "one", LEASE)
    office.clock.move(2)
    assert office.desk.claim("visits", "two", LEASE) is None
    assert office.desk.next_event("visits") == NOON + 5 * SECOND
    office.clock.move(1)
    assert office.desk.claim("visits", "two", LEASE) == first, "the first worker seems dead"
    assert not office.desk.renew(first.id, "one", LEASE)
    office.desk.fail(first.id, "one")  # has no say any more
    office.desk.give_back(first.id, "one")
    assert office.desk.claim("visits", "three", LEASE) is None
    office.desk.give_back(first.id, "two")
    assert office.desk.claim("visits", "three", LEASE) == first
    office.clock.move(5)
    assert office.desk.claim("visits", "two", LEASE) == second
    assert not office.desk.renew(first.id, "three", LEASE)
    assert office.desk.next_event("visits") == NOON + 13 * SECOND


def test_a_job_without_a_deadline_is_seen_when_it_is_done(office: Office) -> None:
    off = Slot(length=None)
    first, second = office.asked("ann", "1", slot=off), office.asked("ann", "2", slot=off)
    assert (first.starts, first.deadline) == (NOON, None)
    assert office.answer(first)
    assert state(office, first.id) is JobState.DONE
    assert office.desk.claim("visits", "w", LEASE) == second
    office.clock.move(3600)
    assert state(office, second.id) is JobState.ACCEPTED
    office.desk.claim("visits", "w", LEASE)
    office.desk.fail(second.id, "w")
    assert state(office, second.id) is JobState.FAILED


def test_an_equal_question_is_free_and_joins_the_open_job(office: Office) -> None:
    first = office.asked("ann")
    joined = office.ask("bob")
    assert joined.job == first
    assert [charge.number for charge in joined.charges] == list(first.charges)
    assert office.answer(first)
    assert office.ask("bob").job == first, "that it is answered does not show"
    office.clock.move(10)
    free = office.ask("bob")
    assert free.job is None
    assert [charge.release is not None for charge in free.charges] == [True]
    assert free.charges[0].who == "ann"
    assert len(office.desk.jobs()) == 1
    assert office.account.balance().spent == 1


def test_what_failed_is_repeated_by_a_steward_alone(office: Office) -> None:
    job = office.asked("ann")
    office.clock.move(10)
    assert state(office, job.id) is JobState.FAILED
    for who in ("ann", "bob"):
        with pytest.raises(DeskConflict, match="only a steward"):
            office.ask(who)
    again = office.asked("sue", repeats=True)
    assert (again.id != job.id, again.cost, again.charges) == (True, 0, job.charges)
    assert office.asked("bob") == again
    assert office.answer(again)
    office.clock.move(10)
    assert office.desk.hidden("visits") == frozenset()
    assert office.ask("bob").job is None
    assert state(office, job.id) is JobState.FAILED
    assert office.account.balance().spent == 1


def test_a_late_answer_stays_hidden_though_it_is_stored(office: Office) -> None:
    job = office.asked("ann")
    office.clock.move(10)
    office.store(job)
    with pytest.raises(DeskConflict, match="only a steward"):
        office.ask("bob")
    assert office.desk.hidden("visits") == set(job.charges)


def test_releases_from_elsewhere_are_seen_at_once(office: Office) -> None:
    charge = pay(office.account, office.snapshot, who="sue")
    with pytest.raises(DeskConflict, match="only a steward"):
        office.ask("bob")  # the command failed, or still runs
    office.account.store(charge, b"answer", {})
    assert office.ask("bob").job is None
    assert office.desk.hidden("visits") == frozenset()


def test_a_question_that_is_partly_known_keeps_what_is_known(office: Office) -> None:
    known = office.asked("ann", "known")
    assert office.answer(known)
    office.clock.move(10)
    pending = office.asked("ann", "pending")
    both = office.asked("bob", orders=[order(n, who="bob") for n in ("known", "pending")])
    assert both.id == pending.id, "nothing of it is new"
    mixed = office.asked("bob", orders=[order(n, who="bob") for n in ("known", "new", "pending")])
    assert mixed.cost == 1
    assert mixed.starts == pending.deadline
    new = mixed.charges[1]
    assert office.desk.hidden("visits") == {*pending.charges, new}
    assert office.answer(pending)
    office.clock.move(10)
    assert office.desk.hidden("visits") == {new}


def test_parts_of_two_open_jobs_wait_for_both(office: Office) -> None:
    first, second = office.asked("ann", "1"), office.asked("ann", "2")
    both = office.asked("bob", orders=[order(n, who="bob") for n in "12"])
    assert (both.cost, both.starts) == (0, second.deadline)
    assert both.charges == (*first.charges, *second.charges)
