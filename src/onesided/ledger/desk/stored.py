"""The desk on any store of a ledger; meets the protocol `Desk`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from onesided.errors import RequestError
from onesided.ledger.base import LONGEST_PURPOSE, LONGEST_WHO, Order, Snapshot
from onesided.ledger.chain import canonical
from onesided.ledger.charging import check_label, check_text
from onesided.ledger.desk import people
from onesided.ledger.desk.accepting import Accepting, check_same, not_awaiting
from onesided.ledger.desk.base import (
    Acceptance,
    Allowance,
    Decision,
    DeskConflict,
    JobState,
    PosedQuestion,
    ProposedQuestion,
    QuestionJob,
    Slot,
)
from onesided.ledger.desk.records import JobOutcome, JobRow
from onesided.ledger.desk.stored_people import StoredPeople
from onesided.ledger.desk.times import to_text
from onesided.ledger.desk.view import DeskView


class StoredDesk(StoredPeople):
    """The desk of the ledger in `store`."""

    def accept(
        self,
        orders: Sequence[Order],
        snapshot: Snapshot,
        posed: PosedQuestion,
        slot: Slot,
        allowance: Allowance | None = None,
    ) -> Acceptance:
        """Charge all orders, write the job and give it its slot, all or nothing."""
        _check_posed(posed)
        requests = tuple(order.request for order in orders)
        with self._writing() as view:
            job = JobRow(
                number=0,
                posed=posed,
                asked=view.now,
                snapshot=snapshot.number,
                requests=requests,
            )
            accepting = Accepting(
                rows=view.rows, now=view.now, job=job, slot=slot, allowance=allowance
            )
            return accepting.new(orders, snapshot)

    def propose(self, posed: PosedQuestion, proposed: ProposedQuestion) -> QuestionJob:
        """Write a job that awaits the decision of a steward; nothing is charged."""
        _check_posed(posed)
        with self._writing() as view:
            if proposed.expires <= view.now:
                raise RequestError("A question must await its decision for some time.")
            known = view.jobs.one(posed.id)
            if known is not None:
                check_same(known.posed, posed)
                return known.seen(view.now)
            job = view.jobs.add(
                JobRow(
                    number=0,
                    posed=posed,
                    asked=view.now,
                    snapshot=proposed.snapshot,
                    requests=proposed.requests,
                    expires=proposed.expires,
                    greatest_cost=proposed.greatest_cost,
                )
            )
            return job.seen(view.now)

    def approve(
        self,
        job: str,
        orders: Sequence[Order],
        snapshot: Snapshot,
        slot: Slot,
        allowance: Allowance | None = None,
        *,
        steward: str,
        why: str,
    ) -> Acceptance:
        """Accept an awaiting job; DeskConflict where anything is not as it was proposed."""
        _check_decision(steward, why)
        with self._writing() as view:
            accepting = Accepting(
                rows=view.rows,
                now=view.now,
                job=_found(view, job),
                slot=slot,
                allowance=allowance,
            )
            decision = Decision(who=steward, why=why, time=view.now)
            return accepting.approved(orders, snapshot, decision)

    def refuse(self, job: str, *, steward: str, why: str) -> QuestionJob:
        """Refuse an awaiting job; it costs nothing."""
        _check_decision(steward, why)
        with self._writing() as view:
            found = _awaiting(view, job)
            decision = Decision(who=steward, why=why, time=view.now)
            refused = replace(found, outcome=JobOutcome.REFUSED, decision=decision)
            view.jobs.put(refused)
            return refused.seen(view.now)

    def cancel(self, job: str, *, who: str) -> QuestionJob:
        """Take back one's own question while it awaits."""
        with self._writing() as view:
            found = _awaiting(view, job)
            if found.posed.who != who:
                raise DeskConflict("Only who asked a question takes it back.")
            cancelled = replace(found, outcome=JobOutcome.CANCELLED)
            view.jobs.put(cancelled)
            return cancelled.seen(view.now)

    def claim(self, dataset: str, worker: str, lease: timedelta) -> QuestionJob | None:
        """The job whose slot is now, for this worker alone until the lease ends."""
        with self._reading() as view:
            if _next(view, dataset) is None:  # most often; readers are in nobody's way
                return None
        with self._writing() as view:
            found = _next(view, dataset)
            if found is None:
                return None
            view.jobs.put(replace(found, worker=worker, lease=view.now + lease))
            return found.seen(view.now)

    def renew(self, job: str, worker: str, lease: timedelta) -> bool:
        """Extend a lease; False where the job is no longer this worker's, or its time is over."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is None or found.worker != worker or found.outcome is not None:
                return False
            view.jobs.put(replace(found, lease=view.now + lease))
            return True

    def give_back(self, job: str, worker: str) -> None:
        """End a lease early, so that another worker can claim the job."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is not None and found.worker == worker:
                view.jobs.put(replace(found, worker=None, lease=None))

    def finish(self, job: str, worker: str) -> bool:
        """Note that all answers are stored or kept as steps; False where the deadline passed."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is None or found.charges is None:
                return False
            if found.outcome is None:
                view.jobs.put(replace(found, outcome=JobOutcome.DONE, worker=worker, lease=None))
            return found.outcome in (None, JobOutcome.DONE)

    def fail(self, job: str, worker: str) -> None:
        """Note that the run failed; nobody sees it before the deadline."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is not None and found.worker == worker and found.outcome is None:
                view.jobs.put(replace(found, outcome=JobOutcome.FAILED, lease=None))

    def job(self, job: str) -> QuestionJob | None:
        """One job as it may be seen now."""
        found = self._seen(lambda view: view.jobs.where("id = ?", job))
        return found[0] if found else None

    def jobs(
        self,
        *,
        dataset: str | None = None,
        who: str | None = None,
        states: Sequence[JobState] | None = None,
    ) -> tuple[QuestionJob, ...]:
        """Jobs as they may be seen now, oldest first."""
        asked = {"dataset": dataset, "who": who}
        known = {name: value for name, value in asked.items() if value is not None}
        names = [f"{name} = ?" for name in known]
        if states is not None and set(states) <= {JobState.AWAITING, JobState.ACCEPTED}:
            names.append("(outcome IS NULL OR deadline > ?)")  # few of very many

        def find(view: DeskView) -> list[JobRow]:
            values = [*known.values(), to_text(view.now)]
            return view.jobs.where(" AND ".join(names) or "1 = 1", *values[: len(names)])

        found = self._seen(find)
        return tuple(job for job in found if states is None or job.state in states)

    def _seen(self, find: Callable[[DeskView], list[JobRow]]) -> tuple[QuestionJob, ...]:
        """As they may be seen: what is overdue is written to have failed, before anybody sees it.

        Otherwise a run that ends at the deadline could turn what was seen as failed into an answer.
        """
        with self._reading() as view:
            found = find(view)
            if not any(job.overdue(view.now) for job in found):
                return view.seen(found)
        with self._writing() as view:
            return view.seen(find(view))

    def next_event(self, dataset: str) -> datetime | None:
        """When the next slot of the data set starts or ends, or a lease does."""
        with self._reading() as view:
            moments = [
                moment
                for job in view.jobs.open(dataset, view.now)
                for moment in (job.starts, job.deadline, job.lease)
                if moment is not None and moment > view.now
            ]
            return min(moments, default=None)

    def queue_ends(self, dataset: str) -> datetime:
        """When a slot that is asked for now would start."""
        with self._reading() as view:
            return view.jobs.queue_end(dataset, view.now)

    def hidden(self, dataset: str) -> frozenset[int]:
        """The charges whose releases must not be seen now, stored or not."""
        with self._reading() as view:
            return view.jobs.hidden(dataset, view.now)


def _next(view: DeskView, dataset: str) -> JobRow | None:
    """The first job whose slot is now and that no worker has."""
    now = to_text(view.now)
    found = view.jobs.where(
        "dataset = ? AND charges IS NOT NULL AND outcome IS NULL AND starts <= ?"
        " AND (deadline IS NULL OR deadline > ?) AND (lease IS NULL OR lease <= ?)",
        *(dataset, now, now, now),
    )
    return found[0] if found else None


def _found(view: DeskView, job: str) -> JobRow:
    found = view.jobs.one(job)
    if found is None:
        raise RequestError("There is no question of this id.")
    return found


def _awaiting(view: DeskView, job: str) -> JobRow:
    found = _found(view, job)
    if found.state(view.now) is not JobState.AWAITING:
        raise not_awaiting(found, view.now)
    return found


def _check_posed(posed: PosedQuestion) -> None:
    check_label(posed.id, "id of a job")
    check_label(posed.dataset, "name of the data set")
    check_text(posed.who, "id of who asks", LONGEST_WHO)
    check_text(posed.purpose, "purpose", LONGEST_PURPOSE)
    canonical(dict(posed.question))


def _check_decision(steward: str, why: str) -> None:
    people.check_name(steward)
    check_text(why, "reason", LONGEST_PURPOSE)
